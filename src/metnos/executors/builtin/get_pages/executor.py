"""Fetches web pages and gives their text as it was sent, whatever their status."""

import re
import time

MOST_BYTES = 2_000_000  # of one page
MOST_CHARACTERS = 200_000  # of one text
MOST_TOGETHER = 700_000  # characters of the whole reply
START_S = 9  # one answer may take twenty seconds of the thirty that a call has
TEXTUAL = re.compile(r"text/|application/(.+\+)?(json|xml|javascript|yaml|toml|sql|x-ndjson|xhtml)|image/svg")
# Only encodings that the web uses: others of Python's are no encodings of text, or take for ever.
KNOWN = re.compile(
    r"utf-?8|utf-?16(-?[lb]e)?|(iso-?8859|windows|cp)-?\d{1,4}|koi8-[ru]|(shift|x)[-_]s?jis|euc-(jp|kr)|gb(k|2312|18030)|big5"
)
META = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    urls = list(dict.fromkeys(args["urls"]))
    entries, failures, left, started = [], [], MOST_TOGETHER, time.monotonic()
    for url in urls:
        if len(entries) >= limit or left <= 0:
            break
        try:
            if time.monotonic() - started > START_S:
                ctx.fail("unavailable", "there was no time left for this page")
            entry = fetch(url, args["head"], left, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(url, error.kind, error.message))
            continue
        left -= len(entry["text"])
        entries.append(entry)
    return {"entries": entries, "total": len(urls) - len(failures), "failures": failures}


def fetch(url, head, left, ctx):
    answer = ctx.http("HEAD" if head else "GET", url.strip(), max_bytes=MOST_BYTES)
    headers = {name.lower(): value for name, value in answer.headers.items()}
    kind = headers.get("content-type", "")
    media = kind.split(";")[0].strip().lower()
    text, encoding = ("", "") if head or not textual(media, answer.body) else decoded(answer.body, kind)
    kept = text[: min(MOST_CHARACTERS, left)]
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


def decoded(body, kind):
    """The text, and its encoding: by its first bytes, as the header says, as the page says, and then by trying."""
    for mark, encoding in BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace"), encoding
    said = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", kind, re.IGNORECASE)
    meta = META.search(body[:4096])
    for name in (said[1] if said else "", meta[1].decode("ascii") if meta else ""):
        if KNOWN.fullmatch(name.lower()):
            try:
                return body.decode(name, "replace"), name.lower()
            except LookupError:
                continue
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        # A letter that was cut through at the end is no sign of another encoding.
        if error.start >= len(body) - 4:
            return body.decode("utf-8", "ignore"), "utf-8"
    return body.decode("latin-1"), "latin-1"
