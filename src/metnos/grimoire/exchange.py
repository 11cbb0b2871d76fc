"""Taking a memory out into one file, and taking such a file in.

The file is lines of JSON, readable by a person; packed with zstd if its name ends in ``.zst``. The first line says what
it is, the last holds the digest of all before it, signed with the agent's key if it has one. It holds episodes with
their vectors, facts with links, rejected patterns, the versions of the playbook and what the owner took out of it, and
the mood.

Rules: a file that is not signed with this very agent's key is a stranger's word, and comes in as `exchange_strangers`
says: it steers nothing. One that is damaged, cut off, or made by a newer Metnos is refused before anything is changed.
Taking in again changes nothing: what is known by its id, its source or its words is left as it is, so no file raises
the belief in anything that is here. A file is copied first, and what was checked is what comes in. Also of an own file
facts that read like instructions are refused, episodes that do are never consolidated, and what is about the owner or
the household, or claims to be their word, waits for consent. The playbook itself is not written; its versions can be
put back. Vectors of another embedder than the one in use are left out, until everything is embedded anew.

Does not guarantee that what is taken in is true, nor that two files taken in at once do not wait for one another.
"""

import contextlib
import hashlib
import io
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from metnos.core import files
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.embedding import Space
from metnos.core.errors import BackupError, UsageError
from metnos.core.sign import Signer, verify
from metnos.grimoire import exchange_lines as lines
from metnos.grimoire.episodes import ANY, Episodes
from metnos.grimoire.exchange_strangers import Origin
from metnos.grimoire.exchange_taking import Taken, Taking
from metnos.grimoire.facts import RELATIONS, Facts
from metnos.grimoire.immune import Stage
from metnos.grimoire.playbook_history import METNOS, OWNER, History, unpacked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["Exchange", "Taken"]

FORMAT, VERSION = "metnos memory", 2  # since 2 the end may be signed
PURPOSE = "memory export"
_BATCH = 500
_PART = 1 << 20  # bytes that are copied at once
_LONGEST = 64 * 1024 * 1024  # bytes of one line: many times what an episode may hold
_ZSTD = b"\x28\xb5\x2f\xfd"
_LEVEL = 9
_TABLES: Mapping[str, tuple[str, tuple[str, ...], str]] = {  # rows that are taken over as they are
    "link": ("fact_links", ("src", "dst", "relation", "weight", "ts"), "src, dst, relation"),
    "immune": ("immune", ("digest", "stage", "reason", "source", "count", "first", "last"), "digest"),
    "playbook": ("playbook_versions", ("ts", "digest", "by", "why", "text"), "id"),
    "mood": ("mood", ("pleasure", "arousal", "dominance", "ts"), "one"),
}
_FIX = "Nothing was changed. Take it out again from where it came: metnos memory export FILE"


Progress = Callable[[int, int], None]
Stop = Callable[[], bool]


def quiet(_done: int, _of: int) -> None:
    """For whoever does not watch."""


def never() -> bool:
    """For whoever does not stop it."""
    return False


@dataclass(frozen=True, slots=True)
class Survey:
    """What a file holds: how many of each kind, and whose word it is."""

    counts: Mapping[str, int]
    origin: Origin


