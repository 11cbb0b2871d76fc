"""What is worked out of tables: filtering, sorting, grouping and joining rows.

A table that is too large to be handed from one executor to the next is made anew where it is needed: beside its rows an
executor takes a ``recipe``, which says of each argument that stands for rows how they come about, from the files
``sources`` on. Such as ``{"do": "sort_tables", "entries": {"do": "read_tables", "source": 0}, "by": [...]}``; a list
stands for itself.

Rules: every row counts, or the call ends and says why: nothing is worked out from a part. Conditions and recipes are
data, and nothing in them is ever run. Rows are never changed.
"""

import itertools
import json
import math
import re
import statistics
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, Protocol

Row = dict[str, Any]
Args = Mapping[str, Any]
Test = Callable[[Any], bool]

MOST_ROWS = 200_000
MOST_CELLS = 2_000_000
MOST_CHARACTERS = 50_000_000
MOST_SHOWN = 1_000_000  # bytes of a whole reply, as they are sent
MOST_SHOWN_CELLS = 40_000  # of a whole reply: outside, the shortest takes a hundred bytes and more
CPU_S = 4.5  # a call has five seconds
SMALLER = "put it into an SQLite database and give a `query`, or split the file"
TOO_LARGE = (
    f"the table has more than {MOST_ROWS:,} rows, {MOST_CELLS:,} cells or {MOST_CHARACTERS:,} characters, and from a"
    f" part of it nothing is worked out: {SMALLER}"
)
LATE = f"the time of one call is too short for all rows, and from a part of them nothing is worked out: {SMALLER}"
READING: Args = {"format": "auto", "header": True, "offset": 0}
WITHOUT_VALUE = ("empty", "not_empty")
PLAIN = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?", re.ASCII)
ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "greater": lambda one, other: bool(one > other),
    "less": lambda one, other: bool(one < other),
    "at_least": lambda one, other: bool(one >= other),
    "at_most": lambda one, other: bool(one <= other),
}
TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part in text,
    "not_contains": lambda text, part: part not in text,
    "starts": lambda text, part: text.startswith(part),
    "ends": lambda text, part: text.endswith(part),
}


class Context(Protocol):
    """What of ``ctx`` is used here."""

    limit: int
    Failure: type[Exception]

    def fail(self, kind: str, message: str) -> NoReturn: ...

    def failure(self, item: Any, kind: str, message: str) -> dict[str, Any]: ...


