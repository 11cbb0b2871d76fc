"""Where blocks stand: what matters most at the beginning and at the end, where models read best (the U-curve).

Rules: the head first; at the end what was found for the request, the request, and then the last instruction; between
them what matters most outermost. What is stable stands before what is not, since a server keeps only a prefix: that is
why the request is not second, as in the seed, but near the end, which is as good a place. The same blocks give the same
order. Pure.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from metnos.context.blocks import Block, Kind

_Item = TypeVar("_Item")
_LAST = (Kind.RESULTS, Kind.SITUATION, Kind.REQUEST, Kind.INSTRUCTION)


def u_curve(items: Sequence[_Item], worth: Callable[[_Item], float]) -> tuple[_Item, ...]:
    """The best first, the second best last, and so on inwards, so that the least stands in the middle."""
    ranked = sorted(items, key=lambda item: -worth(item))
    return (*ranked[::2], *ranked[1::2][::-1])


def arranged(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """All blocks in the order in which a model reads them."""
    first = [block for block in blocks if block.kind is Kind.HEAD or (block.kind is Kind.INSTRUCTION and block.stable)]
    last = [block for kind in _LAST for block in blocks if block.kind is kind and block not in first]
    middle = [block for block in blocks if block not in first and block not in last]
    stable = sorted((block for block in middle if block.stable), key=_place)
    loose = [block for block in middle if not block.stable]
    return (*sorted(first, key=lambda block: block.kind is not Kind.HEAD), *stable, *u_curve(loose, _worth), *last)


def _worth(block: Block) -> float:
    return block.priority


def _place(block: Block) -> tuple[int, str]:
    """Fixed for each kind, so that a prefix stays the same."""
    return -block.priority, block.kind
