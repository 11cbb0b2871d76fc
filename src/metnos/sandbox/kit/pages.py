"""Web pages: their bytes as text, their tree, their main text and all of it.

Rules: only encodings that the web uses are believed, and what claims one and is not valid in it is read as UTF-8 if it
can be; scripts, styles and the like are never text; hostile HTML ends in a failure. Nothing is fetched here: the
executor asks ``ctx`` for that. Does not run scripts, and does not see what they would show.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, Protocol

MOST_CHARACTERS = 200_000  # of one text
MOST_TOGETHER = 700_000  # characters of the whole reply
LEAST = 140  # characters: less is no main text
HEAD = 4096  # bytes in which a page says how it is encoded
# Only encodings that the web uses: others of Python's are no encodings of text, or take for ever.
KNOWN = re.compile(
    r"utf-?8|utf-?16(-?[lb]e)?|(iso-?8859|windows|cp)-?\d{1,4}|koi8-[ru]|(shift|x)[-_]s?jis|euc-(jp|kr)|gb(k|2312|18030)"
    r"|big5"
)
SAID = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
META = re.compile(r"<(?:meta|\?xml)[^>]{0,200}(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
NOT_TEXT = ("script", "style", "noscript", "template", "svg", "head", "iframe", "object")
BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p",
    "pre", "section", "table", "td", "th", "tr", "ul",
}  # fmt: skip


class Context(Protocol):
    """What of ``ctx`` is used here."""

    limit: int
    Failure: type[Exception]

    def fail(self, kind: str, message: str) -> NoReturn: ...

    def failure(self, item: Any, kind: str, message: str) -> dict[str, Any]: ...


def collected(
    items: list[str], limit: int, entry_of: Callable[[str, int], dict[str, Any]], ctx: Context
) -> dict[str, Any]:
    """The reply: an entry with a ``text`` for each item while there is room; ``entry_of`` is told how much is left."""
    entries: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    left = MOST_TOGETHER
    for item in items:
        if len(entries) >= min(limit, ctx.limit) or left <= 0:
            break
        try:
            entry = entry_of(item, min(MOST_CHARACTERS, left))
        except ctx.Failure as error:
            failures.append(ctx.failure(item, getattr(error, "kind", "failed"), str(error)))
            continue
        left -= len(entry["text"])
        entries.append(entry)
    return {"entries": entries, "total": len(items) - len(failures), "failures": failures}


def decoded(body: bytes, kind: str = "", cut: bool = False) -> tuple[str, str]:
    """The text, and its encoding: by its first bytes, as the content type says, as the page says, then by trying.

    ``cut`` says that the end is missing, maybe within a letter.
    """
    for mark, encoding in MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace"), encoding
    found = (SAID.search(kind), META.search(body[:HEAD].decode("latin-1")))
    names = [each[1].lower() for each in found if each and KNOWN.fullmatch(each[1].lower())]
    for name in (*names, "utf-8"):
        try:
            return body.decode(name), name
        except LookupError:
            continue
        except UnicodeDecodeError as error:
            if cut and error.start >= len(body) - 4:
                return body.decode(name, "ignore"), name
    for name in names:
        try:
            return body.decode(name, "replace"), name
        except LookupError:
            continue
    return body.decode("latin-1"), "latin-1"


def clean(source: str) -> str:
    """What the parser takes: no declaration of the bytes' encoding, and no control characters."""
    source = re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", source)
    return re.sub(r"[\0-\x08\x0b\x0c\x0e-\x1f]", " ", source)


def tree_of(source: str, ctx: Context, *, complete: bool = False) -> Any:
    """The tree of a cleaned page; with ``complete`` one that is nested deeper than the parser goes is refused."""
    from lxml import etree, html  # type: ignore[import-untyped]

    parser = html.HTMLParser()
    try:
        tree = html.document_fromstring(source, parser)
    except (etree.LxmlError, ValueError, AssertionError):
        ctx.fail("unreadable", "there is no HTML in it")
    if complete and any("depth" in error.message for error in parser.error_log):
        ctx.fail("too_large", "its elements are nested too deeply")
    return tree


def main_text(source: str) -> str:
    """The text of the article on a page, without menus and the like; nothing if there is hardly any."""
    import trafilatura

    text = trafilatura.extract(source, include_comments=False, include_tables=True) or ""
    return text if len(text) >= LEAST else ""


def whole_text(tree: Any, unseen: Iterable[str] = NOT_TEXT) -> str:
    """The text below an element, a line for each block, without what stands in unseen elements."""
    from lxml import etree

    parts: list[str] = []
    depth, hidden = 0, frozenset(unseen)
    for event, node in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        named = event in ("start", "end")
        if named and node.tag in BLOCKS:
            parts.append("\n")
        if named and node.tag in hidden:
            depth += 1 if event == "start" else -1
        words = node.text if event == "start" else node.tail if node is not tree else ""
        if not depth and words:
            parts.append(re.sub(r"\s+", " ", words))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)
