"""The texts in a value of any shape, as facts and payloads hold them."""

from collections.abc import Iterator, Mapping
from typing import Any


def strings(value: Any, *, keys: bool = True) -> Iterator[str]:
    """Every text in it, at any depth; the names of a mapping too, unless told."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if keys:
                yield str(key)
            yield from strings(each, keys=keys)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each, keys=keys)
