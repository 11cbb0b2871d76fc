"""Sealing a few bytes under a passphrase: scrypt for the key, AES-256-GCM for the content.

Rules: a wrong passphrase and a changed byte are told apart from neither: both open nothing. The cost (128 MB and about
a third of a second) is written into the sealed bytes, so that it can grow later; one that would cost more than sixteen
times as much is refused.
"""

import base64
import json
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

_N, _R, _P = 1 << 17, 8, 1
_MAX_N = _N << 4


def seal(plain: bytes, passphrase: str) -> bytes:
    """``plain`` as text that only the passphrase opens."""
    salt, nonce = os.urandom(16), os.urandom(12)
    cipher = AESGCM(_key(passphrase, salt, _N)).encrypt(nonce, plain, None)
    parts = {"salt": salt, "nonce": nonce, "cipher": cipher}
    encoded = {name: base64.b64encode(part).decode() for name, part in parts.items()}
    return json.dumps({"kdf": "scrypt", "n": _N, **encoded}).encode()


def unseal(sealed: bytes, passphrase: str) -> bytes | None:
    """What was sealed, or nothing if the passphrase is wrong or the bytes are not as they were."""
    try:
        data = json.loads(sealed)
        salt, nonce, cipher = (base64.b64decode(data[name], validate=True) for name in ("salt", "nonce", "cipher"))
        if type(data["n"]) is not int or data["n"] > _MAX_N:
            return None
        return AESGCM(_key(passphrase, salt, data["n"])).decrypt(nonce, cipher, None)
    except (InvalidTag, ValueError, KeyError, TypeError):
        return None


def _key(passphrase: str, salt: bytes, n: int) -> bytes:
    return Scrypt(salt=salt, length=32, n=n, r=_R, p=_P).derive(passphrase.encode())
