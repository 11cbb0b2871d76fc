"""Describes the columns of a table: types, counts, least and greatest values, empty cells."""

import codecs
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
from collections import Counter
from pathlib import Path

import openpyxl

MOST_DISTINCT = 10_000  # values of one column that are counted each for itself
MOST_COLUMNS = 1_000
SHOWN = 200  # characters of a value
MOST_JSON = 12_000_000  # bytes of a JSON file, which is read as a whole
MOST_UNPACKED = 100_000_000  # bytes that a workbook unpacks to
MOST_FAILURES = 100  # lines of a JSON lines file that may be broken
SAMPLE = 1000  # rows that say what the columns hold
CPU_S = 3.5  # a call has five seconds
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# A zero in front, as in a postcode, is no number's: such a column stays text.
NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,2})?", re.ASCII)
COMMA_NUMBER = re.compile(r"-?(0|[1-9]\d{0,2}(\.\d{3}){1,4}|[1-9]\d{0,14})(,\d{1,15})?", re.ASCII)
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
TRUTH = {"true": True, "false": False, "vero": True, "falso": False}


def run(args, ctx):
    failures, columns, rows = [], {}, 0
    given = map(json_row, args["entries"]) if "entries" in args else open_table(args["path"], args, failures, ctx)
    for row in given:
        rows += 1
        for name, value in row.items():
            if name not in columns:
                if len(columns) >= MOST_COLUMNS:
                    ctx.fail("too_large", f"the table has more than {MOST_COLUMNS} columns")
                columns[name] = {"types": Counter(), "distinct": set(), "sum": 0.0, "least": {}, "greatest": {}}
            note(columns[name], value)
    entries = [summary(name, seen, rows) for name, seen in columns.items()]
    return {"entries": entries[: ctx.limit], "total": len(entries), "failures": failures}


def note(seen, value):
    """Takes one value into account."""
    kind = type_of(value)
    if kind == "empty":
        return
    seen["types"][kind] += 1
    if len(seen["distinct"]) < MOST_DISTINCT:
        seen["distinct"].add(value if kind != "text" else value[:SHOWN])
    if kind == "number":
        seen["sum"] += value
    if kind not in seen["least"] or value < seen["least"][kind]:
        seen["least"][kind] = value
    if kind not in seen["greatest"] or value > seen["greatest"][kind]:
        seen["greatest"][kind] = value


def type_of(value):
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "date" if DATE.fullmatch(value) else "text"


def summary(name, seen, rows):
    full = sum(seen["types"].values())
    kinds = sorted(seen["types"])
    kind = kinds[0] if len(kinds) == 1 else "mixed" if kinds else "empty"
    entry = {
        "column": name,
        "type": kind,
        "rows": rows,
        "filled": full,
        "empty": rows - full,
        "distinct": len(seen["distinct"]),
        "all_distinct_counted": len(seen["distinct"]) < MOST_DISTINCT,
        "types": dict(seen["types"]),
    }
    if len(kinds) == 1:
        least, greatest = seen["least"][kind], seen["greatest"][kind]
        entry["min"], entry["max"] = (each[:SHOWN] if isinstance(each, str) else each for each in (least, greatest))
    if kind == "number" and math.isfinite(seen["sum"]):
        entry["mean"] = round(seen["sum"] / full, 6)
    return entry


# -- reading a table, whatever its format


def open_table(path, args, failures, ctx):
    """The rows of a table, one after the other, as mappings from column to a plain value."""
    if not Path(path).is_file():
        ctx.fail("invalid", "not a file")
    try:
        with open(path, "rb") as file:
            start = file.read(8192)
        found = format_of(path, start) if args["format"] == "auto" else args["format"]
        if found == "sqlite":
            yield from read_sqlite(path, args, ctx)
        elif found == "xlsx":
            yield from read_xlsx(path, args, ctx)
        else:
            encoding = encoding_of(path, start, ctx)
            readers = {"csv": read_csv, "json": read_json, "jsonl": read_lines}
            yield from readers[found](path, encoding, args, failures, ctx)
    except ctx.Failure:
        raise
    except MemoryError:
        ctx.fail("too_large", "it needs more memory than there is")
    except Exception as error:  # noqa: BLE001 -- a named border: a broken table raises anything
        ctx.fail("unreadable", f"not a sound table: {str(error)[:200] or type(error).__name__}")


