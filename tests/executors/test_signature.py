from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given
from hypothesis import strategies as st

from executors.samples import sample_files
from metnos.core.sign import Signer
from metnos.executors import signature
from metnos.executors.folder import Content, Problem
from metnos.executors.signature import Origin, Signed
from metnos.executors.state import State

SIGNER = Signer(Ed25519PrivateKey.generate())
FILES = signature.file_digests(sample_files())
SIGNED = Signed(
    "find_files", "1.0.0", signature.identity("0" * 64, FILES), FILES, "0" * 64, Origin.OWNER, State.ACTIVE, "mine",
    datetime(2026, 11, 15, 12, 0, tzinfo=UTC), 1,
)  # fmt: skip
RAW = SIGNED.encode(SIGNER)


def test_what_was_signed_comes_back() -> None:
    assert signature.read(RAW, SIGNER.public) == SIGNED
    assert SIGNED.code == FILES["executor.py"]


HEX = RAW.index(b'"signature":"') + 13  # where the digits of the signature begin


@given(st.integers(0, len(RAW) - 1), st.integers(1, 255))
@example(next(at for at in range(HEX, len(RAW)) if RAW[at : at + 1].isalpha()), 0x20)
def test_any_changed_byte_breaks_it(at: int, by: int) -> None:
    broken = RAW[:at] + bytes([RAW[at] ^ by]) + RAW[at + 1 :]
    assert isinstance(signature.read(broken, SIGNER.public), Problem)


@given(st.integers(0, len(RAW)), st.binary(min_size=1, max_size=3))
@example(HEX, b" ")
def test_any_added_byte_breaks_it(at: int, extra: bytes) -> None:
    assert isinstance(signature.read(RAW[:at] + extra + RAW[at:], SIGNER.public), Problem)


@given(st.binary(max_size=200))
def test_rubbish_is_no_signature(raw: bytes) -> None:
    assert isinstance(signature.read(raw, SIGNER.public), Problem)


def test_another_key_and_another_purpose() -> None:
    other = Signer(Ed25519PrivateKey.generate())
    found = signature.read(SIGNED.encode(other), SIGNER.public)
    assert isinstance(found, Problem)
    assert found.wrong == "key"
    forged = RAW.replace(SIGNER.sign(signature.PURPOSE, SIGNED.message()).encode(), b"0" * 128)
    assert isinstance(signature.read(forged, SIGNER.public), Problem)
    misused = RAW.replace(
        SIGNER.sign(signature.PURPOSE, SIGNED.message()).encode(), SIGNER.sign("audit head", SIGNED.message()).encode()
    )
    assert isinstance(signature.read(misused, SIGNER.public), Problem)


def test_comparing_names_every_difference() -> None:
    files = sample_files()
    assert signature.compare(Content("find_files", files, ()), SIGNED) == []
    changed = {**files, "executor.py": b"other"}
    del changed["tests.toml"]
    found = signature.compare(Content("read_files", changed, ()), SIGNED)
    assert {problem.wrong for problem in found} == {"name", "changed:executor.py", "missing:tests.toml"}


def test_the_identity_changes_with_any_file_and_with_the_manifest() -> None:
    seen = {signature.identity("0" * 64, FILES), signature.identity("1" * 64, FILES)}
    for file in FILES:
        seen.add(signature.identity("0" * 64, {**FILES, file: "f" * 64}))
    assert len(seen) == 5


def test_a_reason_is_one_bounded_line() -> None:
    assert signature.clean_reason(" a\n\x1b[31mb  c ") == "a [31mb c"
    assert len(signature.clean_reason("x" * 1000)) == 300
