"""Packs files and folders into a zip or tar.gz, made in the private /tmp and put into place whole."""

import errno
import os
import stat
import tarfile
import tempfile
import time
import zipfile
from datetime import datetime
from pathlib import Path

from metnos_kit import folders

PIECE = 1 << 18
MOST_FILES = 20_000
MOST_CONTENT = 1 << 30
CPU_S = 4.2  # a call has five seconds, and thirty by the wall clock
WALL_S = 25.0
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def run(args, ctx):
    target = args["to"]
    packer = Zip if target.lower().endswith(".zip") else Tar
    if packer is Tar and not target.lower().endswith((".tar.gz", ".tgz")):
        ctx.fail("invalid", "the name of the archive must end in .zip, .tar.gz or .tgz")
    if os.path.lexists(target):
        ctx.fail("exists", "there is something of this name already: choose another name for the archive")
    if not Path(target).parent.is_dir():
        ctx.fail("not_found", "the folder that the archive would be in is missing")
    failures = []
    items = collect(list(dict.fromkeys(args["paths"])), failures, ctx)
    if not items:
        ctx.fail("unreadable", f"there is nothing that can be packed: {failures[0]['message']}")
    local = os.path.join(tempfile.mkdtemp(), "archive")
    try:
        counts = pack(packer(local, ctx.now.tzinfo), items, failures, ctx)
    except OSError as error:
        if error.errno in FULL:
            ctx.fail("too_large", "the archive would be larger than 60 MB: pack less at a time")
        raise ctx.Failure("failed", f"the archive could not be made: {error.strerror or error}") from error
    ctx.put(target, local)
    result = {"path": target, **counts, "size": Path(local).stat().st_size}
    return {"results": [result], "failures": folders.shortened(failures, target, "that were left out", ctx)}


# -- what goes in


def collect(paths, failures, ctx):
    """Everything to pack as (name in the archive, path, status), folders before what is in them."""
    items, names, content = [], set(), 0
    for path in paths:
        name = Path(path).name or "root"
        if name in names:
            failures.append(ctx.failure(path, "conflict", f"there is another {name} among what is packed"))
            continue
        names.add(name)
        for item in below(path, name, failures, ctx):
            items.append(item)
            content += item[2].st_size if stat.S_ISREG(item[2].st_mode) else 0
            if len(items) > MOST_FILES or content > MOST_CONTENT:
                ctx.fail("too_large", f"more than {MOST_FILES} files or {MOST_CONTENT} bytes: pack less at a time")
    return items


def below(path, name, failures, ctx):
    """A file, or a folder and all that is below it."""
    waiting = [(path, name)]
    while waiting:
        path, name = waiting.pop()
        try:
            status = Path(path).lstat()
            inside = sorted(os.listdir(path), reverse=True) if stat.S_ISDIR(status.st_mode) else []  # noqa: PTH208
        except OSError as error:
            failures.append(ctx.failure(folders.shown(path), "unreadable", error.strerror or "cannot be opened"))
            continue
        problem = refused(path, status)
        if problem:
            failures.append(ctx.failure(folders.shown(path), *problem))
            continue
        yield name, path, status
        waiting += [(f"{path}/{each}", f"{name}/{each}") for each in inside]


def refused(path, status):
    if not folders.is_text(path):
        return "unreadable", "its name is not valid text"
    if stat.S_ISLNK(status.st_mode):
        return "not_permitted", "a symbolic link: not followed, and left out"
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        return "unreadable", "neither a file nor a folder"
    return None


# -- packing


class Zip:
    def __init__(self, local, zone):
        self.archive = zipfile.ZipFile(local, "x", zipfile.ZIP_DEFLATED)
        self.zone = zone

    def add(self, name, status, file):
        folder = stat.S_ISDIR(status.st_mode)
        info = zipfile.ZipInfo(f"{name}/" if folder else name, self.date(status))
        info.external_attr = (status.st_mode & 0xFFFF) << 16 | (0x10 if folder else 0)
        info.compress_type = zipfile.ZIP_STORED if folder else zipfile.ZIP_DEFLATED
        info.file_size = 0 if folder else status.st_size
        if folder:
            self.archive.writestr(info, b"")
            return
        with self.archive.open(info, "w") as packed:
            for piece in iter(lambda: file.read(PIECE), b""):
                packed.write(piece)

    def date(self, status):
        """Zip knows the years from 1980 to 2107."""
        try:
            date = datetime.fromtimestamp(status.st_mtime, self.zone).timetuple()[:6]
        except (ValueError, OverflowError, OSError):
            return (1980, 1, 1, 0, 0, 0)
        return min(max(date, (1980, 1, 1, 0, 0, 0)), (2107, 12, 31, 23, 59, 58))


class Tar:
    def __init__(self, local, _zone):
        self.archive = tarfile.open(local, "x:gz", compresslevel=6)  # noqa: SIM115 -- closed by whoever packs

    def add(self, name, status, file):
        info = tarfile.TarInfo(name)
        info.mode = stat.S_IMODE(status.st_mode) & 0o777
        info.mtime = int(status.st_mtime)
        if stat.S_ISDIR(status.st_mode):
            info.type = tarfile.DIRTYPE
        else:
            info.size = status.st_size
        self.archive.addfile(info, file)


class Timed:
    """A file that is read only while there is time."""

    def __init__(self, file, deadline, ctx):
        self.file, self.deadline, self.ctx, self.count = file, deadline, ctx, 0

    def read(self, size):
        if time.process_time() > CPU_S or time.monotonic() > self.deadline:
            self.ctx.fail("too_large", "there is too much for the time of one call: pack less at a time")
        piece = self.file.read(size)
        self.count += len(piece)
        return piece


def pack(packer, items, failures, ctx):
    counts = {"files": 0, "folders": 0, "content_size": 0}
    deadline = time.monotonic() + WALL_S
    with packer.archive:
        for name, path, status in items:
            if stat.S_ISDIR(status.st_mode):
                packer.add(name, status, None)
                counts["folders"] += 1
                continue
            try:
                file = open(path, "rb")  # noqa: SIM115 -- closed below: only failing to open it is this file's own matter
            except OSError as error:
                failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
                continue
            with file:
                timed = Timed(file, deadline, ctx)
                packer.add(name, os.fstat(file.fileno()), timed)
            counts["files"] += 1
            counts["content_size"] += timed.count
    return counts
