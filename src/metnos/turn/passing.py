"""Passings: which executor's output was another's input, in one turn.

Rules: a passing is a fact about data, never about order. It is known by an explicit reference between steps, or because
the very same content came out of one and went into the other, also for calls that an executor made inside its sandbox.
Content that the request itself names is no passing: it came from the owner. Numbers, truth values and short words are
no evidence of anything. The receiving executor must have succeeded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from metnos.executors import refs
from metnos.executors.outcome import Outcome
from metnos.grimoire.trace import Passing

_SHORTEST = 4  # characters: what is shorter is too often the same by chance
_MOST = 20_000  # values looked at in one reply


def passings(steps: Sequence[tuple[int, Mapping[str, Any], Outcome]], request: str) -> tuple[Passing, ...]:
    """All passings of a turn. Each step: its number, its arguments as planned (with references), how it ended."""
    found: dict[tuple[str, str, int, int], Passing] = {}
    for place, (number, planned, outcome) in enumerate(steps):
        earlier = steps[:place]
        if outcome.ok:
            named = set(refs.named(planned))
            for source, _, before in earlier:
                if before.ok and f"step{source}" in named:
                    _add(found, before, outcome, "reference", source, number)
                elif before.ok and _share(before, outcome, request):
                    _add(found, before, outcome, "content", source, number)
        _inside(found, outcome, number, request)
    return tuple(found.values())


def _inside(found: dict[tuple[str, str, int, int], Passing], outer: Outcome, number: int, request: str) -> None:
    """Calls made in the sandbox: what the caller handed down, and what one of them handed to the next."""
    for place, inner in enumerate(outer.inner):
        if not inner.ok:
            continue
        _add(found, outer, inner, "call", number, number)
        for before in outer.inner[:place]:
            if before.ok and _share(before, inner, request):
                _add(found, before, inner, "content", number, number)
        _inside(found, inner, number, request)


def _add(
    found: dict[tuple[str, str, int, int], Passing], src: Outcome, dst: Outcome, how: str, source: int, number: int
) -> None:
    key = (src.executor, dst.executor, source, number)
    found.setdefault(key, Passing(src.executor, src.version, dst.executor, dst.version, how, source, number))


def _share(src: Outcome, dst: Outcome, request: str) -> bool:
    """Whether something that came out of one went into the other: not the owner's word, nor what both were given."""
    wanted = {each for each in _texts([dst.args]) if each not in request} - set(_texts([src.args]))
    return bool(wanted) and any(each in wanted for each in _texts([src.reply]))


def _texts(values: Iterable[Any]) -> Iterator[str]:
    """Every text in a value that is long enough to mean something, at most so many."""
    waiting, seen = list(values), 0
    while waiting and seen < _MOST:
        value = waiting.pop()
        seen += 1
        if isinstance(value, str):
            if len(value) >= _SHORTEST:
                yield value
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
