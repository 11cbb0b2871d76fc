"""Find the other names of what is forbidden: where well-known names of a home lead, and what shares a file with one.

Rules: in every home the well-known folders are read, and each symbolic link in them counts: whatever lies where it
leads has a second name there, and is judged by it, too. A well-known folder that is a link is read like any other, by
its name in the home, so that links in it count. A link to a home, or to what holds one, gives no names, and is not gone
into. A folder's list is read again when the folder changed, or changed too recently to be sure; where a link leads is
looked at each time. Does not find links that lie deeper in a home than the rules speak of, nor those of a home that
cannot be read, nor what lies in linked folders beyond the first `_MOST_LINKED` of a home.
"""

import contextlib
import os
import pwd
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from metnos.core.clock import SystemClock
from metnos.core.errors import SettingsError
from metnos.core.settings import home_folder
from metnos.law.forbidden_rules import Access, folders_on_the_way, why_named
from metnos.law.guarded import is_hidden

_MOST_HOMES = 64
_MOST_ENTRIES = 2000  # of one forbidden folder: what keeps secrets under so many names is no folder of keys
_MOST_LINKED = 500  # linked folders of one home that are gone into; how deep they go is bounded by the rules
_SURE_NS = 50_000_000  # a folder that changed within this time may change again and bear the same time
_WAY = folders_on_the_way()
_FIRST = frozenset(name.partition("/")[0] for name in _WAY)


