"""The acting half of the one choke point: everything that acts goes through `Runner.run`, in this order.

Verified executor → checked arguments and needs → policy (which decides, asks and mints the permit) → signature checked
again → intent in the audit → sandbox, with a broker that holds the call to its permit → outcome in the audit → use,
journal, strikes. Any exception on the way means that nothing was done. Calls that one executor makes to another come
back through the same door; if one of them needs the owner's yes, the whole stops there and goes on after it (`whole`).
A dry run is the same road with hands that only note what they would do, and needs no permit, because nothing leaves the
sandbox.
"""

import contextvars
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from metnos.core.canon import Json
from metnos.core.clock import Clock, to_text
from metnos.core.errors import (
    AuditError,
    ExecutorFailed,
    InboxError,
    LawError,
    MetnosError,
    NotTrusted,
    Refused,
    SandboxError,
    Waiting,
)  # fmt: skip
from metnos.core.ids import UlidMaker
from metnos.core.sections import ExecutorSettings
from metnos.core.workspace import Workspace
from metnos.executors import quotas, run_after, whole
from metnos.executors.broker import PATTERNS
from metnos.executors.call import Call, asked, needs_asked, wanted, wants
from metnos.executors.catalog import Catalog
from metnos.executors.effect_plan import Planning
from metnos.executors.effect_rules import RUNS_ALONG
from metnos.executors.effects import Acting, Effects
from metnos.executors.manifest import Kind, Reversal
from metnos.executors.mcp.servers import Servers
from metnos.executors.outcome import Outcome
from metnos.executors.perform import Setting, When, perform
from metnos.executors.prepare import Place, Prepared, carried_needs, prepare, running_needs, shown_needs
from metnos.executors.reach import AskTool, Fetching, NoWeb, Reach
from metnos.executors.scope import Folders
from metnos.executors.verdict import Executor
from metnos.law import aliases
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.capability import Capability
from metnos.law.halt import Halt, Halts
from metnos.law.inbox import Item
from metnos.law.need import Need
from metnos.law.permit import Mint, Permit
from metnos.law.policy import Ask, Decision, Policy, Preview, approval_digest
from metnos.law.principal import Channel, Principal
from metnos.sandbox import process
from metnos.sandbox.pool import Pool
from metnos.sandbox.stop import attempt, stop

__all__ = ["RAN", "REFUSED", "Call", "Parts", "Runner", "watch"]

RAN = "executor run"
REFUSED = "executor refused"
_DEEPEST = 8
_NAMED = 3  # paths in the title of an action
_CALLER = ("executor", "args", "principal", "tainted", "carries", "named")  # of a call that is to be made again


@dataclass(frozen=True, slots=True)
class Parts:
    """What a runner is made of."""

    workspace: Workspace
    home: Path
    catalog: Catalog
    policy: Policy
    mint: Mint
    effects: Effects
    planning: Callable[[], Planning]
    pool: Pool
    web: Fetching
    facts: Callable[[str], list[Any]]
    audit: Audit
    halts: Halts
    clock: Clock
    settings: ExecutorSettings
    chat: Callable[[str, str, str, int], str] | None = None  # turn, executor, prompt, most tokens
    model_outside: bool = False
    ask_tool: AskTool | None = None


