"""Changing what is remembered over HTTP: tell, pin, forget.

Rules: only the owner does any of it. Forgetting takes two steps: a plan says what would go, and only that very plan is
carried out; if anything was remembered or changed in between that belongs to it, it is refused and shown anew.
"""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field, StringConstraints

from metnos.api.http.errands import Changed
from metnos.api.http.home import TheViewer
from metnos.api.http.inside import PROBLEMS, Body, House, Owner
from metnos.api.http.memory import Event, Known, event, find, known
from metnos.app import keeping, remembered
from metnos.app.remembered_words import told
from metnos.core.errors import UsageError
from metnos.grimoire.episode import Episode, Viewer
from metnos.grimoire.forget import Plan
from metnos.turn.request import LONGEST

router = APIRouter(prefix="/api/memory", tags=["memory"], responses=PROBLEMS)

_SHOWN = 200  # of what would go; the rest is counted

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{4,64}$")]


class Told(Body):
    """Something to remember, in the owner's own words."""

    text: str = Field(min_length=1, max_length=LONGEST)
    tags: list[Annotated[str, StringConstraints(min_length=1, max_length=60)]] = Field(default=[], max_length=20)


class Pinned(Body):
    id: Key
    pinned: bool = True


class Meant(Body):
    """What to forget: everything that holds these words, or these memories."""

    words: str = Field("", max_length=500)
    ids: list[Key] = Field(default=[], max_length=500)


class Sure(Meant):
    """The same, and the plan that was shown."""

    plan: str = Field(pattern=r"^[0-9a-f]{64}$")
    sure: Literal[True]


class WouldGo(BaseModel):
    """What would go, and what would stay but be believed less."""

    plan: str = Field(description="Send it back to have exactly this forgotten.")
    empty: bool
    episodes: list[Event]
    facts: list[Known]
    weakened: list[Known]
    counts: dict[str, int]
    yours: list[str] = Field(description="Files of the owner's own that say it too, and stay.")


class Gone(BaseModel):
    """What was forgotten, for good."""

    counts: dict[str, int]
    said: str
    still: list[str] = Field(description="Files of the workspace that still hold the words.")


@router.post("/add", summary="Remember something", status_code=201)
def add(house: House, _by: Owner, said: Told) -> Event:
    return event(remembered.note(house, said.text, tuple(said.tags)))


@router.post("/pin", summary="Keep a memory from fading, or let it fade again")
def pin(house: House, _by: Owner, viewer: TheViewer, said: Pinned) -> Event | Known:
    found = find(house, said.id, viewer)
    keeping.pin(house, found, pinned=said.pinned)
    now = find(house, found.id, viewer)
    return event(now) if isinstance(now, Episode) else known(now)


@router.post("/forget/plan", summary="What would be forgotten")
def plan(house: House, _by: Owner, viewer: TheViewer, meant: Meant) -> WouldGo:
    made = _plan(house, viewer, meant)
    episodes, facts = house.grimoire.episodes, house.grimoire.facts
    return WouldGo(
        plan=remembered.digest_of(made),
        empty=made.is_empty,
        episodes=[event(each) for each in episodes.get(made.episodes[:_SHOWN])],
        facts=[known(each) for each in facts.get(made.facts[:_SHOWN])],
        weakened=[known(each) for each in facts.get(made.weakened[:_SHOWN])],
        counts={
            "episodes": len(made.episodes),
            "facts": len(made.facts),
            "weakened": len(made.weakened),
            "turns": len(made.sources),
        },
        yours=list(made.yours),
    )


@router.post("/forget", summary="Forget what a plan named, for good")
def forget(house: House, by: Owner, viewer: TheViewer, meant: Sure) -> Gone:
    made = _plan(house, viewer, meant)
    if remembered.digest_of(made) != meant.plan:
        raise Changed(
            "what would be forgotten is not what was shown any more", fix="Look at it again, and then say yes."
        )
    if made.is_empty:
        raise UsageError("nothing that is remembered holds that", fix="Name something else.")
    gone = keeping.forget(house, made, by).counts()
    still = dict.fromkeys((*made.yours, *keeping.still_says(house, meant.words)))
    return Gone(counts=gone, said=told({name: each for name, each in gone.items() if name != "traces"}), still=[*still])


def _plan(house: House, viewer: Viewer, meant: Meant) -> Plan:
    words = meant.words.strip()
    if not words and not meant.ids:
        raise UsageError("nothing was named", fix="Say which words or which memories to forget.")
    return keeping.forgetting(house).plan(words, [find(house, each, viewer).id for each in meant.ids])
