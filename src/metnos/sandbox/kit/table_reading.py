"""Reading a table from CSV, JSON, JSON lines, SQLite or XLSX, row by row.

Rules: a row is a mapping from column to a plain value (text, number, truth or nothing); a column has one name, and no
two the same; a file is only ever opened for reading, SQLite as immutable with nothing but reading allowed; a workbook
is measured before it is unpacked; reading ends when its share of processor time is used up. Does not keep rows: what
does not fit into memory is the caller's to bound.
"""

import codecs
import contextlib
import csv
import datetime
import itertools
import json
import math
import re
import sqlite3
import time
import urllib.parse
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

Row = dict[str, Any]

MOST_JSON = 12_000_000  # bytes of a JSON file, which is read as a whole
MOST_UNPACKED = 100_000_000  # bytes that a workbook unpacks to
MOST_PARTS = 5_000
MOST_FAILURES = 100  # lines of a JSON lines file that may be broken
SAMPLE = 1000  # rows that say what the columns hold
CPU_S = 3.5  # a call has five seconds
LATE = "the table is too large to be read in the time of one call"
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
NAMED = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}
# A zero in front, as in a postcode, is no number's: such a column stays text.
NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,2})?", re.ASCII)
COMMA_NUMBER = re.compile(r"-?(0|[1-9]\d{0,2}(\.\d{3}){1,4}|[1-9]\d{0,14})(,\d{1,15})?", re.ASCII)
TRUTH = {"true": True, "false": False, "vero": True, "falso": False}
TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


