"""Reading text files, in whatever encoding they are.

Rules: a byte order mark decides; without one it is UTF-8 if all of it is, and latin-1 otherwise, which reads anything;
what holds a zero byte and no mark is no text. Decoding never fails; reading fails with the right class, and never
reads more than it was allowed. Does not guess between old encodings: latin-1 stands for all of them.
"""

import codecs
from pathlib import Path
from typing import NoReturn, Protocol

HEAD = 8192  # bytes in which a binary file shows itself
# UTF-32 comes before UTF-16, whose mark its own begins with.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Context(Protocol):
    """What of ``ctx`` is used here."""

    def fail(self, kind: str, message: str) -> NoReturn: ...


def read(path: str, most: int, ctx: Context, advice: str = "") -> bytes:
    """All of a file; one that is larger than this is refused, with the advice after the reason."""
    try:
        if not Path(path).is_file():
            ctx.fail(*(("invalid", "not a file") if Path(path).exists() else ("not_found", "gone")))
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        ctx.fail("unreadable", error.strerror or "cannot be read")
    if len(data) > most:
        ctx.fail("too_large", f"larger than {most} bytes{advice}")
    return data


def read_text(path: str, most: int, ctx: Context, advice: str = "") -> str:
    """The text of all of a file; what is no text is refused."""
    data = read(path, most, ctx, advice)
    if not is_text(data):
        ctx.fail("unreadable", "not a text file")
    return decoded(data)[0]


def marked(data: bytes) -> str:
    """The encoding that a byte order mark names, or nothing."""
    return next((encoding for mark, encoding in MARKS if data.startswith(mark)), "")


def is_text(data: bytes) -> bool:
    """Whether it may be text: it has a mark, or no zero byte."""
    return bool(marked(data)) or b"\0" not in data


def decoded(data: bytes, cut: bool = False) -> tuple[str, str]:
    """The text without its mark, and the encoding; ``cut`` says that the end is missing, maybe within a character."""
    encoding = marked(data)
    if encoding:
        return data.decode(encoding, "replace"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        # A cut may have parted a character; anything else is an old encoding.
        if cut and error.start >= len(data) - 4:
            return data.decode("utf-8", "ignore"), "utf-8"
    return data.decode("latin-1"), "latin-1"