class Grouped(NamedTuple):
    """The groups, and of each column how many values were no numbers."""

    rows: list[Row]
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class Work:
    """One call.

    ``reader`` makes a table's reader of a path, its arguments, the context, what hears of broken lines, the words for
    being late and the time; ``guarded`` makes a pattern that cannot take for ever.
    """

    ctx: Context
    reader: Callable[..., Any]
    guarded: Callable[..., Any]

    def rows(self, args: Args, name: str = "entries") -> list[Row]:
        """All rows that an argument stands for."""
        recipe = args.get("recipe", {})
        if name not in recipe:
            return list(args[name])
        return self._made(recipe[name], args.get("sources", ()))

    def shown(self, rows: Sequence[Row], args: Args) -> list[Row]:
        """As many of the first rows as one reply holds."""
        limit = min(args.get("limit", self.ctx.limit), self.ctx.limit)
        return list(itertools.islice(fitting(rows), limit))

    def filter(self, rows: Sequence[Row], args: Args) -> list[Row]:
        self._check_columns(rows, [each["column"] for each in args["conditions"]])
        ignore_case = args.get("ignore_case", True)
        tests = [(each["column"], self._test(each, ignore_case)) for each in args["conditions"]]
        meets = all if args.get("match", "all") == "all" else any
        kept = []
        for row in rows:
            self._hurry()
            if meets(test(row.get(column)) for column, test in tests):
                kept.append(row)
        return kept

    def sort(self, rows: Sequence[Row], args: Args) -> list[Row]:
        self._check_columns(rows, [each["column"] for each in args["by"]])
        found = list(rows)
        # Sorting keeps the order of equals, so the weightiest column comes last.
        for each in reversed(args["by"]):
            self._hurry()
            found = _by_column(found, each["column"], descending=each.get("descending", False))
        return found

    def group(self, rows: Sequence[Row], args: Args) -> Grouped:
        by, wanted = args.get("by", ()), args.get("aggregates", ())
        self._check_columns(rows, [*by, *(each["column"] for each in wanted)])
        names = [each.get("as") or f"{each['do']}_{each['column']}" for each in wanted]
        taken = [*by, "count", *names]
        if len(set(taken)) < len(taken):
            self.ctx.fail("invalid", "two columns of the answer would have one name: name the aggregates with `as`")
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            groups.setdefault(tuple(_identity(row.get(column)) for column in by), []).append(row)
        left_out: dict[str, int] = {}
        entries = []
        for members in groups.values():
            self._hurry()
            entry = {column: members[0].get(column) for column in by} | {"count": len(members)}
            for name, each in zip(names, wanted, strict=True):
                values = [row.get(each["column"]) for row in members]
                entry[name] = _work_out(each["do"], values, each["column"], left_out)
            entries.append(entry)
        return Grouped(entries, left_out)

    def join(self, rows: Sequence[Row], others: Sequence[Row], args: Args) -> "Joined":
        keys = [(each["column"], each.get("right") or each["column"]) for each in args["on"]]
        left_names = self._columns_of(rows, [left for left, _ in keys], "first")
        right_names = self._columns_of(others, [right for _, right in keys], "second")
        return Joined(rows, others, keys, left_names, right_names, args.get("how", "inner"))

    # -- recipes

    def _made(self, recipe: Any, sources: Sequence[str]) -> list[Row]:
        if isinstance(recipe, list):
            return recipe
        does = {"read_tables": self._read, "filter_tables": self._filtered, "sort_tables": self._sorted,
                "group_tables": self._groups, "join_tables": self._joined}  # fmt: skip
        do = does.get(recipe.get("do", "")) if isinstance(recipe, Mapping) else None
        if do is None:
            self.ctx.fail("invalid", "this is no recipe of a table")
        rows = do(recipe, sources)
        return rows[: recipe["limit"]] if "limit" in recipe else rows

    def _read(self, recipe: Args, sources: Sequence[str]) -> list[Row]:
        args = {**READING, **recipe}
        failures: list[int] = []  # they were told of when the table was read first
        reader = self.reader(sources[recipe["source"]], args, self.ctx, failures.append, LATE, CPU_S)
        stop = args["offset"] + args["limit"] if "limit" in args else None
        wanted = args.get("columns")
        cells = characters = 0
        rows = []
        for row in itertools.islice(reader.rows(), args["offset"], stop):
            rows.append({name: row.get(name) for name in wanted} if wanted else row)
            cells += len(row)
            characters += sum(len(cell) for cell in row.values() if isinstance(cell, str))
            if len(rows) > MOST_ROWS or cells > MOST_CELLS or characters > MOST_CHARACTERS:
                self.ctx.fail("too_large", TOO_LARGE)
        return rows

    def _filtered(self, recipe: Args, sources: Sequence[str]) -> list[Row]:
        return self.filter(self._made(recipe.get("entries"), sources), recipe)

    def _sorted(self, recipe: Args, sources: Sequence[str]) -> list[Row]:
        return self.sort(self._made(recipe.get("entries"), sources), recipe)

    def _groups(self, recipe: Args, sources: Sequence[str]) -> list[Row]:
        return self.group(self._made(recipe.get("entries"), sources), recipe).rows

    def _joined(self, recipe: Args, sources: Sequence[str]) -> list[Row]:
        rows, others = (self._made(recipe.get(side), sources) for side in ("entries", "right"))
        joined = self.join(rows, others, recipe)
        width = len(joined.left_names) + len(joined.renamed)
        if joined.total > MOST_ROWS or joined.total * width > MOST_CELLS:
            self.ctx.fail("too_large", TOO_LARGE)  # two tables that repeat one key have endless pairs
        return list(joined.rows())

    # -- checks

    def _hurry(self) -> None:
        if time.process_time() > CPU_S:
            self.ctx.fail("too_large", LATE)

    def _check_columns(self, rows: Sequence[Row], wanted: Iterable[str]) -> None:
        """A column that no row has is a mistake, not an empty answer."""
        known = {name for row in rows for name in row}
        for column in wanted if rows else ():
            if column not in known:
                names = ", ".join(sorted(known))[:500]
                self.ctx.fail("not_found", f"no row has the column {column!r}; there are: {names}")

    def _columns_of(self, rows: Sequence[Row], keys: Iterable[str], which: str) -> list[str]:
        """The columns of a table, in the order of their first appearance."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        for key in keys if rows else ():
            if key not in names:
                known = ", ".join(names)[:500]
                self.ctx.fail("not_found", f"the {which} table has no column {key!r}; it has: {known}")
        return names

    def _test(self, condition: Args, ignore_case: bool) -> Test:
        """A function from a cell to whether it meets the condition."""
        how, value = condition["is"], condition.get("value")
        if how in WITHOUT_VALUE:
            return lambda cell: (cell is None or str(cell).strip() == "") == (how == "empty")
        if "value" not in condition:
            self.ctx.fail("invalid", f"the condition {how!r} needs a `value`")
        if how == "matches":
            return self._matcher(value, ignore_case)
        if how in ("in", "between"):
            return self._list_test(how, value, ignore_case)
        if isinstance(value, list):
            self.ctx.fail("invalid", f"the condition {how!r} takes one `value`, not a list")
        if how in ("equals", "not"):
            return lambda cell: _same(cell, value, ignore_case) == (how == "equals")
        if how in TEXTS:
            part = _folded(value, ignore_case)
            return lambda cell: TEXTS[how](_folded(cell, ignore_case), part)
        return lambda cell: _ordered(cell, value, ORDERS[how])

    def _list_test(self, how: str, value: Any, ignore_case: bool) -> Test:
        if not isinstance(value, list) or (how == "between" and len(value) != 2):
            takes = "a list of two values" if how == "between" else "a list"
            self.ctx.fail("invalid", f"the condition {how!r} takes {takes}")
        if how == "in":
            return lambda cell: any(_same(cell, each, ignore_case) for each in value)
        return lambda cell: _ordered(cell, value[0], ORDERS["at_least"]) and _ordered(cell, value[1], ORDERS["at_most"])

    def _matcher(self, text: Any, ignore_case: bool) -> Test:
        if not isinstance(text, str) or len(text) > 1000:
            self.ctx.fail("invalid", "the condition 'matches' takes a regular expression of at most 1000 characters")
        try:
            search, longest = self.guarded(text, ignore_case=ignore_case)
        except ValueError as error:
            self.ctx.fail("invalid", f"the expression {error}")

        def matches(cell: Any) -> bool:
            content = _folded(cell, ignore_case=False)
            if len(content) > longest:
                message = f"a cell is longer than the {longest} characters that this expression is tried on"
                self.ctx.fail("too_large", message)
            return search.search(content) is not None

        return matches


def fitting(rows: Iterable[Row]) -> Iterator[Row]:
    """The first rows, as many as fit into one reply."""
    left, cells = MOST_SHOWN, MOST_SHOWN_CELLS
    for row in rows:
        left -= sum(_size(name) + _size(str(value)) for name, value in row.items())
        cells -= len(row)
        if left < 0 or cells < 0:
            return
        yield row


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("ascii", "backslashreplace"))


# -- filtering


def _same(cell: Any, value: Any, ignore_case: bool) -> bool:
    one, other = _plain_number(cell), _plain_number(value)
    if one is not None and other is not None:
        return one == other
    if cell is None or value is None:
        return cell is value
    return _folded(cell, ignore_case).strip() == _folded(value, ignore_case).strip()


def _ordered(cell: Any, value: Any, order: Callable[[Any, Any], bool]) -> bool:
    """Numbers are compared as numbers, other text as text (ISO dates are in order so); a mixture meets nothing."""
    one, other = _plain_number(cell), _plain_number(value)
    if one is not None and other is not None:
        return order(one, other)
    if isinstance(cell, str) and isinstance(value, str) and cell.strip() and one is None and other is None:
        return order(cell.casefold(), value.casefold())
    return False


def _plain_number(value: Any) -> float | None:
    """A number, or a text that is plainly one; not a code such as 00123."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and PLAIN.fullmatch(value.strip()):
        return float(value)
    return None


