"""Where the key of a model server is: a variable, the system's keyring, or a file of the workspace.

Rules: the settings say where a key is, never what it is; it is looked up when a call needs it and kept nowhere else. A
key file is named apart from the agent's own keys, so that no setting can have those sent anywhere; like them it is
refused when others could have read it. Messages name the place and never the key.
"""

import os
import re
import stat
from pathlib import Path

from metnos.core import files
from metnos.core.errors import ModelError
from metnos.core.settings import variable

_SERVICE = "metnos"
_SUFFIX = ".token"
_LONGEST = 4096
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_KEY = re.compile(r"[\x21-\x7e]{1,4096}")


def find(spec: str, keys_folder: Path) -> str:
    """The key that ``spec`` points to (``env:NAME``, ``keyring:NAME``, ``file:NAME``); empty when it points nowhere."""
    if not spec:
        return ""
    kind, _, name = spec.partition(":")
    if _NAME.fullmatch(name) is None:
        raise _missing("that is no place of a key", "Use env:NAME, keyring:NAME or file:NAME.")
    if kind == "env":
        return _checked(variable(name), spec, f"Set the variable {name}, or keep the key elsewhere.")
    if kind == "keyring":
        return _checked(_from_keyring(name), spec, f"Store it: metnos model key --keyring {name}")
    if kind == "file":
        return _checked(_from_file(keys_folder / f"{name}{_SUFFIX}"), spec, f"Store it: metnos model key {name}")
    raise _missing(f"there is no place {kind!r} for a key", "Use env:NAME, keyring:NAME or file:NAME.")


def check(name: str, key: str) -> None:
    """Raise unless a key of that name can be stored."""
    if _NAME.fullmatch(name) is None or name.startswith("_"):
        raise _missing(
            "that is no name for a key", "Use letters and digits first, then also dots, dashes, underscores."
        )
    if _KEY.fullmatch(key) is None:
        raise _missing("that is no key", "A key is one line of printable characters, without blanks.")


def store_in_file(name: str, key: str, keys_folder: Path) -> str:
    """Keep a key in the workspace; returns what the settings say for it."""
    check(name, key)
    files.private_folder(keys_folder)
    files.replace(keys_folder / f"{name}{_SUFFIX}", key.encode() + b"\n", mode=files.PRIVATE_FILE)
    return f"file:{name}"


def store_in_keyring(name: str, key: str) -> str:
    """Keep a key in the system's keyring; returns what the settings say for it."""
    import keyring
    from keyring.errors import KeyringError

    check(name, key)
    failed = False
    try:
        keyring.set_password(_SERVICE, name, key)
    except KeyringError:
        failed = True
    if failed:  # raised out here: the library's own error could hold the key
        raise _no_keyring()
    return f"keyring:{name}"


def _from_keyring(name: str) -> str:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, name) or ""
    except KeyringError:
        raise _no_keyring() from None


def _from_file(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _missing(f"the key in {path} cannot be read: {error.strerror}", "Store it anew.") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise _missing(f"{path} is no file", "Remove it and store the key anew.")
        if stat.S_IMODE(status.st_mode) & 0o077:
            mode = f"{stat.S_IMODE(status.st_mode):04o}"
            raise _missing(
                f"others can read the key in {path} (mode {mode})", f"Change the key, then: chmod 600 {path}"
            )
        return file.read(_LONGEST + 2).decode("ascii", errors="replace").strip()


def _checked(key: str, spec: str, fix: str) -> str:
    if not key:
        raise _missing(f"there is no key at {spec}", fix)
    if _KEY.fullmatch(key) is None:
        raise _missing(f"what {spec} holds is no key", "A key is one line of printable characters, without blanks.")
    return key


def _no_keyring() -> ModelError:
    return _missing("the system's keyring cannot be used here", "Keep the key in a file: metnos model key NAME")


def _missing(what: str, fix: str) -> ModelError:
    return ModelError(what, kind="key", fix=fix)