class Context(Protocol):
    """What of ``ctx`` is used here."""

    Failure: type[Exception]

    def fail(self, kind: str, message: str) -> NoReturn: ...

    def failure(self, item: Any, kind: str, message: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Reader:
    """One table file, and how its owner wants it read.

    ``args`` are those of the executor: ``format`` and ``header``, and where they are given ``delimiter``, ``table`` and
    ``query``. ``broken`` is told the number of every line of a JSON lines file that is none, and may end the call.
    """

    path: str
    args: Mapping[str, Any]
    ctx: Context
    broken: Callable[[int], None]
    late: str = LATE
    cpu_s: float = CPU_S

    def rows(self) -> Iterator[Row]:
        """The rows, one after the other."""
        ctx = self.ctx
        if not Path(self.path).is_file():
            ctx.fail("invalid", "not a file")
        try:
            with open(self.path, "rb") as file:
                start = file.read(8192)
            found = format_of(self.path, start) if self.args["format"] == "auto" else self.args["format"]
            if found == "sqlite":
                yield from self._sqlite()
            elif found == "xlsx":
                yield from self._xlsx()
            else:
                readers = {"csv": self._csv, "json": self._json, "jsonl": self._lines}
                yield from readers[found](self._encoding(start))
        except ctx.Failure:
            raise
        except MemoryError:
            ctx.fail("too_large", "it needs more memory than there is")
        except Exception as error:  # noqa: BLE001 -- a named border: a broken table raises anything
            ctx.fail("unreadable", f"not a sound table: {str(error)[:200] or type(error).__name__}")

    def _hurry(self) -> None:
        if time.process_time() > self.cpu_s:
            self.ctx.fail("too_large", self.late)

    def _encoding(self, start: bytes) -> str:
        """How a text file is encoded: as its mark says, else UTF-8 if all of it is, else latin-1."""
        marked = next((name for mark, name in BOMS if start.startswith(mark)), "")
        if b"\0" in start and not marked:
            self.ctx.fail("unreadable", "neither text nor a table of a known format")
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            with open(self.path, "rb") as file:
                while not marked and (piece := file.read(1 << 20)):
                    decoder.decode(piece)
        except UnicodeDecodeError:
            return "latin-1"
        return marked or "utf-8"

    def _csv(self, encoding: str) -> Iterator[Row]:
        with open(self.path, encoding=encoding, newline="") as file:
            sample = file.read(65_536)
            delimiter = self.args.get("delimiter") or sniffed(sample)
            file.seek(0)
            lines = (line for line in csv.reader(file, delimiter=delimiter) if line)
            names = unique(next(lines, [])) if self.args["header"] else []
            first = list(itertools.islice(lines, SAMPLE))
            width = max(map(len, [names, *first]))
            kinds = [kind_of([line[at] for line in first if at < len(line)], delimiter) for at in range(width)]
            for number, line in enumerate(itertools.chain(first, lines)):
                if number % 1000 == 0:
                    self._hurry()
                yield make_row(names, [typed(cell, kinds[at] if at < width else "") for at, cell in enumerate(line)])

    def _json(self, encoding: str) -> Iterator[Row]:
        if Path(self.path).stat().st_size > MOST_JSON:
            self.ctx.fail("too_large", f"a JSON file may have {MOST_JSON} bytes; JSON lines have no such limit")
        with open(self.path, encoding=encoding) as file:
            text = file.read()
        try:
            data = json.loads(text, parse_constant=lambda _: None)
        except RecursionError:
            self.ctx.fail("unreadable", "the JSON is nested too deeply")
        except ValueError:
            if self.args["format"] != "auto" or not text.lstrip().startswith("{"):
                raise
            yield from self._lines(encoding)
            return
        if isinstance(data, dict):
            lists = [value for value in data.values() if isinstance(value, list)]
            data = lists[0] if len(lists) == 1 else [data]
        if not isinstance(data, list):
            self.ctx.fail("unreadable", "the JSON holds no list of rows")
        if data and self.args["header"] and all(isinstance(row, list) for row in data):
            names = unique(data[0])
            data = [make_row(names, row) for row in data[1:]]
        yield from (json_row(row) for row in data)

    def _lines(self, encoding: str) -> Iterator[Row]:
        with open(self.path, encoding=encoding) as file:
            for number, line in enumerate(file, start=1):
                if number % 1000 == 1:
                    self._hurry()
                if not line.strip():
                    continue
                try:
                    yield json_row(json.loads(line, parse_constant=lambda _: None))
                except (ValueError, RecursionError):
                    self.broken(number)

    def _sqlite(self) -> Iterator[Row]:
        """A table or what a SELECT gives. The file is opened as immutable, and only reading passes."""
        base = sqlite3.connect(f"file:{urllib.parse.quote(self.path)}?mode=ro&immutable=1", uri=True)
        base.execute("PRAGMA trusted_schema = OFF")
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 4_000_000)
        base.text_factory = lambda data: data.decode("utf-8", "replace")
        base.set_progress_handler(lambda: time.process_time() > self.cpu_s, 10_000)
        base.set_authorizer(only_reading)
        try:
            found = base.execute(self.args.get("query") or self._table_query(base))
            if found.description is None:
                self.ctx.fail("invalid", "`query` must be one SELECT")
            names = unique([column[0] for column in found.description])
            yield from (make_row(names, map(plain, row)) for row in found)
        except (sqlite3.Error, sqlite3.Warning) as error:
            self._hurry()
            self.ctx.fail("invalid" if self.args.get("query") else "unreadable", f"SQLite says: {error}")
        finally:
            base.close()

    def _table_query(self, base: sqlite3.Connection) -> str:
        wanted = self.args.get("table")
        names = [name for (name,) in base.execute(TABLES)]
        name = wanted or (names[0] if len(names) == 1 else "")
        if name not in names:
            kind = "not_found" if wanted else "invalid"
            self.ctx.fail(kind, f"say which `table`; there are: {', '.join(names)[:500] or 'none'}")
        quoted = name.replace('"', '""')
        return f'SELECT * FROM "{quoted}"'  # noqa: S608 -- a name of this very database, quoted

    def _xlsx(self) -> Iterator[Row]:
        import openpyxl  # type: ignore[import-untyped]  # here: it takes 0.2 s that only workbooks should cost

        with zipfile.ZipFile(self.path) as archive:
            parts = archive.infolist()
            if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
                self.ctx.fail("too_large", f"it unpacks to more than {MOST_UNPACKED} bytes")
            if "xl/workbook.xml" not in archive.namelist():
                self.ctx.fail("unreadable", "not a workbook")
        # As a file: of a path openpyxl would ask for the right ending.
        with (
            open(self.path, "rb") as file,
            contextlib.closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
        ):
            titles = [sheet.title for sheet in book.worksheets]
            wanted = self.args.get("table") or (titles[0] if titles else "")
            if wanted not in titles:
                self.ctx.fail("not_found", f"there is no such sheet; there are: {', '.join(titles)[:500] or 'none'}")
            sheet = book[wanted]
            sheet.reset_dimensions()  # what the file claims of its size may be anything
            timed = self._timed(sheet.iter_rows(values_only=True))
            rows = (row for row in timed if any(cell is not None for cell in row))
            names = unique(next(rows, ())) if self.args["header"] else []
            yield from (make_row(names, map(plain, row)) for row in rows)

    def _timed(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            self._hurry()
            yield row


def forgiving(failures: list[dict[str, Any]], ctx: Context) -> Callable[[int], None]:
    """For ``broken``: a line that is not JSON costs only itself, up to a point."""

    def note(number: int) -> None:
        if len(failures) >= MOST_FAILURES:
            ctx.fail("unreadable", f"more than {MOST_FAILURES} lines are not JSON")
        failures.append(ctx.failure(f"line {number}", "unreadable", "not JSON"))

    return note


def format_of(path: str, start: bytes) -> str:
    """The format of a file, by its first bytes and its name."""
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start.startswith(b"PK\x03\x04"):
        return "xlsx"
    first = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return NAMED.get(Path(path).suffix.lower()) or {b"[": "json", b"{": "jsonl"}.get(first, "csv")


def sniffed(sample: str) -> str:
    """The delimiter that cuts the first line into the most columns, and most others into several."""
    lines = sample.splitlines()[:30]
    best, most = ",", 1
    for delimiter in ",;\t|":
        widths = [len(line) for line in csv.reader(lines, delimiter=delimiter) if line]
        if widths and widths[0] > most and sum(width > 1 for width in widths) >= 0.6 * len(widths):
            best, most = delimiter, widths[0]
    return best


def unique(names: Iterable[Any]) -> list[str]:
    """Names of columns: none empty, none twice."""
    made: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        first = " ".join(str("" if name is None else name).split())[:200] or f"column_{number}"
        unused, again = first, 2
        while unused in made:
            unused, again = f"{first}_{again}", again + 1
        made[unused] = None
    return list(made)


def make_row(names: Sequence[str], values: Iterable[Any]) -> Row:
    """A row of these values; those beyond the named columns get the number of theirs."""
    row: Row = dict.fromkeys(names)
    row.update((names[at] if at < len(names) else f"column_{at + 1}", value) for at, value in enumerate(values))
    return row


def kind_of(cells: Iterable[str], delimiter: str) -> str:
    """What all cells of a column are; where a semicolon parts the columns, a comma may part the decimals."""
    full = [cell.strip() for cell in cells if cell.strip()]
    if full and all(NUMBER.fullmatch(cell) for cell in full):
        return "number"
    if full and delimiter != "," and all(COMMA_NUMBER.fullmatch(cell) for cell in full):
        return "comma"
    return "boolean" if full and all(cell.lower() in TRUTH for cell in full) else ""


def typed(cell: str, kind: str) -> Any:
    """A cell's value; what does not fit the kind of its column stays text."""
    text = cell.strip()
    if not text:
        return None
    if kind == "comma" and COMMA_NUMBER.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    if kind in ("number", "comma") and NUMBER.fullmatch(text):
        return float(text) if any(sign in text for sign in ".eE") else int(text)
    return TRUTH.get(text.lower(), cell) if kind == "boolean" else cell


def json_row(data: Any) -> Row:
    """Whatever JSON holds in the place of a row, as a row."""
    if isinstance(data, dict):
        return {str(key)[:200]: plain(value) for key, value in data.items()}
    return make_row([], map(plain, data)) if isinstance(data, list) else {"value": plain(data)}


def plain(value: Any) -> Any:
    """A value that a cell can hold and a reply can carry."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    if isinstance(value, dict | list):
        value = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date().isoformat()
    elif isinstance(value, datetime.datetime | datetime.date | datetime.time):
        value = value.isoformat()
    return str(value).encode("utf-8", "replace").decode("utf-8")


def only_reading(action: int, _first: object, second: object, _database: object, _trigger: object) -> int:
    """What SQLite asks before it does anything."""
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and second != "load_extension":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
