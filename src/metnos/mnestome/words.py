"""What of the words that reach the mnestome may be stored: they may be a language model's.

Rules: a name is an identifier, a version is short, tags are few and short. What is no name is not recorded; the rest
is cut.
"""

import json
import re
from collections.abc import Iterable, Sequence

from metnos.core.canon import canonical_json

TAGS, TAG = 16, 64  # how many, and characters of each

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_VERSION = re.compile(r"[0-9A-Za-z.+-]{0,64}")  # empty for what has none, such as the request itself


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def is_version(text: str) -> bool:
    return _VERSION.fullmatch(text) is not None


def bounded(text: str, most: int = TAG) -> str:
    """The beginning of a text, such that it can be stored."""
    return text[:most].encode("utf-8", "backslashreplace").decode()


def tags(said: Sequence[str]) -> list[str]:
    return merged((), [bounded(tag) for tag in said[:TAGS]])


def merged(known: Iterable[str], more: Iterable[str]) -> list[str]:
    """Both, each once, in the order in which they came; what is too much is left out."""
    return list(dict.fromkeys([*known, *more]))[:TAGS]


def to_json(said: Sequence[str]) -> str:
    return canonical_json(list(said)).decode()


def from_json(text: str) -> list[str]:
    found: list[str] = json.loads(text)
    return found
