"""The immediate memory of a turn: what it is doing, in this process only, gone when it closes.

What is worth keeping of it becomes the trace (`learn`). Nothing here is ever read by another turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from metnos.executors.refs import LAST
from metnos.fastpath.heard import Heard
from metnos.fastpath.slots import Slot
from metnos.grimoire.trace import Context, ModelCall, State, Trace
from metnos.turn.act import Ended
from metnos.turn.plan.records import Plan, Tool
from metnos.turn.recipe import Given
from metnos.turn.request import Request

if TYPE_CHECKING:
    from metnos.turn.shortcut import Shortcut

_GOOD = (State.DONE, State.PARTLY, State.REHEARSED)


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken: where it stands in the plan (from 1), as planned, as called, and how it ended."""

    place: int
    executor: str
    planned: Mapping[str, Any]
    args: Mapping[str, Any]
    ended: Ended
    gap_before: int
    gap_after: int

    @property
    def went_well(self) -> bool:
        return self.ended.state in _GOOD


@dataclass(slots=True)
class Scratch:
    """Everything a turn knows while it goes on."""

    request: Request
    tools: Mapping[str, Tool] = field(default_factory=dict)  # what is there, also what no planner is shown
    explored: str = ""  # an executor that planners do not see, except this time
    slots: tuple[Slot, ...] = ()
    canonical: str = ""
    heard: Heard | None = None  # with its places as they were to be understood when it was asked
    last: Trace | None = None  # the previous turn of this conversation
    shortcut: "Shortcut | None" = None  # what fast paths say about it, whether or not one may answer
    contexts: list[Context] = field(default_factory=list)  # what a language model was sent
    memories: list[Mapping[str, Any]] = field(default_factory=list)  # what had a part in the plan or the answer
    remembered: list[str] = field(default_factory=list)  # what is told where nothing can be done
    made: str = ""  # the executor that was made for this very request
    story: dict[str, Any] = field(default_factory=dict)  # how it was made, or why not
    fell_back: str = ""  # why the planner had to take over from a fast path
    plan: Plan | None = None
    plan_ms: float = 0.0  # how long planning took
    taken: list[Taken] = field(default_factory=list)
    given: dict[str, Given] = field(default_factory=dict)  # by `step1`, `step2`, ... and `last`
    calls: list[ModelCall] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # a language model's own
    notes: list[str] = field(default_factory=list)
    nothing_to_do: bool = False
    state: State = State.DONE
    message: str = ""
    fix: str = ""
    item: str = ""
    error: str = ""
    continues: str = ""
    strangers: bool = False  # a program asked for it, and not the owner
    cpu_ms: float = 0.0

    @property
    def replies(self) -> dict[str, Mapping[str, Any]]:
        """What references stand for."""
        return {name: each.reply for name, each in self.given.items()}

    @property
    def language(self) -> str:
        return self.plan.language if self.plan else "en"

    def begin_again(self) -> None:
        """Forget the steps of a plan that came to nothing; whoever calls this knows that they changed nothing."""
        self.taken.clear()
        for name in [name for name in self.given if name != LAST]:
            del self.given[name]
        self.nothing_to_do = False
        self.stop(State.DONE)

    def stop(self, state: State, message: str = "", fix: str = "", item: str = "") -> None:
        """The turn ends so."""
        self.state, self.message, self.fix, self.item = state, message, fix, item
