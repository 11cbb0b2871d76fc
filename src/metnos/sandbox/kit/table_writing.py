"""Making a table file: CSV, TSV, JSON, JSON lines, XLSX or SQLite.

Rules: the file is made under the executor's private ``/tmp`` and nowhere else; the executor puts it into place through
``ctx``. What a spreadsheet would run as a formula is kept text, and counted. Values reach SQLite as parameters only.
Does not say where the file goes, nor whether it may replace one.
"""

import contextlib
import csv
import itertools
import json
import re
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

Row = dict[str, Any]

MOST_FILE = 50_000_000  # bytes of the new file
CPU_S = 3.5  # a call has five seconds
LATE = "the table is too large to be written in the time of one call; nothing was written"
LOCAL = "/tmp/table"  # noqa: S108 -- the sandbox's own, which nobody else sees
SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".xlsx": "xlsx",
            ".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite"}  # fmt: skip
HARMLESS = re.compile(r"[+-][\d .,()/-]*", re.ASCII)  # numbers and telephone numbers
FORMULA = ("=", "+", "-", "@", "\t", "\r")
ILLEGAL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Context(Protocol):
    """What of ``ctx`` is used here."""

    def fail(self, kind: str, message: str) -> NoReturn: ...


class Saved(NamedTuple):
    """How many texts had to be kept from being read as formulas, and the bytes of the file."""

    guarded: int
    size: int


def format_of(path: str, said: str, ctx: Context) -> str:
    """The format of a new file: the one that was said, or the one that its name ends in."""
    kind = SUFFIXES.get(Path(path).suffix.lower(), "") if said == "auto" else said
    return kind or ctx.fail("invalid", f"say the `format`: the name ends in none of {', '.join(SUFFIXES)}")


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The names of all columns in the order of their first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes the file ``local`` of rows and the names of their columns."""

    ctx: Context
    delimiter: str = ","
    table: str = "table"
    local: str = LOCAL
    late: str = LATE
    cpu_s: float = CPU_S

    def save(self, rows: Sequence[Row], names: Sequence[str], kind: str) -> Saved:
        if kind in ("csv", "tsv"):
            guarded = self._csv(rows, names, "\t" if kind == "tsv" else self.delimiter)
        elif kind in ("json", "jsonl"):
            guarded = self._json(rows, kind)
        else:
            guarded = self._xlsx(rows, names) if kind == "xlsx" else self._sqlite(rows, names)
        size = Path(self.local).stat().st_size
        if size > MOST_FILE:
            self.ctx.fail("too_large", f"the file would have more than {MOST_FILE} bytes; nothing was written")
        return Saved(guarded, size)

    def _hurry(self, number: int = 0) -> None:
        if number % 200 == 0 and time.process_time() > self.cpu_s:
            self.ctx.fail("too_large", self.late)

    def _csv(self, rows: Sequence[Row], names: Sequence[str], delimiter: str) -> int:
        guarded = 0
        with open(self.local, "w", encoding="utf-8", errors="replace", newline="") as file:
            writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            writer.writerow([guard(name)[0] for name in names])
            for number, row in enumerate(rows):
                self._hurry(number)
                cells = [guard(cell(row.get(name))) for name in names]
                guarded += sum(was for _, was in cells)
                writer.writerow([value for value, _ in cells])
        return guarded

    def _json(self, rows: Sequence[Row], kind: str) -> int:
        start, between, end = ("", "\n", "\n") if kind == "jsonl" else ("[\n", ",\n", "\n]\n")
        with open(self.local, "w", encoding="utf-8", errors="replace") as file:
            for number, row in enumerate(rows):
                self._hurry(number)
                file.write((between if number else start) + json.dumps(row, ensure_ascii=False))
            file.write(end if rows else "" if kind == "jsonl" else "[]\n")
        return 0

    def _xlsx(self, rows: Sequence[Row], names: Sequence[str]) -> int:
        import openpyxl  # type: ignore[import-untyped]  # here: it takes 0.2 s that only workbooks should cost
        from openpyxl.cell import WriteOnlyCell  # type: ignore[import-untyped]

        if len(names) > 16_384 or len(rows) > 1_048_575:
            self.ctx.fail("too_large", "a sheet has room for 16384 columns and 1048575 rows")
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet(re.sub(r"[\[\]:*?/\\]", " ", self.table)[:31].strip("' ") or "table")
        guarded = 0
        with contextlib.closing(sheet):  # also when it ends in the middle
            for number, values in enumerate(
                itertools.chain([names], ([row.get(name) for name in names] for row in rows))
            ):
                self._hurry(number)
                line = [WriteOnlyCell(sheet, value=self._content(value, number)) for value in values]
                for made in line:
                    if made.data_type == "f":
                        made.data_type = "s"  # text, whatever it begins with
                        guarded += 1
                sheet.append(line)
        book.save(self.local)
        return guarded

    def _content(self, value: Any, number: int) -> Any:
        """What a cell of a sheet holds."""
        content = value if isinstance(value, bool) else cell(value)
        if not isinstance(content, str):
            return content
        if len(content) > 32_767:
            self.ctx.fail("too_large", f"row {number} has a text longer than the 32767 characters of a cell")
        return ILLEGAL.sub("", content)

    def _sqlite(self, rows: Sequence[Row], names: Sequence[str]) -> int:
        if len(names) > 2_000:
            self.ctx.fail("too_large", "a table of SQLite has room for 2000 columns")
        if len({name.casefold() for name in names}) < len(names):
            self.ctx.fail("invalid", "SQLite knows no capitals in names of columns: two of these are the same")
        base = sqlite3.connect(self.local)
        try:
            # Values only ever pass as parameters: each row waits as JSON, and the table is made of them in one go.
            base.execute("CREATE TEMP TABLE waiting (cells TEXT)")
            for start in range(0, len(rows), 500):
                self._hurry()
                part = [(json.dumps([cell(row.get(name)) for name in names]),) for row in rows[start : start + 500]]
                base.executemany("INSERT INTO waiting VALUES (?)", part)
            columns = ", ".join(f"json_extract(cells, '$[{at}]') AS {quoted(name)}" for at, name in enumerate(names))
            query = f"CREATE TABLE {quoted(self.table)} AS SELECT {columns} FROM waiting ORDER BY rowid"  # noqa: S608 -- names
            base.execute(query)
            base.commit()
        except sqlite3.Error as error:
            self.ctx.fail("invalid", f"SQLite says: {error}")
        finally:
            base.close()
        return 0


def guard(value: Any) -> tuple[Any, bool]:
    """A spreadsheet runs what begins like a formula: an apostrophe before it says that it is text."""
    risky = isinstance(value, str) and value.startswith(FORMULA) and not HARMLESS.fullmatch(value)
    return (f"'{value}", True) if risky else (value, False)


def cell(value: Any) -> Any:
    """A value that one cell can hold."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return str(value)
    return clean(value) if isinstance(value, str) else value


def clean(text: str) -> str:
    """Text without halves of characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + clean(name).replace('"', '""').replace("\0", "") + '"'