class Runner:
    """Runs executors of one workspace. Threads may share it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._ids = UlidMaker(parts.clock)

    def run(self, call: Call) -> Outcome:
        """Make one call. Raises `Refused`, `Waiting`, `NotTrusted`; what the executor itself did not manage is in the
        outcome."""
        call = self._begun(call)
        executor, prepared = self._with_carried(call, *self._look(call))
        ask = self._ask(call, executor, prepared)
        permit = self._permit(ask, lambda: self._preview(call, executor, prepared))
        self._parts.mint.check(permit, executor.digest, prepared.digest)
        if self._parts.catalog.get(call.name).digest != executor.digest:
            raise NotTrusted(f"{call.name} changed while it was being permitted", fix="Ask again.")
        return self._act(self._with_parts(call, executor, ask), executor, prepared, permit)

    def preview(self, call: Call) -> tuple[Outcome, Preview]:
        """What a call would do, without doing it. Still nothing that is refused."""
        call = self._begun(call)
        executor, prepared = self._look(call)
        self._refuse_refused(call, executor, prepared)
        return self._rehearse(call, executor, prepared)

    def explain(self, call: Call, item: Item | None = None) -> list[tuple[str, str, str]]:
        """What each step of the policy says about a call, or about what the question ``item`` asked of it. Changes
        nothing."""
        call = self._begun(call)
        executor, prepared = self._look(call)
        asked_for = needs_asked(item) if item else None
        if asked_for is not None:
            prepared = replace(prepared, needs=asked_for)
        said = self._parts.policy.explain(self._ask(call, executor, prepared))
        return [(step, str(verdict), words) for step, verdict, words in said]

    def needs(self, call: Call, item: Item | None = None) -> tuple[Need, ...]:
        """Everything that a call wants, target by target, with what the question ``item`` showed to go along. Changes
        nothing."""
        asked_for = needs_asked(item) if item else None
        needs = self._look(self._begun(call))[1].needs if asked_for is None else asked_for
        shown = (item.body.get("effects") or ()) if item else ()
        return tuple(dict.fromkeys((*needs, *shown_needs(shown))))

    def resume(self, item: Item) -> Outcome:
        """Make the call that an approved question in the inbox is about, or the one that this is a part of."""
        return self.run(wanted(item))

    def so_far(self, item: Item) -> Outcome | None:
        """What a call had changed when it stopped for this question; nothing if it had not."""
        stopped, call = whole.asked_in(item.body), wanted(item)
        if stopped is None or not stopped.root:
            return None
        return Outcome(call.name, "", call.turn, ok=False, kind="not_permitted", action=stopped.root)

    def edit(self, item: Item, args: Mapping[str, Any], by: Principal) -> Item:
        """Put the same call with other arguments in the place of a question; returns the new question."""
        if whole.KEY in item.body:
            fix = "Refuse it, and ask again for what you want."
            raise InboxError(f"question {item.id} is about a part of something, which would not fit any more", fix=fix)
        call = replace(asked(item), args=args)
        executor, prepared = self._with_carried(call, *self._look(call))
        ask = self._ask(call, executor, prepared)
        return self._parts.policy.reask(item.id, ask, lambda: self._preview(call, executor, prepared), by)

    def panic(self, reason: str) -> tuple[int, list[str]]:
        """Stop every sandbox of every process at once and switch off what is not built in; how many, and which.

        Every step is tried, whatever failed before it; then it is an error.
        """
        halts, disabled = self._parts.halts, list[str]()
        note = halts.note(reason)
        stopped, problems = stop(halts.file, halts.running, note)
        problems += attempt("sandboxes were not closed", self._parts.pool.close)
        problems += attempt("the halt was not recorded", lambda: halts.record(note))
        problems += attempt("executors were not disabled", lambda: disabled.extend(self._parts.catalog.panic(reason)))
        if problems:
            what = f"sandboxes stopped: {stopped}; executors disabled: {len(disabled)}; but {'; '.join(problems)}"
            raise SandboxError(what, fix="See whether everything is halted: metnos doctor")
        return stopped, disabled

    # -- before

    def _begun(self, call: Call) -> Call:
        return replace(call, turn=call.turn or self._ids(), now=call.now or self._parts.clock.now())

    def _look(self, call: Call) -> tuple[Executor, Prepared]:
        executor = self._parts.catalog.get(call.name)
        parts = self._parts
        started = Folders(Servers(parts.workspace.mcp_servers).started_from(parts.home))
        place = Place(parts.home, call.cwd, parts.workspace, parts.model_outside, call.carries, call.named, started)
        return executor, prepare(executor.manifest, call.args, place)

    def _with_carried(self, call: Call, executor: Executor, prepared: Prepared) -> tuple[Executor, Prepared]:
        """The call with a need for each thing that is to be asked about and was not named: what its folders take
        along, and what it changes in them that something runs by itself. It is rehearsed to find them, unless the owner
        is asked, and shown them, anyway, or nothing is left for today."""
        patterns = PATTERNS[executor.manifest.reversal]
        named = "move" not in patterns and all(path.is_file() for path in (*prepared.reads, *prepared.writes))
        if not patterns or not prepared.writes or named:
            return executor, prepared
        ask = self._ask(call, executor, prepared)
        if self._decide(ask).verdict != "allow" or self._parts.policy.quotas(ask) is not None:
            return executor, prepared
        planning = self._parts.planning()
        self._rehearse(call, executor, prepared, planning, answered=False)  # the run that follows answers a breach
        return executor, replace(prepared, needs=_with_found(prepared, planning))

    def _with_parts(self, call: Call, executor: Executor, ask: Ask) -> Call:
        """The call with what its parts did before a question; what changes something itself cannot begin anew."""
        can = executor.manifest.capabilities
        if call.above or not can.executor.call or can.changes_itself:
            return call
        if self._decide(ask).verdict != "allow":
            return call  # its own yes is used up by now
        body = self._parts.policy.inbox.find(call.resumes).body if call.resumes else {}
        begun = whole.begin(body, approval_digest(ask), {key: ask.body[key] for key in _CALLER})
        if begun.root and not self._parts.effects.stands(begun.root):
            raise ExecutorFailed(f"what {call.name} had done was taken back since", kind="conflict", fix="Ask again.")
        return replace(call, whole=begun)

    def _ask(self, call: Call, executor: Executor, prepared: Prepared) -> Ask:
        principal = call.principal
        # Whoever can do nothing but call others is not asked about: they are, one by one.
        bare = {need.capability for need in prepared.needs} == {Capability.EXECUTOR_CALL}
        led = "".join(f"{name}, " for name in call.above)
        return Ask(
            principal=principal,
            executor=executor.name,
            executor_digest=executor.digest,
            arguments_digest=prepared.digest,
            cwd=str(call.cwd),
            turn=call.turn,
            needs=prepared.needs,
            irreversible=executor.manifest.reversal is Reversal.IRREVERSIBLE and not bare,
            title=f"{led}{executor.name}: {executor.manifest.purpose}",
            tainted=call.tainted and not bare,
            whole=call.whole.digest if call.whole else "",
            body={
                "executor": executor.name,
                "purpose": executor.manifest.purpose,
                "args": dict(call.args),
                "cwd": str(call.cwd),
                "turn": call.turn,
                "now": to_text(call.now or self._parts.clock.now()),
                "principal": [principal.channel, principal.sender, principal.level],
                "needs": [need.words for need in prepared.needs],
                "wants": wants(prepared.needs),
                "tainted": call.tainted,
                "carries": call.carries,
                "above": list(call.above),
                "named": sorted(map(str, call.named)),
            },
        )

    @aliases.held()
    def _decide(self, ask: Ask) -> Decision:
        return self._parts.policy.decide(ask)

    def _permit(self, ask: Ask, preview: Callable[[], Preview]) -> Permit:
        outside = contextvars.copy_context()  # a rehearsal is a step of its own, and looks for itself
        try:
            with aliases.held():
                return self._parts.policy.permit(ask, lambda: outside.run(preview))
        except Refused:
            names = {"executor": ask.executor, "channel": ask.principal.channel, "sender": ask.principal.sender}
            digests = {"executor": ask.executor_digest, "arguments": ask.arguments_digest}
            self._parts.audit.append(Entry(REFUSED, names, digests))
            raise

    def _refuse_refused(self, call: Call, executor: Executor, prepared: Prepared) -> None:
        decision = self._decide(self._ask(call, executor, prepared))
        if decision.verdict == "refuse":
            raise Refused(f"refused ({decision.rule}): {decision.reason}", fix=decision.fix)

    def _preview(self, call: Call, executor: Executor, prepared: Prepared) -> Preview:
        planning = self._parts.planning()
        outcome, preview = self._rehearse(call, executor, prepared, planning)
        if not outcome.ok:
            raise ExecutorFailed(outcome.message, kind=outcome.kind)
        needs: list[Json] = [need.words for need in _with_found(prepared, planning)]
        preview = replace(preview, kept={"needs": needs})
        failures = outcome.reply.get("failures")
        if failures and not preview.lines:  # there is nothing to say yes to
            first = failures[0]
            raise ExecutorFailed(f"{first['item']}: {first['message']}"[:500], kind=first["kind"])
        if call.whole is None:
            return preview
        kept = {**preview.kept, whole.KEY: call.whole.data()}
        return replace(preview, lines=(*call.whole.told, *preview.lines), kept=kept)

    def _rehearse(
        self,
        call: Call,
        executor: Executor,
        prepared: Prepared,
        planning: Planning | None = None,
        *,
        answered: bool = True,
    ) -> tuple[Outcome, Preview]:
        """Run it with hands that only note, if that shows everything: what leaves the machine cannot be tried."""
        words = tuple(need.words for need in prepared.needs)
        manifest = executor.manifest
        nothing = Outcome(executor.name, executor.digest, call.turn, ok=True)
        if manifest.kind is Kind.PRODUCER:
            return nothing, Preview(words, ())
        can = manifest.capabilities
        if can.net.http or can.shell.exec or can.model.chat or can.mcp.call:
            return nothing, Preview((*words, "what exactly it changes cannot be shown before it is done"), None)
        planning = planning or self._parts.planning()
        outcome = self._perform(call, executor, prepared, planning, None)
        if answered:
            run_after.answer_breach(self._parts.catalog, executor, outcome)
        runs = tuple((RUNS_ALONG, str(path)) for path in planning.runs)
        return outcome, Preview(planning.preview, (*outcome.effects, *runs))

    # -- acting

    def _act(self, call: Call, executor: Executor, prepared: Prepared, permit: Permit) -> Outcome:
        parts = self._parts
        writes, size = quotas.left(parts.catalog, executor.manifest, parts.settings, parts.clock)
        names = {
            "executor": executor.name,
            "version": executor.version,
            "channel": permit.principal.channel,
            "sender": permit.principal.sender,
            "permit": permit.id,
            "turn": permit.turn,
        }
        entry = Entry(RAN, names, {"executor": executor.digest, "arguments": prepared.digest})
        acting = self._parts.effects.begin(
            executor=executor.name,
            digest=executor.digest,
            permit_id=permit.id,
            turn=permit.turn,
            title=_title(executor.name, prepared, call.above),
            root=call.whole.root if call.whole else "",
            max_writes=writes,
            max_bytes=size,
        )
        try:
            with self._parts.audit.act(entry) as line, acting:
                done = self._perform(call, executor, prepared, acting, permit)
                outcome = replace(done, audit=line.seq, permit=permit.id, because=permit.because)
                if not outcome.ok:
                    raise _Ended(outcome)
        except _Ended as ended:
            outcome = ended.outcome
        run_after.learn(parts.catalog, parts.settings, executor, outcome, parts.clock.now())
        return outcome

    def _perform(
        self, call: Call, executor: Executor, prepared: Prepared, doing: Acting | Planning, permit: Permit | None
    ) -> Outcome:
        parts = self._parts
        setting = Setting(parts.pool, parts.settings, parts.workspace, lambda: parts.halts.file.read().halted)
        made: list[Outcome] = []
        planning = doing if isinstance(doing, Planning) else None
        reach = self._reach(call, executor, prepared, made, planning)
        shown = permit.effects if permit else None
        when = When(call.turn, call.now or parts.clock.now(), dry=permit is None)
        outcome = perform(setting, executor, prepared, doing, reach, shown, when)
        action = next((each.action for each in (outcome, *made) if each.action), "")
        return replace(outcome, version=executor.version, args=prepared.args, inner=tuple(made), action=action)

    def _reach(
        self, call: Call, executor: Executor, prepared: Prepared, made: list[Outcome], planning: Planning | None
    ) -> Reach:
        dry = planning is not None

        def nested(name: str, args: Mapping[str, Any]) -> Any:
            made.append(self._nested(call, executor, name, args, planning))
            if not made[-1].ok:
                raise ExecutorFailed(made[-1].message, kind=made[-1].kind)
            return dict(made[-1].reply)

        def undisputed(need: Need) -> bool:
            ask = replace(self._ask(call, executor, prepared), needs=(need,))
            return self._decide(ask).verdict == "allow"

        web = NoWeb() if dry else self._parts.web
        chat = partial(self._parts.chat, call.turn, executor.name) if self._parts.chat and not dry else None
        ask_tool = None if dry else self._parts.ask_tool
        return Reach(web, self._parts.facts, nested, chat, undisputed, ask_tool)

    def _nested(
        self, call: Call, executor: Executor, name: str, args: Mapping[str, Any], planning: Planning | None
    ) -> Outcome:
        """A call that an executor makes: through the same door, in its own name, at its caller's level."""
        if len(call.above) >= _DEEPEST or name in call.above:
            raise ExecutorFailed(f"{executor.name} calls {name} in a circle, or too deep", kind="not_permitted")
        principal = Principal(Channel.EXECUTOR, executor.name, call.principal.level)
        above = (*call.above, executor.name)
        anew = planning is None and not executor.manifest.capabilities.changes_itself
        larger = call.whole if anew else None
        tainted = call.tainted and planning is None
        # Its caller made the arguments up, out of whatever it had read or was answered.
        inner = Call(name, args, principal, call.cwd, call.turn, above, call.now, tainted, carries=True, whole=larger)
        inner = replace(inner, named=call.named)
        outcome = larger.answer(above, name, args) if larger else None
        if outcome is None:
            try:
                outcome = self._made(inner, planning)
            except (AuditError, Waiting):
                raise
            except MetnosError as error:
                kind = "not_permitted" if isinstance(error, LawError) else "failed"
                kind = error.kind if isinstance(error, ExecutorFailed) else kind
                outcome = Outcome(name, "", call.turn, ok=False, kind=kind, message=error.what)
            if larger:
                larger.add(above, args, outcome)
        return outcome

    def _made(self, inner: Call, planning: Planning | None) -> Outcome:
        try:
            # In a rehearsal, what only reads on this machine is really done, or there would be nothing to go on with.
            if planning is not None and not self._parts.catalog.get(inner.name).manifest.is_quiet:
                executor, prepared = self._look(inner)
                self._refuse_refused(inner, executor, prepared)
                return self._rehearse(inner, executor, prepared, planning)[0]
            return self.run(inner)
        except Waiting as error:
            if inner.whole is not None:
                raise  # out of the sandbox and up to whoever can ask
            what = f"{inner.name} must be approved first: {error.fix}"
            raise ExecutorFailed(what, kind="not_permitted") from error