class Exchange:
    """Takes one memory out and in."""

    def __init__(
        self, episodes: Episodes, facts: Facts, history: History, clock: Clock, signer: Signer | None = None
    ) -> None:
        self._episodes = episodes
        self._facts = facts
        self._history = history
        self._db = facts.db
        self._clock = clock
        self._signer = signer

    # -- out

    def export(self, path: Path, progress: Progress = quiet, stop: Stop = never) -> dict[str, int]:
        """Write everything into a file that is not there yet; how many of each kind. Stopped, it leaves no file."""
        if path.exists():
            raise UsageError(f"{path} is there already", fix="Name another file.")
        staged = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        counted: Counter[str] = Counter()
        of = self._episodes.count() + self._facts.count()
        try:
            files.create(staged, b"", mode=files.PRIVATE_FILE)
            with staged.open("wb") as raw:
                with _packing(raw, path.suffix == ".zst") as out:
                    digest = hashlib.sha256()
                    for kind, value in self._everything():
                        if counted.total() % _BATCH == 0:
                            if stop():
                                return {}
                            progress(min(counted.total(), of), of)
                        line = lines.encoded(kind, value)
                        digest.update(line)
                        out.write(line)
                        counted[kind] += 1
                    out.write(lines.encoded("end", self._end(counted.total(), digest.hexdigest())))
                raw.flush()
                os.fsync(raw.fileno())
            if not files.place(staged, path):
                raise UsageError(f"{path} is there already", fix="Name another file.")
        except OSError as error:
            what = f"{path} cannot be written: {error.strerror or error}"
            raise BackupError(what, fix="Choose another place, or free some space.") from error
        finally:
            staged.unlink(missing_ok=True)
        return {kind: count for kind, count in counted.items() if kind != "memory"}

    def _end(self, count: int, digest: str) -> dict[str, Json]:
        end: dict[str, Json] = {"lines": count, "sha256": digest}
        if self._signer is None:
            return end
        return end | {"key": self._signer.public, "signature": self._signer.sign(PURPOSE, canonical_json(end))}

    def _everything(self) -> Iterator[tuple[str, Json]]:
        yield (
            "memory",
            {
                "format": FORMAT,
                "version": VERSION,
                "made": to_text(self._clock.now()),
                "space": lines.space_out(self._episodes.space),
                "fact_space": lines.space_out(self._facts.space),
            },
        )
        after = 0
        while some := self._episodes.select(ANY, after=after, count=_BATCH):
            after = some[-1].seq
            vectors = self._episodes.vectors_of([each.id for each in some])
            for each in some:
                yield "episode", _with_vector(lines.episode_out(each), vectors.get(each.id))
        with self._db.read() as tx:
            keys = [key for (key,) in tx.query("SELECT id FROM facts ORDER BY seq")]
            for start in range(0, len(keys), _BATCH):
                found = self._facts.get(keys[start : start + _BATCH])
                vectors = self._facts.vectors_of([each.id for each in found])
                for fact in found:
                    yield "fact", _with_vector(lines.fact_out(fact), vectors.get(fact.id))
            for kind, (table, columns, order) in _TABLES.items():
                for row in tx.query(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"):  # noqa: S608 -- ours
                    yield kind, dict(zip(columns, row, strict=True))
            yield "barred", sorted(self._history.state().barred)

    # -- in

    def survey(self, path: Path) -> Survey:
        """Read a file whole: what it holds, and whose word it is. Raises `BackupError` if it cannot be taken in."""
        with _opened(path) as raw:
            return self._survey(path, raw)

    def take_in(
        self, path: Path, progress: Progress = quiet, stop: Stop = never, survey: Survey | None = None
    ) -> Taken:
        """Take a file in; nothing of it, if anything is wrong with it, or if it is not the one that was surveyed.
        Stopped, once more goes on."""
        with self._copied(path) as copy:
            found = self._survey(path, copy)
            if survey is not None and survey.origin != found.origin:
                raise _damaged(path, "it was changed meanwhile")
            of, stranger = found.counts.get("episode", 0), None if found.origin.own else found.origin
            taking = Taking(self._episodes, self._facts, self._history, stranger, self._clock)
            episodes = (value for kind, value in self._read(path, copy) if kind == "episode")
            if not taking.episodes(episodes, lambda done: progress(done, of), stop):
                return replace(taking.taken(), whole=False)
            taking.rest((kind, value) for kind, value in self._read(path, copy) if kind not in ("episode", "end"))
            return taking.taken()

    @contextlib.contextmanager
    def _copied(self, path: Path) -> Iterator[IO[bytes]]:
        """A file's content as a file of our own, which nobody else changes while it is read again and again."""
        with tempfile.TemporaryFile(dir=self._db.path.parent) as copy:
            try:
                with path.open("rb") as raw:
                    shutil.copyfileobj(raw, copy, _PART)
                copy.flush()
            except OSError as error:
                what = f"{path} cannot be copied: {error.strerror or error}"
                raise BackupError(what, fix="Check that it can be read, and free some space.") from error
            yield copy

    def _survey(self, path: Path, raw: IO[bytes]) -> Survey:
        counted: Counter[str] = Counter()
        end: Mapping[str, Any] = {}
        for kind, value in self._read(path, raw):
            if kind == "end":
                end = value
            else:
                counted[kind] += 1
        digest, key = str(end["sha256"]), str(end.get("key", ""))
        said = canonical_json({"lines": end["lines"], "sha256": digest})
        if key and not verify(key, PURPOSE, said, str(end["signature"])):
            raise _damaged(path, "its signature does not hold")
        own = self._signer is not None and key == self._signer.public
        return Survey(dict(counted), Origin(digest, key, own=own))

    def _read(self, path: Path, raw: IO[bytes]) -> "Iterator[tuple[str, Any]]":
        """What a file holds, kind by kind, made into what it is, and its end. Raises `BackupError`."""
        digest, count, space, fact_space = hashlib.sha256(), 0, None, None
        with _unpacking(path, raw) as file:
            while line := file.readline(_LONGEST):
                try:
                    kind, value = lines.decoded(line)
                    if count == 0:
                        space, fact_space = _header(kind, value)
                    elif kind == "end":
                        _check_end(value, count, digest.hexdigest())
                        if file.read(1):
                            raise ValueError("more follows")
                        yield kind, value
                        return
                    else:
                        yield kind, _value(kind, value, space, fact_space)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise _damaged(path, f"line {count + 1}") from error
                digest.update(line)
                count += 1
        raise _damaged(path, "its end is missing")


# -- files


@contextlib.contextmanager
def _packing(raw: IO[bytes], packed: bool) -> Iterator[IO[bytes]]:
    if not packed:
        yield raw
        return
    import zstandard

    packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    with packer.stream_writer(raw, closefd=False) as out:
        yield out


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as raw:
            yield raw
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}") from error


