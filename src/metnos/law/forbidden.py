"""Judge paths that nothing may touch, at any level of autonomy.

Rules: what is forbidden is code (`forbidden_rules`), and no setting, grant or approval lifts it. A path is judged by
its letters, by every other name that it has (`aliases`: links that lead to it, and a well-known file that it is by a
hard link), and for writing by what this process runs from (`own_places`). A path that was spelled by somebody is judged
by the spelling, by every link on its way and by where it ends (`refuse_ways`). Does not guarantee anything about a bind
mount that gives a forbidden file another name. Says nothing of a folder that holds a forbidden path: a caller that
shows, moves or removes a whole folder asks for everything in it (`forbidden_below`, `refuse_holding`).
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from metnos.core.errors import ForbiddenPath
from metnos.law import aliases
from metnos.law.aliases import Aliases
from metnos.law.forbidden_rules import LAST_NAMES, RULES, Access, Rule, why_named
from metnos.law.own_places import own_places

__all__ = [
    "OWN_CODE", "RULES", "Access", "Rule", "TooMany", "forbidden_below", "refuse_forbidden", "refuse_holding",
    "refuse_ways", "why_forbidden",
]  # fmt: skip

OWN_CODE = "the code of Metnos itself and what runs it"
_NO_WAY = "No setting and no approval lifts this. Do it by hand if it must be done."


class TooMany(Exception):
    """There is more below a folder than can be looked at."""


def why_forbidden(path: Path, access: Access, known: Aliases | None = None) -> str | None:
    """What this canonical path is, if it is something that may not be touched in this way.

    ``known`` spares a look at the disk to a caller that has just looked.
    """
    text = str(path)
    what = why_named(text, access) or (_own(text) if access is not Access.READ else None)
    if what is not None:
        return what
    known = known or aliases.look()
    for name in known.names_of(text):
        what = why_named(name, access)
        if what is not None:
            return what
    return known.what_file(text, access)


def refuse_forbidden(path: Path, access: Access) -> None:
    """Raise if a hard rule forbids this canonical path."""
    what = why_forbidden(path, access)
    if what is not None:
        raise ForbiddenPath(f"{path} is out of bounds for any {access}: it belongs to {what}", fix=_NO_WAY)


def refuse_ways(ways: Iterable[Path], access: Access) -> None:
    """Raise if a hard rule forbids one of the names that lead to a path (`metnos.core.canon.path_ways`)."""
    for way in ways:
        refuse_forbidden(way, access)


def refuse_holding(folder: Path) -> None:
    """Raise if what this process runs from lies in a folder, which then must not be moved or removed either."""
    below = f"{_folded(str(folder)).rstrip('/')}/"
    if any(place.startswith(below) for place in _own_folded()):
        raise ForbiddenPath(f"{folder} may not be changed as a whole: in it lies {OWN_CODE}", fix=_NO_WAY)


def forbidden_below(
    folder: Path,
    access: Access,
    most: int,
    *,
    enter: Callable[[str], bool] | None = None,
    also: Callable[[os.DirEntry[str]], bool] | None = None,
) -> Iterator[Path]:
    """Everything below a canonical folder that may not be touched, the outermost of each; links are not followed, but
    where a forbidden one leads is found, too.

    ``also`` says of an entry that it is to be found, too. ``enter`` is asked of each folder, just before it is read,
    and may say no. Raises `TooMany` when there are more than ``most`` entries to look at.
    """
    known = aliases.look()
    leads, files = known.leads, known.inodes(access)
    led: list[Path] = []
    waiting = [str(folder)]
    seen = 0
    while waiting:
        here = waiting.pop()
        if enter is not None and not enter(here):
            continue
        try:
            entries = os.scandir(here)
        except OSError:
            continue  # what we may not list, nobody that we start may
        with entries:
            for entry in entries:
                seen += 1
                if seen > most:
                    raise TooMany
                name, path = entry.name, entry.path
                # The name alone tells almost always, in a fraction of the time that the rules take.
                if (also is not None and also(entry)) or (
                    (LAST_NAMES.fullmatch(name) or (leads and path in leads) or (files and entry.inode() in files))
                    and why_forbidden(Path(path), access, known) is not None
                ):
                    yield Path(path)
                    if entry.is_symlink() and why_named(path, access) is not None:
                        led.append(Path(os.path.realpath(path)))
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
    rest = (path for path in dict.fromkeys(led) if folder in path.parents and str(path) not in leads)
    yield from (path for path in rest if os.path.lexists(path))


def _own(text: str) -> str | None:
    folded = _folded(text)
    if any(folded == place or folded.startswith(f"{place}/") for place in _own_folded()):
        return OWN_CODE
    return None


@cache
def _own_folded() -> tuple[str, ...]:
    return tuple(_folded(str(place)) for place in own_places())


def _folded(text: str) -> str:
    """A path without its case, which some disks ignore."""
    return text.casefold()
