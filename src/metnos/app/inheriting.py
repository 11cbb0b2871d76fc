"""A successor: founded from a testament, and what it does with its inheritance later.

Rules: a testament is read, checked and refused before anything is made or changed. Only an agent that has not lived
inherits, and it inherits once. What acts comes last and by consent: executors go through every gate and wait in the
inbox like anybody's (`importing`), and so do settings and lines of the playbook that held for generations
(`defaulting`). The audit is told before and after. Killed anywhere, the same command goes on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.app import defaulting, importing, retired, whole
from metnos.app.importing import Became, Brought, Source
from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import SandboxError, TestamentError
from metnos.grimoire.facts_rows import Which
from metnos.law.audit_line import Entry
from metnos.law.inbox import Item
from metnos.life import inheritance, testament_file
from metnos.life import inheritance_rules as rules
from metnos.life.inheritance import Inheritance, Taken
from metnos.life.inheritance_rules import Shares
from metnos.life.lineage import Lineage
from metnos.life.testament import Opened
from metnos.mnestome import seeds
from metnos.mnestome.rules import Rules
from metnos.mnestome.seeds import Seed

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.core.workspace import Workspace
    from metnos.grimoire.fact import Fact

INHERITED, EARNED = "testament inherited", "inheritance earned"
_ALL = 1_000_000  # facts: more than a memory holds

Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, and of how much


def quiet(_what: str, _done: int, _of: int) -> None:
    """For whoever does not watch."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a successor began with."""

    opened: Opened
    generation: int
    made: tuple[str, ...]  # of the workspace
    taken: Taken
    executors: tuple[Brought, ...]
    unexamined: str  # why executors were not looked at, if they were not
    asked: tuple[Item, ...]  # questions about defaults

    @property
    def waiting(self) -> int:
        """Questions in the inbox."""
        return len(self.asked) + sum(each.became is Became.WAITS for each in self.executors)


def lineage(app: "App") -> Lineage:
    """Whom this agent comes from."""
    return Lineage(app.life_db, app.clock)


# -- beginning


def read(workspace: "Workspace", source: Path, key: str = "", clock: Clock | None = None) -> tuple[Opened, str]:
    """A testament that this workspace may inherit, with its first line; refuses any other. Changes nothing."""
    raw = testament_file.read(source)
    own = _own(workspace)
    opened = testament_file.unpack(raw, own)
    if key and not opened.key.startswith(key.casefold()):
        raise TestamentError(
            f"the testament is signed by {opened.key[:16]}…, and not by the key that you named",
            fix="Nothing was changed. Ask whoever gave it to you where it comes from.",
        )
    inheritance.refuse_unfit(opened, own, (clock or SystemClock()).now())
    return opened, raw.partition(b"\n")[0].decode()


def _own(workspace: "Workspace") -> str:
    try:
        return workspace.public_key.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""  # there is no agent yet


def found_from(
    workspace: "Workspace", source: Path, *, key: str = "", clock: Clock | None = None, progress: Progress = quiet
) -> Inherited:
    """Make a workspace for a successor of whoever left this testament, or go on with it."""
    from metnos.app.house import App

    opened, core = read(workspace, source, key, clock)
    if workspace.exists():
        _refuse_lived(workspace, clock)
    made = whole.found(workspace, clock)
    app = App.open(workspace, clock)
    try:
        return replace(take(app, opened, core, progress), made=tuple(made))
    finally:
        app.close()


def _refuse_lived(workspace: "Workspace", clock: Clock | None) -> None:
    """Only what has not lived can be a successor, and what is dead can go on with nothing."""
    from metnos.app.house import App

    app = App.open(workspace, clock)
    try:
        retired.refuse_dead(app)
        origins = lineage(app).origins()
        if origins is not None:
            return  # `Lineage.begin` says so if it is another one
        if app.grimoire.episodes.count() or app.grimoire.facts.count(Which(standings=())):
            raise TestamentError(
                f"the agent in {workspace.root} has lived already, and a successor begins with nothing but what it"
                " inherits",
                fix="Make it in another place: metnos --workspace FOLDER init --from TESTAMENT",
            )
    finally:
        app.close()


def take(app: "App", opened: Opened, core: str, progress: Progress = quiet) -> Inherited:
    """Take in what a testament left, or the rest of it."""
    line, left = lineage(app), opened.testament
    counts = {"entries": len(left.entries), "links": len(left.links), "episodes": len(left.episodes)}
    names = {"testator": opened.key}
    with app.audit.act(Entry(INHERITED, names, {"testament": opened.digest}, counts)):
        line.begin(opened, core)
        way = _way(app, line)
        taken = way.take(opened, app.seat.signer.public, lambda done, of: progress("taking in", done, of))
        plant(app, _versions(app))
    brought, unexamined = _executors(app, opened, progress)
    asked = defaulting.ask(app, line)
    line.end(taken.counts())
    return Inherited(opened, line.generation(), (), taken, brought, unexamined, tuple(asked))


def _way(app: "App", line: Lineage) -> Inheritance:
    return Inheritance(line, app.grimoire.facts, app.grimoire.episodes, app.clock)


def _executors(app: "App", opened: Opened, progress: Progress) -> tuple[tuple[Brought, ...], str]:
    """Bring what the predecessor had made before the owner: through every gate, and nothing of it runs or is signed."""
    if opened.executors is None:
        return (), ""
    drafts = opened.executors.drafts
    done: list[Brought] = []
    says = f"It was left by your agent's predecessor, of generation {opened.testament.generation}, in its testament."
    try:
        for each in importing.take_in(app, drafts, Source(says, opened.key, known=True)):
            done.append(each)
            progress("examining executors", len(done), len(drafts))
    except SandboxError as error:
        return tuple(done), error.what
    return tuple(done), ""


# -- the mnestome's skeleton


def plant(app: "App", versions: Mapping[str, str]) -> int:
    """Plant inherited passings between executors that are here; those of later ones when they come. How many."""
    bones = lineage(app).bones()
    here = [each for each in bones if each.src in versions and each.dst in versions]
    planted = 0
    for weight in sorted({each.weight for each in here}, reverse=True):
        seeds_ = [
            Seed(each.src, versions[each.src], each.dst, versions[each.dst], "inherited: it was so in the life before")
            for each in here
            if each.weight == weight
        ]
        numbers = Rules(birth=rules.bone_weight(weight))
        planted += seeds.plant(app.catalog.db, seeds_, app.clock.now(), numbers) if numbers.birth > 0 else 0
    return planted


def _versions(app: "App") -> dict[str, str]:
    return {each.name: each.version for each in app.catalog.usable()}


# -- later


def replayed(app: "App", cycle: int) -> Sequence[str]:
    """Inherited episodes that a consolidation goes through again."""
    line = lineage(app)
    return _way(app, line).replayed(cycle)


def settle(app: "App") -> "list[Fact]":
    """What own experience has shown since is own knowledge from now on; those facts, once."""
    line = lineage(app)
    if not line.generation():
        return []
    earned = _way(app, line).settle()
    if earned:
        app.audit.append(Entry(EARNED, counts={"facts": len(earned)}))
    return earned


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a life went its own way."""

    divergence: float
    shares: Shares

    @property
    def is_copy(self) -> bool:
        return rules.is_copy(self.divergence)


def standing(app: "App") -> Standing:
    """How far this agent is from its predecessor by now."""
    line, facts = lineage(app), app.grimoire.facts
    believed = {fact.id: fact.confidence for fact in facts.find(count=_ALL)}
    return Standing(line.divergence(believed), line.shares(facts.get, believed))
