"""Frames: keeping the beginning of a prompt the same to the byte from call to call, so that a server need not read it.

An I-frame sends every stable block afresh. A P-frame repeats the I-frame's beginning exactly and says after it what has
changed since: a block with new content follows with a line that says that it takes the place of the earlier one. What
is unchanged is not said twice.

Rules: an I-frame is due at the first call, after `Rules.every` calls, when the phase or the head changed, and when what
changed would cost more than `Rules.most_changed` of the prefix. Nothing else ever touches the prefix. The cached share
is counted from the bytes that this call and the last one begin with alike, not from what we intended. Does not know
whether a server really kept it: its own count (`Usage.cached_tokens`) says that. State is a plain record that the
caller keeps, one for each conversation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metnos.context.budgets import Phase
from metnos.core.canon import sha256_hex

Count = Callable[[str], int]
_REPLACED = "Now instead of {} above:"
_GONE = "No longer true of now: {} above."


@dataclass(frozen=True, slots=True)
class Rules:
    """Numbers of frames. The seed makes 30 to 60 calls in one cycle of consolidation; both bounds are chosen."""

    every: int = 50  # calls: one cycle of the curator, which changes what is known
    most_changed: float = 0.5  # of the prefix: beyond that a fresh one is cheaper from the next call on


DEFAULT = Rules()


@dataclass(frozen=True, slots=True)
class Stable:
    """A stable block as it is shown; ``name`` is a word of ours by which a later one can refer to it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """The I-frame that later calls build on: its blocks, what it was made for, and how many calls used it."""

    head: str  # digest of the system prompt
    phase: Phase
    blocks: tuple[Stable, ...]
    calls: int
    last: str  # the whole text of the last call, to see what this one shares with it


@dataclass(frozen=True, slots=True)
class Frame:
    """The stable part of one call: its text, why it is fresh (empty for a P-frame), and what to keep for the next."""

    prefix: str
    changed: str
    why: str
    key: Key

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in (self.prefix, self.changed) if part)

    @property
    def fresh(self) -> bool:
        return bool(self.why)


def frame(
    key: Key | None, system: str, blocks: Sequence[Stable], phase: Phase, count: Count, rules: Rules = DEFAULT
) -> Frame:
    """The stable blocks of this call, as an I-frame or as a P-frame on the one before."""
    head = sha256_hex(system.encode("utf-8", "surrogatepass"))
    changed = _changed(key.blocks, blocks) if key is not None else ""
    why = _due(key, head, phase, changed, count, rules)
    if key is None or why:
        return Frame(_joined(blocks), "", why, Key(head, phase, tuple(blocks), 1, key.last if key else ""))
    return Frame(_joined(key.blocks), changed, "", Key(head, phase, key.blocks, key.calls + 1, key.last))


def sent(made: Frame, system: str, body: str) -> Key:
    """What to keep after the call: also what was sent, as it was."""
    key = made.key
    return Key(key.head, key.phase, key.blocks, key.calls, f"{system}\n{body}")


def cached(key: Key | None, system: str, body: str, count: Count) -> float:
    """The share of this call's tokens that the last call began with too, in [0, 1]."""
    if key is None or not key.last:
        return 0.0
    whole = f"{system}\n{body}"
    apart = next((at for at, (a, b) in enumerate(zip(whole, key.last, strict=False)) if a != b), None)
    shared = whole[: min(len(whole), len(key.last)) if apart is None else apart]
    return min(count(shared) / max(count(whole), 1), 1.0) if shared else 0.0


def _due(key: Key | None, head: str, phase: Phase, changed: str, count: Count, rules: Rules) -> str:
    """Why an I-frame is due; nothing if it is not."""
    if key is None:
        return "first call"
    if key.head != head:
        return "the head changed"
    if key.phase is not phase:
        return "the phase changed"
    if key.calls >= rules.every:
        return f"{key.calls} calls"
    if changed and count(changed) > rules.most_changed * count(_joined(key.blocks)):
        return "much changed"
    return ""


def _changed(before: Sequence[Stable], now: Sequence[Stable]) -> str:
    known = {block.name: block.text for block in before}
    left = [block.name for block in now]
    lines = []
    for block in now:
        if block.name not in known:
            lines.append(block.text)
        elif block.text != known[block.name]:
            lines.append(f"{_REPLACED.format(block.name)}\n{block.text}")
    lines += [_GONE.format(name) for name in known if name not in left]
    return "\n\n".join(lines)


def _joined(blocks: Sequence[Stable]) -> str:
    return "\n\n".join(block.text for block in blocks)
