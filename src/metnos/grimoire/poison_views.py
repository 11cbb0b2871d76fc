"""The ways in which a text can be read that is meant to be overlooked: pure.

A poisoned memory hides what it says: in characters nobody sees, in letters that look like others, in spaced-out or
reversed words, in encodings. `views` gives every such reading as plain lower-case text, so that `poison` needs one set
of rules. Rules: bounded work, whatever the text; the first view is the text itself, folded. Does not guarantee to find
a cipher of somebody's own: what cannot be read by the agent either does it no harm until it is decoded, and then it is
content from outside again.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

MOST = 20_000  # characters that are read at once
_DEPTH = 2  # an encoding within an encoding
_RUNS = 20  # encoded runs of one text
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:(?:\\x|0x|%)?[0-9A-Fa-f]{2}[\s,:;]?){10,}")
_ESCAPES = re.compile(r"\\u\{?([0-9A-Fa-f]{4,6})\}?|\\x([0-9A-Fa-f]{2})")
_BINARY = re.compile(r"(?:[01]{8}[\s,]?){8,}")
_CODES = re.compile(r"(?:\b(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])\b[\s,;]*){10,}")
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*·]{1,2}){4,}\w(?!\w)")
_BLANKS = re.compile(r"\s+")
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|\w+);", re.IGNORECASE)
_TAGS = range(0xE0000, 0xE0080)  # a second, invisible ASCII
_SELECTORS = range(0xE0100, 0xE01F0)
_BIDI = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
_JOINERS = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e")

# Letters of other scripts that look like Latin ones, and signs written for letters.
_LOOKS = dict(
    zip(
        "авеёкмнорстухіјѕԁԛԝһӏ" + "αβεικνορτυχηγω" + "ɑɡıʟᴀᴄᴅᴇɢɪᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢʜʙᴊ",
        "abeekmhopctyxijsdqwhl" + "abeikvoptuxnyw" + "agilacdegikmnoprstuvwyzhbj",
        strict=True,
    )
)
_SIGNS = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"})


def folded(text: str) -> str:
    """Lower case, unseen characters out, look-alike letters as Latin, accents off, all blanks one blank."""
    wide = unicodedata.normalize("NFKC", text).casefold()
    seen = "".join(_LOOKS.get(char, char) for char in wide if unicodedata.category(char) not in ("Cf", "Co", "Cn"))
    bare = "".join(char for char in unicodedata.normalize("NFKD", seen) if not unicodedata.combining(char))
    return _BLANKS.sub(" ", bare.replace("\u2019", "'")).strip()


def views(text: str, depth: int = _DEPTH) -> Iterator[str]:
    """Every way to read it, folded; the plain one first."""
    plain = folded(text)
    yield plain
    if "_" in plain or "-" in plain or "." in plain:
        yield _BLANKS.sub(" ", re.sub(r"[_.\-]", " ", plain))
    if any(char.isdigit() or char in "@$!" for char in plain):
        yield plain.translate(_SIGNS)
    yield from (folded(each) for each in _unhidden(text))
    if depth:
        for inner in _decoded(text):
            yield from views(inner, depth - 1)
    yield folded(codecs.encode(text, "rot13"))
    yield plain[::-1]


def hidden(text: str) -> str:
    """Why its unseen characters are no accident; nothing if there are none of that kind."""
    for place, char in enumerate(text):
        if ord(char) in _TAGS or ord(char) in _SELECTORS:
            return "letters that nobody sees"
        if char in _BIDI:
            return "a change of the direction of writing"
        if char in _JOINERS and _between_latin(text, place):
            return "unseen characters within words"
    return ""


def _between_latin(text: str, place: int) -> bool:
    """Joiners belong into emoji and into scripts that join letters; between two Latin letters they only hide a word."""
    around = text[max(0, place - 1) : place] + text[place + 1 : place + 2]
    return len(around) == 2 and all(char.isascii() and char.isalpha() for char in around)


def _unhidden(text: str) -> Iterator[str]:
    """What stands in an invisible alphabet, and words written with gaps, or one under the other."""
    secret = "".join(chr(ord(char) - 0xE0000) for char in text if ord(char) in _TAGS)
    if secret:
        yield secret
    if _SPACED.search(text):
        yield _SPACED.sub(lambda run: re.sub(r"[ .\-_*·]", "", run[0]), text)
        yield re.sub(r"(?<=\w)[ .\-_*·](?=\w(?:\W|$))", "", text)
    if re.search(r"\w-\s*\n\s*\w", text):
        yield re.sub(r"-\s*\n\s*", "", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 4:
        yield "".join(line if len(line) == 1 else line[0] for line in lines)
        yield " ".join(line.split(maxsplit=1)[0] for line in lines)
    yield re.sub(r"(?<=\w)[*_`~]+(?=\w)|<!--|-->|<[^<>]{0,80}>", "", text)


def _decoded(text: str) -> Iterator[str]:
    if _ENTITY.search(text):
        yield html.unescape(text)
    if re.search(r"%[0-9A-Fa-f]{2}", text):
        yield unquote(text)
    if _ESCAPES.search(text):
        yield _ESCAPES.sub(lambda found: _char(int(found[1] or found[2], 16)), text)
    for run in list(_BASE64.finditer(text))[:_RUNS]:
        yield from _readable(_from_base64(run[0]))
    for run in list(_HEX.finditer(text))[:_RUNS]:
        digits = re.sub(r"\\x|0x|%|[\s,:;]", "", run[0])
        yield from _readable(_from_hex(digits))
    for run in list(_BINARY.finditer(text))[:_RUNS]:
        yield from _readable(bytes(int(part, 2) for part in re.findall(r"[01]{8}", run[0])))
    for run in list(_CODES.finditer(text))[:_RUNS]:
        yield from _readable(bytes(int(part) for part in re.findall(r"\d+", run[0])))


def _char(code: int) -> str:
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


def _from_base64(run: str) -> bytes:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4))
    except binascii.Error:
        return b""


def _from_hex(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits[: len(digits) // 2 * 2])
    except ValueError:
        return b""


def _readable(content: bytes) -> Iterator[str]:
    """What decodes to text; digests and pictures do not."""
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if len(text) >= 8 and sum(char.isprintable() or char.isspace() for char in text) >= 0.95 * len(text):
            yield text
            return
