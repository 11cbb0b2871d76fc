"""Scopes: the widest that an executor may reach, as its manifest writes it.

A path scope is one exact path, or a folder with everything below it (``/**`` at the end); it begins with ``/``, ``~/``
or ``{workspace}/``. A host pattern is an exact host, ``*.example.org`` (what lies below, not the name itself) or ``*``.

Rules: there is no other wildcard, no ``..``, no zero byte, no port and no user in a host; a scope is compared only
after it was made canonical, and so must be the path that it is compared with. Everything here is pure but for the
symbolic links that `resolve` follows. Does not guarantee that a covered path may be touched: the Laws have the last
word.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from metnos.core.canon import canonical_path
from metnos.core.errors import ManifestError

HOME = "~/"
WORKSPACE = "{workspace}/"
BELOW = "/**"
ANY_HOST = "*"

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_FIX = "A scope is an exact path or ends in /** , and begins with / or ~/ or {workspace}/ ."
_HOST_FIX = "A host is written as example.org, *.example.org or * , without port, path or user."


@dataclass(frozen=True, slots=True)
class Scope:
    """A canonical path, alone or with everything below it."""

    root: Path
    recursive: bool

    def covers(self, path: Path) -> bool:
        """Whether ``path``, which must be canonical, is the root itself or, when recursive, below it."""
        return path == self.root or (self.recursive and self.root in path.parents)


def check(text: str) -> str:
    """The scope as it is written, or an error that says why it is none."""
    base = next((prefix for prefix in (WORKSPACE, HOME, "/") if text.startswith(prefix)), None)
    if base is None:
        raise ManifestError(f"the scope {text!r} begins with none of / ~/ {{workspace}}/", fix=_FIX)
    path = text.removesuffix(BELOW)
    inner = path.removeprefix(base[:-1])
    if "\0" in text or not text.isprintable():
        raise ManifestError(f"the scope {text!r} holds a character that no scope may hold", fix=_FIX)
    if any(char in inner for char in "*?[]{}"):
        raise ManifestError(f"the scope {text!r} has a wildcard other than /** at its end", fix=_FIX)
    parts = inner.split("/")[1:]
    if any(part in (".", "..") for part in parts) or "" in parts[:-1] or (text.endswith("/") and text != "/"):
        raise ManifestError(f"the scope {text!r} is not a plain path", fix=_FIX)
    return text


def resolve(text: str, home: Path, workspace: Path) -> Scope:
    """A written scope on this machine: canonical, for this home and this workspace."""
    path = spelled(text, home, workspace)
    return Scope(canonical_path(path, cwd=Path("/"), home=home), text.endswith(BELOW))


def spelled(text: str, home: Path, workspace: Path) -> str:
    """The path of a written scope for this home and this workspace, links not looked at."""
    check(text)
    path = text.removesuffix(BELOW)
    if text.startswith(WORKSPACE):
        path = f"{workspace}{path.removeprefix(WORKSPACE[:-1])}"
    elif text.startswith(HOME):
        path = f"{home}{path.removeprefix(HOME[:-1])}"
    return path or "/"


def resolve_all(texts: Sequence[str], home: Path, workspace: Path) -> tuple[Scope, ...]:
    return tuple(resolve(text, home, workspace) for text in texts)


class Folders:
    """Files and folders by their canonical paths, to be asked about many paths: each answer takes as long as that path
    is deep, however many they are."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._paths = frozenset(map(str, paths))
        self._leading = frozenset(above for path in self._paths for above in _lineage(path))

    def above(self, path: Path) -> list[str]:
        """Those that are this path or that it lies in, the innermost first."""
        return [above for above in _lineage(str(path)) if above in self._paths]

    def hold(self, path: Path) -> bool:
        """Whether this path is one of them, or lies in one."""
        return any(above in self._paths for above in _lineage(str(path)))

    def lie_in(self, path: Path) -> bool:
        """Whether this path is one of them, or one of them lies in it."""
        return str(path) in self._leading

    def __contains__(self, path: Path) -> bool:
        return str(path) in self._paths

    def __iter__(self) -> Iterator[Path]:
        return map(Path, self._paths)


def _lineage(path: str) -> Iterator[str]:
    """A canonical path and every folder above it."""
    yield path
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path


def covers(scopes: Iterable[Scope], path: Path) -> bool:
    """Whether any scope covers ``path``, which must be canonical."""
    return any(scope.covers(path) for scope in scopes)


def names_workspace(texts: Iterable[str]) -> bool:
    """Whether any written scope speaks of the workspace, and so whether the executor may know where it is."""
    return any(text.startswith(WORKSPACE) for text in texts)


def canonical_host(text: str) -> str:
    """One spelling for one host: lower case, IDNA, no dot at the end. Raises `ManifestError` if it is none."""
    name = text.strip().removesuffix(".")
    try:
        return str(ipaddress.ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        pass
    try:
        ascii_name = name.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise ManifestError(f"{text!r} is no host name", fix=_HOST_FIX) from error
    labels = ascii_name.split(".")
    # A last label of digits alone would be read as an address by some and as a name by others.
    if len(ascii_name) > 253 or labels[-1].isdigit() or not all(_LABEL.fullmatch(label) for label in labels):
        raise ManifestError(f"{text!r} is no host name", fix=_HOST_FIX)
    return ascii_name


def canonical_pattern(text: str) -> str:
    """A host pattern in its one spelling, or an error that says why it is none."""
    if text == ANY_HOST:
        return text
    if text.startswith("*."):
        below = canonical_host(text[2:])
        if ":" in below or below.replace(".", "").isdigit():
            raise ManifestError(f"the host {text!r} puts a wildcard before an address", fix=_HOST_FIX)
        return f"*.{below}"
    return canonical_host(text)


def host_matches(patterns: Iterable[str], host: str) -> bool:
    """Whether one of the patterns, each as `canonical_pattern` spells it, covers this host."""
    try:
        name = canonical_host(host)
    except ManifestError:
        return False
    return any(
        pattern in (ANY_HOST, name) or (pattern.startswith("*.") and name.endswith(pattern[1:])) for pattern in patterns
    )
