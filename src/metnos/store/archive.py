"""An archive of files and databases: a plain ``.tar.gz`` that any tool opens, with a signed list of what is in it.

Rules: the list (the last member, below ``.backup/``) names every file with its size and sha256 and is signed; an
archive is only given its name after it was read back and found whole; nothing is unpacked from one that is not.
Databases go in as consistent copies, also while they are written to. Links, sockets and devices are not archived but
reported. Names that lead out of the folder, or that the list does not hold, are refused.

An archive may be a stranger's: whatever it says, what comes out of it are plain files of mode 0600 in folders of mode
0700, and nothing that it names is printed as it stands. A header that asks for more than a name needs, a file with
holes, and folders in folders without end are refused. Does not guarantee that it is small: a full disk ends it.
"""

import contextlib
import errno
import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO

from metnos.core import files
from metnos.core.canon import Json, canonical_json, sha256_file
from metnos.core.clock import from_text
from metnos.core.errors import BackupError
from metnos.core.sign import Signer, verify
from metnos.store.file import SIDE_FILES, copy_database, is_database

PURPOSE = "archive"
OWN = ".backup/"  # what the archive itself adds; no file of the tree may have such a name
MANIFEST = f"{OWN}manifest.json"
_FORMAT = 1
_CHUNK = 1 << 20
_MAX_MANIFEST = 64 << 20
_MOST_AT_ONCE = _CHUNK  # bytes that are read at one go: a header that wants more is no honest one
_MOST_HEADERS = 3  # before a file: a long name, a long link, and what else is said of it
_DEEPEST = 64  # folders in folders
_LONGEST = 64  # characters of what an archive says of when it was made, and by which version

# What reading an archive ends in that is not as it should be.
_WRONG = (
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    ValueError,
    OverflowError,
    IndexError,
    RecursionError,
)

Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive."""

    path: str
    size: int
    sha256: str
    mode: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself."""

    made: str
    version: str
    public_key: str
    members: tuple[Member, ...]
    skipped: tuple[str, ...]

    @property
    def size(self) -> int:
        return sum(member.size for member in self.members)

    def body(self) -> dict[str, Json]:
        return {"format": _FORMAT, **asdict(self)}


