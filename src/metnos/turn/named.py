"""Find the hidden paths that a person's own words name.

Rules: a path counts as it stands in the words, or in quotes, and only as a whole: a folder does not name what is in it,
and nothing that was read or planned names anything. Pure but for the links that it follows.
"""

import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from metnos.core.canon import path_ways
from metnos.core.errors import PathError
from metnos.law.guarded import is_hidden

_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`|\u201c([^\u201d\n]+)\u201d|\u00ab([^\u00bb\n]+)\u00bb")
_AROUND = ",;:!?()[]{}<>\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"
_MOST = 100  # names more are no request


def named_paths(words: str, cwd: Path, home: Path) -> frozenset[Path]:
    """The canonical paths that these words name, of those that are hidden in any way."""
    found: set[Path] = set()
    for text in list(dict.fromkeys(_spellings(words)))[:_MOST]:
        try:
            ways = path_ways(text, cwd=cwd, home=home)
        except PathError:
            continue
        if any(is_hidden(str(way)) for way in ways):
            found.add(ways[-1])
    return frozenset(found)


def typed_paths(values: Iterable[object], cwd: Path, home: Path) -> frozenset[Path]:
    """The same of arguments that a person typed for one executor."""
    return named_paths(shlex.join(map(str, values)), cwd, home)


def _spellings(words: str) -> list[str]:
    quoted = [next(filter(None, groups)).strip() for groups in _QUOTED.findall(words)]
    bare = [word.strip(_AROUND) for word in _QUOTED.sub(" ", words).split()]
    plain = [each for word in bare for each in (word, word.rstrip("."))]
    return [each for each in (*quoted, *plain) if each and "://" not in each and ("/" in each or each.startswith("."))]
