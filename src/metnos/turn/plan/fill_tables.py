"""What a request wants of a table: conditions on its columns, sums and averages, an order, a number of rows.

Rules: a column is the word that stands where a column is named (*of amount*, *where price*, *per città*); whether the
table has it is not known here, and said so. Numbers in conditions are numbers. Does not guarantee plural and
singular: a column is spelled as the request spells it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from metnos.turn.plan.clauses import Clause, classes
from metnos.turn.plan.patterns import comparisons, pattern, works

_SIGNS = {">": "greater", "<": "less", ">=": "at_least", "<=": "at_most", "≥": "at_least", "≤": "at_most",
          "=": "equals", "==": "equals", "!=": "not"}  # fmt: skip
_CONCEPTS = {"sum": "sum", "mean": "mean", "median": "median", "least": "min", "greatest": "max", "howmuch": "sum"}
_NO_COLUMN = frozenset((
    "the", "of", "in", "from", "by", "column", "columns", "colonna", "rows", "row", "righe", "file", "table", "each",
    "all", "a", "an", "di", "per", "il", "la", "del", "della", "number", "words", "values", "with", "and", "e", "that",
    "there", "it", "them", "con", "dove", "where", "i", "le", "che", "is", "are", "sheet", "foglio", "csv",
    "every", "entries",
    "value", "first", "descending", "ascending", "cento", "favore", "piacere",
))  # fmt: skip


_NOT_HELD = frozenset((*_NO_COLUMN, "columns", "colonne", "first", "prime", "primi", "top", "last", "ultime", "name"))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything that a clause wants of a table."""

    conditions: list[dict[str, Any]] = field(default_factory=list)
    aggregates: list[dict[str, Any]] = field(default_factory=list)
    by: list[str] = field(default_factory=list)
    order: list[dict[str, Any]] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    any: bool = False
    unsaid: bool = False  # whether something is to be worked out, and nobody says of which column

    @property
    def anything(self) -> bool:
        return bool(self.conditions or self.aggregates or self.by or self.order)

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that was named, once."""
        every = [
            *(each["column"] for each in (*self.conditions, *self.aggregates, *self.order)),
            *self.by,
            *self.columns,
        ]
        return tuple(dict.fromkeys(every))


def wanted(clause: Clause) -> Wanted:
    """What the clause says about rows and columns."""
    text = _blotted(clause)
    order = _order(text)
    rest = text
    for name in ("sorted", "extreme", "extreme_after"):
        rest = pattern(f"tables.{name}").sub(" ", rest)
    conditions = _conditions(rest) or _only(clause, rest)
    rest = pattern("tables.falling").sub(" ", rest)
    rest = pattern("tables.condition").sub(" ", pattern("tables.signed").sub(" ", rest))
    aggregates = _aggregates(clause, rest)
    unsaid = False
    if not conditions and aggregates and (held := _held(clause, aggregates[0]["column"])):
        conditions, aggregates = [{"column": aggregates[0]["column"], "is": "equals", "value": held}], []
        unsaid = True
    counted = clause.said("count")
    by = _by(rest) if aggregates or counted or clause.said("group", "howmuch", "sum", "mean") else []
    aggregates = [each for each in aggregates if each["column"] not in by]
    columns = [] if aggregates or order or by else _columns(rest)
    return Wanted(conditions, aggregates, by, order, columns, pattern("tables.or").search(text) is not None, unsaid)


def joined_on(clause: Clause) -> list[dict[str, str]]:
    """The columns that two tables have in common, as the clause names them."""
    found = pattern("tables.on").search(_blotted(clause))
    name = _name(found, "column") if found else None
    if found is None or name is None:
        return []
    return [{"column": name} | ({"right": found["right"]} if found["right"] else {})]


def _conditions(text: str) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for match in pattern("tables.signed").finditer(text):
        name = _name(match, "column")
        if name is not None:
            found[match.start("sign")] = {"column": name, "is": _SIGNS[match["sign"]], "value": _value(match)}
    for match in pattern("tables.condition").finditer(text):
        name, how = _name(match, "column"), _how(match)
        value = _value(match)
        if name is None or any(start in range(*match.span()) for start in found) or (how != "empty" and value is None):
            continue
        found[match.start()] = {"column": name, "is": how} | ({} if how == "empty" else {"value": value})
    return [found[start] for start in sorted(found)]


def _only(clause: Clause, text: str) -> list[dict[str, Any]]:
    """*Only the category food*: a column and what must stand in it."""
    match = pattern("tables.only_value").search(text) if clause.said("filter", "where", "show") else None
    name = _name(match, "column") if match is not None else None
    if match is None or name is None or name.casefold() in _NOT_HELD or _value(match) is None:
        return []
    if any(word.raw == match["word"] and not word.unknown for word in clause.words):
        return []  # *only the expenses above 90*
    return [{"column": name, "is": "equals", "value": _value(match)}]


def _held(clause: Clause, column: str) -> str:
    """A word right behind a column that says which of its rows are meant: *the total of the category food*."""
    plain = [word for word in clause.words if not word.mark]
    for word, after in pairwise(plain):
        if word.raw == column and after.unknown and after.start == word.end + 1:
            return after.raw
    return ""


def _aggregates(clause: Clause, text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for place in ("aggregate", "after"):
        for match in pattern(f"tables.{place}").finditer(text):
            name = _name(match, "column")
            what = next((each for each in works() if match.groupdict().get(each)), None)
            if name is not None and what is not None:
                found.append({"column": name, "do": what})
        if found:
            return found
    each = pattern("tables.per").search(text) if clause.head is None else None
    if each is not None and (name := _name(each, "column")) is not None:
        return [{"column": name, "do": "sum"}]  # *quantity per city*
    what = next((work for concept, work in _CONCEPTS.items() if clause.said(concept)), None)
    named = pattern("tables.column_named").search(text)
    name = _name(named, "column") if named is not None else None
    return [{"column": name, "do": what}] if what is not None and name is not None else []


def _by(text: str) -> list[str]:
    return list(
        dict.fromkeys(
            name for match in pattern("tables.grouped").finditer(text) if (name := _name(match, "column")) is not None
        )
    )


def _order(text: str) -> list[dict[str, Any]]:
    for found in pattern("tables.sorted").finditer(text):
        name = _name(found, "column")
        if name is not None:
            falls = pattern("tables.falling").search(text) or pattern("tables.most").search(text)
            return [{"column": name} | ({"descending": True} if falls else {})]
    for place in ("extreme", "extreme_after"):
        match = pattern(f"tables.{place}").search(text)
        name = _name(match, "column") if match is not None else None
        if match is not None and name is not None:
            rises = pattern("tables.rising").match(match["which"])
            return [{"column": name} | ({} if rises else {"descending": True})]
    return []


def _columns(text: str) -> list[str]:
    found = pattern("tables.only").search(text)
    names = pattern("small.split").split(found["names"]) if found else []
    return [each for each in names if each and each.casefold() not in _NO_COLUMN]


def _how(match: re.Match[str]) -> str:
    return next(how for how in comparisons() if match[f"how_{how}"])


def _name(match: re.Match[str], group: str) -> str | None:
    said: Mapping[str, str | None] = match.groupdict()
    quoted, plain = said.get(f"{group}q"), said.get(group)
    if quoted:
        return quoted
    return plain if plain and plain.casefold() not in _NO_COLUMN and "\0" not in plain else None


def _value(match: re.Match[str]) -> Any:
    said = match.groupdict()
    if said.get("quoted") or said.get("iso"):
        return said["quoted"] or said["iso"]
    if said.get("number"):
        plain = said["number"].rstrip(".,")
        plain = plain.replace(",", ".") if re.fullmatch(r"-?\d+,\d{1,2}", plain) else plain.replace(",", "")
        return float(plain) if "." in plain else int(plain)
    return said.get("word")


def _blotted(clause: Clause) -> str:
    """The clause without its places: they name files, not columns."""
    text, base = clause.text, clause.words[0].start
    for slot in reversed(clause.slots):
        if classes(slot) & {"place", "files", "url"}:
            text = text[: slot.start - base] + "\0" + text[slot.end - base :]
    return text
