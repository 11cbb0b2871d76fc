"""What the API says about the mnestome, the memory and the fast paths, made up: as much of it as a test wants, and with
text in it that would like to be more than text."""

import math
import random
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from web.standin import ANSWERS as SHELL
from web.standin import EVIL, WHEN, Api

MNEST = "01KZ600KM0Y8NDATC38S4MDMRA"
MONTHS = ["2026-01", "2026-02", "2026-03"]
_VERBS = ("find", "list", "read", "extract", "summarise", "move", "count", "write", "append", "compare")
_OBJECTS = ("files", "text", "pdf", "notes", "mail", "invoices", "photos", "events", "tables", "pages", "links", "logs")
_TAGS = ("invoice", "research", "home", "photos")


def mnestome(mnests: int, seed: int = 7) -> dict[str, Any]:
    """A graph with so many mnests, the same each time: as in life, a few executors meet most of the others, most meet
    their neighbours, and most mnests are light."""
    chance = random.Random(seed)
    names = [
        f"{verb}_{thing}{extra}" for thing in _OBJECTS for extra in ("", "_new", "_old", "_all") for verb in _VERBS
    ]
    names = names[: max(12, min(len(names), mnests // 11))]
    places = {name: _place(number // 10, number % 10, len(names) // 10) for number, name in enumerate(names)}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    while len(found) < mnests:
        number = int(len(names) * chance.random())
        near = (
            number - number % 10 + chance.randrange(10) if chance.random() < 0.2 else number + chance.randrange(-60, 60)
        )
        source, target = names[number], names[near % len(names) if chance.random() < 0.8 else chance.randrange(12)]
        state = chance.choices(("active", "decaying", "seed", "proto", "superseded"), (46, 24, 18, 6, 6))[0]
        if state == "proto":
            wish = chance.randrange(max(3, len(names) // 14))
            target = f"wish_{wish}"
            places.setdefault(target, _place(wish * 3, 11, len(names) // 10))
        if source != target and (source, target) not in found:
            found[source, target] = {
                "id": f"01KZ600KM0{len(found):016d}", "source": source, "target": target, "state": state,
                "weight": round(chance.random() ** 3 * (0.2 if state == "decaying" else 1), 4),
                "uses": chance.randrange(40), "last_used": f"2026-04-{1 + chance.randrange(21):02d}T10:00:00.000Z",
                "tags": [tag for tag in _TAGS if chance.random() < 0.15], "proto": state == "proto",
            }  # fmt: skip
    return _whole(list(found.values()), places, names)


def _place(group: int, number: int, groups: int) -> tuple[float, float]:
    """Ten to a group, and the groups in a spiral."""
    far, turn = math.sqrt((group + 0.3) / max(groups, 1)) * 0.86, group * 2.399963
    aside, around = 0.11 * math.sqrt((number + 0.2) / 10), number * 2.399963
    return round(far * math.cos(turn) + aside * math.cos(around), 4), round(
        far * math.sin(turn) + aside * math.sin(around), 4
    )


def _whole(mnests: list[dict[str, Any]], places: dict[str, tuple[float, float]], names: list[str]) -> dict[str, Any]:
    traffic = dict.fromkeys(places, 0.0)
    for each in mnests:
        traffic[each["source"]] += each["weight"]
        traffic[each["target"]] += each["weight"]
    nodes = [{"name": name, "state": "active" if name in names else "wished", "purpose": f"Do {name}.",
              "traffic": round(traffic[name], 4), "uses": 3, "x": x, "y": y}
             for name, (x, y) in places.items()]  # fmt: skip
    mnests.sort(key=lambda each: -each["weight"])
    return {
        "as_of": WHEN,
        "nodes": nodes,
        "mnests": mnests,
        "tags": list(_TAGS),
        "months": MONTHS,
        "total": len(mnests),
    }


def small() -> dict[str, Any]:
    """A few, one of them evil, one a wish."""
    names = ["request", "find_files", "read_text", EVIL]
    one = {"id": MNEST, "source": "find_files", "target": "read_text", "state": "active", "weight": 0.55, "uses": 7,
           "last_used": WHEN, "tags": ["invoice", EVIL], "proto": False}  # fmt: skip
    wish = one | {
        "id": "01WISH",
        "source": "read_text",
        "target": "wish_me",
        "state": "proto",
        "weight": 0.3,
        "tags": [],
    }
    evil = one | {"id": "01EVIL", "source": EVIL, "target": "find_files", "state": "decaying", "weight": 0.1, "uses": 1}
    asked = one | {
        "id": "01ASKED",
        "source": "request",
        "target": "find_files",
        "state": "seed",
        "weight": 0.2,
        "tags": [],
    }
    places = {name: _place(number, 1, 5) for number, name in enumerate([*names, "wish_me"])}
    found = _whole([one, wish, evil, asked], places, names)
    found["nodes"][0]["state"], found["nodes"][1]["state"], found["nodes"][2]["state"] = (
        "request",
        "active",
        "quarantine",
    )
    return found


def _event(day: int, kind: str, weight: float, **more: Any) -> dict[str, Any]:
    return {"ts": f"2026-02-{day:02d}T09:00:00.000Z", "kind": kind, "delta": 0.15, "weight_before": 0.1,
            "weight_after": weight,
            "new_state": None, "reason": "ager nightly", "turn": None} | more  # fmt: skip


_FADING = [0.3 * math.exp(-0.018 * day) + (0.15 if day > 7 else 0) for day in range(60)]
_ONE = next(each for each in small()["mnests"] if each["id"] == MNEST) | {
    "from_version": "1.0.0", "to_version": "1.2.0", "decay_lambda": 0.018, "signature": {}, "events_total": 9,
    "first": "2026-02-01T09:00:00.000Z",
    "events": [
        _event(1, "reinforce", 0.3, new_state="active", reason=EVIL, turn="01TURN"),
        *(_event(day, "decay", 0.3 - 0.005 * day) for day in range(2, 8)),
        _event(8, "reinforce", 0.41, reason="passed", turn="01TURN"),
        _event(20, "state_change", 0.19, new_state="decaying"),
    ],
    "weights": [[f"2026-{2 + day // 28:02d}-{1 + day % 28:02d}T09:00:00.000Z", weight]
                for day, weight in enumerate(_FADING)],
}  # fmt: skip

# -- fast paths

_PATH = {"id": "a1b2c3d4e5f6", "level": 1, "state": "active", "tools": ["find_files"],
         "said": f"find <files> in {EVIL}", "state_words": "", "reason": "right often enough", "passes": 6, "agreed": 9,
         "disagreed": 0, "hits": 41, "wrong": 0,
         "plan_ms": 812.0, "plan_usd": 0.0012}  # fmt: skip
PATHS = [
    _PATH,
    _PATH | {"id": "ffeedd", "level": 2, "state": "shadow", "tools": ["find_files", "extract_text"], "hits": 0,
             "said": "what do the PDFs say"},
    _PATH | {"id": "0badbad", "state": "demoted", "tools": ["move_files"], "said": "tidy up", "hits": 3, "wrong": 1},
    _PATH | {"id": "cand", "state": "candidate", "tools": ["count_words"], "said": "count words", "hits": 0,
             "passes": 1},
]  # fmt: skip
_WHOLE_PATH = _PATH | {
    "executors": [{"name": "find_files", "version": "1.0.0"}],
    "forms": [{"form": "find <files> in <folder>", "said": f"find <files> in {EVIL}", "uses": 5}],
    "events": [{"ts": WHEN, "kind": "hit", "turn": "01TURN", "probability": 0.99, "saved_ms": 640.0, "saved_usd": 0.001,
                "reason": EVIL}],
    "earlier": 3,
}  # fmt: skip
SAVINGS = {
    "last_days": 30, "turns": 120, "hits": 61, "wrong": 1, "saved_ms": 48_210.0, "saved_usd": 0.0731, "bound": 0.01,
    "ways": [{"path": "fast", "turns": 61, "plan_ms": 120.0, "usd": 0.0},
             {"path": "model", "turns": 59, "plan_ms": 51_000.0, "usd": 0.07}],
    "days": [{"day": f"2026-04-{day:02d}", "hits": 1 + day % 6, "wrong": int(day == 9), "ms": 700.0 * (1 + day % 6),
              "usd": 0.001 * (1 + day % 6)} for day in range(1, 21) if day % 5],
}  # fmt: skip

# -- memory

EPISODE = {"id": "01EPISODE", "kind": "episode", "type": "note", "text": f"The spare key is under the mat.\n{EVIL}",
           "when": WHEN, "about": "home", "visible_to": "owner", "curiosity": 0.4, "importance": None,
           "verdict": "verified",
           "feeling": "even", "replayed": 1, "useful": 2, "pinned": False, "tags": ["keys", EVIL]}  # fmt: skip
FACT = {"id": "01FACT", "kind": "fact", "type": "procedural", "text": f"PDFs are looked for in ~/papers. {EVIL}",
        "about": "files", "confidence": 0.74, "standing": "active", "provenance": "self", "episodes": 4,
        "created": WHEN,
        "reinforced": WHEN, "fades": "slow", "shown": 3, "helped": 2, "harmed": 0, "feeling": "even", "pinned": True,
        "tags": []}  # fmt: skip
_FOUND = {"score": 0.62, "signals": {}, "found_by": ["words"], "why": ["found by words; passed: coverage", EVIL],
          "factors": {"semantic": 0.91, "recency": 0.4, "importance": 0.55, "affect": 0.5, "discount": 1.0,
                      "boost": 1.0},
          "confidence": None}  # fmt: skip
_SEARCHED = {"notes": [f"It may be no answer. {EVIL}"], "found": [
    {name: FACT[name] for name in ("id", "kind", "text", "pinned")} | _FOUND | {"when": WHEN, "confidence": 0.74},
    {name: EPISODE[name] for name in ("id", "kind", "text", "pinned", "when")} | _FOUND | {"score": 0.31},
]}  # fmt: skip
_CURVE = [[f"2026-{4 + day // 28:02d}-{1 + day % 28:02d}T00:00:00.000Z", 0.74 * 2 ** (-day / 60)] for day in range(180)]
PLAN = "ab" * 32
_MEMORY: dict[str, Any] = {
    "/api/memory/search": _SEARCHED,
    "/api/memory/episodes": {"episodes": [EPISODE, EPISODE | {"id": "01OTHER", "text": "Asked for PDFs."}], "next": 17,
                             "total": 5210},
    "/api/memory/episodes/01EPISODE": EPISODE,
    "/api/memory/facts": {"facts": [FACT, FACT | {"id": "01DOUBT", "confidence": 0.31, "pinned": False}], "total": 2,
                          "next": "01DOUBT"},
    "/api/memory/facts/01FACT": FACT | {"curve": _CURVE, "curve_of": "ahead", "contradicts": ["01DOUBT"],
                                        "sources": [EPISODE]},
    "/api/memory/playbook": {"text": f"# Playbook\n\n## Learned\n\n- {EVIL}", "learned": [
        {"fact": "01FACT", "strategy": "s", "text": f"For PDFs: ~/papers. {EVIL}"}],
        "history": [{"id": 2, "ts": WHEN, "by": "curator", "why": EVIL}]},
    "/api/memory/playbook/2": {"version": 2, "diff": f"--- a\n+++ b\n@@ -1 +1 @@\n-old\n+{EVIL}"},
    "/api/memory/tiers": {"files": [{"name": "SOUL.md", "text": EVIL, "there": True, "cut": False},
                                    {"name": "USER.md", "text": "", "there": False, "cut": False}]},
    "/api/memory/reports": {"reports": [
        {"id": 2, "kind": "dream", "ts": WHEN, "said": "3 gone through again, 1 recombination",
         "data": {"replayed": 3}},
        {"id": 1, "kind": "curator", "ts": WHEN, "said": EVIL, "data": {"judged": 7, "why": EVIL}}], "runs": []},
    "/api/memory/stats": {"episodes": 5210, "engine": "sqlite", "facts: pattern": 3, "facts: procedural": 4,
                          "facts in quarantine": 2, "patterns refused": 1, "lines in the playbook": 2,
                          "mood": "content, relaxed (+0.20, -0.10, +0.10)", "embedder": "healthy"},
}  # fmt: skip

ANSWERS: dict[str, Any] = _MEMORY | {
    "/api/mnestome": small(),
    f"/api/mnestome/{MNEST}": _ONE,
    "/api/fastpaths": {"paths": PATHS, "bound": 0.01},
    "/api/fastpaths/a1b2c3d4e5f6": _WHOLE_PATH,
    "/api/savings": SAVINGS,
}


class Knowing(Api):
    """A stand-in that also knows how much of a graph is asked for, and what forgetting would take."""

    def __init__(self) -> None:
        super().__init__(SHELL | ANSWERS)

    async def _answer(self, request: Request) -> Response:
        path = request.url.path
        if request.method == "GET" and path == "/api/mnestome":
            return JSONResponse(self._graph(request))
        if request.method == "POST" and path in ANSWERS_TO_POSTS:
            self.posts.append((path, await request.json()))
            return JSONResponse(ANSWERS_TO_POSTS[path])
        return await super()._answer(request)

    def _graph(self, request: Request) -> dict[str, Any]:
        found, limit = self.answers["/api/mnestome"], int(request.query_params.get("limit", "5000"))
        if request.query_params.get("month") in MONTHS:  # an earlier month knew less
            found = found | {"mnests": found["mnests"][: len(found["mnests"]) // 2]}
        return dict(found | {"mnests": found["mnests"][:limit]})


ANSWERS_TO_POSTS: dict[str, Any] = {
    "/api/memory/forget/plan": {
        "plan": PLAN, "empty": False, "episodes": [EPISODE], "facts": [FACT], "weakened": [FACT],
        "counts": {"episodes": 3, "facts": 1, "weakened": 1, "turns": 2}, "yours": ["USER.md"],
    },
    "/api/memory/forget": {"counts": {"episodes": 3}, "said": "3 episodes, 1 fact", "still": [f"notes {EVIL}"]},
}  # fmt: skip
