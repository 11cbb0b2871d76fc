"""Fetches web pages and takes their readable main text out of menus, advertisements and scripts."""

import json
import re
import time

from metnos_kit import pages

MOST_BYTES = 1_500_000  # of one page
START_S = 9  # one answer may take twenty seconds of the thirty that a call has
CPU_S = 3.0  # of the five that a call has
DATE = re.compile(r"\b((?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)")


def run(args, ctx):
    started = time.monotonic()

    def entry_of(url, room):
        if time.monotonic() - started > START_S or time.process_time() > CPU_S:
            ctx.fail("unavailable", "there was no time left for this page")
        return read(url, args["whole"], room, ctx)

    return pages.collected(list(dict.fromkeys(args["urls"])), args.get("limit", ctx.limit), entry_of, ctx)


def read(url, whole, room, ctx):
    answer = ctx.http("GET", url.strip(), headers={"Accept": "text/html, text/plain"}, max_bytes=MOST_BYTES)
    check_status(answer.status, ctx)
    headers = {name.lower(): value for name, value in answer.headers.items()}
    kind = headers.get("content-type", "text/html").strip().lower()
    if not re.match(r"text/(html|plain|markdown)|application/(xhtml\+)?xml|$", kind):
        ctx.fail("unreadable", f"not a page of text but {kind.split(';')[0]}")
    source, _ = pages.decoded(answer.body, kind, answer.truncated)
    plain = kind.startswith(("text/plain", "text/markdown"))
    found = {"text": source.strip(), "part": "whole"} if plain else page(source, whole, ctx)
    text = found["text"]
    if not text:
        ctx.fail("unreadable", "there is no readable text on this page")
    kept = text[:room]
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


# -- the page


def page(source, whole, ctx):
    source = pages.clean(source)
    tree = pages.tree_of(source, ctx)
    about = described(tree)
    text = "" if whole else pages.main_text(source)
    return {**about, "part": "main" if text else "whole", "text": text or pages.whole_text(tree)}


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


def line(value):
    return " ".join(value.split())[:500] if isinstance(value, str) else ""
