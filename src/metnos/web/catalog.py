"""Executors, told to somebody who has never read a line about them: the list, and one of them whole.

Rules: pure; sorts what the API says into what a page shows. What the API leaves out is left out, and nothing that an
executor says of itself is more than text. A state has one word, one tone and one sentence, here and nowhere else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.web import words

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """A state of an executor in words."""

    word: str
    tone: str
    says: str


STATES = {
    "draft": Standing("draft", "", "Nobody has signed it, so it cannot run."),
    "seed": Standing("on trial", "accent", "It is signed and can run; it has yet to prove itself."),
    "active": Standing("in use", "good", "It is signed and can run."),
    "disabled": Standing("switched off", "", "You switched it off. It cannot run until you switch it on."),
    "quarantine": Standing("quarantined", "bad", "Metnos stopped it, because it was changed or kept failing."),
    "archived": Standing("put away", "", "It is kept and not used. You can bring it back."),
    "revoked": Standing("revoked", "bad", "It can never run again. Only its files are left."),
}
USABLE = ("active", "seed")
VIEWS = {  # which executors a tab shows, and its name
    "": "All",
    "usable": "Can run",
    "mine": "Not built in",
    "off": "Off",
    "trouble": "In trouble",
}
_HIDDEN = {
    "unfit": "it mostly failed lately",
    "unproven": "nobody could tell whether it was any good",
    "dormant": "it was not used for a long time",
}
_MOST = 12  # neighbours, goals: more than these are a list that nobody reads


def view_of(each: Facts, view: str) -> bool:
    """Whether an executor belongs to a tab."""
    state = str(each.get("state", ""))
    if view == "usable":
        return state in USABLE
    if view == "mine":
        return not is_builtin(each)
    if view == "off":
        return state not in USABLE
    return not view or bool(state == "quarantine" or each.get("strikes") or each.get("problems"))


def found(executors: Iterable[Facts], view: str, text: str) -> list[Facts]:
    """Those of a tab in which every word of ``text`` occurs."""
    wanted = text.casefold().replace("_", " ").split()
    return [each for each in executors if view_of(each, view) and all(word in said(each) for word in wanted)]


def said(each: Facts) -> str:
    """What a search looks at."""
    parts = [str(each.get(key) or "") for key in ("name", "purpose", "kind")]
    return " ".join([*parts, standing(each).word]).casefold().replace("_", " ")


def tabs(executors: Iterable[Facts], text: str) -> list[tuple[str, str, int]]:
    """Each tab with how many it would show."""
    known = list(executors)
    return [(view, name, len(found(known, view, text))) for view, name in VIEWS.items()]


def standing(each: Facts) -> Standing:
    state = str(each.get("state", ""))
    return STATES.get(state, Standing(state, "", ""))


def is_builtin(each: Facts) -> bool:
    return bool(each.get("builtin"))


def worth(value: Any, uses: Any = 0) -> tuple[str, str]:
    """A fitness in words and its tone: a sum says little by itself."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ("never used", "") if not uses else ("nobody could tell", "")
    if value > 0:
        return f"{value:+.2f}", "good"
    return (f"{value:+.2f}", "bad") if value < 0 else ("not known yet", "")


def hidden(each: Facts) -> str:
    """Why planners do not see it, or nothing."""
    why = each.get("hidden")
    return "" if not why else _HIDDEN.get(str(why), str(why))


def goals(each: Facts) -> list[dict[str, Any]]:
    """What it is worth for each kind of goal, the best first, each with its part of the greatest."""
    known = [one for one in listed(each.get("goals") or each.get("fitness")) if isinstance(one, Mapping)]
    known.sort(key=lambda one: -number(one.get("fitness")))
    most = max((abs(number(one.get("fitness"))) for one in known), default=0.0) or 1.0
    return [
        {
            "goal": str(one.get("goal") or "what has no name"),
            "named": bool(one.get("goal")),
            "value": f"{number(one.get('fitness')):+.2f}" if one.get("signals") else "not known yet",
            "uses": words.counted(one.get("uses"), "use"),
            "part": abs(number(one.get("fitness"))) / most,
            "tone": "bad" if number(one.get("fitness")) < 0 else "",
        }
        for one in known[:_MOST]
    ]


def neighbours(each: Facts) -> dict[str, list[dict[str, Any]]]:
    """Who feeds it and whom it feeds, the strongest first."""
    sides: dict[str, list[dict[str, Any]]] = {"before": [], "after": []}
    own = str(each.get("name", ""))
    for one in listed(each.get("neighbours")):
        if not isinstance(one, Mapping):
            continue
        other, comes = _other(one, own)
        sides["before" if comes else "after"].append(
            {"name": other, "weight": number(one.get("weight")), "uses": one.get("uses"), "id": one.get("id"),
             "wished": bool(one.get("proto"))}
        )  # fmt: skip
    return {side: sorted(found, key=lambda one: -one["weight"])[:_MOST] for side, found in sides.items()}


def _other(one: Facts, own: str) -> tuple[str, bool]:
    """The executor at the other end, and whether it comes before."""
    if one.get("name"):
        way = str(one.get("direction") or one.get("way") or "")
        return str(one["name"]), way in ("in", "before", "from", "source")
    source, target = str(one.get("source") or ""), str(one.get("target") or "")
    return (source, True) if target == own else (target, False)


def number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
