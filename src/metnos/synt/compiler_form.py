"""The form of a sequence: which executors, and for each of their arguments where it comes from.

Rules, for a value that the recorded runs gave an argument of a part:

- one that refers to an earlier step is handed on from it, in the same way in every run;
- one that varied is an argument of the whole, with the part's own schema; where a run did not give it, the part's own
  default stands for it, and where there is none it is an argument that need not be given;
- one that never varied is an argument too, with the value as its default, if the owner would expect to be able to
  change it: if a request said it, or if it is a place (a path or an address);
- any other is a constant: a planner's own choice, which nobody asked for.

Two parts that took the same values under the same name in runs that varied took one argument. What is a path to all
that take it is a path to the whole: it is made real, and handed to a part that has the scopes and asks for itself; the
whole can touch nothing.

What cannot be compiled honestly is refused in words: something of the turn before, runs that were put together in
different ways, and a path or an address that content chose (the owner is asked about that every time; an executor of
its own would carry it past the question). Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.core.canon import canonical_json
from metnos.executors import refs
from metnos.executors.arguments import PATH_KEY
from metnos.executors.manifest import Kind, Manifest
from metnos.synt.compiler_runs import Run

_ABSENT = object()
_PLACE = ("/", "~", "http://", "https://")


@dataclass(frozen=True, slots=True)
class Taken:
    """From an argument of the whole. ``optional``: handed on only where it is given."""

    argument: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Fixed:
    """Always the same."""

    value: Any


@dataclass(frozen=True, slots=True)
class Handed:
    """From earlier steps: a value with references in it."""

    value: Any


Source = Taken | Fixed | Handed


@dataclass(frozen=True, slots=True)
class Part:
    """One step: an executor, and where each of its arguments comes from."""

    manifest: Manifest
    sources: Mapping[str, Source]

    @property
    def mutates(self) -> bool:
        return self.manifest.kind is Kind.MUTATOR


@dataclass(frozen=True, slots=True)
class Form:
    """A sequence that can be one executor."""

    parts: tuple[Part, ...]
    arguments: Mapping[str, Mapping[str, Any]]  # the schema of each
    required: tuple[str, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(part.manifest.name for part in self.parts)

    @property
    def mutates(self) -> bool:
        return any(part.mutates for part in self.parts)

    @property
    def key(self) -> str:
        """Where the reply's list stands."""
        return "results" if self.mutates else "entries"

    @property
    def places(self) -> frozenset[str]:
        """The arguments that are paths to every part that takes them."""
        taken: dict[str, list[bool]] = {}
        for part in self.parts:
            for name, source in part.sources.items():
                if isinstance(source, Taken):
                    taken.setdefault(source.argument, []).append(PATH_KEY in part.manifest.args["properties"][name])
        return frozenset(own for own, paths in taken.items() if all(paths))

    def arguments_of(self, run: Run) -> dict[str, Any]:
        """The arguments with which the whole does what a run did."""
        found: dict[str, Any] = {}
        for part, planned in zip(self.parts, run.planned, strict=True):
            for name, source in part.sources.items():
                if isinstance(source, Taken) and name in planned:
                    found[source.argument] = planned[name]
        return found


class Unfit(Exception):
    """Why a sequence cannot be one executor, in words for the owner."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one argument of one step was, run by run."""

    step: int
    name: str
    values: tuple[Any, ...]
    schema: Mapping[str, Any]
    said: bool

    @property
    def filled(self) -> tuple[Any, ...]:
        default = self.schema.get("default", _ABSENT)
        return tuple(default if value is _ABSENT else value for value in self.values)

    @property
    def varied(self) -> bool:
        return len({_key(value) for value in self.filled}) > 1

    @property
    def owners(self) -> bool:
        """Whether the owner would expect to be able to change it."""
        return self.varied or self.said or _is_place(self.filled[0], self.schema)


def form_of(parts: Sequence[Manifest], runs: Sequence[Run]) -> Form:
    """The form that all runs have. Raises `Unfit`."""
    if len(parts) < 2 or not runs:
        raise Unfit("there is no sequence of several executors that was recorded")
    takers: list[tuple[_Seen, str]] = []
    sources: list[dict[str, Source]] = []
    for number, part in enumerate(parts, start=1):
        sources.append({})
        for seen in _arguments(number, part, runs):
            if any(True for value in seen.values for _ in refs.within(value)):
                sources[-1][seen.name] = _handed(seen, parts, runs)
            elif not seen.owners:
                sources[-1][seen.name] = Fixed(seen.filled[0])
            else:
                own = _name(seen, takers, part)
                takers.append((seen, own))
                sources[-1][seen.name] = Taken(own, any(value is _ABSENT for value in seen.filled))
    names = dict.fromkeys(own for _, own in takers)
    schemas = {own: _schema([seen for seen, name in takers if name == own]) for own in names}
    required = tuple(own for own in names if "default" not in schemas[own] and _always(own, takers))
    arguments = {own: schemas[own] for own in (*required, *(own for own in names if own not in required))}
    return Form(tuple(Part(part, each) for part, each in zip(parts, sources, strict=True)), arguments, required)


