"""Takes the text out of PDF documents, page by page."""

import re
import time
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import LimitReachedError

MOST_BYTES = 32_000_000  # of one document
MOST_CHARACTERS = 100_000  # of one page
MOST_TOGETHER = 700_000  # characters of the whole reply
CPU_S = 3.5  # a call has five seconds; the pages read by then are given


def run(args, ctx):
    state = {"entries": [], "total": 0, "left": MOST_TOGETHER, "limit": min(args.get("limit", ctx.limit), ctx.limit)}
    failures = []
    for path in args["paths"]:
        try:
            read_document(path, args.get("pages"), state, failures, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
    return {"entries": state["entries"], "total": state["total"], "failures": failures}


def read_document(path, wanted, state, failures, ctx):
    """Adds the wanted pages of one document; a page that cannot be read is a failure of its own."""
    reader = open_document(path, ctx)
    try:
        if reader.is_encrypted:
            ctx.fail("unreadable", "the document is encrypted")
        pages = len(reader.pages)
    except ctx.Failure:
        raise
    except Exception as error:  # noqa: BLE001 -- a named border: a broken document raises anything
        ctx.fail("unreadable", f"not a sound PDF: {type(error).__name__}")
    numbers = chosen(wanted, pages)
    state["total"] += len(numbers)
    if not numbers:
        ctx.fail("not_found", f"it has {pages} pages, and none of those asked for")
    for number in numbers:
        if len(state["entries"]) >= state["limit"] or state["left"] <= 0:
            return
        if time.process_time() > CPU_S:
            ctx.fail("too_large", f"there was no time for the pages from {number} on")
        try:
            text = page_text(reader, number, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
            state["total"] -= 1
            continue
        kept = text[: min(MOST_CHARACTERS, state["left"])]
        state["left"] -= len(kept)
        state["entries"].append(
            {
                "path": path,
                "page": number,
                "pages": pages,
                "text": kept,
                "characters": len(text),
                "cut": len(kept) < len(text),
            }
        )


def open_document(path, ctx):
    if not Path(path).is_file():
        ctx.fail("invalid", "not a file")
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            ctx.fail("too_large", f"larger than {MOST_BYTES} bytes")
        with open(path, "rb") as file:
            if b"%PDF-" not in file.read(1024):
                ctx.fail("unreadable", "not a PDF document")
        return PdfReader(path)
    except ctx.Failure:
        raise
    except (MemoryError, LimitReachedError):
        ctx.fail("too_large", "it needs more memory than there is")
    except Exception as error:  # noqa: BLE001 -- a named border: a broken document raises anything
        ctx.fail("unreadable", f"not a sound PDF: {type(error).__name__}")


def page_text(reader, number, ctx):
    try:
        text = reader.pages[number - 1].extract_text() or ""
    except (MemoryError, LimitReachedError):
        ctx.fail("too_large", f"page {number} needs more memory than there is")
    except Exception as error:  # noqa: BLE001 -- a named border: a broken page raises anything
        ctx.fail("unreadable", f"page {number} cannot be read: {type(error).__name__}")
    # Fonts without a table of characters give halves of characters, which no reply may hold.
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "").strip()


def chosen(wanted, pages):
    """The numbers of the pages asked for that there are, in order."""
    if not wanted:
        return list(range(1, pages + 1))
    numbers = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", wanted):
        numbers.update(range(max(1, int(first)), min(int(last or first), pages) + 1))
    return sorted(numbers)