def format_of(path, start):
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start.startswith(b"PK\x03\x04"):
        return "xlsx"
    named = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}
    first = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return named.get(Path(path).suffix.lower()) or {b"[": "json", b"{": "jsonl"}.get(first, "csv")


def encoding_of(path, start, ctx):
    """How a text file is encoded: as its mark says, else UTF-8 if all of it is, else latin-1."""
    marked = next((name for mark, name in BOMS if start.startswith(mark)), "")
    if b"\0" in start and not marked:
        ctx.fail("unreadable", "neither text nor a table of a known format")
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open(path, "rb") as file:
            while not marked and (piece := file.read(1 << 20)):
                decoder.decode(piece)
    except UnicodeDecodeError:
        return "latin-1"
    return marked or "utf-8"


def hurry(ctx):
    if time.process_time() > CPU_S:
        ctx.fail("too_large", "the table is too large to be read in the time of one call")


def read_csv(path, encoding, args, _failures, ctx):
    with open(path, encoding=encoding, newline="") as file:
        sample = file.read(65_536)
        delimiter = args.get("delimiter") or sniff(sample)
        file.seek(0)
        lines = (line for line in csv.reader(file, delimiter=delimiter) if line)
        names = unique(next(lines, [])) if args["header"] else []
        first = list(itertools.islice(lines, SAMPLE))
        width = max(map(len, [names, *first]))
        kinds = [kind_of([line[at] for line in first if at < len(line)], delimiter) for at in range(width)]
        for number, line in enumerate(itertools.chain(first, lines)):
            if number % 1000 == 0:
                hurry(ctx)
            yield make_row(names, [typed(cell, kinds[at] if at < width else "") for at, cell in enumerate(line)])


def sniff(sample):
    """The delimiter that cuts the first line into the most columns, and most others into several."""
    lines = sample.splitlines()[:30]
    best, most = ",", 1
    for delimiter in ",;\t|":
        widths = [len(line) for line in csv.reader(lines, delimiter=delimiter) if line]
        if widths and widths[0] > most and sum(width > 1 for width in widths) >= 0.6 * len(widths):
            best, most = delimiter, widths[0]
    return best


def unique(names):
    """Names of columns: none empty, none twice."""
    made = {}
    for number, name in enumerate(names, start=1):
        first = " ".join(str("" if name is None else name).split())[:200] or f"column_{number}"
        unused, again = first, 2
        while unused in made:
            unused, again = f"{first}_{again}", again + 1
        made[unused] = None
    return list(made)


def make_row(names, values):
    row = dict.fromkeys(names)
    row.update((names[at] if at < len(names) else f"column_{at + 1}", value) for at, value in enumerate(values))
    return row


def kind_of(cells, delimiter):
    """What all cells of a column are; where a semicolon parts the columns, a comma may part the decimals."""
    full = [cell.strip() for cell in cells if cell.strip()]
    if full and all(NUMBER.fullmatch(cell) for cell in full):
        return "number"
    if full and delimiter != "," and all(COMMA_NUMBER.fullmatch(cell) for cell in full):
        return "comma"
    return "boolean" if full and all(cell.lower() in TRUTH for cell in full) else ""


def typed(cell, kind):
    """A cell's value; what does not fit the kind of its column stays text."""
    text = cell.strip()
    if not text:
        return None
    if kind == "comma" and COMMA_NUMBER.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    if kind in ("number", "comma") and NUMBER.fullmatch(text):
        return float(text) if any(sign in text for sign in ".eE") else int(text)
    return TRUTH.get(text.lower(), cell) if kind == "boolean" else cell


