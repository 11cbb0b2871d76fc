"""Putting a context together: blocks into the messages of one call, within the budget, with a record of what went in.

Essentials (the head, the instruction, the request, and what is declared to be of no use in part) stand whole. The
others get their budget of the task and the phase; what one does not need goes to those that want more, the most
important first. What is too long is shortened towards the question (`metnos.context.compress`). Then all are put in
order (`metnos.context.order`), the stable ones as a frame (`metnos.context.frames`).

Rules (property-tested): the prompt and the reserve for the reply fit the window by the given count, else `ModelError`
says so; nothing from outside is in the system prompt or stands unfenced; a stable block is shortened without regard to
the question or to what others need, else it would change with every call. The record says for every block what it had,
what it may have and what it got. Does not keep anything: the caller keeps the record and the frame's key. Asks a model,
if at all, only by way of ``asked``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metnos.context import frames, order
from metnos.context.blocks import SYSTEM, Block, Kind, counter
from metnos.context.budgets import Allocation
from metnos.context.compress import Count, compress_parts
from metnos.context.frames import Frame, Key, Stable
from metnos.context.surprisal import Telling
from metnos.context.table import table
from metnos.context.tokens import PER_MESSAGE
from metnos.core.errors import ModelError
from metnos.models.chat import Message, Prompt

_AROUND = 2 * PER_MESSAGE  # the system prompt and one message


@dataclass(frozen=True, slots=True)
class Entry:
    """One block of a context: the tokens it had, was allowed and got, and which memories are in it."""

    kind: str
    had: int
    allowed: int
    got: int
    stable: bool
    refs: tuple[str, ...]

    @property
    def state(self) -> str:
        return "whole" if self.got >= self.had else "shortened" if self.got else "left out"


@dataclass(frozen=True, slots=True)
class Record:
    """What one call was sent, in figures. ``cached``: the share that begins like the call before it; ``fresh`` says why
    the prefix was sent anew, and is empty if it was not; ``scored``, who said what is telling, if a model was asked."""

    task: str
    phase: str
    window: int
    reserve: int
    tokens: int
    cached: float
    fresh: str
    entries: tuple[Entry, ...]
    scored: str = ""

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of block that were in it: what the quality signal is about."""
        return frozenset(Kind(each.kind) for each in self.entries if each.got)

    @property
    def refs(self) -> tuple[str, ...]:
        """The memories of which something was in it."""
        return tuple(dict.fromkeys(ref for each in self.entries for ref in each.refs))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Record":
        entries = tuple(Entry(**{**each, "refs": tuple(each["refs"])}) for each in data["entries"])
        return cls(**{**data, "entries": entries})

    def __str__(self) -> str:
        rows = [
            {
                "block": each.kind,
                "tokens": each.got,
                "of": each.had,
                "allowed": each.allowed,
                "": f"{each.state}, prefix" if each.stable else each.state,
            }
            for each in self.entries
        ]
        frame = f"prefix sent anew: {self.fresh}" if self.fresh else "prefix as before"
        scored = f"; {self.scored}" if self.scored else ""
        return (
            f"{table(rows)}\n{self.tokens} tokens of {self.window}, {self.reserve} kept for the reply; "
            f"{100 * self.cached:.0f} % as in the call before ({frame}); task {self.task}, phase {self.phase}{scored}"
        )


@dataclass(frozen=True, slots=True)
class Assembled:
    """A context: what is sent, what to keep for the next call, and the record."""

    system: str
    messages: tuple[Message, ...]
    key: Key
    record: Record

    def prompt(self, schema: Mapping[str, Any] | None = None, max_tokens: int | None = None) -> Prompt:
        return Prompt(self.system, self.messages, schema=schema, max_tokens=max_tokens or self.record.reserve)


@dataclass(frozen=True, slots=True)
class _Made:
    """A block as it is shown."""

    block: Block
    text: str
    entry: Entry


