"""Changing one entry of one folder, and nothing else, however others move things meanwhile.

Rules: a folder is opened once, without following any symbolic link on the way (``openat2``, or step by step on an older
kernel), and what follows is done relative to that descriptor; the last component is never followed either. A rename
that must not replace does not (``renameat2``, or a hard link). A name is on the disk when a call returns. Copies keep
mode, times, extended attributes and, where the system allows it, owner; they never run with another's rights
(set-uid, capabilities). Does not guarantee anything against whoever changes the *inside* of a folder while it is
copied.
"""

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from metnos.core.errors import ExecutorFailed
from metnos.executors.undo_schema import Mark

FILE, FOLDER, LINK, SPECIAL = "file", "folder", "link", "special"

_CHUNK = 1 << 20
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SYS_OPENAT2 = 437  # the same on every architecture that Linux has gained since 2.6, and on x86
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS = 2, 4
_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
_FICLONE = 0x40049409
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP)
_RIGHTS = "security.capability"  # what a program may do beyond its account
_LIBC = ctypes.CDLL(None, use_errno=True)

_KINDS = {
    errno.ENOENT: ("not_found", "is not there"),
    errno.EEXIST: ("exists", "is there already"),
    errno.ENOTEMPTY: ("exists", "is not empty"),
    errno.EISDIR: ("exists", "is a folder"),
    errno.EACCES: ("not_permitted", "may not be touched: the system denies it"),
    errno.EPERM: ("not_permitted", "may not be touched: the system denies it"),
    errno.EROFS: ("not_permitted", "lies on a disk that can only be read"),
    errno.ELOOP: ("conflict", "has become, or lies below, a symbolic link, and those are not followed"),
    errno.ENOTDIR: ("conflict", "lies below something that is no folder"),
    errno.ENOSPC: ("unavailable", "could not be written: the disk is full"),
    errno.EDQUOT: ("unavailable", "could not be written: your share of the disk is used up"),
    errno.EFBIG: ("too_large", "is larger than this disk's file system allows"),
    errno.EBUSY: ("unavailable", "is in use by the system"),
    errno.ETXTBSY: ("unavailable", "is a program that is running"),
    errno.EIO: ("unreadable", "could not be read: the disk failed"),
    errno.ESTALE: ("unavailable", "lies on a disk that has gone away"),
}
_FIXES = {errno.ENOSPC: "Free some space and try again.", errno.EDQUOT: "Free some space and try again."}


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def shown(path: Path | str) -> str:
    """A path for a sentence: bytes that are no text, and what would break the line, are shown as their number."""
    return inert(os.fsencode(path).decode("utf-8", "backslashreplace"))


def inert(text: str) -> str:
    """Text without what a terminal would obey, or what would turn the order of its letters around."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def failure(error: OSError, path: Path) -> ExecutorFailed:
    """What the kernel said, as one of the closed classes."""
    kind, what = _KINDS.get(error.errno or 0, ("failed", f"could not be changed ({error.strerror})"))
    return ExecutorFailed(f"{shown(path)} {what}", kind=kind, fix=_FIXES.get(error.errno or 0, ""))


@contextlib.contextmanager
def folder(path: Path) -> Iterator[int]:
    """A folder's descriptor, reached without following a link."""
    descriptor = open_folder(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_folder(path: Path) -> int:
    how = _How(_FOLDER_FLAGS, 0, _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS)
    descriptor: int = _LIBC.syscall(
        ctypes.c_long(_SYS_OPENAT2), ctypes.c_long(_AT_FDCWD), os.fsencode(path), ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )  # fmt: skip
    if descriptor >= 0:
        return descriptor
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EPERM):  # an old kernel, or a container that does not know the call
        return open_folder_stepwise(path)
    raise OSError(number, os.strerror(number), path)


def open_folder_stepwise(path: Path) -> int:
    """The same by one descriptor after another."""
    descriptor = os.open("/", _FOLDER_FLAGS)
    for part in path.parts[1:]:
        try:
            following = os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = following
    return descriptor


def look(at: int, name: str) -> os.stat_result | None:
    """What an entry is, itself and not what it may point to."""
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None


def kind_of(status: os.stat_result) -> str:
    if stat.S_ISREG(status.st_mode):
        return FILE
    if stat.S_ISDIR(status.st_mode):
        return FOLDER
    return LINK if stat.S_ISLNK(status.st_mode) else SPECIAL


