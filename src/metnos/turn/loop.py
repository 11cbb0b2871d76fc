"""A turn: Request → Context → Plan → Permit → Outcome → answer → trace, in this order and no other.

Rules: `run` yields events and takes answers; closing it cancels the turn. Whatever happens, a turn is closed once, at
the one commit point, after everything it did is in the audit; a turn whose process dies is not recorded, and is found
and named at the next start. The answer says only what has an audit line.
"""

import contextlib
import os
import time
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from metnos.context import window
from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock
from metnos.core.errors import MetnosError, ModelError, StoreError, UsageError
from metnos.core.ids import UlidMaker
from metnos.core.sections import MemorySettings, TurnSettings
from metnos.executors.call import wanted
from metnos.executors.refs import LAST
from metnos.fastpath.canonical import canonical
from metnos.fastpath.heard import Heard
from metnos.fastpath.slots import extract
from metnos.grimoire.medium import Medium
from metnos.grimoire.medium_rows import Role
from metnos.grimoire.trace import State, StepTrace, Trace
from metnos.law.halt import Halt
from metnos.law.inbox import ACT, Item
from metnos.law.principal import PROGRAMS, Autonomy, Principal, lower
from metnos.sandbox import process
from metnos.turn import ending, learn, resuming
from metnos.turn.act import Door
from metnos.turn.events import Answered, Event, Spoken, Started
from metnos.turn.extend import Maker, extend
from metnos.turn.following import Way, follow
from metnos.turn.plan.fill_files import Ground, resolved
from metnos.turn.plan.model_scene import Scene
from metnos.turn.plan.records import Kind
from metnos.turn.plan.records import Path as PlanPath
from metnos.turn.planning import Planner, zone_of
from metnos.turn.purse import Purses
from metnos.turn.reach import Reaching
from metnos.turn.recipe import Given
from metnos.turn.request import LONGEST, Request, own_conversation
from metnos.turn.scratch import Scratch, Taken
from metnos.turn.seeing import Seeing, Sight
from metnos.turn.thinking import Thinker
from metnos.turn.tools import Toolbox

if TYPE_CHECKING:
    from metnos.turn.reminding import Reminding
    from metnos.turn.shortcut import Shortcuts

Reminded = TypeVar("Reminded")
Turn = Generator[Event, Spoken | None, None]


@dataclass(frozen=True, slots=True)
class Parts:
    """What turns are made of."""

    door: Door
    toolbox: Toolbox
    medium: Medium
    clock: Clock
    settings: TurnSettings
    memory: MemorySettings
    purses: Purses
    head: Callable[[], str]  # the constant beginning of every prompt
    shortcuts: "Shortcuts | None"
    reach: Callable[[Collection[str]], Reaching] | None  # what experience says comes after what
    reminding: "Reminding | None"  # what is remembered; nothing: nobody is reminded of anything
    sight: Sight  # how what a model sees is put together
    maker: Maker | None  # what makes executors that are missing; nothing: none is offered
    learnt: Callable[[], object]  # lets everything that learns catch up with the traces
    lives: Callable[[], None] = lambda: None  # raises if the agent was retired since: turns may be held for months
    halted: Callable[[], Halt | None] = lambda: None  # why nothing may act, also with words


