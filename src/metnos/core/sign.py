"""ed25519 signatures with the agent's own key.

Rules: the secret key is a PEM file of mode 0600 and is refused when others could have read it; every signature names
its purpose, so that one made for an audit checkpoint is worth nothing on an executor. Does not guarantee secrecy
against whoever owns the account that Metnos runs under.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from metnos.core import files
from metnos.core.errors import KeyFileError

_RESTORE = "Restore it from a backup made with `metnos backup --with-keys`."


@dataclass(frozen=True, slots=True)
class Signer:
    """Holds the secret key and signs."""

    _secret: Ed25519PrivateKey

    @property
    def public(self) -> str:
        """The public key as 64 hexadecimal characters."""
        return self._secret.public_key().public_bytes_raw().hex()

    def sign(self, purpose: str, message: bytes) -> str:
        """A signature over ``message`` for this ``purpose``, as hexadecimal text."""
        return self._secret.sign(_bound(purpose, message)).hex()


def verify(public: str, purpose: str, message: bytes, signature: str) -> bool:
    """Whether ``signature`` was made for this purpose and message by the owner of ``public``. Never raises."""
    try:
        Ed25519PublicKey.from_public_bytes(_from_hex(public)).verify(_from_hex(signature), _bound(purpose, message))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _from_hex(text: str) -> bytes:
    """The bytes of hexadecimal text. Raises ``ValueError`` unless it is in small letters and without spaces."""
    found = bytes.fromhex(text)
    if found.hex() != text:
        raise ValueError(f"{text!r} has capitals or spaces")
    return found


def make_keys(secret_path: Path, public_path: Path) -> bool:
    """Make a key pair unless there is one, and say whether this call made it."""
    pem = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    made = files.create(secret_path, pem, mode=files.PRIVATE_FILE)
    # The public half is always derived from the secret one that is really there, whoever made it.
    files.create(public_path, load_signer(secret_path).public.encode() + b"\n", mode=files.PRIVATE_FILE)
    return made


def load_signer(secret_path: Path) -> Signer:
    """The agent's key from its file, which must be the agent's alone."""
    try:
        descriptor = os.open(secret_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise KeyFileError(f"{secret_path} does not hold a key", fix=_RESTORE)
    except FileNotFoundError as error:
        raise KeyFileError(f"the agent's key is missing: {secret_path}", fix=f"{_RESTORE}") from error
    except OSError as error:
        raise KeyFileError(f"the agent's key cannot be read: {error.strerror}: {secret_path}", fix=_RESTORE) from error
    with os.fdopen(descriptor, "rb") as file:
        _refuse_exposed(os.fstat(file.fileno()), secret_path)
        pem = file.read(10_000)
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{secret_path} does not hold a key", fix=_RESTORE) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{secret_path} holds a key of another kind than ed25519", fix=_RESTORE)
    return Signer(key)


def _refuse_exposed(status: os.stat_result, path: Path) -> None:
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise KeyFileError(
            f"the agent's key can be read by others (mode {stat.S_IMODE(status.st_mode):04o}): {path}",
            fix=f"If nobody else uses this machine, type: chmod 600 {path}",
        )


def _bound(purpose: str, message: bytes) -> bytes:
    return b"metnos\0" + purpose.encode() + b"\0" + message
