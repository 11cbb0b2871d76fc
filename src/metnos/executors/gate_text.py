"""What the source text itself may hide from whoever reads it: invisible or reordering characters, look-alikes, blobs.

Looks at the characters, comments included, because a reviewer sees those. Does not judge strings in other scripts: the
owner's own language is no attack.
"""

import ast
import io
import math
import re
import tokenize
import unicodedata
from collections import Counter
from collections.abc import Iterator

from metnos.executors.gate_code import Code, line_of
from metnos.executors.gate_record import Finding

_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0"
)
_HIDDEN = re.compile(f"[{_BIDI}{_INVISIBLE}\U000e0000-\U000e007f]")
_JOINING = re.compile(
    r"(?<=[^\x00-\x7f])[\u200b-\u200f]|[\u200b-\u200f](?=[^\x00-\x7f])"
)  # other scripts spell with them
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_BLOB = re.compile(r"[A-Za-z0-9+/=_\-]{400,}|(?:\\x[0-9a-fA-F]{2}){100,}")
_LEAST_BITS = (
    4.2  # of each character: base64 of compressed or encrypted data has about 5.9, hexadecimal 4, a word list 4
)
_LONGEST_LINE = 4000  # columns; nobody reads beyond, and blanks push code out of sight


def findings(source: str) -> Iterator[Finding]:
    for number, text in enumerate(source.splitlines(), start=1):
        if _HIDDEN.search(_JOINING.sub("", text.removeprefix("\ufeff") if number == 1 else text)):
            yield Finding("hidden-character", number, "a character that is invisible or reorders the line")
        if _CONTROL.search(text):
            yield Finding("hidden-character", number, "a control character")
        if len(text) > _LONGEST_LINE or re.search(r"\S[ \t]{200,}\S", text):
            yield Finding("hidden-code", number, "a line that runs out of sight")


def lookalikes(code: Code) -> Iterator[Finding]:
    """Names that mix scripts, and names that Python reads as others than they look."""
    for node in code.nodes:
        for name in _identifiers(node):
            if not name.isascii() and len(_scripts(name)) > 1:
                yield Finding("look-alike", line_of(node), "a name that mixes letters of several scripts")
    for token in tokenize.generate_tokens(io.StringIO(code.source).readline):
        if token.type == tokenize.NAME and unicodedata.normalize("NFKC", token.string) != token.string:
            yield Finding("look-alike", token.start[0], "a name in characters that Python reads as others")


def blobs(code: Code) -> Iterator[Finding]:
    """Long constants that no person wrote."""
    for node in code.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in code.docstrings:
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            match = _BLOB.search(text)
            if match and _entropy(match.group()) > _LEAST_BITS:
                yield Finding("blob", line_of(node), f"{len(match.group())} characters that only a machine can read")


def _identifiers(node: ast.AST) -> Iterator[str]:
    for field in ("id", "attr", "name", "arg", "asname"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value


def _scripts(name: str) -> set[str]:
    return {unicodedata.name(each, "? ").split()[0] for each in name if each.isalpha()}


def _entropy(text: str) -> float:
    total = len(text)
    return -sum(count / total * math.log2(count / total) for count in Counter(text).values())