class Writer:
    """Collects files into an archive that nobody sees until `finish`."""

    def __init__(self, target: Path, progress: Progress) -> None:
        self._target = target
        self._progress = progress
        self._members: list[Member] = []
        self._skipped: list[str] = []
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
        self._staged = Path(name)
        self._file: IO[bytes] = os.fdopen(descriptor, "w+b")
        self._gzip = gzip.GzipFile(filename="", mode="wb", fileobj=self._file, compresslevel=6, mtime=0)
        self._tar = tarfile.open(fileobj=self._gzip, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 -- closed below

    def add_tree(self, root: Path, *, keep: Callable[[str], bool]) -> None:
        """Every file below ``root`` whose relative name ``keep`` wants, databases as consistent copies."""
        for path, name in _walk(root, keep):
            _refuse_unreadable_name(name)
            if path.is_symlink() or not path.is_file() or name.startswith(OWN):
                self._skipped.append(name)
            elif not _is_side_file(path):
                with contextlib.suppress(FileNotFoundError):  # one that went away meanwhile is not there to be kept
                    self.add_file(path, name)

    def add_file(self, path: Path, name: str) -> None:
        if not is_database(path):
            with path.open("rb") as file:
                self._add(file, name, os.fstat(file.fileno()).st_size, path.stat().st_mode & 0o777)
            return
        with tempfile.TemporaryDirectory(prefix=".metnos-copy-", dir=self._target.parent) as folder:
            copy = Path(folder) / "copy.db"
            copy_database(path, copy)
            with copy.open("rb") as file:
                self._add(file, name, copy.stat().st_size, files.PRIVATE_FILE)

    def add_bytes(self, content: bytes, name: str) -> None:
        self._add(io.BytesIO(content), name, len(content), files.PRIVATE_FILE)

    def finish(self, made: str, version: str, signer: Signer) -> Manifest:
        """Write the signed list and read everything back. The archive has no name yet: see `publish`."""
        manifest = Manifest(made, version, signer.public, tuple(self._members), tuple(self._skipped))
        body = manifest.body()
        signature = signer.sign(PURPOSE, canonical_json(body))
        self._put(io.BytesIO(canonical_json(body | {"signature": signature})), MANIFEST, None)
        self._tar.close()
        self._gzip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        read(self._staged)
        return manifest

    def digest(self) -> str:
        """The finished archive's digest."""
        return sha256_file(self._staged)

    def publish(self) -> None:
        """Give the finished archive its name."""
        if not files.place(self._staged, self._target):
            raise BackupError(f"{self._target} is there already", fix="Name another file with --to.")

    def discard(self) -> None:
        """Remove what was staged; after `finish` the archive itself stays."""
        self._staged.unlink(missing_ok=True)
        for stream in (self._gzip, self._file):
            with contextlib.suppress(OSError):  # what is still in a buffer may not fit on the disk, and is not wanted
                stream.close()

    def _add(self, source: IO[bytes], name: str, size: int, mode: int) -> None:
        self._members.append(self._put(source, name, size, mode))
        self._progress(name, size)

    def _put(self, source: IO[bytes], name: str, size: int | None, mode: int = files.PRIVATE_FILE) -> Member:
        if size is None:
            size = source.seek(0, os.SEEK_END)
            source.seek(0)
        # A log may grow while it is read: exactly as much is taken as it held at the start.
        hashed = _Hashed(source)
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, mode
        self._tar.addfile(info, hashed)
        return Member(name, size, hashed.hexdigest(), mode)


def read(archive: Path, into: Path | None = None) -> Manifest:
    """Check a whole archive, and unpack it into the empty folder ``into`` if one is given."""
    found: dict[str, Member] = {}
    listed: bytes | None = None
    try:
        with _Careful(archive, "rb") as packed, tarfile.open(fileobj=packed, mode="r:", tarinfo=_Header) as tar:
            for info in tar:
                name = _safe_name(info, archive)
                source = tar.extractfile(info)
                if listed is not None or source is None or name in found:
                    raise _damaged(archive, f"{name!r} should not be there")
                if name == MANIFEST:
                    listed = _whole(source, info)
                else:
                    found[name] = _take(source, info, name, into)
            _drain(packed)
    except FileNotFoundError as error:
        raise BackupError(f"there is no archive {archive}", fix="Check the path.") from error
    except _WRONG as error:
        raise _damaged(archive, repr(str(error)) if str(error) else "it ends too early") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what = f"there is not enough space to unpack {archive}. Nothing was restored"
            raise BackupError(what, fix="Free some space, then try again.") from error
        raise BackupError(f"{archive} cannot be read: {error.strerror or error}") from error
    manifest = _parse_manifest(listed, archive)
    if {member.path: member for member in manifest.members} != found:
        wrong = sorted(set(manifest.members) ^ set(found.values()), key=lambda member: member.path)
        raise _damaged(archive, f"{wrong[0].path!r} is not as it was archived")
    return manifest


def _whole(source: IO[bytes], info: tarfile.TarInfo) -> bytes:
    """A member's content; nothing of one that is too large, which is then no list."""
    parts = []
    while info.size <= _MAX_MANIFEST and (chunk := source.read(_CHUNK)):
        parts.append(chunk)
    return b"".join(parts)


def _take(source: IO[bytes], info: tarfile.TarInfo, name: str, into: Path | None) -> Member:
    """Hash one member, writing it out on the way if asked to."""
    digest, size = hashlib.sha256(), 0
    target = into / name if into else None
    if target and into:
        _make_folders(into, PurePosixPath(name).parent)
    with target.open("xb") if target else contextlib.nullcontext() as out:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if out:
                out.write(chunk)
        if out:
            os.fchmod(out.fileno(), files.PRIVATE_FILE)
            os.fsync(out.fileno())
    return Member(name, size, digest.hexdigest(), info.mode)


def _make_folders(root: Path, path: PurePosixPath) -> None:
    """The folders of a member below ``root``, closed to others whatever the umask says."""
    folder = root
    for part in path.parts:
        folder /= part
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=files.PRIVATE_FOLDER)
            folder.chmod(files.PRIVATE_FOLDER)