@dataclass(frozen=True, slots=True)
class Aliases:
    """``links`` are pairs of a link and where it leads; ``files`` are well-known files, by their names."""

    links: tuple[tuple[str, str], ...]
    files: tuple[str, ...]
    hidden: frozenset[str] = frozenset()  # where links with a hidden name in a home lead
    leads: Mapping[str, tuple[str, ...]] = field(init=False)  # every place that a link leads to, with these links

    def __post_init__(self) -> None:
        leads: dict[str, tuple[str, ...]] = {}
        for name, target in self.links:
            leads[target] = (*leads.get(target, ()), name)
        object.__setattr__(self, "leads", leads)

    def names_of(self, path: str) -> Iterator[str]:
        """The other names under which a canonical path can be reached."""
        at = len(path) if self.leads else 0
        while at > 0:  # by the folders of the path, which are few, and not by the links, which are many
            for name in self.leads.get(path[:at], ()):
                yield name + path[at:]
            at = path.rfind("/", 0, at)

    def all_names(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Paths with every other name of each."""
        return tuple(dict.fromkeys(name for path in paths for name in (path, *map(Path, self.names_of(str(path))))))

    def what_file(self, path: str, access: Access) -> str | None:
        """What a path is that shares its file with a forbidden name, if it does."""
        try:
            status = os.lstat(path)
        except (OSError, ValueError):  # such as a path with a zero byte, which leads nowhere
            return None
        if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
            return None
        return self.inodes(access).get(status.st_ino, {}).get(status.st_dev)

    def inodes(self, access: Access) -> dict[int, dict[int, str]]:
        """Every forbidden file with a second name: what it is, by its number and its file system."""
        found: dict[int, dict[int, str]] = {}
        for name in self.files:
            what = why_named(name, access)
            if what is None:
                continue
            try:
                status = os.stat(name)  # noqa: PTH116 -- as above
            except OSError:
                continue
            if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
                found.setdefault(status.st_ino, {})[status.st_dev] = what
        return found


@dataclass(frozen=True, slots=True)
class _Listing:
    """What one folder holds that matters, by whole paths. ``linked`` are links to go into if they lead to a folder."""

    stamp: tuple[int, int, int, int]
    sure: bool
    links: tuple[str, ...]
    linked: frozenset[str]
    folders: tuple[str, ...]
    files: tuple[str, ...]


_listings: dict[str, _Listing] = {}  # of each folder, good for as long as it has the same stamp


_held: ContextVar[Aliases | None] = ContextVar("_held", default=None)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Look once for everything that is judged within: for one step of one act, and never for two."""
    token = _held.set(_held.get() or look())
    try:
        yield
    finally:
        _held.reset(token)


def look() -> Aliases:
    """The other names that there are at this moment."""
    known = _held.get()
    if known is not None:
        return known
    homes = _homes()
    found: list[tuple[str, str]] = []
    files: list[str] = []
    hidden: set[str] = set()
    for home in homes:
        mine: list[tuple[str, str]] = []
        _gather(home, homes, mine, files)
        hidden.update(target for link, target in mine if is_hidden(link[len(home) + 1 :], reading=True))
        found += mine
    return Aliases(tuple(found), tuple(files), frozenset(hidden))


def _gather(home: str, homes: list[str], found: list[tuple[str, str]], files: list[str]) -> None:
    """Everything of one home that has, or may give, a forbidden name; folders that matter are gone into."""
    waiting, linked = [home], 0
    while waiting:
        listing = _list(home, waiting.pop())
        if listing is None:
            continue
        files += listing.files
        waiting += listing.folders
        for link in listing.links:
            target = os.path.realpath(link)
            if target == link or any(home == target or home.startswith(f"{target.rstrip('/')}/") for home in homes):
                continue
            found.append((link, target))
            if link in listing.linked and linked < _MOST_LINKED:
                linked += 1
                waiting.append(link)


def _list(home: str, folder: str) -> _Listing | None:
    """What a folder holds, read anew only if it changed."""
    try:
        status = os.stat(folder)  # noqa: PTH116 -- a Path for each of many costs more than the call
        if not stat.S_ISDIR(status.st_mode):
            return None  # a link that leads to a file
        stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        known = _listings.get(folder)
        if known is not None and known.sure and known.stamp == stamp:
            return known
        now_ns = int(SystemClock().now().timestamp() * 1e9)
        links, linked, folders, files = _read(home, folder)
    except OSError:
        return None  # what cannot be listed gives nobody a name
    sure = now_ns - status.st_ctime_ns > _SURE_NS
    listing = _Listing(stamp, sure, tuple(links), frozenset(linked), tuple(folders), tuple(files))
    _listings[folder] = listing
    return listing


def _read(home: str, folder: str) -> tuple[list[str], list[str], list[str], list[str]]:
    """The links, those of them to go into, the folders and the files of a folder that matter."""
    inside = folder[len(home) + 1 :]
    forbidden = bool(inside) and _is_forbidden(folder)
    deep = forbidden and _is_forbidden(folder.rpartition("/")[0])
    links, linked, folders, files = [], [], [], []

    def enters(name: str, path: str) -> bool:
        return (f"{inside}/{name}" if inside else name) in _WAY or (not deep and _is_forbidden(path))

    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if forbidden and count >= _MOST_ENTRIES:
                break
            name, path = entry.name, entry.path
            if entry.is_symlink():
                if inside or name.startswith(".") or name in _FIRST or _is_forbidden(path):
                    links.append(path)
                    if enters(name, path):
                        linked.append(path)
            elif entry.is_dir():
                if enters(name, path):
                    folders.append(path)
            elif _is_forbidden(path):
                files.append(path)
    return links, linked, folders, files


def _is_forbidden(path: str) -> bool:
    return why_named(path, Access.WRITE) is not None


def _homes() -> list[str]:
    """Every home that can be known: of this process, of its account, of root, and of each account with one in /home."""
    found = dict.fromkeys(("/root", _account_home()))
    with contextlib.suppress(SettingsError):
        found[str(home_folder())] = None
    with contextlib.suppress(OSError):
        found |= dict.fromkeys(f"/home/{name}" for name in sorted(os.listdir("/home"))[:_MOST_HOMES])  # noqa: PTH208
    return [home for home in dict.fromkeys((*found, *map(_real, found))) if home not in ("", "/")]


@lru_cache(maxsize=4 * _MOST_HOMES)
def _real(home: str) -> str:
    """Where a home really lies. Asked once: a home that moves is one for a new start."""
    return os.path.realpath(home)


@cache
def _account_home() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""  # an account that is in no list
