"""Bundles: what goes in comes out, byte for byte, and whatever anybody did to one on the way is refused."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given
from hypothesis import strategies as st

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.errors import ExecutorError, NotTrusted
from metnos.core.sign import Signer
from metnos.executors import folder
from metnos.synt import bundle
from synt.specimens import builtin, draft
from tables import try_each

OURS = Signer(Ed25519PrivateKey.from_private_bytes(bytes(31) + b"\1"))
THEIRS = Signer(Ed25519PrivateKey.from_private_bytes(bytes(31) + b"\2"))
ONE, OTHER = draft(), builtin("compare_text")
RAW = bundle.pack([ONE, OTHER], THEIRS)

Change = Callable[[dict[str, Any]], Any]


def signed(change: Change, signer: Signer = THEIRS) -> bytes:
    """A bundle that its own maker changed before signing it."""
    data = json.loads(RAW)
    del data["signature"]
    change(data)
    return canonical_json({**data, "signature": signer.sign(bundle.PURPOSE, canonical_json(data))}) + b"\n"


def altered(change: Change) -> bytes:
    """A bundle that somebody changed on the way."""
    data = json.loads(RAW)
    change(data)
    return canonical_json(data) + b"\n"


def file_of(data: dict[str, Any], name: str = folder.SOURCE) -> dict[str, Any]:
    found: dict[str, Any] = data["executors"][0]["files"][name]
    return found


def put(text: str, name: str = folder.SOURCE) -> Change:
    return lambda data: file_of(data, name).update(text=text, sha256=sha256_hex(text.encode()))


class TestPacking:
    def test_what_is_packed_comes_out_to_the_bit(self) -> None:
        opened = bundle.unpack(RAW)
        assert opened.drafts == (OTHER, ONE)  # by name
        assert opened.key == THEIRS.public
        assert opened.digest == sha256_hex(RAW)

    def test_the_same_executors_make_the_same_bytes_whatever_their_order(self) -> None:
        assert bundle.pack([OTHER, ONE, ONE], THEIRS) == RAW

    def test_only_the_three_files_and_the_name_are_in_it(self) -> None:
        for each in json.loads(RAW)["executors"]:
            assert set(each) == {"name", "files"}
            assert set(each["files"]) == set(folder.SIGNED)

    def test_there_is_no_empty_bundle(self) -> None:
        with pytest.raises(ExecutorError, match="no executor to be exported"):
            bundle.pack([], THEIRS)

    def test_there_is_a_most_of_executors_and_of_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bundle, "MOST_EXECUTORS", 1)
        with pytest.raises(ExecutorError, match="at most 1"):
            bundle.pack([ONE, OTHER], THEIRS)
        monkeypatch.setattr(bundle, "MOST_BYTES", 100)
        with pytest.raises(ExecutorError, match="more than"):
            bundle.pack([ONE], THEIRS)


def double_key(raw: bytes) -> bytes:
    return raw.replace(b'{"executors"', b'{"version":1,"executors"', 1)


def forged(_raw: bytes) -> bytes:
    """Claims our key, with a signature of its own."""
    return signed(lambda data: data.update(key=OURS.public))


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing at all": (b"", "no bundle"),
    "not JSON": (b"\x7fELF" + RAW, "no bundle"),
    "not UTF-8": (b"\xff\xfe" + RAW, "no bundle"),
    "only a part of it": (RAW[:-200], "no bundle"),
    "another format": (altered(lambda data: data.update(format="recipes")), "no bundle of executors"),
    "a list": (b"[]\n", "no bundle of executors"),
    "a deep nest": (b"[" * 100_000, "no bundle"),
    "not a number": (RAW.replace(b'"version":1', b'"version":NaN'), "no bundle"),
    "half a letter": (RAW.replace(b"Puts texts", b"\\ud800"), "no bundle"),
    "a later format": (signed(lambda data: data.update(version=2)), "does not know"),
    "a format that is nearly ours": (signed(lambda data: data.update(version=True)), "does not know"),
    "no signature": (altered(lambda data: data.pop("signature")), "nobody signed"),
    "no key": (altered(lambda data: data.pop("key")), "nobody signed"),
    "an empty signature": (altered(lambda data: data.update(signature="")), "nobody signed"),
    "a signature of capitals": (
        altered(lambda data: data.update(signature=data["signature"].upper())),
        "nobody signed",
    ),
    "a signature of zeros": (altered(lambda data: data.update(signature="0" * 128)), "does not hold"),
    "another key": (altered(lambda data: data.update(key=Signer(Ed25519PrivateKey.generate()).public)), "not hold"),
    "our key, forged": (forged(RAW), "claims to be signed by this very agent"),
    "a signature for something else": (
        altered(lambda data: data.update(signature=THEIRS.sign("executor", canonical_json(data)))),
        "does not hold",
    ),
    "changed code": (altered(put("def run(args, ctx):\n    return {}\n")), "does not hold"),
    "an executor more": (altered(lambda data: data["executors"].append(data["executors"][0])), "does not hold"),
    "an executor less": (altered(lambda data: data["executors"].pop()), "does not hold"),
    "a part more": (altered(lambda data: data.update(grants=["all"])), "other parts"),
    "a part more, signed": (signed(lambda data: data.update(state="active")), "other parts"),
    "spelt otherwise": (json.dumps(json.loads(RAW), indent=1).encode(), "not spelt"),
    "a key twice": (double_key(RAW), "not spelt"),
    "something after the end": (RAW + b"\n", "not spelt"),
    "no end of line": (RAW.rstrip(), "not spelt"),
    "no executors": (signed(lambda data: data.update(executors=[])), "1 to 64"),
    "too many executors": (signed(lambda data: data.update(executors=data["executors"] * 33)), "1 to 64"),
    "executors that are none": (signed(lambda data: data.update(executors=["format_text"])), "no executor"),
    "two of one name": (signed(lambda data: data.update(executors=data["executors"][:1] * 2)), "two executors"),
    "another order": (signed(lambda data: data["executors"].reverse()), "order"),
    "a name that leads elsewhere": (signed(lambda data: data["executors"][0].update(name="../../x_y")), "a name"),
    "an absolute name": (signed(lambda data: data["executors"][0].update(name="/etc/passwd")), "a name"),
    "a name with an escape": (signed(lambda data: data["executors"][0].update(name="a_\x1b[2J")), "a name"),
    "a name that is no text": (signed(lambda data: data["executors"][0].update(name=["a_b"])), "no executor"),
    "a state": (signed(lambda data: data["executors"][0].update(state="active")), "no executor"),
    "a signature file": (signed(lambda data: data["executors"][0]["files"].update(signature={})), "other files"),
    "a file elsewhere": (
        signed(lambda data: data["executors"][0]["files"].update({"../../.keys/agent": file_of(data)})),
        "other files",
    ),
    "a missing file": (signed(lambda data: data["executors"][0]["files"].pop(folder.TESTS)), "other files"),
    "a file that is a link": (
        signed(lambda data: data["executors"][0]["files"].update({folder.SOURCE: {"link": "/etc/passwd"}})),
        "is no text",
    ),
    "a wrong digest": (signed(lambda data: file_of(data).update(sha256="0" * 64)), "not the file"),
    "an enormous manifest": (signed(put("#" * (65 << 10), folder.MANIFEST)), "larger than such a file"),
    "enormous code": (signed(put("#" * (257 << 10))), "larger than such a file"),
}


@try_each("name", list(HOSTILE))
def test_it_is_refused_with_the_reason(name: str) -> None:
    raw, reason = HOSTILE[name]
    with pytest.raises(ExecutorError, match=reason):
        bundle.unpack(raw, OURS.public)


def test_the_changes_that_are_refused_are_changes() -> None:
    """The helpers above do not break a bundle by themselves."""
    assert altered(lambda _data: None) == RAW
    assert signed(lambda _data: None) == RAW


@given(st.integers(0, len(RAW) - 1), st.integers(1, 255))
@example(len(RAW) - 1, ord("\n") ^ ord(" "))
@example(RAW.index(b'"key":"') + 7, 1)
@example(RAW.index(b'"signature":"') + 13, 0x20)
def test_any_changed_byte_is_refused(place: int, flip: int) -> None:
    changed = bytearray(RAW)
    changed[place] ^= flip
    with pytest.raises(ExecutorError):
        bundle.unpack(bytes(changed))


@given(st.integers(0, len(RAW) - 1), st.binary(max_size=3))
def test_any_byte_more_or_less_is_refused(place: int, more: bytes) -> None:
    changed = RAW[:place] + more + RAW[place + 1 :]
    if changed != RAW:
        with pytest.raises(ExecutorError):
            bundle.unpack(changed)


@given(st.binary(max_size=200))
def test_anything_else_is_no_bundle(raw: bytes) -> None:
    with pytest.raises(ExecutorError):
        bundle.unpack(raw)


class TestReading:
    def test_a_file_that_is_too_large_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / "large"
        with path.open("wb") as file:
            file.truncate(bundle.MOST_BYTES + 1)
        with pytest.raises(ExecutorError, match="larger than a bundle"):
            bundle.read(path)

    def test_a_zip_that_would_grow_is_never_unpacked(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("../../executor.py", b"0" * (20 << 20))
        with pytest.raises(ExecutorError, match="no bundle"):
            bundle.unpack(bundle.read(path))

    def test_a_pipe_that_nobody_writes_to_does_not_make_it_wait(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ExecutorError, match="not an ordinary file"):
            bundle.read(tmp_path / "pipe")

    def test_a_device_and_a_folder_are_no_bundles(self, tmp_path: Path) -> None:
        for path in (Path("/dev/zero"), tmp_path, tmp_path / "missing"):
            with pytest.raises(ExecutorError):
                bundle.read(path)


def test_who_signed_is_who_has_the_key() -> None:
    assert bundle.unpack(bundle.pack([ONE], OURS), OURS.public).key == OURS.public
    with pytest.raises(NotTrusted, match="forged"):
        bundle.unpack(forged(RAW), OURS.public)
