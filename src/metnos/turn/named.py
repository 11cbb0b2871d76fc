"""Find the hidden paths that a person's own words name.

Rules: a path counts as it stands in the words, or in quotes, and only as a whole: a folder does not name what is in it,
and nothing that was read or planned names anything. An apostrophe is no quote: one opens behind a blank or a bracket
and closes before a blank or a mark, and words between two of them count by themselves if they begin with no path.
Pure but for the links that it follows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from metnos.core.canon import path_ways
from metnos.core.errors import PathError
from metnos.law.guarded import is_hidden

_QUOTED = re.compile(
    r"(?<![^\s(\[{])'([^'\n]+)'(?=[\s,;:.!?)\]}]|$)"
    r"|\"([^\"\n]+)\"|`([^`\n]+)`|\u201c([^\u201c\u201d\n]+)\u201d|\u00ab([^\u00ab\u00bb\n]+)\u00bb"
)
_SINGLE = 1  # the group of what may be between two apostrophes
_BEGINS = ("/", "~", ".")
_AROUND = ",;:!?()[]{}<>\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"
_MOST = 100  # names more are no request


def named_paths(words: str, cwd: Path, home: Path) -> frozenset[Path]:
    """The canonical paths that these words name, of those that are hidden in any way."""
    return _hidden(_spellings(words), cwd, home)


def typed_paths(values: Iterable[object], cwd: Path, home: Path) -> frozenset[Path]:
    """The same of arguments that a person typed for one executor: each names what it is, as a whole."""
    return _hidden([text for text in _texts(values) if _like_path(text)], cwd, home)


def _hidden(texts: Iterable[str], cwd: Path, home: Path) -> frozenset[Path]:
    found: set[Path] = set()
    for text in list(dict.fromkeys(texts))[:_MOST]:
        try:
            ways = path_ways(text, cwd=cwd, home=home)
        except PathError:
            continue
        if any(is_hidden(str(way)) for way in ways):
            found.add(ways[-1])
    return frozenset(found)


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, Iterable):
            yield from _texts(value)


def _spellings(words: str) -> list[str]:
    quoted, loose = [], [_QUOTED.sub(" ", words)]
    for each in _QUOTED.finditer(words):
        text = each[each.lastindex or 0].strip()
        quoted.append(text)
        if each.lastindex == _SINGLE and not text.startswith(_BEGINS):
            loose.append(text)
    bare = [word.strip(_AROUND) for text in loose for word in text.split()]
    plain = [each for word in bare for each in (word, word.rstrip("."))]
    return [each for each in (*quoted, *plain) if _like_path(each)]


def _like_path(text: str) -> bool:
    return "://" not in text and ("/" in text or text.startswith("."))
