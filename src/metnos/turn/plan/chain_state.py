"""A plan while it is made: the steps so far, what was assumed, what is missing, and where the next step takes from.

Rules: a reference names a step that stands before it, or the last turn. A step that lacks something is in the plan
without it, and `missing` says what; nothing after it changes that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from metnos.turn.plan.clauses import Clause
from metnos.turn.plan.fill_files import Ground
from metnos.turn.plan.lexicon import fold
from metnos.turn.plan.patterns import qualities
from metnos.turn.plan.records import Step, Tool

LAST = "last"


@dataclass(frozen=True, slots=True)
class Last:
    """What the previous turn of a conversation produced: what *them* and *quelli* may mean."""

    executor: str
    result_key: str
    fields: frozenset[str]
    count: int
    args: Mapping[str, Any] = field(default_factory=dict)  # of its last step: what kind of files they are


@dataclass(frozen=True, slots=True)
class Scene:
    """What a request is read against."""

    tools: dict[str, Tool]
    ground: Ground
    now: datetime
    language: str
    last: Last | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a step takes from: an earlier step, or the last turn."""

    name: str
    executor: str
    key: str
    fields: frozenset[str]
    rows: bool

    def ref(self, part: str = "", *, first: bool = False) -> str:
        """A reference to the whole list, to one field of each, or of the first."""
        place = "[0]" if first else ""
        return "{{" + f"{self.name}.{self.key}{place}" + (f".{part}" if part else "") + "}}"

    @property
    def places(self) -> str | None:
        """The field that holds paths of files that are there now."""
        return next((each for each in ("to", "path") if each in self.fields), None)


@dataclass(slots=True)
class Chain:
    """The plan so far."""

    scene: Scene
    steps: list[Step] = field(default_factory=list)
    notes: list[tuple[str, dict[str, str]]] = field(
        default_factory=list
    )  # a phrase of `phrases`, and what goes into it
    missing: str = ""
    unsure: str = ""  # a word that says which files are meant, and that nobody understands
    vague: str = ""  # the same of what was only looked for, so that nothing of it may be changed
    part: bool = False  # whether the clause that was left speaks of a part of a file
    refused: tuple[str, str] | None = None  # a phrase that says why nothing can be done, and the word that it is about
    hedged: str = ""  # a word that makes a clause mean less than it seems to say
    assumed: int = 0  # the step whose place was assumed, so that a later clause may still say it
    classes: set[str] = field(default_factory=set)  # of the files that the steps are about

    @property
    def refusal(self) -> tuple[str, str] | None:
        """Why nothing is done, as a phrase of `phrases` and the word that it is about."""
        if self.hedged:
            return "hedged", self.hedged
        if self.unsure:
            measured = self.unsure.isalpha() and fold(self.unsure) not in qualities()
            return "unsure" if measured else "unmeasured", self.unsure
        return self.refused

    def add(self, executor: str, args: dict[str, Any]) -> "Origin":
        self.steps.append(Step(executor, args))
        return self._origin(len(self.steps))

    def lack(self, executor: str, argument: str) -> None:
        """Only the first thing that is missing is asked for."""
        self.missing = self.missing or f"{executor}.{argument}"

    def note(self, phrase: str, **words: str) -> None:
        self.notes.append((phrase, words))

    def assume(self, phrase: str, **words: str) -> None:
        """Note what was assumed about the step that comes next."""
        self.assumed = len(self.steps) + 1
        self.note(phrase, **words)

    def held(self) -> tuple[int, int, str, int]:
        """Where the plan stands, to be taken back to."""
        return len(self.steps), len(self.notes), self.missing, self.assumed

    def take_back(self, held: tuple[int, int, str, int]) -> None:
        """Forget what was added since."""
        steps, notes, self.missing, self.assumed = held
        del self.steps[steps:], self.notes[notes:]

    def before(self, clause: Clause) -> Origin | None:
        """What a clause may take from: the step before it, or the last turn if it says so."""
        if self.steps:
            return self._origin(len(self.steps))
        last = self.scene.last
        if last is None or not clause.back or not last.count:
            return None
        return Origin(LAST, last.executor, last.result_key, last.fields, last.executor in ROWS)

    def has(self, executor: str) -> bool:
        return executor in self.scene.tools

    def _origin(self, number: int) -> Origin:
        step = self.steps[number - 1]
        tool = self.scene.tools[step.executor]
        fields = frozenset(tool.output.get("properties", {}))
        return Origin(f"step{number}", step.executor, tool.result_key, fields, step.executor in ROWS)


ROWS = ("read_tables", "filter_tables", "sort_tables", "group_tables", "join_tables")