def rename(at: int, name: str, to: int, target: str, *, replace: bool) -> None:
    """Rename, on the disk when it returns. Where it must not replace, something in the way is ``EEXIST``."""
    try:
        _rename(at, name, to, target, replace)
    except PermissionError:
        mode = _closed_folder(at, name)
        if mode is None:
            raise
        # A folder that changes its parent is written to, and its owner may have forbidden that even to himself.
        os.chmod(name, mode | stat.S_IWUSR, dir_fd=at)
        try:
            _rename(at, name, to, target, replace)
        except OSError:
            os.chmod(name, mode, dir_fd=at)
            raise
        os.chmod(target, mode, dir_fd=to)
    os.fsync(to)
    if not os.path.sameopenfile(at, to):
        os.fsync(at)


def swap_in(at: int, name: str, to: int, target: str, ino: int) -> None:
    """Replace a file at one stroke, but only the very file that has this number: not one saved there meanwhile."""
    arguments = (at, os.fsencode(name), to, os.fsencode(target), _RENAME_EXCHANGE)
    exchanged = hasattr(_LIBC, "renameat2") and _LIBC.renameat2(*arguments) == 0
    found = look(at, name) if exchanged else look(to, target)
    if found is None or found.st_ino != ino:
        if exchanged:
            _LIBC.renameat2(*arguments)
        raise ExecutorFailed(f"{shown(target)} was changed by another program meanwhile", kind="conflict")
    if exchanged:
        os.unlink(name, dir_fd=at)
        os.fsync(to)
        os.fsync(at)
    else:
        rename(at, name, to, target, replace=True)


def _rename(at: int, name: str, to: int, target: str, replace: bool) -> None:
    if replace:
        os.rename(name, target, src_dir_fd=at, dst_dir_fd=to)
    else:
        _rename_without_replacing(at, name, to, target)


def _closed_folder(at: int, name: str) -> int | None:
    """The mode of a folder that is ours but not writable; nothing for anything else."""
    status = look(at, name)
    if status is None or not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return None
    return None if status.st_mode & stat.S_IWUSR else stat.S_IMODE(status.st_mode)


def _rename_without_replacing(at: int, name: str, to: int, target: str) -> None:
    arguments = (at, os.fsencode(name), to, os.fsencode(target), _RENAME_NOREPLACE)
    if hasattr(_LIBC, "renameat2"):
        if _LIBC.renameat2(*arguments) == 0:
            return
        number = ctypes.get_errno()
        if number not in _UNSUPPORTED:
            raise OSError(number, os.strerror(number), target)
    rename_by_link(at, name, to, target)


def rename_by_link(at: int, name: str, to: int, target: str) -> None:
    """For file systems that cannot say *do not replace*: a link never replaces. Folders have no links."""
    status = os.stat(name, dir_fd=at, follow_symlinks=False)
    if look(to, target) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    if not stat.S_ISDIR(status.st_mode):
        try:
            os.link(name, target, src_dir_fd=at, dst_dir_fd=to, follow_symlinks=False)
            os.unlink(name, dir_fd=at)
            return
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
    os.rename(name, target, src_dir_fd=at, dst_dir_fd=to)


def keep(at: int, name: str, store: int, key: str) -> None:
    """Put what an entry is now under ``key`` into the store: by a link where possible, else as a copy."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(key, dir_fd=store)
    try:
        os.link(name, key, src_dir_fd=at, dst_dir_fd=store, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (*_UNSUPPORTED, errno.EXDEV, errno.EMLINK, errno.EACCES):
            raise
        copy(at, name, store, key, own=True)
    os.fsync(store)


def copy(at: int, name: str, to: int, target: str, *, own: bool, go_on: Callable[[], None] = lambda: None) -> str:
    """Copy a file, link or folder under a new name, synced; the digest of a file's content where it was read.

    ``go_on`` is asked on the way, and raises to end it.
    """
    go_on()
    status = os.stat(name, dir_fd=at, follow_symlinks=False)
    what = kind_of(status)
    if what == LINK:
        os.symlink(os.readlink(name, dir_fd=at), target, dir_fd=to)
        return ""
    if what == SPECIAL:
        raise ExecutorFailed(f"{shown(name)} is neither a file nor a folder", kind="not_permitted")
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    try:
        if kind_of(os.fstat(source)) != what:
            raise ExecutorFailed(f"{shown(name)} has become something else meanwhile", kind="conflict")
        if what == FILE:
            return _copy_file(source, to, target, own, go_on)
        _copy_folder(source, to, target, own, go_on)
        return ""
    finally:
        os.close(source)


def new_file(at: int, name: str, mode: int = 0o666) -> int:
    """A file that was not there; the umask decides who may read it."""
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=at)


def fill(descriptor: int, chunks: Iterator[bytes]) -> str:
    """Write all of it; the digest of what was written."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        view = memoryview(chunk)
        while view:
            view = view[os.write(descriptor, view) :]
    return digest.hexdigest()


