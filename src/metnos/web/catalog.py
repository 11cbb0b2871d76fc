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
    "active": Standing("ready", "good", "It is signed and can run."),
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
MAY = {  # what a capability means
    "fs.read": "read",
    "fs.write": "change what is in",
    "net.http": "speak to",
    "shell.exec": "start",
    "model.chat": "ask the language model at",
    "system.read": "look at this machine's",
    "executor.call": "call",
}


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
    """Those of a tab in which every word of ``text`` occurs: what is in trouble first, then what is used most."""
    wanted = text.casefold().replace("_", " ").split()
    some = [each for each in executors if view_of(each, view) and all(word in said(each) for word in wanted)]
    return sorted(
        some, key=lambda each: (not view_of(each, "trouble"), -number(each.get("uses")), str(each.get("name")))
    )


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


def worth(value: Any) -> tuple[str, str]:
    """A fitness in words and its tone: a sum says little by itself."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value:
        return "nobody could tell whether it helps", ""
    return (f"helps {signed(value)}", "good") if value > 0 else (f"hinders {signed(value)}", "bad")


def signed(value: float) -> str:
    """A sum with its sign; the minus is as wide as the plus."""
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def hidden(each: Facts) -> str:
    """Why planners do not see it, or nothing."""
    why = each.get("hidden")
    return "" if not why else _HIDDEN.get(str(why), str(why))


def goals(each: Facts) -> list[dict[str, Any]]:
    """What it is worth for each kind of goal, the best first, each with its part of the greatest."""
    known = [one for one in listed(each.get("goals")) if isinstance(one, Mapping)]
    known.sort(key=lambda one: -number(one.get("fitness")))
    most = max((abs(number(one.get("fitness"))) for one in known), default=0.0) or 1.0
    return [
        {
            "goal": str(one.get("goal") or "what has no name"),
            "named": bool(one.get("goal")),
            "value": signed(number(one.get("fitness"))) if one.get("signals") else "not known yet",
            "uses": words.counted(one.get("uses"), "use"),
            "part": abs(number(one.get("fitness"))) / most,
            "tone": "bad" if number(one.get("fitness")) < 0 else "",
        }
        for one in known
    ]


def neighbours(each: Facts) -> dict[str, list[Facts]]:
    """Who feeds it and whom it feeds, the strongest first."""
    own, known = each.get("name"), sorted(listed(each.get("neighbours")), key=lambda one: -number(one.get("weight")))
    return {
        "before": [one | {"name": one["source"]} for one in known if one["target"] == own],
        "after": [one | {"name": one["target"]} for one in known if one["source"] == own],
    }


def allowed(text: str) -> str:
    """What was allowed in advance, without the names that only the rules know."""
    for capability, meaning in MAY.items():
        text = text.replace(f" may {capability} ", f" may {meaning} ", 1)
    return text


def number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