def watch(pool: Pool, halts: Halts, halted: Callable[[], Halt | None]) -> None:
    """Let a panic in any process end every sandbox of this one, and start none while nothing may act."""

    def started(pid: int) -> None:
        since = process.start_time(pid)
        halts.running.add(pid, since)
        if (halt := halted()) is not None:
            # A panic between the decision and here could not have known this one.
            process.end(pid, since)
            raise SandboxError(halt.why, fix=halt.fix)

    pool.on_start, pool.on_stop = started, halts.running.remove


class _Ended(Exception):
    """Carries an outcome that is no success out of the audit's act."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


def _with_found(prepared: Prepared, planning: Planning) -> tuple[Need, ...]:
    """What a call needs, with what its rehearsal found."""
    found = (*carried_needs(planning.carried), *running_needs(planning.runs))
    return tuple(dict.fromkeys((*prepared.needs, *found)))


def _title(name: str, prepared: Prepared, above: tuple[str, ...]) -> str:
    """What a call did, in a few words: its name and what it was pointed at."""
    name = " → ".join((*above, name))
    listed = ", ".join(path.name for path in prepared.writes[:_NAMED])
    more = len(prepared.writes) - _NAMED
    return f"{name}: {listed}{f' and {more} more' if more > 0 else ''}" if listed else name
