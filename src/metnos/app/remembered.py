"""What is remembered, for whoever shows it: as plain data, one by a part of its id, in pages, and how belief fades.

Rules: reads only, but for `note`. Whoever looks sees what they may see (`Viewer`); without one, everything, which is
for the owner.
"""

import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from metnos.app import keeping, retired
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.core.workspace import LONG_MEMORY
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Episode, Scope, Viewer, Where
from metnos.grimoire.fact import Fact, Standing
from metnos.grimoire.facts_rows import Which
from metnos.grimoire.forget import Plan
from metnos.grimoire.recall import Memory
from metnos.turn.request import LONGEST

if TYPE_CHECKING:
    from metnos.app.house import App

_LETTERS = 4  # of an id, at least
_RECENT = 5000  # episodes among which the last letters of an id are enough
_FIX = "Find it: metnos memory search <words>"
_LIVES = 3.0  # half-lives that a curve looks ahead: an eighth is left then
_AHEAD = 730.0  # days that it looks ahead at most
_STILL = 90.0  # days, for what does not fade
_FILE = 400_000  # characters of a file that are shown


# -- telling


def note(app: "App", text: str, tags: Sequence[str] = ()) -> Episode:
    """Remember what the owner says."""
    retired.refuse_dead(app)
    words = text.strip()
    if not words:
        raise UsageError("there is nothing to remember", fix="Say what: metnos memory add <words>")
    if len(words) > LONGEST:
        raise UsageError(f"this is longer than {LONGEST:,} characters", fix="Keep it in a file, and remember where.")
    if any(unicodedata.category(char) == "Cs" for char in words):  # bytes that the shell handed over and no letter has
        raise UsageError("this is no text", fix="Say it in words, or keep it in a file, and remember where.")
    return app.grimoire.add(words, tags)


# -- as data


def found(memory: Memory) -> dict[str, Any]:
    """A memory that was recalled, with what speaks for it."""
    return whole(memory.of) | {"why": memory.why(), "score": round(memory.factors.score, 4)}


def whole(of: Episode | Fact) -> dict[str, Any]:
    """An episode or a fact."""
    feeling = keeping.feeling(of.pad)
    if isinstance(of, Episode):
        return {
            "id": of.id,
            "text": of.text,
            "kind": of.kind,
            "when": to_text(of.ts),
            "about": of.domain,
            "for": str(of.scope),
            "curiosity": round(of.curiosity, 3),
            "importance": None if of.importance is None else round(of.importance, 3),
            "verdict": str(of.verdict),
            "feeling": feeling,
            "replayed": of.replays,
            "useful": of.used,
            "pinned": of.pinned,
            "tags": ", ".join(of.tags),
        }
    return {
        "id": of.id,
        "text": of.text,
        "kind": str(of.kind),
        "about": of.domain,
        "confidence": round(of.confidence, 3),
        "standing": str(of.standing),
        "from": str(of.provenance),
        "episodes": of.episode_count,
        "reinforced": to_text(of.reinforced),
        "fades": str(of.decay),
        "shown": of.shown,
        "helped": of.helped,
        "harmed": of.harmed,
        "feeling": feeling,
        "pinned": of.pinned,
    }


# -- finding


def find(app: "App", part: str) -> Episode | Fact:
    """The one memory whose id is so, or ends so: of episodes, only the recent ones."""
    wanted = part.strip().upper()
    if len(wanted) < _LETTERS:  # one letter fits something by chance, and this also serves to forget
        raise UsageError(f"{part!r} is too short for an id", fix=f"Give at least {_LETTERS} letters. {_FIX}")
    facts = [each for each in app.grimoire.facts.find(standings=tuple(Standing), count=-1) if each.id.endswith(wanted)]
    named = app.grimoire.episodes.get([wanted])
    recent = app.grimoire.episodes.select(Where(), count=_RECENT, newest_first=True) if not named else ()
    fitting: list[Episode | Fact] = [*named, *(each for each in recent if each.id.endswith(wanted)), *facts]
    if len(fitting) != 1:
        how_many = "more than one" if fitting else "no"
        raise UsageError(f"{how_many} memory has an id like {part!r}", fix=_FIX)
    return fitting[0]


def exactly(app: "App", key: str, viewer: Viewer | None = None) -> Episode | Fact | None:
    """The memory with this very id, if whoever looks may see it."""
    named: list[Episode | Fact] = [*app.grimoire.facts.get([key]), *app.grimoire.episodes.get([key])]
    return next((each for each in named if viewer is None or _sees(viewer, each)), None)


def _sees(viewer: Viewer, of: Episode | Fact) -> bool:
    """As the stores say it for lists, but that no conversation goes on here."""
    if of.scope in (Scope.SENDER, Scope.SESSION):
        return of.sender == viewer.sender
    return of.scope is Scope.SHARED or viewer.is_owner


def facts(app: "App", which: Which, after: str, count: int) -> tuple[list[Fact], int]:
    """A page of facts, the most believed first, beyond the fact ``after``; and how many there are in all."""
    where, values = which.sql()
    sql = f"SELECT f.id FROM facts f WHERE {where} ORDER BY f.confidence DESC, f.seq"  # noqa: S608 -- our own words
    ids = [key for (key,) in app.grimoire.facts.db.query(sql, values)]
    start = ids.index(after) + 1 if after in ids else 0 if not after else len(ids)
    return app.grimoire.facts.get(ids[start : start + count]), len(ids)


# -- belief over time


def belief(fact: Fact, now: datetime, points: int = 60) -> list[tuple[datetime, float]]:
    """How far a fact is believed from when it was last weighed on, if nothing confirms or contradicts it.

    What it was before is not recorded: a fact keeps what it is believed now and no history of it.
    """
    curve = fact_rules.half_life(fact)
    days = _STILL if curve is None else min(_AHEAD, _LIVES * curve.days)
    begin, end = min(fact.applied, now), max(fact.applied, now) + timedelta(days=days)
    moments = [begin + (end - begin) * (number / (points - 1)) for number in range(points)]
    return [(moment, fact_rules.faded(fact, moment).confidence) for moment in moments]


# -- long memory


def files(app: "App") -> list[dict[str, Any]]:
    """The texts of long memory, as they lie in the workspace."""
    shown = []
    for name in LONG_MEMORY:
        path = app.workspace.root / name
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                text, there = file.read(_FILE), True
        except OSError:
            text, there = "", False
        shown.append({"name": name, "text": text, "there": there, "cut": len(text) == _FILE})
    return shown


# -- forgetting


def digest_of(plan: Plan) -> str:
    """What identifies a plan: another one, even by a single turn, is another."""
    return sha256_hex(
        canonical_json([plan.query, *map(list, (plan.episodes, plan.facts, plan.weakened, plan.sources))])
    )
