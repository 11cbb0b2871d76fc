"""Judge the compiled files that Python loads in place of the code of Metnos.

Python believes a ``.pyc`` whose header names the size and time of its source, whatever else it holds. So each one is
compared with its source compiled anew; what was compared before is known by the digests of both files.

Rules: only what this Python would load is judged; one that it would not believe is harmless, and never becomes known.
What cannot be read, compiled or understood is wrong. The compiled form is compared and not its bytes, because Python
does not write the same bytes twice; where its lines stand in the source is left out.
"""

import importlib.util
import marshal
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from metnos.core.canon import sha256_hex
from metnos.law.own_code import CACHE, OwnCode, read_plain

_NEVER_LOADED = "executors/builtin/"  # what runs in the sandbox is sent there as source
_HEADER = 16
_PARTS = (
    "co_name", "co_qualname", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_stacksize",
    "co_firstlineno", "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars",
    "co_exceptiontable",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """What is not compiled from its source, and the digests of each pair that is."""

    wrong: tuple[str, ...]
    known: frozenset[str]


def judge(package: Path, code: OwnCode, known: Iterable[str] = ()) -> Judged:
    """Judge every compiled file of the package; pairs that are ``known`` are not compiled again."""
    before, wrong, proven = frozenset(known), [], set()
    for name, digest in code.files.items():
        if not name.endswith(".py") or name.startswith(_NEVER_LOADED):
            continue
        source = package / name
        compiled = _compiled(source)
        if compiled is None:
            continue
        pair = f"{digest}:{sha256_hex(compiled)}"
        if pair not in before and not is_believed(compiled, source):
            continue
        if pair in before or _is_compiled_from(compiled, source, digest):
            proven.add(pair)
        else:
            wrong.append(str(_place(source)))
    return Judged(tuple(wrong), frozenset(proven))


def removal(package: Path) -> str:
    """What to type to remove every compiled file of the package; Python makes them anew."""
    return f"find {shlex.quote(str(package))} -name __pycache__ -prune -exec rm -r {{}} +"


def is_believed(compiled: bytes, source: Path) -> bool:
    """Whether Python would load these bytes in place of the source. In doubt it would."""
    if compiled[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags = int.from_bytes(compiled[4:8], "little")
    try:
        if flags == 0:
            status = source.stat()
            stamps = (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
            return compiled[8:_HEADER] == b"".join(stamp.to_bytes(4, "little") for stamp in stamps)
        if flags == 0b11:
            return compiled[8:_HEADER] == importlib.util.source_hash(source.read_bytes())
    except OSError:
        return True
    return True


def canonical(value: object) -> object:
    """A constant or a compiled body as plain values that are equal only if they are the same to Python."""
    if isinstance(value, CodeType):
        return ("code", *(getattr(value, part) for part in _PARTS), canonical(value.co_consts))
    if isinstance(value, tuple):
        return ("tuple", *map(canonical, value))
    if isinstance(value, frozenset):
        return ("frozenset", frozenset(map(canonical, value)))
    if type(value) in (bool, int, str, bytes):
        return (type(value).__name__, value)
    return (type(value).__name__, repr(value))  # of floats and the like: -0.0 equals 0.0, and is another number


def _place(source: Path) -> Path:
    return Path(importlib.util.cache_from_source(str(source)))


def _compiled(source: Path) -> bytes | None:
    """The compiled file of a source; nothing if there is none that could be read, which Python could not do either."""
    if sys.pycache_prefix is None:  # as `_place`, which takes several times as long
        return read_plain(f"{source.parent}/{CACHE}/{source.name[:-3]}{_suffix()}")
    return read_plain(str(_place(source)))


def _suffix() -> str:
    level = sys.flags.optimize
    return f".{sys.implementation.cache_tag}{f'.opt-{level}' if level else ''}.pyc"


def _is_compiled_from(compiled: bytes, source: Path, digest: str) -> bool:
    text = read_plain(str(source))
    if text is None or sha256_hex(text) != digest or compiled[:4] != importlib.util.MAGIC_NUMBER:
        return False
    try:
        found = marshal.loads(compiled[_HEADER:])  # noqa: S302 -- Python would load it, too: this only looks
        wanted = compile(text, str(source), "exec", dont_inherit=True)
        return isinstance(found, CodeType) and canonical(found) == canonical(wanted)
    except (ValueError, EOFError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
