"""Takes the text out of office documents: one entry for a text, for each sheet and for each slide."""

import re
import time
import zipfile
from pathlib import Path

import docx
import openpyxl
from lxml import etree

MOST_BYTES = 64_000_000  # of all that a document unpacks to
MOST_XML = 16_000_000  # bytes of one part that is parsed as a whole
MOST_PARTS = 5_000
MOST_CHARACTERS = 200_000  # of one text
MOST_TOGETHER = 700_000  # characters of the whole reply
MOST_REPEATS = 200  # of one cell or row that the format writes once
CPU_S = 3.5  # a call has five seconds
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
ODF = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
TEXT, TABLE, DRAW, OFFICE = (ODF % name for name in ("text", "table", "drawing", "office"))


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, failures, total, left = [], [], 0, MOST_TOGETHER
    for path in args["paths"]:
        try:
            for kind, part, text in read_document(path, ctx):
                total += 1
                if len(entries) >= limit or left <= 0:
                    continue
                kept = text[: min(MOST_CHARACTERS, left)]
                left -= len(kept)
                shown = {"text": kept, "characters": len(text), "cut": len(kept) < len(text)}
                entries.append({"path": path, "format": kind, "part": part, **shown})
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
        except MemoryError:
            failures.append(ctx.failure(path, "too_large", "it needs more memory than there is"))
        except Exception as error:  # noqa: BLE001 -- a named border: a broken document raises anything
            failures.append(ctx.failure(path, "unreadable", f"not a sound document: {type(error).__name__}"))
    return {"entries": entries, "total": total, "failures": failures}


def read_document(path, ctx):
    """Every part of one document: its format, the part's name and its text."""
    if not Path(path).is_file():
        ctx.fail("invalid", "not a file")
    hurry(ctx)
    with open(path, "rb") as file:
        start = file.read(8)
    if start == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        ctx.fail("unreadable", "encrypted, or of the old formats doc, xls and ppt")
    if not zipfile.is_zipfile(path):
        ctx.fail("unreadable", "not an office document")
    with zipfile.ZipFile(path) as archive:
        names = check_sizes(archive, ctx)
        kind = format_of(archive, names, ctx)
        readers = {"docx": read_docx, "xlsx": read_xlsx, "pptx": read_pptx}
        for part, text in readers.get(kind, read_odf)(archive if kind not in ("docx", "xlsx") else path, ctx):
            # Office programs write characters that no reply may hold, such as halves of a pair.
            yield kind, part, text.encode("utf-8", "replace").decode("utf-8")


def check_sizes(archive, ctx):
    """The names in the archive, after a look at what it would unpack to."""
    parts = archive.infolist()
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_BYTES:
        ctx.fail("too_large", f"it unpacks to more than {MOST_PARTS} parts or {MOST_BYTES} bytes")
    if any(part.flag_bits & 1 for part in parts):
        ctx.fail("unreadable", "the document is encrypted")
    for part in parts:
        if part.filename.endswith((".xml", ".rels")) and part.file_size > MOST_XML:
            ctx.fail("too_large", f"a part of it has more than {MOST_XML} bytes")
        # Bombs are built from entities, which stand in a document type; office programs never write one.
        if part.filename.endswith(".xml") and b"<!DOCTYPE" in archive.open(part).read(4000):
            ctx.fail("unreadable", "it declares a document type, which office documents never do")
    return {part.filename for part in parts}


def format_of(archive, names, ctx):
    for marker, kind in (("word/document.xml", "docx"), ("xl/workbook.xml", "xlsx"), ("ppt/presentation.xml", "pptx")):
        if marker in names:
            return kind
    if "mimetype" in names and "content.xml" in names:
        with archive.open("mimetype") as file:
            said = file.read(200).decode("ascii", "replace").partition("opendocument.")[2]
        kind = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}.get(said.strip().removesuffix("-template"))
        if kind:
            return kind
    return ctx.fail("unreadable", "not a document of a known format")


def parse(archive, name):
    """One XML part. Whatever it declares, no entity is resolved and nothing else is loaded."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(archive.read(name), parser)


def hurry(ctx):
    if time.process_time() > CPU_S:
        ctx.fail("too_large", "there was no time for the rest")


# -- one reader for each format


def read_docx(path, ctx):
    hurry(ctx)
    lines = []
    for block in docx.Document(path).iter_inner_content():
        if hasattr(block, "rows"):
            lines += ["\t".join(cell.text.replace("\n", " ") for cell in row.cells) for row in block.rows]
        else:
            lines.append(block.text)
    yield "document", "\n".join(lines).strip()


def read_xlsx(path, ctx):
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # what the file claims of its size may be anything
        lines, size = [], 0
        for row in sheet.iter_rows(values_only=True):
            hurry(ctx)
            line = "\t".join("" if value is None else str(value) for value in row).rstrip()
            size += len(line)
            if size > 2 * MOST_CHARACTERS:
                break
            if line:
                lines.append(line)
        yield sheet.title, "\n".join(lines)


def read_pptx(archive, ctx):
    slides = (re.fullmatch(r"ppt/slides/slide(\d{1,5})\.xml", name) for name in archive.namelist())
    for match in sorted(filter(None, slides), key=lambda each: int(each[1])):
        hurry(ctx)
        root = parse(archive, match[0])
        lines = ("".join(run.text or "" for run in line.iter(A + "t")) for line in root.iter(A + "p"))
        yield f"slide {match[1]}", "\n".join(line for line in lines if line.strip())


def read_odf(archive, ctx):
    root = parse(archive, "content.xml")
    pages, tables = list(root.iter(DRAW + "page")), list(root.iter(TABLE + "table"))
    body = next(root.iter(OFFICE + "body"), root)
    if body.find(OFFICE + "spreadsheet") is not None:
        for number, table in enumerate(tables, start=1):
            hurry(ctx)
            yield table.get(TABLE + "name") or f"sheet {number}", "\n".join(table_lines(table, ctx))
    elif body.find(OFFICE + "presentation") is not None:
        for number, page in enumerate(pages, start=1):
            hurry(ctx)
            yield f"slide {number}", "\n".join(paragraphs(page))
    else:
        yield "document", "\n".join(paragraphs(body))


def table_lines(table, ctx):
    """The rows of a sheet; what the format says to repeat is repeated within reason, and not when it is empty."""
    for row in table.iter(TABLE + "table-row"):
        hurry(ctx)
        cells = []
        for cell in row.iterchildren(TABLE + "table-cell", TABLE + "covered-table-cell"):
            text = " ".join(paragraphs(cell))
            cells += [text] * repeats(cell, "number-columns-repeated")
        line = "\t".join(cells).rstrip()
        if line:
            yield from [line] * repeats(row, "number-rows-repeated")


def repeats(node, name):
    said = node.get(TABLE + name, "1")
    return min(int(said), MOST_REPEATS) if said.isdecimal() and len(said) < 9 else 1


def paragraphs(node):
    """The headings and paragraphs below a node that are not empty."""
    texts = ("".join(pieces(line)).strip() for line in node.iter(TEXT + "h", TEXT + "p"))
    return [text for text in texts if text]


def pieces(node):
    """The text of a paragraph; blanks, tabs and line breaks are elements in these formats."""
    yield node.text or ""
    for child in node:
        if child.tag == TEXT + "s":
            yield " "
        elif child.tag in (TEXT + "tab", TEXT + "line-break"):
            yield "\t" if child.tag.endswith("tab") else "\n"
        elif isinstance(child.tag, str) and child.tag not in (TEXT + "p", TEXT + "h", TEXT + "note"):
            yield from pieces(child)
        yield child.tail or ""