def _folded(value: Any, ignore_case: bool) -> str:
    text = "" if value is None else ("true" if value else "false") if isinstance(value, bool) else str(value)
    return text.casefold() if ignore_case else text


# -- sorting


def _by_column(rows: Sequence[Row], column: str, *, descending: bool) -> list[Row]:
    full = [row for row in rows if not _missing(row.get(column))]
    lacking = [row for row in rows if _missing(row.get(column))]
    # `reverse` keeps the order of equals too.
    return sorted(full, key=lambda row: _rank(row[column]), reverse=descending) + lacking


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _rank(value: Any) -> tuple[int, float, str, str]:
    """A key that any two values can be compared by: numbers, then text without regard to case and accents."""
    if isinstance(value, bool):
        return (0, int(value), "", "")
    if isinstance(value, int | float):
        return (1, value, "", "")
    text = str(value).strip()
    if PLAIN.fullmatch(text):
        return (1, float(text), "", text)
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return (2, 0, letters, text)


# -- grouping


def _identity(value: Any) -> tuple[str, Any]:
    """What makes two values the same group: 1 and 1.0 are, 1, true and the text 1 are not."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int | float):
        return "number", value
    if _missing(value):
        return "empty", ""
    return "text", value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _work_out(what: str, values: Sequence[Any], column: str, left_out: dict[str, int]) -> Any:
    """One aggregate; nothing (null) if the group has no value for it."""
    full = [value for value in values if not _missing(value)]
    if what == "count":
        return len(full)
    numbers = [each for each in map(_summand, full) if each is not None]
    if what in ("min", "max") and not numbers:
        texts = [str(value) for value in full]
        return (min if what == "min" else max)(texts, default=None)
    if len(numbers) < len(full):
        left_out[column] = left_out.get(column, 0) + len(full) - len(numbers)
    if not numbers:
        return None
    return CALCULATIONS[what](numbers)


def _summand(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if abs(value) < 1e300 else None  # so that no sum of them overflows
    if isinstance(value, str) and PLAIN.fullmatch(value.strip()):
        return float(value) if "." in value else int(value)
    return None


def _total(numbers: Sequence[float]) -> float:
    """Whole numbers add up exactly, others without the errors of adding one by one."""
    if all(isinstance(each, int) for each in numbers):
        return sum(numbers)
    return round(math.fsum(numbers), 9)


def _mean(numbers: Sequence[float]) -> float:
    return round(_total(numbers) / len(numbers), 9)


CALCULATIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": _total,
    "mean": _mean,
    "min": min,
    "max": max,
    "median": statistics.median,
}


# -- joining


class Joined:
    """Two tables brought together; ``total`` is known without a look at every pair."""

    def __init__(
        self,
        rows: Sequence[Row],
        others: Sequence[Row],
        keys: Sequence[tuple[str, str]],
        left_names: Sequence[str],
        right_names: Sequence[str],
        how: str,
    ) -> None:
        self._rows, self._others, self._keys, self._how = rows, others, keys, how
        self.left_names = left_names
        self.renamed = _new_names(left_names, right_names, [right for _, right in keys])
        self._partners = _find_partners(rows, others, keys)
        self._alone = _lonely(others, self._partners) if how == "outer" else []
        self.total = sum(len(places) or how != "inner" for places in self._partners) + len(self._alone)

    def rows(self) -> Iterator[Row]:
        for left, places in zip(self._rows, self._partners, strict=True):
            yield from (self._entry(left, self._others[place]) for place in places)
            if not places and self._how != "inner":
                yield self._entry(left, None)
        yield from (self._entry(None, row) for row in self._alone)

    def _entry(self, left: Row | None, right: Row | None) -> Row:
        """A pair of rows that belong together; nothing stands for a partner that is missing."""
        entry = {name: None if left is None else left.get(name) for name in self.left_names}
        if left is None and right is not None:
            entry.update((name, right.get(other)) for name, other in self._keys)
        entry.update((new, None if right is None else right.get(name)) for name, new in self.renamed.items())
        return entry


def _new_names(left_names: Sequence[str], right_names: Sequence[str], right_keys: Sequence[str]) -> dict[str, str]:
    """What each column of the second table is called in the answer; its keys are the first table's."""
    made: dict[str, str] = {}
    for name in right_names:
        if name in right_keys:
            continue
        new = name
        while new in left_names or new in made.values():
            new += "_right"
        made[name] = new
    return made


def _find_partners(rows: Sequence[Row], others: Sequence[Row], keys: Sequence[tuple[str, str]]) -> list[Sequence[int]]:
    """For each row of the first table, the places of its partners in the second."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(others):
        key = _key_of(row, [right for _, right in keys])
        if key is not None:
            found.setdefault(key, []).append(place)
    left_keys = [left for left, _ in keys]
    return [() if (key := _key_of(row, left_keys)) is None else found.get(key, ()) for row in rows]


def _lonely(others: Sequence[Row], partners: Sequence[Sequence[int]]) -> list[Row]:
    """The rows of the second table without a partner. Equal keys share one list of places."""
    used = {place for places in {id(each): each for each in partners}.values() for place in places}
    return [row for place, row in enumerate(others) if place not in used]


def _key_of(row: Row, keys: Sequence[str]) -> tuple[str, ...] | None:
    """What is compared: 5, 5.0 and the text 5 are the same, a missing value is like no other."""
    values = [row.get(key) for key in keys]
    return None if any(map(_missing, values)) else tuple(map(_text_of, values))


def _text_of(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip().casefold()