@contextlib.contextmanager
def _unpacking(path: Path, raw: IO[bytes]) -> Iterator[IO[bytes]]:
    """A file's content from its beginning, unpacked if it is packed, whatever its name."""
    import zstandard

    try:
        raw.seek(0)
        packed = raw.read(len(_ZSTD)) == _ZSTD
        raw.seek(0)
        unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        yield io.BufferedReader(unpacker.stream_reader(raw, closefd=False)) if packed else raw
    except zstandard.ZstdError as error:
        raise _damaged(path, "it cannot be unpacked") from error


def _check_end(value: Any, count: int, digest: str) -> None:
    signed = {name: each for name, each in value.items() if name in ("key", "signature")}
    if len(signed) not in (0, 2) or not all(isinstance(each, str) for each in signed.values()):
        raise ValueError("no signature")
    if {name: each for name, each in value.items() if name not in signed} != {"lines": count, "sha256": digest}:
        raise ValueError("the digest differs")


def _header(kind: str, value: Any) -> tuple[Space | None, Space | None]:
    if kind != "memory" or value["format"] != FORMAT or type(value["version"]) is not int:
        raise ValueError("no memory")
    if value["version"] > VERSION:
        raise BackupError(
            f"this memory was taken out by a newer Metnos (its format is {value['version']}, this one knows {VERSION})",
            fix="Nothing was changed. Update Metnos first.",
        )
    return lines.space_in(value["space"]), lines.space_in(value["fact_space"])


def _value(kind: str, value: Any, space: Space | None, fact_space: Space | None) -> Any:
    """A line's value, as what it is. Raises on what cannot be."""
    if kind == "episode":
        return lines.episode_in(_bare(value)), _vector(value, space), space
    if kind == "fact":
        return lines.fact_in(_bare(value)), _vector(value, fact_space), fact_space
    if kind == "barred":
        return [_digest(each) for each in value]
    _, columns, _ = _TABLES[kind]
    if set(value) != set(columns):
        raise ValueError("other fields than there should be")
    _check_row(kind, value)
    return tuple(value[name] for name in columns)


def _check_row(kind: str, value: Mapping[str, Any]) -> None:
    numbers = [each for each in value.values() if not isinstance(each, str)]
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
        raise ValueError("no number")
    for name in ("ts", "first", "last"):
        if name in value:
            from_text(value[name])
    for name in ("src", "dst", "reason", "source", "why", "text"):
        if name in value:
            lines.text_in(value[name])
    if kind == "link" and value["relation"] not in RELATIONS:
        raise ValueError("no relation")
    if kind == "immune" and (not Stage(value["stage"]) or not _digest(value["digest"]) or value["count"] < 1):
        raise ValueError("no pattern")
    if kind == "playbook" and (
        value["by"] not in (OWNER, METNOS) or sha256_hex(unpacked(value["text"])) != value["digest"]
    ):
        raise ValueError("no version")
    if kind == "mood" and any(not -1 <= each <= 1 for each in numbers):
        raise ValueError("no mood")


def _digest(value: Any) -> str:
    if not isinstance(value, str) or re.fullmatch(r"[0-9a-f]{64}", value) is None:
        raise ValueError("no digest")
    return value


def _with_vector(value: dict[str, Json], vector: "Vector | None") -> dict[str, Json]:
    return value if vector is None else value | {"vector": lines.vector_out(vector)}


def _bare(value: Any) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name != "vector"}


def _vector(value: Mapping[str, Any], space: Space | None) -> "Vector | None":
    return lines.vector_in(value["vector"], space) if "vector" in value else None


def _damaged(path: Path, where: str) -> BackupError:
    return BackupError(f"{path} is damaged, or no memory that was taken out ({where})", fix=_FIX)
