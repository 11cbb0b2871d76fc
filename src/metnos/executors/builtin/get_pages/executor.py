"""Fetches web pages and gives their text as it was sent, whatever their status."""

import re
import time

from metnos_kit import pages

MOST_BYTES = 2_000_000  # of one page
START_S = 9  # one answer may take twenty seconds of the thirty that a call has
TEXTUAL = re.compile(r"text/|application/(.+\+)?(json|xml|javascript|yaml|toml|sql|x-ndjson|xhtml)|image/svg")


def run(args, ctx):
    started = time.monotonic()

    def entry_of(url, room):
        if time.monotonic() - started > START_S:
            ctx.fail("unavailable", "there was no time left for this page")
        return fetch(url, args["head"], room, ctx)

    return pages.collected(list(dict.fromkeys(args["urls"])), args.get("limit", ctx.limit), entry_of, ctx)


def fetch(url, head, room, ctx):
    answer = ctx.http("HEAD" if head else "GET", url.strip(), max_bytes=MOST_BYTES)
    headers = {name.lower(): value for name, value in answer.headers.items()}
    kind = headers.get("content-type", "")
    media = kind.split(";")[0].strip().lower()
    readable = not head and textual(media, answer.body)
    text, encoding = pages.decoded(answer.body, kind, answer.truncated) if readable else ("", "")
    kept = text[:room]
    return {
        "url": answer.url,
        "asked": url,
        "status": answer.status,
        "ok": 200 <= answer.status < 300,
        "type": media,
        "encoding": encoding,
        "text": kept,
        "bytes": len(answer.body),
        "cut": answer.truncated or len(kept) < len(text),
    }


def textual(media, body):
    """What is said to be text, and what does not say what it is and has no zero byte in it."""
    if not media:
        return bool(body) and b"\0" not in body[:4096]
    return TEXTUAL.match(media) is not None
