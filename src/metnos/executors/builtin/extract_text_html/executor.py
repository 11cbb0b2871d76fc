"""Takes the readable text and the title out of HTML files."""

import codecs
import re
import time

from metnos_kit import pages, texts

MOST_BYTES = 3_000_000  # of one page
CPU_S = 3.0  # a call has five seconds; the pages read by then are given
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)


def run(args, ctx):
    def entry_of(path, room):
        if time.process_time() > CPU_S:
            ctx.fail("too_large", "there was no time for this page")
        return read_page(path, args["whole"], room, ctx)

    return pages.collected(args["paths"], args.get("limit", ctx.limit), entry_of, ctx)


def read_page(path, whole, room, ctx):
    source, encoding = read_source(path, ctx)
    tree = pages.tree_of(source, ctx, complete=True)
    title = " ".join((tree.findtext(".//title") or tree.findtext(".//h1") or "").split())
    text = "" if whole else pages.main_text(source)
    part = "main" if text else "whole"
    text = text or pages.whole_text(tree)
    kept = text[:room]
    return {
        "path": path,
        "title": title[:500],
        "text": kept,
        "characters": len(text),
        "cut": len(kept) < len(text),
        "part": part,
        "encoding": encoding,
    }


def read_source(path, ctx):
    """The page as text, and how it was encoded."""
    data = texts.read(path, MOST_BYTES, ctx)
    if not data.strip():
        ctx.fail("unreadable", "the file is empty")
    text, encoding = decoded(data, ctx)
    return pages.clean(text), encoding


def decoded(data, ctx):
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), encoding
    if b"\0" in data[:8192]:
        ctx.fail("unreadable", "not a text file")
    said = CHARSET.search(data[:4096])
    names = [said[1].decode("ascii").lower()] if said else []
    for encoding in [*names, "utf-8"]:
        try:
            # Not every codec of Python is an encoding of text: what makes no text is passed over.
            text = codecs.lookup(encoding).decode(data)[0]
        except (LookupError, ValueError):
            continue
        if isinstance(text, str):
            return text, encoding
    return data.decode("latin-1"), "latin-1"
