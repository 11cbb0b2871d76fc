"""Growing: from what is missing to executors that live, in a workspace.

Rules: nothing is made before it was commissioned, nothing lives before the owner said yes to exactly that
(`metnos.synt.activation`); making asks the configured language model, or none where a sequence is compiled; a draft is
text until it is signed. Whatever cannot be made is abandoned with a reason in plain words. Making can be stopped
between two stages, and is then still to be made. A yes for which there is no room is kept, and carried out as soon as
there is some.

A new version is numbered after every one that there was, handles the calls that broke the old one, and takes nothing of
its trust along: strikes, fitness and what was granted to it by name stay with the version that they were of.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from metnos.app import deciding
from metnos.core.canon import Json
from metnos.core.errors import ExecutorError, InboxError, ModelError, NoRoom, NotTrusted
from metnos.core.settings import home_folder
from metnos.executors import folder, index
from metnos.law.audit_line import Entry
from metnos.law.inbox import ACTIVATION, DIRECTION, Item
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.models.budget import Budget, Meter
from metnos.night.jobs import Stop, never
from metnos.synt import compiler, gates, mending, trying, versions
from metnos.synt.activation import KEPT, Activation, Lives
from metnos.synt.draft import VERSION, Check, Draft, Made
from metnos.synt.need import Need, Way
from metnos.synt.pipeline import Tools, Workshop
from metnos.synt.proposals import Proposal, Proposals, State

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.grimoire.trace import Trace
    from metnos.models.chat import Chat, Prompt, Reply

SYNT = Principal(Channel.NIGHT, "synt", Autonomy.READ_ONLY)
ABANDONED = "proposal abandoned"
_FILES = (folder.MANIFEST, folder.SOURCE, folder.TESTS)
_REFUSALS = 3  # of drafts for one need: then it is abandoned (DESIGN 7)
_MOST_RUNS = 60  # recorded runs that a compiled executor is held against: the newest
Progress = Callable[[str, str], None]


class Stopped(ExecutorError):
    """Somebody wanted the making to stop; it is still to be done."""

    def __init__(self) -> None:
        super().__init__("it was stopped")


@dataclass(frozen=True)
class Growing:
    """What grows in an open workspace."""

    app: "App"

    @cached_property
    def proposals(self) -> Proposals:
        return Proposals(self.app.synt_db, self.app.clock)

    @cached_property
    def births(self) -> Activation:
        return Activation(self.proposals, self.app.inbox, self.app.catalog, self.app.grants)

    # -- making

    def propose(self, need: Need, reason: str) -> Proposal:
        """Take a need up; one that is open about the same thing stays as it is."""
        return self.proposals.take_up(need, reason)[0]

    def make(self, proposal: Proposal, progress: Progress = lambda _stage, _what: None, stop: Stop = never) -> Proposal:
        """Make what was commissioned and put it before the owner, or abandon it with the reason.

        ``stop`` is asked between stages; then it is still commissioned. What was agreed to already is carried out.
        """
        self.app.refuse_halted()
        self.births.settle()
        proposal = self.proposals.get(proposal.id)
        if self.births.is_agreed(proposal):
            self.answered(self.app.inbox.find(proposal.activation))
            return self.proposals.get(proposal.id)
        if proposal.state is not State.COMMISSIONED:
            raise ExecutorError(
                f"that proposal is {proposal.state}, so there is nothing to make", fix="metnos inbox list"
            )
        try:
            made = self.draft(proposal.need, progress, stop=stop, refused=proposal.draft)
        except Stopped:
            return proposal
        return self.put(proposal, made)

    def put(self, proposal: Proposal, made: Made) -> Proposal:
        """Put what was made before the owner, or abandon it if a gate refused it."""
        if made.draft is None or not made.green:
            return self.give_up(proposal, made.abandoned or "a gate refused it", made)
        return self.births.ask_activation(proposal, made, self.shown(proposal, made), asked_by=SYNT)

    def give_up(self, proposal: Proposal, reason: str, made: Made | None = None) -> Proposal:
        """Abandon what cannot be made, or is not wanted any more."""
        names = {"proposal": proposal.id, **({"stage": made.stage} if made and made.stage else {})}
        with self.app.audit.act(Entry(ABANDONED, names)):
            return self.proposals.abandon(proposal, reason, made.checks if made else ())

    def draft(
        self,
        need: Need,
        progress: Progress = lambda _stage, _what: None,
        model: "Chat | None" = None,
        stop: Stop = never,
        refused: Draft | None = None,
    ) -> Made:
        """A draft for a need, examined by every gate; nothing is kept, asked or signed.

        ``refused``: the draft that the owner refused; another one that heeds the reason begins there. ``model`` is
        asked in the place of the configured one: whoever gives it has bounded what it may cost. Raises `Stopped` as
        soon as ``stop`` says so.
        """

        def step(stage: str, what: str) -> None:
            _go_on(stop)
            progress(stage, what)

        self.app.refuse_halted()
        old = self._current(need.replaces)
        version = self._next(need.replaces) if need.replaces else VERSION
        if need.path:
            step("compiler", "")
            made = self._compiled(need, version)
            if made.draft is not None:
                made = self.examined(made.draft, _like(need), made.checks, stop)
        else:
            begun = None
            if refused is not None:
                begun = mending.revision(need, refused, version)
            elif old is not None and need.way is Way.REPAIR:
                begun = mending.repair(need, old, version)
            made = self._workshop(need, model, version, stop).make(need, step, begun)
        return made if old is None else _unless_the_same(made, old)

    def examined(
        self, draft: Draft, replaces: str | Sequence[str] = (), before: Sequence[Check] = (), stop: Stop = never
    ) -> Made:
        """A draft that somebody wrote, through every gate."""
        tidy = replace(draft, code=gates.formatted(draft.code))
        checks = (*before, *_until(gates.examine(tidy, self._gates(_names(replaces))), stop))
        wrong = next((check for check in checks if not check.passed), None)
        if wrong is None:
            return Made(tidy, checks)
        return Made(None, checks, f"{wrong.gate}: {wrong.problem}", wrong.stage)

    def model(self) -> "Chat":
        """The model that makes what no compiler can. Raises if there is none."""
        self.app.refuse_halted()
        settings = self.app.settings.synt
        found = self.app.models.metered("main", Meter(Budget(settings.tokens, settings.usd)))
        if found is None:
            raise ModelError(
                "no language model is configured, and making this needs one",
                kind="none",
                fix="Choose one: metnos model list. Or write it yourself: metnos executor new NAME",
            )
        return found

    def _workshop(self, need: Need, given: "Chat | None", version: str, stop: Stop) -> Workshop:
        app, model = self.app, given or self.model()

        def ask(_purpose: str, prompt: "Prompt") -> "Reply":
            _go_on(stop)
            return model.ask(prompt)

        settings, examined = app.settings.executors, self._gates(_like(need))
        return Workshop(
            Tools(
                ask=ask,
                near=self._near,
                taken=frozenset(app.catalog.names()) - {need.replaces},
                results=lambda sketch: trying.results(sketch, app.pool, settings),
                examine=lambda draft: _until(gates.examine(draft, examined), stop),
                tidy=gates.formatted,
                version=version,
            )
        )

    def _gates(self, replaces: Sequence[str] = ()) -> gates.Tools:
        app = self.app
        known = app.catalog.usable()
        return gates.Tools(app.pool, app.settings.executors, known, app.embedder, replaces=replaces)

    def _current(self, name: str) -> Draft | None:
        """The version of an executor that is in force, as files; nothing if it is not as it was signed."""
        entry = index.current(self.app.catalog.db, name) if name else None
        content = self.app.catalog.judge(name).content if entry is not None else None
        if entry is None or content is None:
            return None
        files = (content.files.get(file, b"").decode(errors="replace") for file in _FILES)
        draft = Draft(name, *files)
        with contextlib.suppress(ExecutorError):
            return draft if draft.digest == entry.digest else None
        return None

    def _next(self, name: str) -> str:
        """The number that a new version of an executor has."""
        signed = [entry.version for entry in index.versions(self.app.catalog.db, name)]
        return versions.after([*signed, *(each.version for each in self.proposals.versions(name))])

    def _near(self, text: str, texts: Sequence[str]) -> Sequence[float]:
        if self.app.embedder is None:
            return [0.0] * len(texts)
        vectors = self.app.embedder.embed([text, *texts])
        return [float(each) for each in vectors[1:] @ vectors[0]]

    def _compiled(self, need: Need, version: str) -> Made:
        """One executor for a sequence that is used again and again."""
        app = self.app
        log = app.fast.logs[1]
        path = next((each for each in log.paths() if each.id == need.path), None)
        if path is None:
            return Made(None, abandoned="the sequence is not used any more", stage=compiler.STAGE)
        try:
            parts = [app.catalog.get(name).manifest for name in path.tools]
        except NotTrusted as error:
            return Made(None, abandoned=error.what, stage=compiler.STAGE)
        turns = dict.fromkeys(event.turn for event in log.events(path.id) if event.kind in ("pass", "hit"))
        traces = [self._trace(turn) for turn in list(turns)[-_MOST_RUNS:] if turn]
        bench = compiler.Bench(app.pool, app.settings.executors)
        taken = frozenset(app.catalog.names()) - {need.replaces}
        made = compiler.unify(parts, traces, taken, bench, home=str(home_folder()), load=app.medium.load)
        if made.draft is None or version == VERSION:
            return made
        if made.draft.name != need.replaces:
            return Made(None, made.checks, "the sequence is not what that executor was made of", compiler.STAGE)
        return replace(made, draft=versions.numbered(made.draft, version))

    def _trace(self, turn: str) -> "Trace":
        return self.app.medium.load(turn)

    # -- what the owner sees and decides

    def shown(self, proposal: Proposal, made: Made) -> dict[str, Json]:
        """All that an owner needs to decide, beside the files themselves."""
        return deciding.shown(self.app, proposal, made)

    def answered(self, item: Item) -> str:
        """Do what a yes of the owner allows; says what was done. Raises `NoRoom`: then it is done once there is."""
        if item.kind == DIRECTION:
            proposal = self.births.agreed(item)
            return f"It may be made now: metnos synt make {proposal.id[-6:]}. The night makes it otherwise."
        try:
            lives = self.births.activate(item)
        except NoRoom as error:
            raise self._no_room(item, error) from error
        self._follow()
        return " ".join([f"{lives.executor.name} {lives.executor.version} is signed and active.", *_beside(lives)])

    def carry_out(self) -> list[str]:
        """Do what the owner agreed to and what could not be done at once; says what was done."""
        done = []
        for proposal in self.proposals.all((State.DRAFTED,)):
            if self.births.is_agreed(proposal):
                with contextlib.suppress(ExecutorError, InboxError):  # still no room: the next one tries again
                    done.append(self.answered(self.app.inbox.find(proposal.activation)))
        return done

    def _no_room(self, item: Item, error: NoRoom) -> NoRoom:
        """Say that it has to wait, and for what; what was not used for longest is offered to be put away."""
        from metnos.app import selecting

        name = str(item.body.get("name", "it"))
        asked = selecting.make_room(self.app) if selecting.is_full(self.app) else []
        offered = ", ".join(str(each.body["name"]) for each in asked)
        ways = f"Put one away that you need less ({offered}): metnos inbox list." if offered else error.fix
        return NoRoom(
            f"your yes to {name} is kept, but there is no room for it yet: {error.what}. It lives as soon as there is"
            " room; the night sees to it",
            fix=ways,
        )

    def roll_back(self, name: str, version: str = "") -> Lives:
        """Put the version before back, or a named one; the owner agreed to it when it was born."""
        self.app.refuse_halted()
        self.app.catalog.look(name)  # raises if there is none
        lived = self.proposals.versions(name)
        entry = index.current(self.app.catalog.db, name)
        current = entry.digest if entry else ""
        known = [each.digest for each in lived]
        earlier = lived[known.index(current) + 1 :] if current in known else lived
        wanted = [each for each in lived if each.version == version] if version else earlier
        if not wanted or wanted[0].digest == current:
            which = f"no version {version}" if version and not wanted else "no other version"
            raise ExecutorError(f"{name} has {which} to go back to", fix=f"See them: metnos synt show {name}")
        lives = self.births.roll_back(name, wanted[0].digest)
        self._follow()
        return lives

    def forget_turn(self, turn: str) -> None:
        """Take out the words that proposals have from a turn. What lives keeps its files."""
        for proposal in self.proposals.all():
            if turn in proposal.need.evidence.turns:
                for item in filter(None, (proposal.direction, proposal.activation)):
                    self.app.inbox.erase(item, KEPT)
                self.proposals.forget(proposal.id)

    def _follow(self) -> None:
        """What follows from a birth: the wish is fulfilled, and what it covers is done by it from now on."""
        from metnos.app import learning, selecting

        learning.follow_executors(self.app)
        selecting.offer_replaced(self.app)

    def refused(self, item: Item, reason: str) -> Proposal | None:
        """The owner said no. A draft that was refused with a reason is made again, with the reason in mind."""
        proposal = self.proposals.of_question(item.id)
        if proposal is None or not proposal.is_open:
            return proposal
        again = item.kind == ACTIVATION and bool(reason) and proposal.need.way is not Way.IMPORTED
        if again and proposal.refusals + 1 >= _REFUSALS:
            return self.proposals.abandon(proposal, f"refused {_REFUSALS} times; the last reason: {reason}")
        return self.proposals.refused(proposal, reason, again=again)

    def code_of(self, item: Item) -> str:
        """The code that a question is about."""
        return self._drafted(item)[1].code

    def edited(self, item: Item, code: str, by: Principal) -> Item:
        """The owner changed the code of a draft: it goes through every gate again, and is another question."""
        proposal, draft = self._drafted(item)
        made = self.examined(replace(draft, code=code), _like(proposal.need))
        if made.draft is None:
            raise ExecutorError(f"what you wrote does not pass: {made.abandoned}", fix="Mend it; nothing was changed.")
        return self.births.ask_again(item, made, self.shown(proposal, made), by=by)

    def _drafted(self, item: Item) -> tuple[Proposal, Draft]:
        proposal = self.proposals.of_question(item.id)
        if proposal is None or proposal.state is not State.DRAFTED or proposal.draft is None:
            raise ExecutorError("there is no draft behind that question any more", fix="metnos synt list")
        return proposal, proposal.draft


# -- inside


def _go_on(stop: Stop) -> None:
    if stop():
        raise Stopped


def _until(checks: Iterator[Check], stop: Stop) -> Iterator[Check]:
    """The checks, until somebody wants to stop."""
    _go_on(stop)
    for check in checks:
        yield check
        _go_on(stop)


def _names(replaces: str | Sequence[str]) -> tuple[str, ...]:
    return ((replaces,) if replaces else ()) if isinstance(replaces, str) else tuple(replaces)


def _like(need: Need) -> tuple[str, ...]:
    """What the executor for a need may be like: what it is a version of, and what it does the work of."""
    return (*_names(need.replaces), *need.instead)


def _unless_the_same(made: Made, old: Draft) -> Made:
    """A new version with the code of the old one would mend nothing."""
    if made.draft is None or made.draft.code != old.code:
        return made
    return replace(made, draft=None, abandoned=versions.SAME_CODE, stage="code")


def _beside(lives: Lives) -> Iterator[str]:
    """What else came of a birth, in sentences."""
    name = lives.executor.name
    if lives.before:
        yield f"It took the place of {lives.before}; to go back: metnos synt rollback {name}."
    if lives.ended:
        yield f"What you had allowed {name} for good was for {lives.before}, and ended: metnos policy grants."
