"""The blocks that a context is made of: what kind, from whom, how much they matter.

Rules: only what the owner wrote or the program itself says can stand in the instruction role, and memories, results and
whatever else came from outside can never be declared to be that: such a block is refused when it is made. What is from
outside stands fenced (`metnos.context.fence`), and what it is called is said by code, never by its content. Pure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from metnos.context.compress import Part
from metnos.context.fence import fence, plain


class Kind(StrEnum):
    """What a block is. The seed's names for the same: system prompt, instruction, current event, positions, cortical
    state, episodic and semantic memory, graph context, tool results; tools, conversation and playbook are a home's."""

    HEAD = "head"
    INSTRUCTION = "instruction"
    REQUEST = "request"
    SITUATION = "situation"
    MOOD = "mood"
    TOOLS = "tools"
    RESULTS = "results"
    CONVERSATION = "conversation"
    EPISODES = "episodes"
    FACTS = "facts"
    PLAYBOOK = "playbook"
    GRAPH = "graph"


class Trust(StrEnum):
    """From whom a block is: the owner or the program; or from outside, and then fenced by whoever made it, or here."""

    OWN = "own"
    FENCED = "fenced"
    OUTSIDE = "outside"


# Seed 003's table; what it does not have stands beside its like: tools are what a plan is made of, as positions are
# there; the conversation is read like the mood; the playbook is knowledge.
PRIORITY = {
    Kind.HEAD: 10,
    Kind.INSTRUCTION: 10,
    Kind.REQUEST: 9,
    Kind.SITUATION: 8,
    Kind.TOOLS: 8,
    Kind.RESULTS: 8,
    Kind.MOOD: 7,
    Kind.CONVERSATION: 7,
    Kind.EPISODES: 6,
    Kind.FACTS: 5,
    Kind.PLAYBOOK: 5,
    Kind.GRAPH: 4,
}
ESSENTIAL = frozenset({Kind.HEAD, Kind.INSTRUCTION, Kind.REQUEST})  # without these there is nothing to reply to
SYSTEM = frozenset({Kind.HEAD, Kind.INSTRUCTION})  # what may stand in the instruction role
NEVER_OWN = frozenset({Kind.RESULTS, Kind.EPISODES, Kind.FACTS, Kind.PLAYBOOK, Kind.GRAPH, Kind.CONVERSATION})


@dataclass(frozen=True, slots=True)
class Block:
    """One block. ``parts`` are its texts, each a memory, a result or a paragraph; ``source`` says where they are from.

    ``title`` is a line of our own above it. ``stable``: seldom changes, so it belongs to the prefix that servers keep.
    ``seen``: the model of surprise was made with it. ``refs`` name the memories in it, part by part. ``whole``: of no
    use if it is shortened, like the call of a tool.
    """

    kind: Kind
    parts: tuple[Part, ...]
    trust: Trust
    source: str = ""
    title: str = ""
    stable: bool = False
    seen: bool = False
    refs: tuple[str, ...] = ()
    whole: bool = False

    def __post_init__(self) -> None:
        if self.kind in SYSTEM and self.trust is not Trust.OWN:
            raise ValueError(f"{self.kind} stands in the instruction role: only the owner and the program speak there")
        if self.kind in NEVER_OWN and self.trust is Trust.OWN:
            raise ValueError(f"{self.kind} is content from outside and can not be declared to be the owner's own")
        if self.trust is Trust.OUTSIDE and not self.source:
            raise ValueError(f"{self.kind} is from outside: say in plain words where it is from")
        if self.refs and len(self.refs) != len(self.parts):
            raise ValueError(f"{self.kind} names {len(self.refs)} memories for {len(self.parts)} texts")

    @property
    def priority(self) -> int:
        return PRIORITY[self.kind]

    @property
    def essential(self) -> bool:
        """Never shortened and never left out."""
        return self.whole or self.kind in ESSENTIAL

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if part.text)

    def shown(self, content: str, shortened: bool = False) -> str:
        """``content`` of this block as a model reads it; nothing if there is none."""
        if not content.strip():
            return ""
        if self.trust is Trust.OUTSIDE:
            body = fence(content, f"{self.source}, shortened" if shortened else self.source, len(content) + 1)
        else:
            body = plain(content) if self.trust is Trust.OWN else content
        return f"{self.title}\n{body}" if self.title else body


def counter(block: Block, count: Callable[[str], int]) -> Callable[[str], int]:
    """What content costs where it will stand: with its title and its fence."""
    return lambda content: count(block.shown(content, shortened=True))


def own(kind: Kind, text: str, *, title: str = "", stable: bool = False) -> Block:
    """A block of the owner's or the program's own words."""
    return Block(kind, (Part(text),), Trust.OWN, title=title, stable=stable)


def outside(kind: Kind, text: str, source: str, *, stable: bool = False) -> Block:
    """A block of one text from outside."""
    return Block(kind, (Part(text),), Trust.OUTSIDE, source, stable=stable)


def fenced(kind: Kind, text: str, *, whole: bool = False) -> Block:
    """A block whose maker has fenced what is from outside in it."""
    return Block(kind, (Part(text),), Trust.FENCED, whole=whole)
