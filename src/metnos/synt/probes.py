"""Edge cases that code thinks of: arguments beside those of the cases, and what the bodies agree on for them. Pure.

A small model forgets the empty text, the last line, the zero. So each argument of a case is varied a little, one at a
time, and every body is run on that. What at least two bodies give alike, entries or a refusal, becomes a birth test:
it says how many agreed, and the owner reads it as what the function does there, not as what somebody wished for.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from metnos.core.canon import canonical_json
from metnos.synt.agreement import Result
from metnos.synt.rules import Stage
from metnos.synt.sketch import Case, Field, Rejection, Sketch, Type

_MOST = 10  # probes: each costs a sandbox for each body
_KEPT, _REFUSED = 6, 2  # of them as tests, and of those that are refused
_LEAST = 2  # bodies that agree
_GREAT = 1e300  # ten times that is no number any more
_TOLD = 300  # characters of a call that breaks


def of(sketch: Sketch) -> tuple[Case, ...]:
    """Cases without an expectation, in the order in which they are worth trying."""
    base = next((case for case in sketch.cases if not case.error), None)
    if base is None:
        return ()
    varied = [list(_varied(field, base, sketch)) for field in sketch.takes]
    known = {_key(case) for case in sketch.cases}
    found: dict[bytes, Case] = {}
    for row in zip_longest(*varied):
        for case in filter(None, row):
            if _key(case) not in known:
                found.setdefault(_key(case), case)
    return tuple(found.values())[:_MOST]


def agreed(probes: Sequence[Case], results: Sequence[Sequence[Result]], chosen: int) -> tuple[Case, ...]:
    """Those that the chosen body and another one give alike. ``results`` has a row for each body."""
    kept: list[Case] = []
    refused = 0
    for place, probe in enumerate(probes):
        mine = results[chosen][place]
        votes = Counter(row[place].key for row in results)[mine.key]
        if mine.key is None or votes < _LEAST or (mine.error and refused == _REFUSED):
            continue
        refused += bool(mine.error)
        kept.append(replace(probe, entries=mine.entries, error=mine.error, agreed=votes))
    return tuple(kept[:_KEPT])


def mended(case: Case, given: Result) -> Case:
    """A call that broke before, with what comes of it now. Raises `Rejection` if it breaks again."""
    if given.fault:
        told = canonical_json(dict(case.args)).decode()[:_TOLD]
        raise Rejection(Stage.CODE, f"with the arguments {told} it must not break, but it did: {given.fault}")
    return replace(case, entries=given.entries, error=given.error, observed=True)


def _varied(field: Field, base: Case, sketch: Sketch) -> Iterator[Case]:
    """The base case with one argument changed."""
    value = base.args.get(field.name, field.default)
    if field.type.is_place:
        for files in _files(field, str(value), base.files):
            yield Case(base.args, files=files, edge=True)
    elif field.name == sketch.each:
        items = value if isinstance(value, list) else []
        for item in _values(field.type.item, items[0] if items else None):
            yield Case({**base.args, field.name: [item]}, files=base.files, edge=True)
    else:
        for other in _values(field.type, value):
            yield Case({**base.args, field.name: other}, files=base.files, edge=True)


def _values(kind: Type, value: Any) -> list[Any]:
    if kind is Type.TEXT and isinstance(value, str):
        return ["", f"{value}\n{value}", value.upper(), f" {value}\n", value[: len(value) // 2]]
    if kind is Type.INTEGER and isinstance(value, int):
        return [0, value + 1, -1, 1]
    if kind is Type.NUMBER and isinstance(value, int | float):
        return [0, value * 10 if abs(value) < _GREAT else value // 10, -1]
    if kind is Type.BOOLEAN:
        return [not value]
    if kind.is_list and isinstance(value, list) and value:
        return [value[::-1], [*value, value[0]], value[:1]]
    return [{}] if kind is Type.OBJECT else []


def _files(field: Field, path: str, files: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    if field.type is Type.FOLDER:
        yield {**files, f"{field.name}/another.md": "# More\n"}
        yield dict(list(files.items())[:1])
        return
    name = path.rpartition("/")[2]
    lines = files.get(name, "").splitlines(keepends=True)
    yield {**files, name: ""}
    yield {**files, name: "".join([*lines, *lines[-1:]])}
    yield {**files, name: "".join(lines[:1])}


def _key(case: Case) -> bytes:
    return canonical_json([dict(case.args), dict(case.files)])
