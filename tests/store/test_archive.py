import errno
import gzip
import io
import json
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from metnos.core import sign
from metnos.core.canon import canonical_json
from metnos.core.errors import BackupError
from metnos.core.sign import Signer
from metnos.store import archive
from metnos.store.db import Database
from metnos.store.migrations import Migration

SCHEMA = (Migration("0001", ("CREATE TABLE items (name TEXT)",)),)


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    (tmp_path / "keys").mkdir()
    sign.make_keys(tmp_path / "keys" / "k", tmp_path / "keys" / "p")
    return sign.load_signer(tmp_path / "keys" / "k")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "text").write_text("hello")
    (root / "deep" / "è with space").write_bytes(os.urandom(5000))
    (root / "empty").touch()
    (root / "link").symlink_to("/etc/passwd")
    (root / "linked folder").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    db = Database(root / "deep" / "store.db", SCHEMA)
    with db.write() as tx:
        tx.execute("INSERT INTO items VALUES ('only in the write-ahead log')")
    return root


def make(tree: Path, target: Path, signer: Signer) -> archive.Manifest:
    writer = archive.Writer(target, lambda _name, _size: None)
    try:
        writer.add_tree(tree, keep=lambda _name: True)
        manifest = writer.finish("2026-11-15T12:00:00.000Z", "0", signer)
        writer.publish()
        return manifest
    finally:
        writer.discard()


def test_what_goes_in_comes_out(tree: Path, tmp_path: Path, signer: Signer) -> None:
    target = tmp_path / "a.tar.gz"
    manifest = make(tree, target, signer)
    assert set(manifest.skipped) == {"link", "linked folder", "pipe"}
    out = tmp_path / "out"
    out.mkdir()
    assert archive.read(target, into=out) == manifest
    for name in ("text", "deep/è with space", "empty"):
        assert (out / name).read_bytes() == (tree / name).read_bytes()
    copy = Database(out / "deep" / "store.db", read_only=True)
    assert copy.query("SELECT name FROM items") == [("only in the write-ahead log",)]
    copy.close()
    assert not [path.name for path in (out / "deep").iterdir() if path.name.endswith(("-wal", "-shm"))]


def test_any_tool_opens_it(tree: Path, tmp_path: Path, signer: Signer) -> None:
    make(tree, tmp_path / "a.tar.gz", signer)
    with tarfile.open(tmp_path / "a.tar.gz") as tar:
        assert tar.getnames()[-1] == archive.MANIFEST


def test_an_archive_never_replaces_a_file(tree: Path, tmp_path: Path, signer: Signer) -> None:
    (tmp_path / "a.tar.gz").write_text("mine")
    with pytest.raises(BackupError, match="there already"):
        make(tree, tmp_path / "a.tar.gz", signer)
    assert (tmp_path / "a.tar.gz").read_text() == "mine"
    assert not list(tmp_path.glob(".a.tar.gz*"))


@pytest.mark.slow
def test_no_changed_byte_goes_unnoticed(tree: Path, tmp_path: Path, signer: Signer) -> None:
    target = tmp_path / "a.tar.gz"
    manifest = make(tree, target, signer)
    whole = bytearray(gzip.decompress(target.read_bytes()))
    # Every byte of content and of the list; of a member's header, what matters of it.
    for at in range(0, len(whole), 37):
        changed = bytearray(whole)
        changed[at] ^= 1
        target.write_bytes(gzip.compress(changed, compresslevel=1))
        try:
            assert archive.read(target) == manifest  # padding, an owner's name: nothing that is used
        except BackupError:
            continue


@pytest.mark.slow
def test_no_changed_byte_of_the_compressed_file_goes_unnoticed(tree: Path, tmp_path: Path, signer: Signer) -> None:
    target = tmp_path / "a.tar.gz"
    manifest = make(tree, target, signer)
    whole = target.read_bytes()
    tried = refused = 0
    for at in range(10, len(whole), 11):  # the first ten bytes are gzip's own date and flags
        tried += 1
        changed = bytearray(whole)
        changed[at] ^= 0x10
        target.write_bytes(changed)
        try:
            assert archive.read(target) == manifest  # a bit that only fills up the last byte of a block
        except BackupError:
            refused += 1
    assert refused > 0.99 * tried


@pytest.mark.parametrize("cut", [1, 100, 3000])
def test_a_cut_archive_is_refused(tree: Path, tmp_path: Path, signer: Signer, cut: int) -> None:
    target = tmp_path / "a.tar.gz"
    make(tree, target, signer)
    target.write_bytes(target.read_bytes()[:-cut])
    with pytest.raises(BackupError, match="damaged"):
        archive.read(target)


@pytest.mark.parametrize(
    "content",
    [b"", b"not an archive", gzip.compress(b"not a tar"), gzip.compress(b"\0" * 2048)],
    ids=["empty", "text", "no tar", "no member"],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tar.gz").write_bytes(content)
    with pytest.raises(BackupError, match="damaged"):
        archive.read(tmp_path / "a.tar.gz")


def test_a_missing_archive_and_a_folder_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="there is no archive"):
        archive.read(tmp_path / "none")
    with pytest.raises(BackupError, match="cannot be read"):
        archive.read(tmp_path)


