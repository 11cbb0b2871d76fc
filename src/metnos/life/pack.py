"""A domain pack: what an agent must know of a walk of life, as a plain TOML file. It becomes a `Domain` of the memory.

Rules: two are shipped, `home` and `defi`; a file in the workspace's `packs` folder is another one. Where a pack says
something twice (a category, a task), the names must be the same: a category that is not among the pack's insights is an
error. Event signatures are checked for their form here; whether a chain has such events, only the chain knows.
"""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from metnos.context.blocks import Kind as Block
from metnos.context.budgets import SHAPES, Shape, Task
from metnos.grimoire.domain import Domain, EventKind, TaskBudget
from metnos.grimoire.fact import Kind
from metnos.life import toml_file

SHIPPED = Path(__file__).with_name("packs")
CHAIN = "chain"  # the source of a pack whose events come from a chain
_MOST = 256  # entries of one table
_TYPE = r"(?:address|bool|string|bytes(?:[1-9]|[12]\d|3[0-2])?|u?int(?:\d{1,3})?)(?:\[\d*\])*"
_SIGNATURE = re.compile(rf"[A-Za-z_]\w*\((?:{_TYPE}(?: indexed)? \w+(?:, {_TYPE}(?: indexed)? \w+)*)?\)")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")]
Words = Annotated[str, Field(max_length=200)]
Place = Annotated[str, Field(pattern=r"^[a-z_]+(\.[A-Za-z0-9_]+)*$", max_length=120)]
Address = Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{40}$")]


def _is_signature(text: str) -> str:
    if text and not _SIGNATURE.fullmatch(text):
        raise ValueError("an event is written like `Transfer(address indexed from, address indexed to, uint256 value)`")
    return text


class _Event(toml_file.Strict):
    about: Words = ""
    signature: Annotated[str, Field(max_length=300), AfterValidator(_is_signature)] = ""
    weight: Annotated[float, Field(ge=0, le=1)] = 0.2
    category: str = ""
    bad: bool = False


class _Task(toml_file.Strict):
    stands_for: Literal["plan", "answer", "summarise", "reflect"]
    tokens: dict[str, Annotated[int, Field(ge=0, le=100_000)]] = Field(default_factory=dict)
    great: str = ""
    part: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    reserve: Annotated[int, Field(ge=0, le=100_000)] = 0

    @model_validator(mode="after")
    def _whole(self) -> Self:
        blocks = set(map(str, Block))
        unknown = sorted({*self.tokens, *filter(None, [self.great])} - blocks)
        if unknown:
            raise ValueError(f"there is no block {unknown[0]!r}; there are {', '.join(sorted(blocks))}")
        if bool(self.tokens) != bool(self.great and self.part and self.reserve):
            raise ValueError("a budget of its own has `tokens`, `great`, `part` and `reserve`; none has none of them")
        return self


class _Pack(toml_file.Strict):
    about: Words = ""
    source: Literal["", "chain"] = ""
    insights: Annotated[list[Name], Field(min_length=1, max_length=_MOST)]
    cluster_key: Annotated[list[Place], Field(min_length=1, max_length=8)]
    measures: Annotated[dict[Words, Place], Field(max_length=_MOST)] = Field(default_factory=dict)
    categories: dict[str, Name] = Field(default_factory=dict)
    sorting: dict[Words, Name] = Field(default_factory=dict)
    events: Annotated[dict[Name, _Event], Field(max_length=_MOST)] = Field(default_factory=dict)
    tasks: Annotated[dict[Name, _Task], Field(max_length=32)] = Field(default_factory=dict)
    names: dict[Annotated[str, Field(pattern=r"^\d{1,20}$")], dict[Address, Name]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        kinds = set(map(str, Kind))
        if unknown := sorted(set(self.categories) - kinds):
            raise ValueError(f"there is no kind of fact {unknown[0]!r}; there are {', '.join(sorted(kinds))}")
        said = {*self.categories.values(), *self.sorting.values(), *(each.category for each in self.events.values())}
        if unsaid := sorted(said - {""} - set(self.insights)):
            raise ValueError(f"the category {unsaid[0]!r} is not among `insights`")
        twice = [each.stands_for for each in self.tasks.values()]
        if len(set(twice)) < len(twice):
            raise ValueError("two tasks stand for the same one")
        return self


def read(name: str, own: Path | None = None) -> Domain:
    """The pack of that name. ``own`` is the folder of the owner's own packs."""
    found = toml_file.read(toml_file.find("pack", name, SHIPPED, own), _Pack)
    return Domain(
        name=name,
        cluster_key=tuple(found.cluster_key),
        measures=found.measures,
        categories={Kind(kind): category for kind, category in found.categories.items()},
        sorting=found.sorting,
        events={kind: EventKind(**each.model_dump()) for kind, each in found.events.items()},
        tasks={task: TaskBudget(**each.model_dump()) for task, each in found.tasks.items()},
        names={
            f"{chain}:{address.lower()}": name
            for chain, addresses in found.names.items()
            for address, name in addresses.items()
        },
        source=found.source,
        insights=tuple(found.insights),
    )


def shapes(domain: Domain) -> dict[Task, Shape]:
    """What a language model is shown for each task: the pack's budgets, and the house's where it has none."""
    own = {
        Task(each.stands_for): Shape(
            {Block(kind): tokens for kind, tokens in each.tokens.items()}, Block(each.great), each.part, each.reserve
        )
        for each in domain.tasks.values()
        if each.tokens
    }
    return {**SHAPES, **own}
