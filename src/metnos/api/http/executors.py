"""Executors over HTTP: the catalog, one of them whole, switching them, and the panic button."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from metnos.api.http.inside import KEPT, PROBLEMS, Body, House, Missing, Owner
from metnos.api.http.plain import Said, Short, Told
from metnos.app import App, cataloguing, deciding, selecting
from metnos.core.clock import to_text
from metnos.core.errors import NotTrusted
from metnos.executors import folder, index
from metnos.executors.catalog import Look
from metnos.executors.state import State
from metnos.law.grants import ANY
from metnos.mnestome.mnest import Mnest

router = APIRouter(prefix="/api", tags=["executors"], responses=PROBLEMS)

Name = Annotated[str, Path(pattern=r"^[a-z0-9_]{1,64}$", description="The name of an executor.")]
_WHY = {
    State.ACTIVE: "switched on by the owner",
    State.DISABLED: "switched off by the owner",
    State.ARCHIVED: "archived by the owner",
    State.QUARANTINE: "quarantined by the owner",
    State.REVOKED: "revoked by the owner",
}


class Executor(BaseModel):
    """One executor in the catalog."""

    name: str
    version: str
    state: str
    reason: Said
    purpose: Said
    kind: str
    origin: str
    builtin: bool
    signed: bool = Field(description="Whether every byte is as it was signed.")
    problems: list[Said]
    fitness: float | None = Field(description="The sum over all goals; none if nobody could tell.")
    uses: int
    strikes: int = Field(description="Faults of its own in the last 24 hours.")
    last_used: str | None
    hidden: str = Field(description="Why planners do not see it; empty if they do.")


class Catalog(BaseModel):
    executors: list[Executor]
    halted: str | None = Field(description="Why nothing runs, after a panic.")


class Use(BaseModel):
    """One line of an executor's journal."""

    ts: str
    words: Said
    ok: bool
    kind: str
    wall_ms: int
    cpu_ms: int


class Version(BaseModel):
    version: str
    digest: str
    state: str
    since: str
    reason: Said


class Goal(BaseModel):
    """What it is worth for one class of goals."""

    goal: str
    fitness: float
    uses: int
    signals: int


class Grant(BaseModel):
    """What the owner allowed in advance."""

    id: str
    words: Said
    expires: str
    reason: Said


class Neighbour(BaseModel):
    """A mnest that leads to it or from it."""

    id: str
    source: str
    target: str
    state: str
    weight: float
    uses: int
    proto: bool = Field(description="Whether the target is only wished for.")


class Whole(Executor):
    """One executor, whole."""

    may: list[Said]
    never: list[str]
    effect: Said
    never_called: list[str] = Field(description="What it may call and never did.")
    hidden_words: str
    signature: Said = Field(description="Whether it is as it was signed, in words.")
    digest: str
    manifest: Said = Field(description="As it is in its folder.")
    declares: Told = Field(description="The same as data; nothing if it cannot be read.")
    code: Said
    tests: Said
    goals: list[Goal]
    journal: list[Use]
    versions: list[Version]
    grants: list[Grant]
    neighbours: list[Neighbour]


class Switch(Body):
    """Another state for an executor. Revoking is for good: the same code can never be signed again."""

    state: Literal["active", "disabled", "archived", "quarantine", "revoked"]
    reason: Short = ""


class Switched(BaseModel):
    name: str
    before: str
    state: str


class Panic(Body):
    """Stop everything."""

    reason: Short = "panic"
    sure: Literal[True]


class Halted(BaseModel):
    """What was stopped."""

    halted: str | None
    sandboxes: int
    disabled: list[str]


class Lift(Body):
    """Let things happen again."""

    sure: Literal[True]


class Lifted(BaseModel):
    lifted: bool


@router.get("/executors", summary="The catalog", openapi_extra=KEPT)
def catalog(house: House) -> Catalog:
    found = [Executor(**_row(house, look)) for look in house.catalog.rows()]
    return Catalog(executors=found, halted=house.halts.why())


@router.get("/executors/{name}", summary="One executor, whole")
def shown(house: House, name: Name) -> Whole:
    look = _look(house, name)
    row = _row(house, look)
    told, words = cataloguing.told(house, look), cataloguing.described(house, look)
    files = cataloguing.files(house, name)
    entry = index.current(house.catalog.db, name)
    return Whole(
        **row,
        may=list(words.may),
        never=list(deciding.NEVER),
        effect=words.effect,
        never_called=list(words.never_called),
        hidden_words=selecting.WORDS[told["hidden"]] if told["hidden"] else "",
        signature=cataloguing.signature_words(look),
        digest=entry.digest if entry else "",
        manifest=files.get(folder.MANIFEST, ""),
        declares=told["manifest"],
        code=files.get(folder.SOURCE, ""),
        tests=files.get(folder.TESTS, ""),
        goals=[Goal(**each) for each in told["fitness"]],
        journal=[Use(**asdict(each), words=cataloguing.use_words(each)) for each in cataloguing.uses(house, name)],
        versions=[
            Version(
                version=each.version, digest=each.digest, state=each.state, since=to_text(each.ts), reason=each.reason
            )
            for each in index.versions(house.catalog.db, name)
        ],
        grants=_grants(house, name),
        neighbours=[_neighbour(each, house.clock.now()) for each in cataloguing.neighbours(house, name)],
    )


@router.post("/executors/{name}/state", summary="Switch an executor on, off, or away")
def switch(house: House, _by: Owner, name: Name, wanted: Switch) -> Switched:
    state = State(wanted.state)
    _look(house, name)
    before = house.catalog.change(name, state, wanted.reason or _WHY[state])
    return Switched(name=name, before=before, state=state)


@router.post("/panic", summary="Stop everything at once")
def panic(house: House, _by: Owner, wanted: Panic) -> Halted:
    """End every sandbox of every process, and switch off every executor that is not built in."""
    stopped, disabled = house.runner.panic(wanted.reason)
    return Halted(halted=house.halts.why(), sandboxes=stopped, disabled=disabled)


@router.post("/panic/lift", summary="Let things happen again")
def lift(house: House, by: Owner, _sure: Lift) -> Lifted:
    """Executors that were switched off stay off until they are enabled."""
    return Lifted(lifted=house.halts.lift(by))


def _look(house: App, name: str) -> Look:
    try:
        return house.catalog.look(name)
    except NotTrusted as error:
        raise Missing(error.what, fix=error.fix) from error


def _row(house: App, look: Look) -> dict[str, object]:
    stands = cataloguing.standing(house, look.name)
    return {
        **cataloguing.data(look),
        "builtin": cataloguing.is_builtin(look),
        "signed": cataloguing.is_signed(look),
        "fitness": None if stands.fitness is None else round(stands.fitness, 4),
        "uses": stands.uses,
        "strikes": stands.strikes,
        "last_used": to_text(stands.last_used) if stands.last_used else None,
        "hidden": stands.hidden,
    }


def _grants(house: App, name: str) -> list[Grant]:
    held = [each for each in house.grants.active() if each.executor in (name, ANY)]
    return [
        Grant(id=each.id, words=cataloguing.grant_words(each), expires=to_text(each.expires), reason=each.reason)
        for each in held
    ]


def _neighbour(mnest: Mnest, now: datetime) -> Neighbour:
    return Neighbour(
        id=mnest.id,
        source=mnest.src,
        target=mnest.dst,
        state=mnest.state,
        weight=mnest.at(now),
        uses=mnest.uses,
        proto=mnest.dst_version is None,
    )