def _arguments(number: int, part: Manifest, runs: Sequence[Run]) -> Iterator[_Seen]:
    names = dict.fromkeys(name for run in runs for name in run.planned[number - 1])
    for name in names:
        schema = part.args["properties"].get(name)
        if schema is None:
            raise Unfit(f"{part.name} does not take {name!r} any more")
        values = tuple(run.planned[number - 1].get(name, _ABSENT) for run in runs)
        yield _Seen(number, name, values, schema, any((number, name) in run.said for run in runs))


def _always(own: str, takers: Sequence[tuple[_Seen, str]]) -> bool:
    return not any(value is _ABSENT for seen, name in takers if name == own for value in seen.filled)


def _name(seen: _Seen, takers: Sequence[tuple[_Seen, str]], part: Manifest) -> str:
    """The part's own name for it; a second of that name is called after the part, unless both are one."""
    for other, own in takers:
        same = [*map(_key, other.filled)] == [*map(_key, seen.filled)]
        if other.name == seen.name and same and seen.varied and other.schema.get("type") == seen.schema.get("type"):
            return own
    known = {own for _, own in takers}
    wished = (seen.name, f"{part.words.verb}_{seen.name}", f"{part.name}_{seen.name}", f"{seen.name}_{seen.step}")
    return next(each for each in wished if each not in known)


def _schema(takers: Sequence[_Seen]) -> dict[str, Any]:
    """That of the first who takes it; it is a path if it is one to all of them, and one to change if it is to any."""
    first = takers[0]
    own = {key: value for key, value in first.schema.items() if key != PATH_KEY}
    modes = [seen.schema.get(PATH_KEY, "") for seen in takers]
    if all(modes):
        own[PATH_KEY] = max(modes, key=("read", "write").index)
    if not first.varied and first.filled[0] is not None:
        own["default"] = first.filled[0]
    return own


# -- what is handed on


def _handed(seen: _Seen, parts: Sequence[Manifest], runs: Sequence[Run]) -> Handed:
    part = parts[seen.step - 1]
    if len({_key(value) for value in seen.values}) > 1:
        raise Unfit(f"the runs differ in what {part.name} takes as {seen.name!r} from the steps before it")
    value = seen.values[0]
    for ref in refs.within(value):
        if ref.step == refs.LAST:
            raise Unfit(f"{part.name} takes something of the turn before, which an executor does not know")
        if ref.number >= seen.step:
            raise Unfit(f"{part.name} takes something of a step that comes after it")
    if any(_is_place(text, {}) for text in _written(value)):
        raise Unfit(f"{part.name} takes a place that is put together from what the steps before it gave")
    if PATH_KEY in seen.schema or _is_address(seen.schema):
        planned = runs[0].planned
        unsure = _is_address(seen.schema) or not all(_vouches(ref.number, ref.field, parts, planned)
                                                     for ref in refs.within(value))  # fmt: skip
        if unsure:
            raise Unfit(
                f"{part.name} is pointed at something that content chose: you are asked about that every time,"
                " and an executor of its own would not ask"
            )
    return Handed(value)


def _vouches(step: int, field: str, parts: Sequence[Manifest], planned: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a step, or whoever gave it its rows, declares this field of its entries: then no content chose it."""
    declared = parts[step - 1].output.get("properties", {}).get(field, {})
    if declared.get("type") == "string":
        return True
    schemas = parts[step - 1].args["properties"]
    rows = [value for name, value in planned[step - 1].items() if _takes_rows(schemas.get(name, {}))]
    given = [ref.number for ref in refs.within(rows)]
    return bool(given) and all(0 < each < step and _vouches(each, field, parts, planned) for each in given)


def _takes_rows(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    plain = isinstance(items, Mapping) and items.get("type") == "object" and not items.get("properties")
    return schema.get("type") == "array" and plain


def _is_address(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    return schema.get("format") == "uri" or (isinstance(items, Mapping) and items.get("format") == "uri")


def _is_place(value: Any, schema: Mapping[str, Any]) -> bool:
    if PATH_KEY in schema or _is_address(schema):
        return True
    return any(text.startswith(_PLACE) for text in _written(value))


def _written(value: Any) -> Iterator[str]:
    """Every text that is written out in a value, beside its references."""
    if isinstance(value, str):
        yield from (each for each in refs.pieces(value) if isinstance(each, str))
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _written(each)


def _key(value: Any) -> bytes:
    return b"" if value is _ABSENT else canonical_json(value)