def _drain(packed: gzip.GzipFile) -> None:
    """Read to the very end: only there does the compression's own check tell whether anything was cut off."""
    while packed.read(_CHUNK):
        pass


def _safe_name(info: tarfile.TarInfo, archive: Path) -> str:
    path = PurePosixPath(info.name)
    plain = info.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not info.issparse()
    leads_out = path.is_absolute() or ".." in path.parts or str(path) != info.name or "\0" in info.name
    if not plain or leads_out or len(path.parts) > _DEEPEST:
        raise _damaged(archive, f"{info.name[:200]!r} is not a plain file inside the archive")
    return info.name


def _parse_manifest(raw: bytes | None, archive: Path) -> Manifest:
    if raw is None:
        raise _damaged(archive, "its list of files is missing")
    try:
        data = json.loads(raw)
        signature = data.pop("signature")
        if data.pop("format") != _FORMAT:
            raise BackupError(f"{archive} was made by a newer Metnos", fix="Restore it with that version.")
        members = tuple(Member(**member) for member in data.pop("members"))
        manifest = replace(Manifest(**data, members=members), skipped=tuple(data["skipped"]))
        _check_words(manifest)
        if verify(manifest.public_key, PURPOSE, canonical_json(manifest.body()), signature):
            return manifest
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(archive, "its list of files cannot be read") from error
    raise _damaged(archive, "its list of files is not the one that was signed")


def _check_words(manifest: Manifest) -> None:
    """Raise ``ValueError`` on what no archive of ours says of itself: it is printed before anybody trusts it."""
    from_text(manifest.made)
    said: tuple[object, ...] = (manifest.made, manifest.version)
    if not all(isinstance(each, str) and each.isprintable() and len(each) <= _LONGEST for each in said):
        raise ValueError("no version")
    names: tuple[object, ...] = manifest.skipped
    if not all(isinstance(each, str) for each in names):
        raise ValueError("no names")


def _damaged(archive: Path, detail: str) -> BackupError:
    return BackupError(f"{archive} is damaged: {detail}", fix="Nothing was restored. Use another backup.")


def _walk(root: Path, keep: Callable[[str], bool]) -> Iterator[tuple[Path, str]]:
    for folder, inner, names in os.walk(root, onerror=_raise):
        base = Path(folder)
        links = [name for name in inner if (base / name).is_symlink()]
        inner.sort()
        for name in sorted([*names, *links]):
            path = base / name
            relative = path.relative_to(root).as_posix()
            if keep(relative):
                yield path, relative


def _raise(error: OSError) -> None:
    """A folder that cannot be read must not be left out without a word, as `os.walk` would."""
    raise error


def _refuse_unreadable_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        shown = name.encode(errors="backslashreplace").decode()
        raise BackupError(f"the name of {shown} is not valid UTF-8", fix="Rename that file.") from error


def _is_side_file(path: Path) -> bool:
    """SQLite's own side files: the copy of the database holds what is in them."""
    for suffix in SIDE_FILES:
        if path.name.endswith(suffix):
            main = path.with_name(path.name.removesuffix(suffix))
            return main.is_file() and is_database(main)
    return False


class _Careful(gzip.GzipFile):
    """A packed file of which nobody gets more at one go than headers need: their length is what a stranger wrote."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _MOST_AT_ONCE:
            raise tarfile.ReadError("a header is longer than any can be")
        return super().read(size)


class _Header(tarfile.TarInfo):
    """A header that costs no more than it is long: none with holes, whose map is read at once, and no chain of them."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("a file with holes")
        before = getattr(tar, "headers_in_a_row", 0)
        if before > _MOST_HEADERS:
            raise tarfile.ReadError("headers without a file")
        tar.headers_in_a_row = before + 1  # type: ignore[attr-defined]  # it goes with the file that is read
        try:
            return super()._proc_member(tar)  # type: ignore[misc,no-any-return]  # typeshed leaves it out
        finally:
            tar.headers_in_a_row = before  # type: ignore[attr-defined]

    def _no_holes(self, *_: object) -> None:
        raise tarfile.ReadError("a file with holes")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _no_holes


class _Hashed:
    """A file that is hashed as it is read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._source.read(size)
        self._digest.update(chunk)
        return chunk

    def hexdigest(self) -> str:
        return self._digest.hexdigest()
