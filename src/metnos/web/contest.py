"""Who brings a goal nearer: an arena of executors, as bars to both sides of nothing.

Rules: pure. The longest bar is the greatest fitness of the arena, whichever side it is on; who was not used for this
has none. A place has one word, one tone and one sentence, here and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metnos.web.catalog import listed, number, signed

PLACES = {
    "fit": ("helps", "good"),
    "neutral": ("not known", ""),
    "unfit": ("hinders", "bad"),
    "hidden": ("hidden", "warn"),
    "disabled": ("switched off", ""),
    "quarantined": ("quarantined", "bad"),
    "archived": ("put away", ""),
    "extinct": ("revoked", "bad"),
}
_WHY = {
    "unfit": "it mostly failed lately, so planners do not see it",
    "unproven": "nobody could tell whether it was any good, so planners do not see it",
    "dormant": "it was not used for a long time, so planners do not see it",
}
_HALF = 50.0  # of the width: nothing is in the middle


@dataclass(frozen=True, slots=True)
class Bar:
    """One executor: where its bar begins and how long it is, in hundredths of the width."""

    name: str
    version: str
    word: str
    tone: str
    value: str
    begin: float
    length: float
    good: bool
    uses: int
    trials: int
    strikes: int
    why: str
    builtin: bool


def bars(arena: Mapping[str, Any]) -> list[Bar]:
    """The executors of an arena, in the order in which the API gives them."""
    known = listed(arena.get("executors"))
    most = max((abs(number(each.get("fitness"))) for each in known if each.get("signals")), default=0.0) or 1.0
    return [_bar(each, most) for each in known]


def _bar(each: Mapping[str, Any], most: float) -> Bar:
    known = bool(each.get("signals"))
    value = number(each.get("fitness")) if known else 0.0
    length = round(_HALF * abs(value) / most, 2)
    word, tone = PLACES.get(str(each.get("state")), (str(each.get("state") or ""), ""))
    why = str(each.get("why") or "")
    return Bar(
        name=str(each.get("name") or ""),
        version=str(each.get("version") or ""),
        word=word,
        tone=tone,
        value=signed(value) if known else "",
        begin=_HALF if value >= 0 else _HALF - length,
        length=length,
        good=value >= 0,
        uses=int(number(each.get("uses"))),
        trials=int(number(each.get("signals"))),
        strikes=int(number(each.get("strikes"))),
        why=_WHY.get(why, why),
        builtin=each.get("origin") == "builtin",
    )