def read_json(path, encoding, args, failures, ctx):
    if Path(path).stat().st_size > MOST_JSON:
        ctx.fail("too_large", f"a JSON file may have {MOST_JSON} bytes; JSON lines have no such limit")
    with open(path, encoding=encoding) as file:
        text = file.read()
    try:
        data = json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        ctx.fail("unreadable", "the JSON is nested too deeply")
    except ValueError:
        if args["format"] != "auto" or not text.lstrip().startswith("{"):
            raise
        yield from read_lines(path, encoding, args, failures, ctx)
        return
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else [data]
    if not isinstance(data, list):
        ctx.fail("unreadable", "the JSON holds no list of rows")
    if data and args["header"] and all(isinstance(row, list) for row in data):
        names = unique(data[0])
        data = [make_row(names, row) for row in data[1:]]
    yield from (json_row(row) for row in data)


def read_lines(path, encoding, _args, failures, ctx):
    with open(path, encoding=encoding) as file:
        for number, line in enumerate(file, start=1):
            if number % 1000 == 1:
                hurry(ctx)
            if not line.strip():
                continue
            try:
                yield json_row(json.loads(line, parse_constant=lambda _: None))
            except (ValueError, RecursionError):
                if len(failures) >= MOST_FAILURES:
                    ctx.fail("unreadable", f"more than {MOST_FAILURES} lines are not JSON")
                failures.append(ctx.failure(f"line {number}", "unreadable", "not JSON"))


def json_row(data):
    if isinstance(data, dict):
        return {str(key)[:200]: plain(value) for key, value in data.items()}
    return make_row([], map(plain, data)) if isinstance(data, list) else {"value": plain(data)}


def plain(value):
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


def read_sqlite(path, args, ctx):
    """A table or what a SELECT gives. The file is opened as immutable, and only reading passes."""
    base = sqlite3.connect(f"file:{urllib.parse.quote(path)}?mode=ro&immutable=1", uri=True)
    base.execute("PRAGMA trusted_schema = OFF")
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 4_000_000)
    base.text_factory = lambda data: data.decode("utf-8", "replace")
    base.set_progress_handler(lambda: time.process_time() > CPU_S, 10_000)
    base.set_authorizer(only_reading)
    try:
        found = base.execute(args.get("query") or table_query(base, args.get("table"), ctx))
        if found.description is None:
            ctx.fail("invalid", "`query` must be one SELECT")
        names = unique([column[0] for column in found.description])
        yield from (make_row(names, map(plain, row)) for row in found)
    except (sqlite3.Error, sqlite3.Warning) as error:
        hurry(ctx)
        ctx.fail("invalid" if args.get("query") else "unreadable", f"SQLite says: {error}")
    finally:
        base.close()


def only_reading(action, _first, second, _database, _trigger):
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and second != "load_extension":
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def table_query(base, wanted, ctx):
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    names = [name for (name,) in base.execute(query)]
    name = wanted or (names[0] if len(names) == 1 else "")
    if name not in names:
        ctx.fail(
            "not_found" if wanted else "invalid", f"say which `table`; there are: {', '.join(names)[:500] or 'none'}"
        )
    quoted = name.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'  # noqa: S608 -- a name of this very database, quoted


def read_xlsx(path, args, ctx):
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if len(parts) > 5_000 or sum(part.file_size for part in parts) > MOST_UNPACKED:
            ctx.fail("too_large", f"it unpacks to more than {MOST_UNPACKED} bytes")
        if "xl/workbook.xml" not in archive.namelist():
            ctx.fail("unreadable", "not a workbook")
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    titles = [sheet.title for sheet in book.worksheets]
    wanted = args.get("table") or (titles[0] if titles else "")
    if wanted not in titles:
        ctx.fail("not_found", f"there is no such sheet; there are: {', '.join(titles)[:500] or 'none'}")
    sheet = book[wanted]
    sheet.reset_dimensions()  # what the file claims of its size may be anything
    rows = (row for row in sheet.iter_rows(values_only=True) if hurry(ctx) or any(cell is not None for cell in row))
    names = unique(next(rows, ())) if args["header"] else []
    yield from (make_row(names, map(plain, row)) for row in rows)
