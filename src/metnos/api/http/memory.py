"""What is remembered over HTTP, for looking: search with what speaks for each, episodes, facts, playbook, reports.

Rules: looking changes nothing and strengthens nothing. A program sees its own memories and what is shared; what the
owner wrote and what models are told is shown on the owner's own page only.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from metnos.api.http.home import AtHome, TheViewer
from metnos.api.http.inside import KEPT, PROBLEMS, House, Id, Limit, Missing, Who
from metnos.app import keeping, remembered
from metnos.app import night as building
from metnos.app.remembered_words import came_of
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.grimoire.episode import Episode, Viewer, Where
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts_rows import Which
from metnos.grimoire.recall import Memory
from metnos.grimoire.reports import KINDS, Reports
from metnos.night.records import Runs

router = APIRouter(prefix="/api/memory", tags=["memory"], responses=PROBLEMS)

_SOURCES = 50  # episodes of a fact that are shown
_JOBS = ("curator", "dream")
AHEAD = "ahead"

Version = Annotated[int, Path(ge=1, le=1 << 31)]


class Event(BaseModel):
    """An episode: what happened, verbatim."""

    id: str
    kind: str = "episode"
    type: str = Field(description="`turn`, `note`, `message`, `observation` or `report`.")
    text: str
    when: str
    about: str
    visible_to: str
    curiosity: float
    importance: float | None = Field(description="Nothing: not judged yet.")
    verdict: str
    feeling: str
    replayed: int
    useful: int
    pinned: bool
    tags: list[str]


class Known(BaseModel):
    """A fact: what several episodes taught, and how far it is believed."""

    id: str
    kind: str = "fact"
    type: str
    text: str
    about: str
    confidence: float
    standing: str
    provenance: str
    episodes: int
    created: str
    reinforced: str
    fades: str
    shown: int
    helped: int
    harmed: int
    feeling: str
    pinned: bool
    tags: list[str]


class Found(BaseModel):
    """Something recalled, with everything that speaks for it."""

    id: str
    kind: str
    text: str
    when: str
    score: float
    factors: dict[str, float] = Field(description="`semantic`, `recency`, `importance`, `affect`; and what multiplies.")
    signals: dict[str, float] = Field(description="What `semantic` is made of.")
    found_by: list[str]
    why: list[str]
    confidence: float | None
    pinned: bool


class Searched(BaseModel):
    found: list[Found]
    notes: list[str]


class Events(BaseModel):
    episodes: list[Event]
    next: int | None = Field(description="To be sent as `before` for the next page.")
    total: int


class Facts(BaseModel):
    facts: list[Known]
    next: str | None = Field(description="To be sent as `after` for the next page.")
    total: int


class KnownWhole(Known):
    """A fact, how it fades, and the episodes it came from."""

    curve: list[tuple[str, float]]
    curve_of: str = Field(description="`ahead`: from when it was last weighed on, if nothing happens to it.")
    contradicts: list[str]
    sources: list[Event]


class Line(BaseModel):
    fact: str
    strategy: str
    text: str


class Written(BaseModel):
    id: int
    ts: str
    by: str
    why: str


class Playbook(BaseModel):
    """How to act: the file, which of its lines Metnos wrote, and its versions, the newest first."""

    text: str
    learned: list[Line]
    history: list[Written]


class Difference(BaseModel):
    version: int
    diff: str


class File(BaseModel):
    name: str
    text: str
    there: bool
    cut: bool = Field(description="Whether there is more of it than is shown.")


class Tiers(BaseModel):
    files: list[File]


class Report(BaseModel):
    id: int
    kind: str
    ts: str
    said: str
    data: dict[str, Any]


class ReportsRead(BaseModel):
    """What came of learning, dreaming and checks; and the last runs of the jobs that do it."""

    reports: list[Report]
    runs: list[dict[str, Any]]


@router.get("/search", summary="Find what answers a question")
def search(
    house: House,
    viewer: TheViewer,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    limit: Annotated[int, Query(ge=1, le=100, description="How many of each kind at most.")] = 10,
) -> Searched:
    """Facts first, then episodes, each the best first."""
    if not q.strip():
        raise UsageError("nothing was asked", fix="Say what to look for.")
    found = house.grimoire.recall(q.strip(), viewer, count=limit, facts=limit)
    return Searched(found=[_found(each) for each in (*found.facts, *found.episodes)], notes=list(found.notes))


@router.get("/episodes", summary="What happened, the newest first")
def episodes(
    house: House, viewer: TheViewer, before: Annotated[int, Query(ge=0, le=1 << 53)] = 0, limit: Limit = 50
) -> Events:
    store, where = house.grimoire.episodes, Where(visible_to=None if viewer.is_owner else viewer)
    some = store.select(where, after=before, count=limit + 1, newest_first=True)
    more = some[limit - 1].seq if len(some) > limit else None
    return Events(episodes=[event(each) for each in some[:limit]], next=more, total=store.count(where))


@router.get("/episodes/{id}", summary="One episode")
def episode(house: House, viewer: TheViewer, id: Id) -> Event:  # noqa: A002 -- the name in the path
    found = find(house, id, viewer)
    if not isinstance(found, Episode):
        raise _missing(id)
    return event(found)


@router.get("/facts", summary="What is known, the most believed first", openapi_extra=KEPT)
def facts(
    house: House,
    viewer: TheViewer,
    category: Annotated[str, Query(max_length=200, description="What it is about.")] = "",
    kind: Kind | None = None,
    standing: Standing = Standing.ACTIVE,
    after: Annotated[str, Query(pattern=r"^[A-Za-z0-9_.-]{0,64}$")] = "",
    limit: Limit = 50,
) -> Facts:
    which = Which(
        kinds=(kind,) if kind else (),
        domains=(category,) if category else (),
        standings=(standing,),
        visible_to=None if viewer.is_owner else viewer,
    )
    some, total = remembered.facts(house, which, after, limit + 1)
    more = some[limit - 1].id if len(some) > limit else None
    return Facts(facts=[known(each) for each in some[:limit]], next=more, total=total)


@router.get("/facts/{id}", summary="One fact, and how it fades")
def fact(house: House, viewer: TheViewer, id: Id) -> KnownWhole:  # noqa: A002 -- the name in the path
    found = find(house, id, viewer)
    if not isinstance(found, Fact):
        raise _missing(id)
    curve = remembered.belief(found, house.clock.now())
    sources = [event(each) for each in house.grimoire.episodes.get(found.sources[:_SOURCES])] if viewer.is_owner else []
    return KnownWhole(
        **known(found).model_dump(),
        curve=[(to_text(moment), round(level, 4)) for moment, level in curve],
        curve_of=AHEAD,
        contradicts=list(found.contradicts),
        sources=sources,
    )


@router.get("/playbook", summary="How to act")
def playbook(house: House, _who: AtHome) -> Playbook:
    book = house.grimoire.playbook
    text = next(each["text"] for each in remembered.files(house) if each["name"] == "PLAYBOOK.md")
    lines = [Line(fact=each.fact, strategy=each.strategy, text=each.words) for each in book.lines()]
    history = [Written(id=each.id, ts=to_text(each.ts), by=each.by, why=each.why) for each in book.versions()]
    return Playbook(text=text, learned=lines, history=history[::-1])


@router.get("/playbook/{version}", summary="What one version of the playbook changed")
def playbook_version(house: House, _who: AtHome, version: Version) -> Difference:
    book = house.grimoire.playbook
    ids = [each.id for each in book.versions()]
    if version not in ids:
        raise Missing(f"there is no version {version} of PLAYBOOK.md", fix="See: GET /api/memory/playbook")
    older = [each for each in ids if each < version]
    return Difference(version=version, diff=book.diff(max(older), version) if older else "")


@router.get("/tiers", summary="Long memory, as it lies in the workspace")
def tiers(house: House, _who: AtHome) -> Tiers:
    return Tiers(files=[File(**each) for each in remembered.files(house)])


@router.get("/reports", summary="What came of learning and dreaming", openapi_extra=KEPT)
def reports(
    house: House,
    _who: Who,
    kind: Annotated[str, Query(pattern=rf"^({'|'.join(KINDS)})?$")] = "",
    limit: Limit = 20,
) -> ReportsRead:
    read = Reports(house.grimoire.db, house.clock).latest(kind, limit)
    runs = Runs(house.night_db, house.clock)
    last = [building.run_data(run) for job in _JOBS for run in runs.newest(10, job)]
    return ReportsRead(
        reports=[
            Report(id=each.id, kind=each.kind, ts=to_text(each.ts), said=came_of(each), data=dict(each.data))
            for each in read
        ],
        runs=sorted(last, key=lambda run: -run["id"]),
    )


@router.get("/stats", summary="How much is remembered, and the mood")
def stats(house: House, _who: Who) -> dict[str, int | float | str]:
    return keeping.stats(house)


# -- as records


def find(house: House, key: str, viewer: Viewer) -> Episode | Fact:
    """By its whole id; for the owner its last letters are enough."""
    exact = remembered.exactly(house, key.upper(), None if viewer.is_owner else viewer)
    if exact is not None:
        return exact
    if not viewer.is_owner:
        raise _missing(key)
    try:
        return remembered.find(house, key)
    except UsageError as error:
        raise Missing(error.what, fix=error.fix) from error


def _missing(key: str) -> Missing:
    return Missing(f"nothing that is remembered has the id {key}", fix="Find it: GET /api/memory/search?q=words")


def event(of: Episode) -> Event:
    whole = remembered.whole(of)
    named = {name: whole[name] for name in Event.model_fields if name in whole and name not in ("kind", "tags")}
    return Event(**named, type=of.kind, visible_to=whole["for"], tags=list(of.tags))


def known(of: Fact) -> Known:
    whole = remembered.whole(of)
    named = {name: whole[name] for name in Known.model_fields if name in whole and name not in ("kind", "tags")}
    return Known(**named, type=whole["kind"], provenance=whole["from"], created=to_text(of.created), tags=list(of.tags))


def _found(memory: Memory) -> Found:
    of, made, seen = memory.of, memory.factors, memory.signals
    factors = {"semantic": made.relevance} | {
        name: getattr(made, name) for name in ("recency", "importance", "affect", "discount", "boost")
    }
    signals = {name: getattr(seen, name) for name in ("words", "meaning", "named", "timed", "coverage", "nearness")}
    is_fact = isinstance(of, Fact)
    return Found(
        id=of.id,
        kind="fact" if is_fact else "episode",
        text=of.text,
        when=to_text(of.reinforced if isinstance(of, Fact) else of.ts),
        score=round(made.score, 4),
        factors={name: round(float(value), 4) for name, value in factors.items()},
        signals={name: round(float(value), 4) for name, value in signals.items()},
        found_by=list(memory.found_by),
        why=memory.why(),
        confidence=round(of.confidence, 3) if isinstance(of, Fact) else None,
        pinned=of.pinned,
    )