def chunks_of(descriptor: int, size: int, path: Path) -> Iterator[bytes]:
    """``size`` bytes of a file that others may be changing, by ``pread``: never more, and fewer is an error."""
    offset = 0
    while offset < size:
        chunk = os.pread(descriptor, min(_CHUNK, size - offset), offset)
        if not chunk:
            raise ExecutorFailed(f"what should become {shown(path)} shrank while it was read", kind="conflict")
        offset += len(chunk)
        yield chunk


def imitate(descriptor: int, status: os.stat_result, *, own: bool, times: bool) -> None:
    """Give a file the mode of another and, if asked, its owner and times."""
    if own and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):  # only root may give files away
            os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & (0o7777 if stat.S_ISDIR(status.st_mode) else 0o777))
    if times:
        os.utime(descriptor, ns=(status.st_atime_ns, status.st_mtime_ns))


def remove(at: int, name: str) -> None:
    """Remove a file or a whole folder, if it is there."""
    status = look(at, name)
    if status is None:
        return
    if kind_of(status) != FOLDER:
        os.unlink(name, dir_fd=at)
        return
    with contextlib.suppress(PermissionError):  # a folder may forbid even its owner to empty it
        os.chmod(name, 0o700, dir_fd=at)
    inside = os.open(name, _FOLDER_FLAGS, dir_fd=at)
    try:
        for each in os.listdir(inside):  # noqa: PTH208 -- of a descriptor
            remove(inside, each)
    finally:
        os.close(inside)
    os.rmdir(name, dir_fd=at)


def mark(at: int, name: str, sha256: str = "") -> Mark | None:
    """By what this entry can be known again, or nothing if it is not there."""
    status = look(at, name)
    if status is None:
        return None
    return mark_of(status, _folder_digest(at, name) if stat.S_ISDIR(status.st_mode) else sha256)


def mark_of(status: os.stat_result, sha256: str = "") -> Mark:
    kind = kind_of(status)
    size = status.st_size if kind == FILE else 0
    return Mark(kind, status.st_ino, size, status.st_mtime_ns, stat.S_IMODE(status.st_mode), sha256)


def digest_of(at: int, name: str) -> str:
    """The digest of a file's content."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    with os.fdopen(descriptor, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy_file(source: int, to: int, target: str, own: bool, go_on: Callable[[], None]) -> str:
    status = os.fstat(source)
    made = new_file(to, target, 0o600)
    try:
        digest = ""
        try:
            fcntl.ioctl(made, _FICLONE, source)  # shares the blocks until one side changes; btrfs and XFS can
        except OSError:
            digest = fill(made, _read_on(source, go_on))
        _copy_attributes(source, made)
        imitate(made, status, own=own, times=True)
        os.fsync(made)
        return digest
    finally:
        os.close(made)


def _read_on(source: int, go_on: Callable[[], None]) -> Iterator[bytes]:
    while chunk := os.read(source, _CHUNK):
        go_on()
        yield chunk


def _copy_folder(source: int, to: int, target: str, own: bool, go_on: Callable[[], None]) -> None:
    status = os.fstat(source)
    os.mkdir(target, 0o700, dir_fd=to)
    made = os.open(target, _FOLDER_FLAGS, dir_fd=to)
    try:
        for name in os.listdir(source):
            copy(source, name, made, name, own=own, go_on=go_on)
        _copy_attributes(source, made)
        imitate(made, status, own=own, times=True)
        os.fsync(made)
    finally:
        os.close(made)


def _copy_attributes(source: int, made: int) -> None:
    """Extended attributes are a courtesy: not every file system has them, and not every one may be set."""
    with contextlib.suppress(OSError):
        for name in set(os.listxattr(source)) - {_RIGHTS}:
            with contextlib.suppress(OSError):
                os.setxattr(made, name, os.getxattr(source, name))


def digest_entries(entries: Iterable[tuple[str, Mark]]) -> str:
    """One digest for what a folder holds, in order of name: kinds, modes, sizes and times; no content is read."""
    digest = hashlib.sha256()
    for name, found in entries:
        time = found.mtime_ns if found.kind == FILE else 0  # a folder's time changes with what is in it
        facts = (os.fsencode(name), found.kind, found.mode, found.size, time, found.sha256)
        digest.update(repr(facts).encode())
    return digest.hexdigest()


def _folder_digest(at: int, name: str) -> str:
    inside = os.open(name, _FOLDER_FLAGS, dir_fd=at)
    try:
        marks = [(each, mark(inside, each)) for each in sorted(os.listdir(inside))]  # noqa: PTH208 -- of a descriptor
    finally:
        os.close(inside)
    return digest_entries((each, found) for each, found in marks if found is not None)
