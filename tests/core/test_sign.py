import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core import sign
from metnos.core.errors import KeyFileError


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> sign.Signer:
    folder = tmp_path_factory.mktemp("keys")
    assert sign.make_keys(folder / "agent.key", folder / "agent.pub")
    return sign.load_signer(folder / "agent.key")


@given(message=st.binary(max_size=200), at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_any_changed_bit_breaks_a_signature(signer: sign.Signer, message: bytes, at: int, bit: int) -> None:
    signature = signer.sign("test", message)
    assert sign.verify(signer.public, "test", message, signature)
    changed = bytearray(message or b"\0")
    changed[at % len(changed)] ^= 1 << bit
    assert not sign.verify(signer.public, "test", bytes(changed), signature)


def test_a_signature_serves_one_purpose(signer: sign.Signer) -> None:
    signature = signer.sign("audit checkpoint", b"message")
    assert not sign.verify(signer.public, "archive", b"message", signature)


@pytest.mark.parametrize(("public", "signature"), [("", ""), ("zz", "zz"), ("00" * 32, "00" * 64), ("ab", "00" * 64)])
def test_nonsense_verifies_nothing_and_raises_nothing(public: str, signature: str) -> None:
    assert not sign.verify(public, "test", b"message", signature)


def test_keys_are_private_and_made_once(tmp_path: Path) -> None:
    secret, public = tmp_path / "agent.key", tmp_path / "agent.pub"
    assert sign.make_keys(secret, public)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    before = secret.read_bytes()
    assert not sign.make_keys(secret, public)
    assert secret.read_bytes() == before
    assert public.read_text().strip() == sign.load_signer(secret).public


def test_a_key_that_others_can_read_is_refused_with_the_fix(tmp_path: Path) -> None:
    secret = tmp_path / "agent.key"
    sign.make_keys(secret, tmp_path / "agent.pub")
    secret.chmod(0o640)
    with pytest.raises(KeyFileError) as caught:
        sign.load_signer(secret)
    assert f"chmod 600 {secret}" in caught.value.fix


def test_a_folder_or_a_pipe_in_the_place_of_a_key_is_none(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(KeyFileError, match="does not hold a key"):
            sign.load_signer(tmp_path / name)


def test_a_missing_broken_or_foreign_key_is_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    secret = tmp_path / "agent.key"
    with pytest.raises(KeyFileError, match="missing"):
        sign.load_signer(secret)
    secret.write_text("not a key")
    secret.chmod(0o600)
    with pytest.raises(KeyFileError, match="does not hold a key"):
        sign.load_signer(secret)
    other = generate_private_key(SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    secret.write_bytes(other)
    with pytest.raises(KeyFileError, match="another kind"):
        sign.load_signer(secret)


def test_a_key_behind_a_link_is_refused(tmp_path: Path) -> None:
    sign.make_keys(tmp_path / "real.key", tmp_path / "agent.pub")
    (tmp_path / "agent.key").symlink_to(tmp_path / "real.key")
    with pytest.raises(KeyFileError, match="cannot be read"):
        sign.load_signer(tmp_path / "agent.key")
