"""Fetches web pages and takes their readable main text out of menus, advertisements and scripts."""

import json
import re
import time

import trafilatura
from lxml import etree, html

MOST_BYTES = 1_500_000  # of one page
MOST_CHARACTERS = 200_000  # of one text
MOST_TOGETHER = 700_000  # characters of the whole reply
START_S = 9  # one answer may take twenty seconds of the thirty that a call has
CPU_S = 3.0  # of the five that a call has
ENCODINGS = (
    r"utf-?8|utf-?16|iso-?8859-?\d{1,2}|windows-\d{3,4}|koi8-[ru]|shift_jis|euc-(?:jp|kr)|gb(?:k|2312|18030)|big5"
)
SAID = re.compile(rf"charset\s*=\s*[\"']?({ENCODINGS})", re.IGNORECASE)
META = re.compile(rf"<(?:meta|\?xml)[^>]{{0,200}}(?:charset|encoding)\s*=\s*[\"']?({ENCODINGS})", re.IGNORECASE)
DATE = re.compile(r"\b((?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)")
NOT_TEXT = ("script", "style", "noscript", "template", "svg", "head", "iframe", "object")
BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p",
    "pre", "section", "table", "td", "th", "tr", "ul",
}  # fmt: skip
LEAST = 140  # characters: less is no main text


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    urls = list(dict.fromkeys(args["urls"]))
    entries, failures, left, started = [], [], MOST_TOGETHER, time.monotonic()
    for url in urls:
        if len(entries) >= limit or left <= 0:
            break
        try:
            if time.monotonic() - started > START_S or time.process_time() > CPU_S:
                ctx.fail("unavailable", "there was no time left for this page")
            entry = read(url, args["whole"], left, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(url, error.kind, error.message))
            continue
        left -= len(entry["text"])
        entries.append(entry)
    return {"entries": entries, "total": len(urls) - len(failures), "failures": failures}


def read(url, whole, left, ctx):
    answer = ctx.http("GET", url.strip(), headers={"Accept": "text/html, text/plain"}, max_bytes=MOST_BYTES)
    check_status(answer.status, ctx)
    headers = {name.lower(): value for name, value in answer.headers.items()}
    kind = headers.get("content-type", "text/html").strip().lower()
    if not re.match(r"text/(html|plain|markdown)|application/(xhtml\+)?xml|$", kind):
        ctx.fail("unreadable", f"not a page of text but {kind.split(';')[0]}")
    source = decoded(answer.body, kind)
    plain = kind.startswith(("text/plain", "text/markdown"))
    found = {"text": source.strip(), "part": "whole"} if plain else page(source, whole, ctx)
    text = found["text"]
    if not text:
        ctx.fail("unreadable", "there is no readable text on this page")
    kept = text[: min(MOST_CHARACTERS, left)]
    return {
        "url": answer.url,
        "asked": url,
        **{name: found.get(name, "") for name in ("title", "author", "date", "site", "language", "part")},
        "text": kept,
        "characters": len(text),
        "cut": answer.truncated or len(kept) < len(text),
    }


def check_status(status, ctx):
    if status < 300:
        return
    kind = {404: "not_found", 410: "not_found", 401: "not_permitted", 403: "not_permitted", 451: "not_permitted"}
    temporary = status == 429 or status >= 500
    ctx.fail("unavailable" if temporary else kind.get(status, "failed"), f"the server answered with status {status}")


def decoded(body, kind):
    """The text: by its first bytes, then as the header says, then as the page says, then by trying."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    said = SAID.search(kind) or META.search(body[:4096].decode("latin-1"))
    for name in (said[1] if said else "utf-8-sig", "utf-8-sig"):
        try:
            return body.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode(said[1] if said else "latin-1", "replace")


# -- the page


def page(source, whole, ctx):
    # What the parser refuses in text: a declaration of the bytes' encoding, and control characters.
    source = re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", source)
    source = re.sub(r"[\0-\x08\x0b\x0c\x0e-\x1f]", " ", source)
    try:
        tree = html.document_fromstring(source)
    except (etree.LxmlError, ValueError, AssertionError):
        ctx.fail("unreadable", "there is no HTML in it")
    about = described(tree)
    text = "" if whole else main_text(source)
    return {**about, "part": "main" if text else "whole", "text": text or gathered(tree, NOT_TEXT)}


def described(tree):
    """Title, author, date, site and language, as the page declares them."""
    named = {}
    for node in tree.iter("meta"):
        name = (node.get("property") or node.get("name") or node.get("itemprop") or "").lower()
        named.setdefault(name, node.get("content") or "")
    data = structured(tree)
    times = [named.get("article:published_time"), data.get("datePublished"), named.get("date"), named.get("dc.date")]
    times += [node.get("datetime") for node in tree.iter("time")][:1]
    author = data.get("author")
    if isinstance(author, list):
        author = author[0] if author else ""
    if isinstance(author, dict):
        author = author.get("name")
    return {
        "title": line(named.get("og:title") or tree.findtext(".//title") or tree.findtext(".//h1")),
        "author": line(named.get("author") or author or named.get("dc.creator")),
        "date": next((found[1] for found in (DATE.search(str(each or "")) for each in times) if found), ""),
        "site": line(named.get("og:site_name") or named.get("application-name")),
        "language": line(tree.get("lang"))[:20].split("-")[0].lower(),
    }


def structured(tree):
    """The first description of an article in the page's linked data."""
    for node in list(tree.iter("script"))[:200]:
        if node.get("type") != "application/ld+json" or len(node.text or "") > 200_000:
            continue
        try:
            data = json.loads(node.text or "")
        except (ValueError, RecursionError):
            continue
        items = data if isinstance(data, list) else data.get("@graph", [data]) if isinstance(data, dict) else []
        for item in items if isinstance(items, list) else []:
            if isinstance(item, dict) and ("datePublished" in item or "author" in item):
                return item
    return {}


def main_text(source):
    """The text of the article on a page, without menus and the like; nothing if there is hardly any."""
    text = trafilatura.extract(source, include_comments=False, include_tables=True) or ""
    return text if len(text) >= LEAST else ""


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


def line(value):
    return " ".join(value.split())[:500] if isinstance(value, str) else ""
