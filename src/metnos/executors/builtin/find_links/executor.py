"""Finds the links in HTML: each address once for each page, in the order of the page."""

import re
from urllib.parse import unquote, urljoin, urlsplit

from metnos_kit import pages, texts

MOST_BYTES = 3_000_000  # of one page
MOST_URL = 4000  # characters; longer ones are data, not addresses
CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?(utf-8|iso-8859-\d+|windows-\d+)", re.IGNORECASE)
KINDS = {"http": "web", "https": "web", "mailto": "mail", "tel": "phone", "": "relative"}


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    found, failures = [], []
    for path in args.get("paths", []):
        try:
            found += links(read(path, ctx), path, args, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
    if "html" in args:
        try:
            found += links(args["html"], "", args, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure("html", error.kind, error.message))
    return {"entries": found[:limit], "total": len(found), "failures": failures}


def read(path, ctx):
    data = texts.read(path, MOST_BYTES, ctx)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:8192]:
        ctx.fail("unreadable", "not a text file")
    said = CHARSET.search(data[:4096])
    try:
        return data.decode(said[1].decode("ascii") if said else "utf-8-sig")
    except (UnicodeDecodeError, LookupError):
        return data.decode("latin-1")


def links(source, path, args, ctx):
    """The links of one page that were asked for, each once."""
    source = pages.clean(source)
    if not source.strip():
        return []
    tree = pages.tree_of(source, ctx)
    base = args.get("base") or next(iter(tree.xpath("//base/@href")), "")
    seen = {}
    for node in tree.iter("a", "area"):
        entry = link(node, path, base)
        if entry is None or not wanted(entry, args):
            continue
        known = seen.setdefault(entry["url"], entry)
        known["text"] = known["text"] or entry["text"]
        known["times"] += 1
    return list(seen.values())


def link(node, path, base):
    """One link; nothing if it leads nowhere else."""
    target = "".join((node.get("href") or "").split("\n")).strip()
    if not target or target.startswith("#") or len(target) > MOST_URL:
        return None
    try:
        url = urljoin(base, target)
        scheme = urlsplit(url).scheme.lower()
    except ValueError:
        return None
    if scheme in ("javascript", "data", "vbscript"):
        return None
    kind = KINDS.get(scheme, "other")
    if kind in ("mail", "phone"):
        url = unquote(url.split(":", 1)[1].split("?")[0]).strip()
    text = " ".join("".join(node.itertext()).split()) or " ".join((node.get("title") or node.get("alt") or "").split())
    return {"path": path, "url": url, "text": text[:300], "kind": kind, "times": 0}


def wanted(entry, args):
    needle = args.get("contains", "").casefold()
    fits = args["kind"] in ("any", entry["kind"])
    return fits and (needle in entry["url"].casefold() or needle in entry["text"].casefold())
