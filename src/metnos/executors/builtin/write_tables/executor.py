"""Writes rows as a table file: CSV, TSV, JSON, JSON lines, XLSX or SQLite."""

import csv
import itertools
import json
import re
import sqlite3
import time
from pathlib import Path

import openpyxl
from openpyxl.cell import WriteOnlyCell

LOCAL = "/tmp/table"  # noqa: S108 -- the sandbox's own, which nobody else sees
MOST_FILE = 50_000_000  # bytes of the new file
CPU_S = 3.5  # a call has five seconds
SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".xlsx": "xlsx",
            ".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite"}  # fmt: skip
HARMLESS = re.compile(r"[+-][\d .,()/-]*", re.ASCII)  # numbers and telephone numbers
FORMULA = ("=", "+", "-", "@", "\t", "\r")
ILLEGAL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def run(args, ctx):
    path, rows = args["path"], args["entries"]
    kind = target_format(path, args["format"], ctx)
    names = columns_of(rows, args.get("columns"))
    if not names:
        ctx.fail("invalid", "there is nothing to write: no rows and no `columns`")
    if "columns" in args:
        rows = [{name: row.get(name) for name in names} for row in rows]
    guarded = save_table(rows, names, kind, args, ctx)
    size = deliver(path, args["overwrite"], ctx)
    done = {"path": path, "format": kind, "rows": len(rows), "columns": len(names), "bytes": size, "guarded": guarded}
    return {"results": [done]}


def columns_of(rows, wanted):
    """The names of all columns in the order of their first appearance, or those that are wanted."""
    return wanted or list(dict.fromkeys(name for row in rows for name in row))


def target_format(path, said, ctx):
    kind = SUFFIXES.get(Path(path).suffix.lower(), "") if said == "auto" else said
    return kind or ctx.fail("invalid", f"say the `format`: the name ends in none of {', '.join(SUFFIXES)}")


def deliver(path, overwrite, ctx):
    size = Path(LOCAL).stat().st_size
    if size > MOST_FILE:
        ctx.fail("too_large", f"the file would have more than {MOST_FILE} bytes; nothing was written")
    ctx.put(path, LOCAL, overwrite=overwrite)
    return size


# -- writing a table, whatever its format


def save_table(rows, names, kind, args, ctx):
    """Makes the file LOCAL; says how many texts had to be kept from being read as formulas."""
    savers = {"csv": save_csv, "tsv": save_csv, "json": save_json, "jsonl": save_json, "xlsx": save_xlsx}
    return savers.get(kind, save_sqlite)(rows, names, kind, args, ctx)


def hurry(ctx, number=0):
    if number % 200 == 0 and time.process_time() > CPU_S:
        ctx.fail("too_large", "the table is too large to be written in the time of one call; nothing was written")


def save_csv(rows, names, kind, args, ctx):
    guarded = 0
    with open(LOCAL, "w", encoding="utf-8", newline="") as file:
        delimiter = "\t" if kind == "tsv" else args["delimiter"]
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([guard(name)[0] for name in names])
        for number, row in enumerate(rows):
            hurry(ctx, number)
            cells = [guard(cell(row.get(name))) for name in names]
            guarded += sum(was for _, was in cells)
            writer.writerow([value for value, _ in cells])
    return guarded


def guard(value):
    """A spreadsheet runs what begins like a formula: an apostrophe before it says that it is text."""
    risky = isinstance(value, str) and value.startswith(FORMULA) and not HARMLESS.fullmatch(value)
    return (f"'{value}", True) if risky else (value, False)


def cell(value):
    """A value that one cell can hold."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return str(value)
    return clean(value) if isinstance(value, str) else value


def clean(text):
    """Text without halves of characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def save_json(rows, _names, kind, _args, ctx):
    start, between, end = ("", "\n", "\n") if kind == "jsonl" else ("[\n", ",\n", "\n]\n")
    with open(LOCAL, "w", encoding="utf-8", errors="replace") as file:
        for number, row in enumerate(rows):
            hurry(ctx, number)
            file.write((between if number else start) + json.dumps(row, ensure_ascii=False))
        file.write(end if rows else "" if kind == "jsonl" else "[]\n")
    return 0


def save_xlsx(rows, names, _kind, args, ctx):
    if len(names) > 16_384 or len(rows) > 1_048_575:
        ctx.fail("too_large", "a sheet has room for 16384 columns and 1048575 rows")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(re.sub(r"[\[\]:*?/\\]", " ", args["table"])[:31].strip("' ") or "table")
    guarded = 0
    for number, values in enumerate(itertools.chain([names], ([row.get(name) for name in names] for row in rows))):
        hurry(ctx, number)
        line = []
        for value in values:
            content = value if isinstance(value, bool) else cell(value)
            if isinstance(content, str):
                if len(content) > 32_767:
                    ctx.fail("too_large", f"row {number} has a text longer than the 32767 characters of a cell")
                content = ILLEGAL.sub("", content)
            made = WriteOnlyCell(sheet, value=content)
            if made.data_type == "f":
                made.data_type = "s"  # text, whatever it begins with
                guarded += 1
            line.append(made)
        sheet.append(line)
    book.save(LOCAL)
    return guarded


def save_sqlite(rows, names, _kind, args, ctx):
    if len(names) > 2_000:
        ctx.fail("too_large", "a table of SQLite has room for 2000 columns")
    if len({name.casefold() for name in names}) < len(names):
        ctx.fail("invalid", "SQLite knows no capitals in names of columns: two of these are the same")
    base = sqlite3.connect(LOCAL)
    try:
        # Values only ever pass as parameters: each row waits as JSON, and the table is made of them in one go.
        base.execute("CREATE TEMP TABLE waiting (cells TEXT)")
        for start in range(0, len(rows), 500):
            hurry(ctx)
            part = [(json.dumps([cell(row.get(name)) for name in names]),) for row in rows[start : start + 500]]
            base.executemany("INSERT INTO waiting VALUES (?)", part)
        columns = ", ".join(f"json_extract(cells, '$[{at}]') AS {quoted(name)}" for at, name in enumerate(names))
        table = quoted(args["table"])
        base.execute(f"CREATE TABLE {table} AS SELECT {columns} FROM waiting ORDER BY rowid")  # noqa: S608 -- names only
        base.commit()
    except sqlite3.Error as error:
        ctx.fail("invalid", f"SQLite says: {error}")
    finally:
        base.close()
    return 0


def quoted(name):
    return '"' + clean(name).replace('"', '""').replace("\0", "") + '"'
