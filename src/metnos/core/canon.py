"""Canonical forms: one spelling for each path, one byte string for each JSON value, one digest for each content.

Whatever is compared, pinned, signed or forbidden is first put into its canonical form; two spellings of one thing
would otherwise be two things to a rule and one thing to the kernel.

Rules: a canonical path is absolute, has no ``.``, ``..``, ``//`` or symbolic link in it, and is the same however often
it is made canonical. What does not exist yet keeps its name below the deepest parent that does. Canonical JSON is
UTF-8, keys sorted, no white space, no NaN. Does not guarantee that a path still leads to the same file a moment later,
nor that one file has one path: hard links and bind mounts have no canonical name.
"""

import errno
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from metnos.core.errors import PathError

_MOST_LINKS = 40  # as many as the kernel follows
_LONGEST = 4096  # bytes of a path that the kernel takes, with the zero at its end
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]


def canonical_path(raw: str | os.PathLike[str], *, cwd: Path, home: Path) -> Path:
    """The one spelling of ``raw``, read as a person in ``cwd`` whose home is ``home`` would mean it."""
    resolved = os.path.realpath(_absolute(raw, cwd, home))
    _refuse_loop(resolved)
    return Path(resolved)


def path_ways(raw: str | os.PathLike[str], *, cwd: Path, home: Path) -> tuple[Path, ...]:
    """Every name that leads to where ``raw`` does: as it is spelled, each link on the way, and last its canonical path.

    The names are absolute, with dots resolved by their letters; each is ``raw`` with one link more of it followed.
    """
    joined = _absolute(raw, cwd, home)
    ways = dict.fromkeys((os.path.normpath(joined),))
    here, rest, links = "/", joined.split("/")[::-1], 0
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            here = os.path.dirname(here)  # noqa: PTH120 -- as `realpath` does it, on strings
            continue
        step = os.path.join(here, part)
        try:
            leads = os.readlink(step)  # noqa: PTH115 -- as above
        except OSError:
            here = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise PathError(f"{joined} is a loop of symbolic links", fix="Remove one of the links.")
        ways[os.path.normpath("/".join((step, *rest[::-1])))] = None
        rest += leads.split("/")[::-1]
        here = "/" if leads.startswith("/") else here
    last = canonical_path(joined, cwd=cwd, home=home)
    ways.pop(str(last), None)
    return (*map(Path, ways), last)


def canonical_json(value: Json) -> bytes:
    """The one byte string for ``value``. Raises ``ValueError`` on NaN, infinities and lone surrogates."""
    return _ENCODER.encode(value).encode()


def sha256_hex(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _absolute(raw: str | os.PathLike[str], cwd: Path, home: Path) -> str:
    """``raw`` from the root on, with nothing resolved."""
    text = os.fspath(raw)
    if not text:
        raise PathError("an empty path leads nowhere", fix="Name a file or a folder.")
    if "\0" in text:
        raise PathError("a path cannot hold a zero byte", fix="Remove it from the path.")
    joined = os.path.join(os.fspath(cwd), _expand_home(text, home)) if len(text) < _LONGEST else text
    # Before anything is looked up: that takes longer with the square of the length.
    if len(joined.encode("utf-8", "surrogatepass")) >= _LONGEST:
        raise _too_long()
    if not joined.startswith("/"):
        raise PathError(f"the working directory {os.fspath(cwd)!r} is not absolute")
    # POSIX lets a leading `//` mean something else and Python keeps it; Linux does not distinguish it.
    return "/" + joined.lstrip("/")


def _expand_home(text: str, home: Path) -> str:
    """Replace a leading ``~`` or ``~user``, which shells expand but the kernel does not."""
    if not text.startswith("~"):
        return text
    name, _, rest = text.partition("/")
    # `~someone` is looked up in the user database; a file may really be called so, and then it stays as it is.
    return f"{home}/{rest}" if name == "~" else os.path.expanduser(text)  # noqa: PTH111 -- Path raises on a stranger


def _refuse_loop(resolved: str) -> None:
    """`realpath` gives up on a loop of links without a word, and what it returns then is not canonical."""
    try:
        os.stat(resolved)  # noqa: PTH116 -- a Path for each of many paths costs more than the call
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PathError(f"{resolved} is a loop of symbolic links", fix="Remove one of the links.") from error
        if error.errno == errno.ENAMETOOLONG:
            raise _too_long() from error


def _too_long() -> PathError:
    return PathError("the path is longer than the system allows", fix="Use a shorter one.")