def forge(target: Path, members: list[tuple[tarfile.TarInfo, bytes]], signer: Signer) -> None:
    """An archive whose list is right and signed, but whose members are hostile."""
    listed = [archive.Member(info.name, len(content), archive.hashlib.sha256(content).hexdigest(), info.mode)
              for info, content in members]  # fmt: skip
    body = archive.Manifest("2026-11-15T12:00:00.000Z", "0", signer.public, tuple(listed), ()).body()
    raw = canonical_json(body | {"signature": signer.sign(archive.PURPOSE, canonical_json(body))})
    with tarfile.open(target, "w:gz") as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        info = tarfile.TarInfo(archive.MANIFEST)
        info.size = len(raw)
        tar.addfile(info, io.BytesIO(raw))


def hostile() -> list[tarfile.TarInfo]:
    found = [tarfile.TarInfo(name) for name in ("../outside", "/absolute", "a/../../outside", "./x", "a//b", "a/./b")]
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    hard = tarfile.TarInfo("hard")
    hard.type, hard.linkname = tarfile.LNKTYPE, "/etc/passwd"
    device = tarfile.TarInfo("device")
    device.type = tarfile.CHRTYPE
    folder = tarfile.TarInfo("folder")
    folder.type = tarfile.DIRTYPE
    return [*found, link, hard, device, folder]


@pytest.mark.parametrize("info", hostile(), ids=lambda info: info.name)
def test_a_hostile_member_is_refused_and_nothing_leaves_the_folder(
    tmp_path: Path, signer: Signer, info: tarfile.TarInfo
) -> None:
    target, out = tmp_path / "a.tar.gz", tmp_path / "deep" / "out"
    out.mkdir(parents=True)
    forge(target, [(info, b"")], signer)
    with pytest.raises(BackupError, match="damaged"):
        archive.read(target, into=out)
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "deep" / "outside").exists()


def test_a_member_twice_is_refused(tmp_path: Path, signer: Signer) -> None:
    forge(tmp_path / "a.tar.gz", [(tarfile.TarInfo("x"), b"1"), (tarfile.TarInfo("x"), b"1")], signer)
    with pytest.raises(BackupError, match="should not be there"):
        archive.read(tmp_path / "a.tar.gz")


def test_a_forged_archive_that_is_otherwise_right_is_read(tmp_path: Path, signer: Signer) -> None:
    """Proves that the attacks above fail for their own reason."""
    forge(tmp_path / "a.tar.gz", [(tarfile.TarInfo("x"), b"1")], signer)
    assert archive.read(tmp_path / "a.tar.gz").members[0].path == "x"


def test_what_comes_out_is_closed_to_others(tmp_path: Path, signer: Signer) -> None:
    info = tarfile.TarInfo("x")
    info.mode = 0o4777
    out = tmp_path / "out"
    out.mkdir()
    forge(tmp_path / "a.tar.gz", [(info, b"1")], signer)
    archive.read(tmp_path / "a.tar.gz", into=out)
    assert (out / "x").stat().st_mode & 0o7777 == 0o600


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_every_folder_on_the_way_is_closed_to_others_whatever_the_umask_says(
    tmp_path: Path, signer: Signer, umask: int
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    forge(tmp_path / "a.tar.gz", [(tarfile.TarInfo("a/b/c/x"), b"1"), (tarfile.TarInfo("a/b/y"), b"2")], signer)
    before = os.umask(umask)
    try:
        archive.read(tmp_path / "a.tar.gz", into=out)
    finally:
        os.umask(before)
    modes = {path.relative_to(out).as_posix(): path.stat().st_mode & 0o7777 for path in out.rglob("*")}
    assert modes == {"a": 0o700, "a/b": 0o700, "a/b/c": 0o700, "a/b/c/x": 0o600, "a/b/y": 0o600}


def listing(signer: Signer, **more: object) -> list[tuple[tarfile.TarInfo, bytes]]:
    """The list of an empty archive, signed, with other values than there should be."""
    body = archive.Manifest("2026-11-15T12:00:00.000Z", "0", signer.public, (), ()).body() | more  # type: ignore[operator]
    raw = canonical_json(body | {"signature": signer.sign(archive.PURPOSE, canonical_json(body))})
    return [(tarfile.TarInfo(archive.MANIFEST), raw)]


def put(target: Path, members: list[tuple[tarfile.TarInfo, bytes]], headers: dict[str, str] | None = None) -> None:
    with tarfile.open(target, "w:gz", format=tarfile.PAX_FORMAT, pax_headers=headers or {}) as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


@pytest.mark.parametrize(
    "more",
    [
        {"made": "yesterday"}, {"made": ["2026"]}, {"made": "2026-11-15T12:00:00.000Z\x1b[2J"},
        {"version": "\x1b]0;x\x07"}, {"version": {"a": 1}},
        {"version": "1" * 65}, {"skipped": [1]}, {"skipped": 7}, {"members": [{"path": "x"}]},
        {"members": {"a": 1}}, {"public_key": 5}, {"public_key": "ab"}, {"format": True + 0.5}, {"else": 1},
        {"members": [{"path": "x", "size": 2**53, "sha256": "", "mode": -1}]},
    ],
    ids=repr,
)  # fmt: skip
def test_a_signed_list_that_says_what_none_of_ours_says_is_refused(
    tmp_path: Path, signer: Signer, more: dict[str, object]
) -> None:
    put(tmp_path / "a.tar.gz", listing(signer, **more))
    with pytest.raises(BackupError):
        archive.read(tmp_path / "a.tar.gz")


def test_lists_in_lists_without_end_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "a.tar.gz", [(tarfile.TarInfo(archive.MANIFEST), b'{"a":' * 200_000)])
    with pytest.raises(BackupError, match="cannot be read"):
        archive.read(tmp_path / "a.tar.gz")


