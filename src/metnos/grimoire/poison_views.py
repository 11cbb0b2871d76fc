"""The ways in which a text can be read that is meant to be overlooked: pure.

A poisoned memory hides what it says: in characters nobody sees, in letters that look like others, in spaced-out or
reversed words, in encodings. `views` gives every such reading as plain lower-case text, so that `poison` needs one set
of rules. Rules: the work grows with the length of the text and not with what it holds: codes are decoded all at once,
twice at most, instead of each after each, and nothing here goes back over a text for every place in it. The first view
is the text itself, folded. Does not guarantee that the views are short: one sign can unfold into eighteen letters, so
whoever reads them counts (`poison`). Nor to find a cipher of somebody's own: what cannot be read by the agent either
does it no harm until it is decoded, and then it is content from outside again.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
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
_ZEROS = re.compile(r"&#0+(?=[0-9])")
_NO_CHAR = re.compile(r"&#[0-9]{8,};?")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_SPLIT = re.compile(r"(?<=\w)-[^\S\n]*\n\s*(?=\w)")
_BREAK = re.compile(r"-[^\S\n]*\n\s*")
_CROWD = re.compile(r"[^\x00-\x7f]{31,}")
_MARKS = 30  # on one letter: what Unicode calls safe for streams; no language needs more than a few
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
    plain = text.lower() if text.isascii() else _latin(text)  # which finds nothing to change in ASCII
    return _BLANKS.sub(" ", plain).strip()


def _latin(text: str) -> str:
    wide = unicodedata.normalize("NFKC", thinned(text)).casefold()
    seen = "".join(_LOOKS.get(char, char) for char in wide if unicodedata.category(char) not in ("Cf", "Co", "Cn"))
    bare = "".join(char for char in unicodedata.normalize("NFKD", seen) if not unicodedata.combining(char))
    return bare.replace("\u2019", "'")


def thinned(text: str) -> str:
    """The same without the marks of a letter that has more than any language needs.

    Normalising sorts the marks of a letter, in a time that grows with the square of their number; a thousand of them
    hold it for as long as a book. Folding takes all of them away in the end, so nothing is lost.
    """
    return _CROWD.sub(lambda run: _few_marks(run[0]), text)


def _few_marks(text: str) -> str:
    kept, marks = [], 0
    for char in text:
        marks = marks + 1 if _is_mark(char) else 0
        if marks <= _MARKS:
            kept.append(char)
    return "".join(kept)


@lru_cache(maxsize=4096)
def _is_mark(char: str) -> bool:
    """Some are marks only when they are unfolded."""
    return all(map(unicodedata.combining, unicodedata.normalize("NFKD", char)))


def views(text: str) -> Iterator[str]:
    """Every way to read it, folded; the plain one first."""
    for source in sources(text):
        yield from _readings(source)
        yield from _apart(source)


def sources(text: str) -> Iterator[str]:
    """The text, and the texts that are encoded in it, and in those; each once."""
    known, level = {text: None}, [text]
    for _ in range(_DEPTH):
        found = dict.fromkeys(inner for outer in level for inner in _decoded(outer))
        level = [inner for inner in found if inner not in known]
        known |= dict.fromkeys(level)
    yield from known


def _readings(text: str) -> Iterator[str]:
    plain = folded(text)
    yield plain
    if "_" in plain or "-" in plain or "." in plain:
        yield _BLANKS.sub(" ", re.sub(r"[_.\-]", " ", plain))
    if any(char.isdigit() or char in "@$!" for char in plain):
        yield plain.translate(_SIGNS)
    yield from (folded(each) for each in _unhidden(text))
    yield folded(codecs.encode(text, "rot13"))
    yield plain[::-1]


def _apart(text: str) -> Iterator[str]:
    """With the codes of one kind decoded and those of others left as they are: decoded too, they could grow into the
    words beside them, and be there for nothing else."""
    kinds = [decode for decode in _CODED if decode(text) != text]
    if len(kinds) > 1:
        yield from (folded(decode(text)) for decode in kinds)


def hidden(text: str) -> str:
    """Why its unseen characters are no accident; nothing if there are none of that kind."""
    if text.isascii():
        return ""
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
    secret = "" if text.isascii() else "".join(chr(ord(char) - 0xE0000) for char in text if ord(char) in _TAGS)
    if secret:
        yield secret
    if _SPACED.search(text):
        yield _SPACED.sub(lambda run: re.sub(r"[ .\-_*·]", "", run[0]), text)
        yield re.sub(r"(?<=\w)[ .\-_*·](?=\w(?:\W|$))", "", text)
    if _SPLIT.search(text):
        yield _BREAK.sub("", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 4:
        yield "".join(line if len(line) == 1 else line[0] for line in lines)
        yield " ".join(line.split(maxsplit=1)[0] for line in lines)
    yield re.sub(r"(?<=\w)[*_`~]+(?=\w)|<!--|-->|<[^<>]{0,80}>", "", text)


def _decoded(text: str) -> Iterator[str]:
    """All codes for single characters at once, and every run that is a text of its own."""
    plain = text
    for decode in _CODED:
        plain = decode(plain)
    yield plain
    for run in list(_BASE64.finditer(text))[:_RUNS]:
        yield from _readable(_from_base64(run[0]))
    for run in list(_HEX.finditer(text))[:_RUNS]:
        digits = re.sub(r"\\x|0x|%|[\s,:;]", "", run[0])
        yield from _readable(_from_hex(digits))
    for run in list(_BINARY.finditer(text))[:_RUNS]:
        yield from _readable(bytes(int(part, 2) for part in re.findall(r"[01]{8}", run[0])))
    for run in list(_CODES.finditer(text))[:_RUNS]:
        yield from _readable(bytes(int(part) for part in re.findall(r"\d+", run[0])))


def _entities(text: str) -> str:
    if not _ENTITY.search(text):
        return text
    # Numbers of thousands of digits are an error to Python, and no character to anybody; zeros before one are nothing.
    return html.unescape(_NO_CHAR.sub("\ufffd", _ZEROS.sub("&#", text)))


def _percent(text: str) -> str:
    return unquote(text) if _PERCENT.search(text) else text


def _escapes(text: str) -> str:
    return _ESCAPES.sub(lambda found: _char(int(found[1] or found[2], 16)), text)


_CODED: tuple[Callable[[str], str], ...] = (_entities, _percent, _escapes)


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
