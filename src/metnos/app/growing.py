"""Growing: from what is missing to executors that live, in a workspace.

Rules: nothing is made before it was commissioned, nothing lives before the owner said yes to exactly that
(`metnos.synt.activation`); making asks the configured language model, or none where a sequence is compiled; a draft is
text until it is signed. Whatever cannot be made is abandoned with a reason in plain words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from metnos.core.canon import Json
from metnos.core.errors import ExecutorError, ModelError, NotTrusted
from metnos.core.settings import home_folder
from metnos.executors import words
from metnos.law.audit_line import Entry
from metnos.law.inbox import ACTIVATION, DIRECTION, Item
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.models.budget import Budget, Meter
from metnos.synt import compiler, gates, trying
from metnos.synt.activation import Activation
from metnos.synt.draft import Check, Draft, Made
from metnos.synt.need import Need, Way
from metnos.synt.pipeline import Tools, Workshop
from metnos.synt.proposals import Proposal, Proposals, State

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.executors.verdict import Executor
    from metnos.grimoire.trace import Trace

SYNT = Principal(Channel.NIGHT, "synt", Autonomy.READ_ONLY)
ABANDONED = "proposal abandoned"
_REFUSALS = 3  # of drafts for one need: then it is abandoned (DESIGN 7)
_MOST_RUNS = 60  # recorded runs that a compiled executor is held against: the newest
_NEVER = (
    "sign, change or remove executors, itself included",
    "touch the audit, the keys, the Laws or your answers",
    "reach the network, start programs or ask a model, unless it is listed above",
    "act without the permit that each call needs",
)

Progress = Callable[[str, str], None]


@dataclass(frozen=True)
class Growing:
    """What grows in an open workspace."""

    app: "App"

    @cached_property
    def proposals(self) -> Proposals:
        return Proposals(self.app.synt_db, self.app.clock)

    @cached_property
    def births(self) -> Activation:
        return Activation(self.proposals, self.app.inbox, self.app.catalog)

    # -- making

    def propose(self, need: Need, reason: str) -> Proposal:
        """Take a need up; one that is open about the same thing stays as it is."""
        return self.proposals.take_up(need, reason)[0]

    def make(self, proposal: Proposal, progress: Progress = lambda _stage, _what: None) -> Proposal:
        """Make what was commissioned and put it before the owner, or abandon it with the reason."""
        if proposal.state is not State.COMMISSIONED:
            raise ExecutorError(
                f"that proposal is {proposal.state}, so there is nothing to make", fix="metnos inbox list"
            )
        made = self.draft(proposal.need, progress)
        if made.draft is None or not made.green:
            with self.app.audit.act(Entry(ABANDONED, {"proposal": proposal.id, "stage": made.stage})):
                return self.proposals.abandon(proposal, made.abandoned or "a gate refused it", made.checks)
        return self.births.ask_activation(proposal, made, self.shown(proposal, made), asked_by=SYNT)

    def draft(self, need: Need, progress: Progress = lambda _stage, _what: None) -> Made:
        """A draft for a need, examined by every gate; nothing is kept, asked or signed."""
        if need.path:
            progress("compiler", "")
            made = self._compiled(need)
            return made if made.draft is None else self.examined(made.draft, need.replaces, made.checks)
        return self._workshop(need).make(need, progress)

    def examined(self, draft: Draft, replaces: str = "", before: Sequence[Check] = ()) -> Made:
        """A draft that somebody wrote, through every gate."""
        tidy = replace(draft, code=gates.formatted(draft.code))
        checks = (*before, *gates.examine(tidy, self._gates(replaces)))
        wrong = next((check for check in checks if not check.passed), None)
        if wrong is None:
            return Made(tidy, checks)
        return Made(None, checks, f"{wrong.gate}: {wrong.problem}", wrong.stage)

    def _workshop(self, need: Need) -> Workshop:
        app = self.app
        model = app.models.metered("main", Meter(Budget(app.settings.synt.tokens, app.settings.synt.usd)))
        if model is None:
            raise ModelError(
                "no language model is configured, and making this needs one",
                kind="none",
                fix="Choose one: metnos model list. Or write it yourself: metnos executor new NAME",
            )
        settings, examined = app.settings.executors, self._gates(need.replaces)
        return Workshop(
            Tools(
                ask=lambda _purpose, prompt: model.ask(prompt),
                near=self._near,
                taken=frozenset(app.catalog.names()) - {need.replaces},
                results=lambda sketch: trying.results(sketch, app.pool, settings),
                examine=lambda draft: gates.examine(draft, examined),
                tidy=gates.formatted,
            )
        )

    def _gates(self, replaces: str = "") -> gates.Tools:
        app = self.app
        known = app.catalog.usable()
        return gates.Tools(app.pool, app.settings.executors, known, app.embedder, replaces=replaces)

    def _near(self, text: str, texts: Sequence[str]) -> Sequence[float]:
        if self.app.embedder is None:
            return [0.0] * len(texts)
        vectors = self.app.embedder.embed([text, *texts])
        return [float(each) for each in vectors[1:] @ vectors[0]]

    def _compiled(self, need: Need) -> Made:
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
        return compiler.unify(parts, traces, taken, bench, home=str(home_folder()), load=app.medium.load)

    def _trace(self, turn: str) -> "Trace":
        return self.app.medium.load(turn)

    # -- what the owner sees and decides

    def shown(self, proposal: Proposal, made: Made) -> dict[str, Json]:
        """All that an owner needs to decide, beside the files themselves."""
        draft = made.draft
        if draft is None:
            return {}
        manifest, need = draft.read(), proposal.need
        seen = need.evidence
        return {
            "name": draft.name,
            "version": manifest.version,
            "purpose": manifest.purpose,
            "why": seen.says or need.text,
            "turns": list(seen.turns),
            "may": [*words.capabilities(manifest)] or ["nothing but reckon with what it is given"],
            "effect": words.effect(manifest),
            "never": list(_NEVER),
            "checks": [check.gate for check in made.checks],
            "cost": cost(made.usage),
        }

    def answered(self, item: Item) -> str:
        """Do what a yes of the owner allows; says what was done."""
        if item.kind == DIRECTION:
            proposal = self.births.agreed(item)
            return f"It may be made now: metnos synt make {proposal.id[-6:]}. The night makes it otherwise."
        executor = self.births.activate(item)
        self._follow()
        return f"{executor.name} {executor.version} is signed and active."

    def roll_back(self, name: str, version: str = "") -> "Executor":
        """Put the version before back, or a named one; the owner agreed to it when it was born."""
        current = self.app.catalog.look(name).version
        versions = self.proposals.versions(name)
        wanted = [digest for digest, each, _, _ in versions if (each == version if version else each != current)]
        if not wanted:
            raise ExecutorError(f"{name} has no other version to go back to", fix=f"See them: metnos synt show {name}")
        executor = self.births.roll_back(name, wanted[0])
        self._follow()
        return executor

    def forget_turn(self, turn: str) -> None:
        """Take out the words that proposals have from a turn. What lives keeps its files."""
        for proposal in self.proposals.all():
            if turn in proposal.need.evidence.turns:
                for item in filter(None, (proposal.direction, proposal.activation)):
                    self.app.inbox.erase(item)
                self.proposals.forget(proposal.id)

    def _follow(self) -> None:
        """What follows from a birth: the wish is fulfilled, and what it covers is done by it from now on."""
        from metnos.app import learning

        learning.follow_executors(self.app)

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
        made = self.examined(replace(draft, code=code), proposal.need.replaces)
        if made.draft is None:
            raise ExecutorError(f"what you wrote does not pass: {made.abandoned}", fix="Mend it; nothing was changed.")
        self.app.inbox.refuse(item.id, by, "edited by the owner")
        asked = self.births.ask_activation(proposal, made, self.shown(proposal, made), asked_by=SYNT)
        return self.app.inbox.find(asked.activation)

    def _drafted(self, item: Item) -> tuple[Proposal, Draft]:
        proposal = self.proposals.of_question(item.id)
        if proposal is None or proposal.state is not State.DRAFTED or proposal.draft is None:
            raise ExecutorError("there is no draft behind that question any more", fix="metnos synt list")
        return proposal, proposal.draft


def cost(usage: Mapping[str, float]) -> str:
    """What making something took, in words."""
    if not usage.get("calls"):
        return "no language model was asked"
    tokens = usage["input_tokens"] + usage["output_tokens"]
    money = f", {usage['usd']:.4f} USD" if usage["usd"] else ""
    return f"{usage['calls']:.0f} calls of a language model, {tokens:.0f} tokens, {usage['seconds']:.0f} s{money}"