def test_folders_in_folders_without_end_are_refused(tmp_path: Path, signer: Signer) -> None:
    out = tmp_path / "out"
    out.mkdir()
    forge(tmp_path / "a.tar.gz", [(tarfile.TarInfo("d/" * 1900 + "x"), b"1")], signer)
    with pytest.raises(BackupError, match="damaged"):
        archive.read(tmp_path / "a.tar.gz", into=out)
    assert list(out.iterdir()) == []


def test_a_header_that_wants_much_memory_gets_none(tmp_path: Path) -> None:
    """A header of zeros packs a thousand times smaller than it is."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 24 << 20
    raw = info.tobuf(tarfile.PAX_FORMAT) + b"\0" * info.size
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(raw, compresslevel=1))
    tracemalloc.start()
    with pytest.raises(BackupError, match="damaged"):
        archive.read(tmp_path / "a.tar.gz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20


def test_a_file_with_holes_is_refused_before_it_is_written(tmp_path: Path, signer: Signer) -> None:
    """Of a few bytes it would make as many as a number says."""
    out = tmp_path / "out"
    out.mkdir()
    info = tarfile.TarInfo("x")
    info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,1",
                        "GNU.sparse.size": str(1 << 50), "GNU.sparse.numblocks": "1"}  # fmt: skip
    put(tmp_path / "a.tar.gz", [(info, b"1"), *listing(signer)])
    with pytest.raises(BackupError, match="damaged"):
        archive.read(tmp_path / "a.tar.gz", into=out)
    assert list(out.iterdir()) == []


def old_header_with_holes(blocks: int) -> bytes:
    """A header as GNU tar writes it, with so many blocks of a map behind it."""
    raw = bytearray(512)
    raw[0:1], raw[100:108], raw[124:136], raw[136:148] = b"x", b"0000600\0", b"00000000000\0", b"00000000000\0"
    raw[156:157], raw[257:265], raw[482:483] = tarfile.GNUTYPE_SPARSE, b"ustar  \0", b"\1"
    raw[483:495] = b"00000000000\0"
    raw[148:156] = b"        "
    raw[148:156] = b"%06o\0 " % sum(raw)
    block = b"00000000001\0" * 42 + b"\1" + b"\0" * 7
    return bytes(raw) + block * blocks


@pytest.mark.parametrize("blocks", [0, 1, 20_000])
def test_a_map_of_holes_is_not_read(tmp_path: Path, blocks: int) -> None:
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(old_header_with_holes(blocks), compresslevel=1))
    tracemalloc.start()
    with pytest.raises(BackupError, match="damaged"):
        archive.read(tmp_path / "a.tar.gz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_headers_of_headers_are_refused(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 12
    body = b"12 path=abc\n" if kind == tarfile.XHDTYPE else b"some/name/x\0"
    one = info.tobuf(tarfile.USTAR_FORMAT) + body.ljust(512, b"\0")
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(one * 4000, compresslevel=1))
    with pytest.raises(BackupError, match="damaged"):
        archive.read(tmp_path / "a.tar.gz")


def test_a_full_disk_is_told_as_one(tmp_path: Path, signer: Signer, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a.tar.gz", [(tarfile.TarInfo("x"), b"1"), *listing(signer)])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive.os, "fsync", full)
    (tmp_path / "out").mkdir()
    with pytest.raises(BackupError, match="not enough space"):
        archive.read(tmp_path / "a.tar.gz", into=tmp_path / "out")


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", "\u202eb"])
def test_no_name_is_told_as_it_stands(tmp_path: Path, signer: Signer, name: str) -> None:
    forge(tmp_path / "a.tar.gz", [(tarfile.TarInfo(name), b"1"), (tarfile.TarInfo(name), b"1")], signer)
    with pytest.raises(BackupError) as caught:
        archive.read(tmp_path / "a.tar.gz")
    assert name not in caught.value.what


def test_an_archive_of_a_newer_format_says_so(tmp_path: Path, signer: Signer) -> None:
    raw = json.dumps({"format": 2, "signature": ""}).encode()
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo(archive.MANIFEST)
        info.size = len(raw)
        tar.addfile(info, io.BytesIO(raw))
    with pytest.raises(BackupError, match="newer Metnos"):
        archive.read(tmp_path / "a.tar.gz")
