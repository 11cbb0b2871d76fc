"""The mnestome over HTTP: the graph on its map, now or in an earlier month, and one mnest with its weight over time."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from metnos.api.http.inside import KEPT, PROBLEMS, House, Id, Missing, Who
from metnos.app import ageing, mnests
from metnos.app.mnests import Wanted
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.mnestome import lists
from metnos.mnestome.curve import curve
from metnos.mnestome.lists import Change
from metnos.mnestome.rules import State

router = APIRouter(prefix="/api/mnestome", tags=["mnestome"], responses=PROBLEMS)

_MOST = 20_000  # mnests of one graph: some megabytes
_EVENTS = 500


class Node(BaseModel):
    """An executor, or what is wished for, by name."""

    name: str
    state: str = Field(description="Of the executor; or `wished`, `request`, or `gone` for what is no more.")
    purpose: str
    traffic: float = Field(description="The weights of what goes in and out of it, together.")
    uses: int
    x: float = Field(ge=-1, le=1)
    y: float = Field(ge=-1, le=1)


class Mnest(BaseModel):
    """One passing and how strongly it is remembered."""

    id: str
    source: str
    target: str
    state: str
    weight: float
    uses: int
    last_used: str
    tags: list[str]
    proto: bool = Field(description="Whether it is a wish: the target does not exist.")
    signature: dict[str, Any] = Field(default_factory=dict, description="What was wished for.")


class Graph(BaseModel):
    """The graph, or the part of it that was asked for: the heaviest mnests first."""

    as_of: str
    nodes: list[Node]
    mnests: list[Mnest]
    tags: list[str]
    months: list[str] = Field(description="The earlier months that there are.")
    total: int = Field(description="How many mnests fit, of which `mnests` are at most `limit`.")


class Happened(BaseModel):
    """Something that happened to a mnest."""

    ts: str
    kind: str
    weight_before: float
    weight_after: float
    delta: float | None
    new_state: str | None
    reason: str
    turn: str | None


class One(Mnest):
    """A mnest, all that happened to it, and what it weighed at each moment until now."""

    from_version: str
    to_version: str | None
    first: str
    decay_lambda: float
    events: list[Happened] = Field(description="The oldest first; of very many, the last.")
    events_total: int
    weights: list[tuple[str, float]]


@router.get("", summary="The graph", response_model=Graph, openapi_extra=KEPT)
def graph(
    house: House,
    _who: Who,
    state: Annotated[list[State] | None, Query(max_length=10)] = None,
    tag: Annotated[str, Query(max_length=100)] = "",
    min_weight: Annotated[float, Query(ge=0, le=1)] = 0.0,
    since: Annotated[datetime | None, Query(description="Only what was used since then.")] = None,
    month: Annotated[str, Query(pattern=r"^(\d{4}-\d{2})?$", description="As it was in this month.")] = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 5000,
) -> Response:
    moment = since.replace(tzinfo=UTC) if since is not None and since.tzinfo is None else since
    wanted = Wanted(tuple(state or ()), tag, min_weight, moment, month, limit)
    try:
        found = mnests.graph(house, wanted)
    except UsageError as error:  # there is no such month
        raise Missing(error.what, fix=error.fix) from error
    # Thousands of records: what was just made is not checked against the model once more.
    body = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(body, media_type="application/json")


@router.get("/{id}", summary="One mnest", openapi_extra=KEPT)
def one(house: House, _who: Who, id: Id) -> One:  # noqa: A002 -- the name in the path
    """With its history. The beginning or the end of its id is enough."""
    db, now = house.catalog.db, house.clock.now()
    try:
        found = lists.find(db, id)
    except UsageError as error:
        raise Missing(error.what, fix=error.fix) from error
    told = lists.history(db, found.id, ageing.past(house))
    events = [each.event for each in told]
    return One(
        id=found.id,
        source=found.src,
        target=found.dst,
        state=found.state,
        weight=round(found.at(now), 4),
        uses=mnests.uses(found),
        last_used=to_text(found.used),
        tags=list(found.tags),
        proto=found.state is State.PROTO,
        signature=dict(found.signature),
        from_version=found.src_version,
        to_version=found.dst_version,
        first=to_text(found.first),
        decay_lambda=found.decay_lambda,
        events=_happened(told)[-_EVENTS:],
        events_total=len(told),
        weights=[(to_text(moment), round(weight, 4)) for moment, weight in curve(events, now)],
    )


def _happened(told: list[Change]) -> list[Happened]:
    found, before = list[Happened](), 0.0
    for each in told:
        event, after = each.event, round(each.weight, 6)
        found.append(
            Happened(
                ts=to_text(event.ts),
                kind=event.kind,
                weight_before=before,
                weight_after=after,
                delta=event.delta,
                new_state=each.new_state,
                reason=event.reason,
                turn=each.turn,
            )
        )
        before = after
    return found
