"""An event of the world outside, before it is remembered: what kind, of what, when, with which numbers.

Rules: an event is known by its source, so taking the same one in twice makes one episode. Its text is made of names of
the pack, numbers and addresses, never of words that somebody wrote into a transaction: those stay in the payload, as
data. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from metnos.grimoire.domain import EVENT, MEASURES, Domain
from metnos.grimoire.episode import Episode, Scope

KIND = "observation"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. ``about`` is what it is consolidated with, such as a protocol."""

    kind: str
    about: str
    source: str
    ts: datetime
    text: str
    payload: Mapping[str, Any] = field(default_factory=dict)


def measures_of(event: Event, pack: Domain) -> dict[str, float]:
    """The event's numbers, by the names that the pack gives them."""
    found = {name: event.payload.get(place) for name, place in pack.measures.items()}
    return {
        name: float(value)
        for name, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def episode_of(event: Event, key: str, pack: Domain, curiosity: float) -> Episode:
    """The event as it is remembered: the agent's own observation, verbatim."""
    payload = {**event.payload, EVENT: event.kind, MEASURES: measures_of(event, pack)}
    return Episode(
        id=key,
        ts=event.ts,
        text=event.text,
        source=event.source,
        kind=KIND,
        payload=payload,
        scope=Scope.AGENT,
        domain=event.about,
        tags=(event.kind,),
        curiosity=curiosity,
    )