def assemble(
    blocks: Sequence[Block],
    allocation: Allocation,
    *,
    question: str,
    count: Count,
    model: Telling,
    asked: Telling | None = None,
    key: Key | None = None,
) -> Assembled:
    """One call's context. ``key`` is what the call before gave to keep; without it everything is sent anew.

    ``asked`` says what is telling instead of ``model``, but not of stable blocks: it may say otherwise the next time.
    """
    arranged = order.arranged([block for block in blocks if block.text.strip()])
    shares = _shares(arranged, allocation, count)
    made = [
        _made(block, share, allocation, question, count, model if block.stable else asked or model)
        for block, share in zip(arranged, shares, strict=True)
    ]
    system = "\n\n".join(each.text for each in made if _in_system(each.block))
    stable = _named([each for each in made if _in_prefix(each.block) and each.text])
    loose = [each.text for each in made if not _in_system(each.block) and not _in_prefix(each.block) and each.text]
    fits = allocation.window - allocation.reserve - _AROUND
    framed = frames.frame(key, system, stable, allocation.phase, count)
    if not framed.fresh and count(system) + count(_body(framed, loose)) > fits:
        framed = frames.frame(None, system, stable, allocation.phase, count)  # old and new together are too long
    body = _body(framed, loose)
    used = count(system) + count(body) + _AROUND
    if used > allocation.window - allocation.reserve:
        raise _too_long(used, allocation)
    record = Record(
        task=str(allocation.task),
        phase=str(allocation.phase),
        window=allocation.window,
        reserve=allocation.reserve,
        tokens=used,
        cached=frames.cached(key, system, body, count),
        fresh=framed.why,
        entries=tuple(each.entry for each in made),
    )
    return Assembled(system, (Message("user", body),) if body else (), frames.sent(framed, system, body), record)


# -- who gets how much


def _shares(blocks: Sequence[Block], allocation: Allocation, count: Count) -> list[int]:
    """How many tokens each block gets."""
    needs = [count(block.shown(block.text)) + 1 for block in blocks]  # and what stands between two
    fits = allocation.window - allocation.reserve - _AROUND
    essential = sum(need for block, need in zip(blocks, needs, strict=True) if block.essential)
    left = max(min(allocation.room, fits) - essential, 0)
    shares = [need if block.essential else 0 for block, need in zip(blocks, needs, strict=True)]
    budgets = dict(allocation.blocks)
    ranked = sorted(range(len(blocks)), key=lambda at: (not blocks[at].stable, -blocks[at].priority, at))
    for at in (at for at in ranked if not blocks[at].essential):
        kind = blocks[at].kind
        shares[at] = min(needs[at], budgets.get(kind, 0), left)
        budgets[kind] = budgets.get(kind, 0) - shares[at]
        left -= shares[at]
    for at in (at for at in ranked if not blocks[at].essential and not blocks[at].stable):
        more = min(needs[at] - shares[at], left)
        shares[at] += more
        left -= more
    return shares


def _made(block: Block, share: int, allocation: Allocation, question: str, count: Count, model: Telling) -> _Made:
    whole = block.shown(block.text)
    had = count(whole)
    allowed = allocation.blocks.get(block.kind, 0)
    if block.essential or had < share:
        return _Made(block, whole, Entry(str(block.kind), had, allowed, had, _in_prefix(block), block.refs))
    parts = compress_parts(
        block.parts,
        share - 1,
        question="" if block.stable else question,
        count=counter(block, count),
        apiece=count,
        model=model,
        seen=block.seen,
    )
    content = "\n".join(part.text for part in parts if part.text)
    text = block.shown(content, shortened=True)
    refs = tuple(ref for ref, part in zip(block.refs, parts, strict=False) if part.text)
    got = count(text) if text else 0
    return _Made(block, text, Entry(str(block.kind), had, allowed, got, _in_prefix(block), refs))


# -- where it stands


def _in_system(block: Block) -> bool:
    """The constant prefix of every call: the head and fixed instructions. What is of one call stands at its end."""
    return block.kind in SYSTEM and (block.kind is Kind.HEAD or block.stable)


def _in_prefix(block: Block) -> bool:
    return block.stable and not _in_system(block)


def _named(made: Sequence[_Made]) -> list[Stable]:
    """Stable blocks by names that differ, also if two are of one kind."""
    seen: dict[Kind, int] = {}
    named = []
    for each in made:
        number = seen[each.block.kind] = seen.get(each.block.kind, 0) + 1
        named.append(Stable(f"{each.block.kind} {number}" if number > 1 else str(each.block.kind), each.text))
    return named


def _body(framed: Frame, loose: Sequence[str]) -> str:
    return "\n\n".join(text for text in (framed.text, *loose) if text)


def _too_long(used: int, allocation: Allocation) -> ModelError:
    return ModelError(
        f"what has to be said takes {used} tokens, and the model sees {allocation.window}, with {allocation.reserve}"
        " of them kept for its reply",
        kind="budget",
        fix="Shorten the request or the files of long memory, or raise models.main.context if the model can see more.",
    )