class Turns:
    """The turns of one workspace. Threads may share it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._ids = UlidMaker(parts.clock)
        self._owed: dict[str, Trace] = {}  # turns that are over and could not be recorded yet

    def request(
        self, text: str, *, principal: Principal, cwd: Path, conversation: str = "", dry_run: bool = False
    ) -> Request:
        """A request, checked. Without a conversation it is one of its own.

        Whoever cannot answer for the owner has conversations that nobody else joins: what was found last is what
        *them* means, and a program must not decide what the owner's word stands for.
        """
        text = text.strip()
        if not text:
            raise UsageError("there is nothing to do: the request is empty", fix="Say what you want done.")
        if len(text) > LONGEST:
            raise UsageError(f"the request is longer than {LONGEST} characters", fix="Put the text into a file.")
        turn = self._ids()
        asked = self._parts.clock.now().astimezone()
        return Request(turn, text, principal, cwd, asked, own_conversation(conversation or turn, principal), dry_run)

    def warm(self) -> None:
        """Load what the first turn would have to load."""
        self._parts.toolbox.kit()

    def run(self, request: Request) -> Turn:
        """Take a request from the sentence to the answer."""
        scratch = Scratch(request, strangers=request.principal.channel in PROGRAMS)
        return self._metered(scratch, self._turn(scratch))

    def go_on(self, item: Item, principal: Principal) -> Turn | None:
        """Go on with the turn that waited for this question, now that it is approved; nothing if none waits."""
        waiting = self._parts.medium.waiting_for(item.id) if item.kind == ACT else None
        if waiting is None:
            return None
        scratch = self._again(waiting, Autonomy(item.body["principal"][2]), principal)
        return self._metered(scratch, self._continued(scratch, waiting, item))

    def finish(self, waiting: Trace, made: str, principal: Principal) -> Turn:
        """Go on with a turn that waited for an executor to be made, now that it lives: the request is planned anew."""
        level = Autonomy(waiting.plan.get("made", {}).get("level", Autonomy.READ_ONLY))
        scratch = self._again(waiting, level, principal)
        scratch.made, scratch.story = made, {"name": made, "item": waiting.item, "lives": True}
        return self._metered(scratch, self._turn(scratch))

    def _again(self, waiting: Trace, level: Autonomy, principal: Principal) -> Scratch:
        """The request of a turn that waited. For executors it is still the time at which it was asked for, as it was in
        the preview; and whoever says yes to one thing does not lend their level to the others."""
        request = Request(
            id=self._ids(),
            text=waiting.text,
            principal=replace(principal, level=lower(principal.level, level)),
            cwd=Path(waiting.cwd),
            asked=waiting.asked,
            conversation=waiting.conversation,
        )
        return Scratch(request, continues=waiting.id, strangers=self._first(waiting).channel in PROGRAMS)

    def _first(self, trace: Trace) -> Trace:
        """The turn that all the waiting began with: whoever says yes to a part of it did not ask for it."""
        while trace.continues:
            trace = self._parts.medium.load(trace.continues)
        return trace

    # -- a turn

    def _metered(self, scratch: Scratch, turn: Turn) -> Turn:
        """Count the processor time that the turn itself takes, and not its face."""
        sent: Spoken | None = None
        try:
            while True:
                began = time.thread_time()
                try:
                    event = turn.send(sent)
                except StopIteration:
                    return
                finally:
                    scratch.cpu_ms += (time.thread_time() - began) * 1000
                sent = yield event
        finally:
            turn.close()

    def _turn(self, scratch: Scratch) -> Turn:
        request = scratch.request
        self._begin(request)
        with self._closing(scratch) as close:
            yield Started(request.id)
            if (halt := self._parts.halted()) is not None:
                scratch.stop(State.REFUSED, f"{halt.why[:1].upper()}{halt.why[1:]}.", halt.fix)
                yield close()
                return
            self.recall(scratch)
            purse = self._parts.purses.open(request.id, scratch.calls)
            thinker = Thinker(purse) if purse and self._parts.settings.planner != "router" else None
            scene = self._scene(scratch) if thinker else None
            yield from self._do(scratch, thinker, scene)
            made = yield from extend(self._parts.maker, scratch, purse)
            if made:
                scratch.made = made
                scratch.begin_again()
                yield from self._do(scratch, thinker, scene)
            yield close()

    def _do(self, scratch: Scratch, thinker: Thinker | None, scene: Scene | None) -> Turn:
        """Plan with what is there at this moment and follow the plan; what a fast path could not do is planned anew."""
        kit = self._parts.toolbox.kit(scratch.request.id)
        scratch.tools, scratch.explored = kit.tools, kit.explored
        planner = Planner(
            kit,
            self._parts.door.home,
            self._parts.settings.planner,
            thinker,
            scene,
            reach=self._parts.reach(kit.tools) if self._parts.reach else None,
            shortcuts=self._parts.shortcuts,
            reminding=self._parts.reminding,
        )
        way = Way(self._parts.door, self._parts.settings.steps, thinker, scene)
        plan = yield from planner.plan(scratch)
        if plan.kind is not Kind.STEPS:
            scratch.stop(_STATES[plan.kind])
            if plan.kind is Kind.NOTHING:
                scratch.remembered = self._reminded(scratch, lambda memory: memory.told(scratch)) or []
            return
        yield from follow(way, scratch, plan)
        if plan.path is not PlanPath.FAST or not _came_to_nothing(scratch):
            return
        scratch.fell_back = scratch.message or "a step failed"
        again = yield from planner.plan(scratch)
        if again.steps == plan.steps:
            return  # it is the request that cannot be met, and not the path that is wrong
        scratch.begin_again()
        if again.kind is Kind.STEPS:
            yield from follow(way, scratch, again)
        else:
            scratch.stop(_STATES[again.kind])

    def _continued(self, scratch: Scratch, waiting: Trace, item: Item) -> Turn:
        self._begin(scratch.request)
        with self._closing(scratch) as close:
            yield Started(scratch.request.id)
            scratch.tools = self._parts.toolbox.kit().tools
            self._parts.purses.open(scratch.request.id, scratch.calls)
            if waiting.plan.get("last"):
                _remember(self._parts.medium.load(waiting.plan["last"]), scratch)
            resuming.heard(waiting, scratch)
            plan, first = resuming.rest(waiting, self._done_so_far(waiting), item, scratch)
            scratch.plan = plan
            way = Way(self._parts.door, self._parts.settings.steps, None, None, wanted(item))
            yield from follow(way, scratch, plan, first)
            yield close()

    def _done_so_far(self, waiting: Trace) -> list[StepTrace]:
        """What a turn, and those that it went on with, had done before it waited."""
        done = [step for step in waiting.steps if step.ok]
        while waiting.continues:
            waiting = self._parts.medium.load(waiting.continues)
            done[:0] = [step for step in waiting.steps if step.ok]
        return done

    def _begin(self, request: Request) -> None:
        self._parts.lives()
        pid = os.getpid()
        self._parts.medium.begin(
            request.id,
            pid=pid,
            started=process.start_time(pid),
            text_digest=sha256_hex(request.text.encode("utf-8", "surrogatepass")),
            conversation=request.conversation,
            channel=request.principal.channel,
            sender=request.principal.sender,
        )

    @contextlib.contextmanager
    def _closing(self, scratch: Scratch) -> "Generator[Callable[[], Answered]]":
        """Close the turn exactly once: with its answer, or with what went wrong."""
        closed: list[Answered] = []

        def close() -> Answered:
            if not closed:
                closed.append(self._close(scratch))
            return closed[0]

        try:
            yield close
        except (GeneratorExit, KeyboardInterrupt):
            scratch.stop(State.CANCELLED)
            close()
            raise
        except MetnosError as error:
            scratch.stop(State.FAILED, error.what, error.fix)
            scratch.error = type(error).__name__
            close()
            raise
        except BaseException as error:
            # A mistake in Metnos: recorded as such, with its kind only, and shown as one.
            scratch.stop(State.FAILED, f"a {type(error).__name__} inside Metnos")
            scratch.error = type(error).__name__
            close()
            raise
        finally:
            self._parts.purses.close(scratch.request.id)

    def recall(self, scratch: Scratch) -> None:
        """What this request is about, and what came before it."""
        request = scratch.request
        scratch.slots = extract(request.text, now=request.asked, home=self._parts.door.home, cwd=request.cwd)
        scratch.canonical = canonical(request.text, scratch.slots)
        ground = Ground(request.cwd, self._parts.door.home, Path.exists)
        scratch.heard = Heard.of(request.text, resolved(scratch.slots, ground), request.asked, ground.there)
        last = self._last(scratch)
        if last is not None:
            _remember(last, scratch)

    def _last(self, scratch: Scratch) -> Trace | None:
        """The turn before this one; before one that goes on, what came before the turn that waited."""
        if not scratch.continues:
            return self._parts.medium.last(scratch.request.conversation)
        last = self._parts.medium.load(scratch.continues).plan.get("last")
        return self._parts.medium.load(last) if last else None

    def _scene(self, scratch: Scratch) -> Scene:
        request, parts = scratch.request, self._parts
        rows = parts.medium.window(request.conversation, parts.memory.window)
        lines = [window.Line(role == Role.OWNER, text) for role, text, _ in rows]
        last = scratch.last.answer if scratch.last else ""
        shown = window.build(lines, parts.memory.window)
        memory = self._reminded(scratch, lambda memory: memory.shown(scratch)) or ()
        seeing = Seeing(parts.sight, request.conversation, scratch.contexts)
        return Scene(
            parts.head(), shown, zone_of(request.asked), str(request.cwd), str(parts.door.home), last, memory, seeing
        )

    def _reminded(self, scratch: Scratch, ask: "Callable[[Reminding], Reminded]") -> "Reminded | None":
        """What a memory that can be read says; one that cannot is told of, and the turn goes on without it."""
        if self._parts.reminding is None:
            return None
        try:
            return ask(self._parts.reminding)
        except (StoreError, ModelError) as error:
            scratch.notes.append(error.what)
            return None

    # -- the end

    def _close(self, scratch: Scratch) -> Answered:
        text = ending.said(scratch, home=str(self._parts.door.home), most=self._parts.settings.show)
        trace = learn.trace(scratch, text, self._parts.clock)
        self._owed.setdefault(trace.id, trace)
        self._record()
        self._parts.learnt()
        return Answered(
            turn=trace.id,
            state=str(trace.state),
            text=text,
            steps=tuple(_step_data(step) for step in trace.steps),
            undo=tuple(step.action for step in trace.steps if step.action),
            model_text=bool(scratch.words) or (scratch.plan is not None and ending.is_own_words(scratch.plan)),
        )

    def _record(self) -> None:
        """Record every turn that is over: also one whose end met a full disk or a busy store."""
        for trace in list(self._owed.values()):
            self._parts.medium.close(trace)
            self._owed.pop(trace.id, None)


_BEFORE_ACTING = ("invalid", "not_found")  # kinds of failure that say that something was missing, not that it broke
_STATES = {Kind.QUESTION: State.QUESTION, Kind.NOTHING: State.NOTHING, Kind.TALK: State.TALKED}


def _came_to_nothing(scratch: Scratch) -> bool:
    """Whether a plan failed without having changed anything, so that another can be tried."""
    return scratch.state is State.FAILED and not any(_changed(taken, scratch) for taken in scratch.taken)


def _changed(taken: Taken, scratch: Scratch) -> bool:
    """Whether a step may have changed something: not if it refused what it was given before it did anything."""
    outcome = taken.ended.outcome
    if outcome is None or not scratch.tools[taken.executor].mutates:
        return False
    touched = outcome.action or outcome.effects or outcome.inner
    return outcome.ok or bool(touched) or outcome.kind not in _BEFORE_ACTING


def _remember(last: Trace, scratch: Scratch) -> None:
    """What ``last`` stands for in references."""
    scratch.last = last
    step = next((step for step in reversed(last.steps) if step.ok), None)
    if step is not None:
        scratch.given[LAST] = Given(step.executor, step.args, step.reply, last.cwd)


def _step_data(step: StepTrace) -> dict[str, object]:
    names = ("executor", "args", "ok", "kind", "message", "reply", "action", "wall_ms")
    return {name: getattr(step, name) for name in names}
