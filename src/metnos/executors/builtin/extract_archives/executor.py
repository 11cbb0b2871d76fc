"""Takes files out of archives. What an archive says of itself is not believed: names, kinds and sizes are checked.

Refused one by one: names that lead elsewhere, links, devices, encrypted and oversized members. An archive that unpacks
to too much, or for too long, is stopped; what was taken out by then stays, and is said.
"""

import bz2
import gzip
import lzma
import os
import stat
import tarfile
import tempfile
import time
import zipfile
import zlib
from pathlib import Path, PurePosixPath

PIECE = 1 << 18
MOST_MEMBERS = 900  # of one call; a day has a thousand changes unless the owner says otherwise
MOST_FILE = 60_000_000  # bytes; the private /tmp has 64 MiB
MOST_TOTAL = 500_000_000
MOST_DIRECTORY = 4_000_000  # bytes of a zip's table of contents, which is read into memory whole
RATIO, RATIO_FROM = 200, 20_000_000  # honest content of this size is not packed two hundred times smaller
CPU_S = 4.0  # a call has five seconds, and thirty by the wall clock
WALL_S = 24.0
OPENERS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".tbz", ".txz", ".zip", ".tar", ".gz", ".bz2", ".xz")
TARS = (".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".tbz", ".txz")
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, ValueError, NotImplementedError,
           RuntimeError, OSError)  # fmt: skip


class TooMuch(Exception):
    """The archive is stopped here."""


class Budget:
    """How much may still be unpacked: for the whole call, and for an archive of this size."""

    def __init__(self):
        self.deadline = time.monotonic() + WALL_S
        self.total = self.members = self.unpacked = self.packed = 0

    def begin(self, packed):
        self.packed, self.unpacked = packed, 0

    def spend(self, count):
        self.total += count
        self.unpacked += count
        if self.unpacked > max(RATIO_FROM, RATIO * self.packed):
            raise TooMuch("it unpacks to far more than an honest archive of its size would")
        if self.total > MOST_TOTAL:
            raise TooMuch(f"more than {MOST_TOTAL} bytes would be unpacked in one call")
        if time.process_time() > CPU_S or time.monotonic() > self.deadline:
            raise TooMuch("there is too much in it for the time of one call")

    def next_member(self):
        self.members += 1
        if self.members > MOST_MEMBERS:
            raise TooMuch(f"there are more than {MOST_MEMBERS} files for one call")
        self.spend(0)


class Counted:
    """A file whose bytes are counted as they are unpacked."""

    def __init__(self, file, budget):
        self.file, self.budget = file, budget

    def read(self, size):
        piece = self.file.read(size)
        self.budget.spend(len(piece))
        return piece


def run(args, ctx):
    to = Path(args["to"])
    if os.path.lexists(to) and not to.is_dir():
        ctx.fail("exists", "`to` is a file, so nothing can be put into it")
    results, failures, budget = [], [], Budget()
    for path in dict.fromkeys(args["paths"]):
        folder = to / stem(Path(path).name) if args["own_folder"] else to
        before = len(results)
        try:
            extract(path, folder, results, failures, budget, ctx)
        except TooMuch as error:
            done = len(results) - before
            failures.append(ctx.failure(path, "too_large", f"stopped after {done} files: {error}"))
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
        except MemoryError:
            failures.append(ctx.failure(path, "too_large", "it needs more memory to unpack than there is"))
        except DAMAGED as error:
            failures.append(ctx.failure(path, "unreadable", f"the archive is damaged: {str(error)[:200]}"))
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def extract(path, folder, results, failures, budget, ctx):
    size = Path(path).stat().st_size
    budget.begin(size)
    local = os.path.join(tempfile.mkdtemp(), "member")
    for name, problem, is_folder, opener in members(path, budget, ctx):
        budget.next_member()
        try:
            if problem:
                ctx.fail("not_permitted", problem)
            target = place(name, folder, ctx)
            if is_folder:
                make(target, ctx)
                continue
            if target == folder:
                ctx.fail("invalid", "it has no name")
            if os.path.lexists(target):
                ctx.fail("exists", f"there is something called {target.name} already")
            count = unpack(opener, local, ctx)
            make(target.parent, ctx)
            ctx.put(str(target), local)
            results.append({"path": str(target), "archive": path, "size": count})
        except ctx.Failure as error:
            failures.append(ctx.failure(f"{path}: {shown(name)}", error.kind, error.message))


