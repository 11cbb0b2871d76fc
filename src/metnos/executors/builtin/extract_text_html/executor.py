"""Takes the readable text and the title out of HTML files."""

import codecs
import re
import time
from pathlib import Path

import trafilatura
from lxml import etree, html

MOST_BYTES = 3_000_000  # of one page
MOST_CHARACTERS = 200_000  # of one text
MOST_TOGETHER = 700_000  # characters of the whole reply
CPU_S = 3.0  # a call has five seconds; the pages read by then are given
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
NOT_TEXT = ("script", "style", "noscript", "template", "svg", "head", "iframe", "object")
BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p",
    "pre", "section", "table", "td", "th", "tr", "ul",
}  # fmt: skip
LEAST = 140  # characters: less is no main text


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, failures, left = [], [], MOST_TOGETHER
    for path in args["paths"]:
        if len(entries) >= limit or left <= 0:
            break
        try:
            entry = read_page(path, args["whole"], left, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
            continue
        left -= len(entry["text"])
        entries.append(entry)
    return {"entries": entries, "total": len(args["paths"]) - len(failures), "failures": failures}


def read_page(path, whole, left, ctx):
    if time.process_time() > CPU_S:
        ctx.fail("too_large", "there was no time for this page")
    source, encoding = read_source(path, ctx)
    parser = html.HTMLParser()
    try:
        tree = html.document_fromstring(source, parser)
    except (etree.LxmlError, ValueError, AssertionError):
        ctx.fail("unreadable", "there is no HTML in it")
    if any("depth" in error.message for error in parser.error_log):
        ctx.fail("too_large", "its elements are nested too deeply")
    title = " ".join((tree.findtext(".//title") or tree.findtext(".//h1") or "").split())
    text = None if whole else main_text(source)
    part = "main" if text else "whole"
    text = text or whole_text(tree)
    kept = text[: min(MOST_CHARACTERS, left)]
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
    if not Path(path).is_file():
        ctx.fail("invalid", "not a file")
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        ctx.fail("unreadable", error.strerror or "cannot be read")
    if len(data) > MOST_BYTES:
        ctx.fail("too_large", f"larger than {MOST_BYTES} bytes")
    if not data.strip():
        ctx.fail("unreadable", "the file is empty")
    text, encoding = decoded(data, ctx)
    # What lxml refuses in text: a declaration of the bytes' encoding, and control characters.
    text = re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", text)
    return re.sub(r"[\0-\x08\x0b\x0c\x0e-\x1f]", " ", text), encoding


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


def main_text(source):
    """The text of the article on a page, without menus and the like; nothing if there is hardly any."""
    text = trafilatura.extract(source, include_comments=False, include_tables=True) or ""
    return text if len(text) >= LEAST else ""


def whole_text(tree):
    return gathered(tree, NOT_TEXT)


def gathered(tree, unseen):
    """The text below an element, a line for each block, without what stands in unseen elements."""
    parts, depth = [], 0
    for event, node in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        named = event in ("start", "end")
        if named and node.tag in BLOCKS:
            parts.append("\n")
        if named and node.tag in unseen:
            depth += 1 if event == "start" else -1
        words = node.text if event == "start" else node.tail if node is not tree else ""
        if not depth and words:
            parts.append(re.sub(r"\s+", " ", words))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)