def unpack(opener, local, ctx):
    """One member into the private /tmp, counted as it comes: what its header says may be a lie."""
    count = 0
    try:
        with open(local, "wb") as file:
            source = opener()
            for piece in iter(lambda: source.read(PIECE), b""):
                count += len(piece)
                if count > MOST_FILE:
                    ctx.fail("too_large", f"it is larger than {MOST_FILE} bytes")
                file.write(piece)
    except (NotImplementedError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise ctx.Failure("unreadable", f"it cannot be unpacked: {str(error)[:200]}") from error
    return count


# -- where it goes


def place(name, folder, ctx):
    """The path of a member, certainly below the folder."""
    text = name.replace("\\", "/")  # what Windows packed
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or (parts and len(parts[0]) == 2 and parts[0][1] == ":"):
        ctx.fail("not_permitted", "its name is an absolute path")
    if ".." in parts:
        ctx.fail("not_permitted", "its name leads out of the folder")
    if shown(name) != name or not all(part.isprintable() and len(part.encode()) <= 255 for part in parts):
        ctx.fail("invalid", "its name is not a plain one")
    target = folder.joinpath(*parts)
    # A link that is in the folder already could lead out of it.
    inside = [each for each in target.parents if each == folder or folder in each.parents]
    if any(each.is_symlink() for each in inside):
        ctx.fail("conflict", "it would go through a symbolic link")
    return target


def make(folder, ctx):
    if not folder.is_dir():
        ctx.make_folder(str(folder))


# -- what is in it: (name, why it is refused, whether it is a folder, how to open it)


def members(path, budget, ctx):
    with open(path, "rb") as file:
        head = file.read(512)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return zip_members(path, budget, ctx)
    for magic, opener in OPENERS:
        if head.startswith(magic):
            return packed_members(path, opener, budget)
    if is_tar(head) or path.lower().endswith(".tar"):
        return tar_members(path, open, budget)
    raise ctx.Failure("invalid", "it is no archive of a kind that can be unpacked (zip, tar, gz, bz2, xz)")


def zip_members(path, budget, ctx):
    refuse_large_directory(path, ctx)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            problem = "a link or a device, not a file" if kind not in (0, stat.S_IFREG, stat.S_IFDIR) else ""
            if info.flag_bits & 1:
                problem = "it is encrypted, and there is no password"
            # A function of its own: the loop goes on, and the member must not.
            yield info.filename, problem, info.is_dir(), lambda info=info: Counted(archive.open(info), budget)


def refuse_large_directory(path, ctx):
    """The end of a zip says how long its table of contents is; a long one would fill the memory."""
    with open(path, "rb") as file:
        file.seek(max(0, Path(path).stat().st_size - 65_557))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at >= 0 and int.from_bytes(tail[at + 12 : at + 16], "little") > MOST_DIRECTORY:
        ctx.fail("too_large", "it holds too many files")


def packed_members(path, opener, budget):
    """A compressed tar, or a single compressed file."""
    with opener(path, "rb") as file:
        head = file.read(512)
    if is_tar(head) or path.lower().endswith(TARS):
        yield from tar_members(path, opener, budget)
        return
    with opener(path, "rb") as file:
        yield stem(Path(path).name), "", False, lambda: Counted(file, budget)


def tar_members(path, opener, budget):
    # As a stream: what is passed over is unpacked too, and so it is counted.
    with opener(path, "rb") as file, tarfile.open(fileobj=Counted(file, budget), mode="r|") as archive:
        for info in archive:
            plain = info.isreg() or info.isdir()
            problem = "" if plain else "a link or a device, not a file"
            yield info.name, problem, info.isdir(), lambda info=info: archive.extractfile(info)


def is_tar(head):
    return head[257:262] == b"ustar"


def stem(name):
    """A name without what says that it is packed."""
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)] or f"{PurePosixPath(name).name} content"


def shown(name):
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
