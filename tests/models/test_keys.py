import os
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordSetError

from metnos.core.errors import ModelError
from metnos.models import keys

KEY = "sk-0123456789abcdef"


def test_nothing_said_is_no_key(tmp_path: Path) -> None:
    assert keys.find("", tmp_path) == ""


def test_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    assert keys.find("env:SOME_KEY", tmp_path) == KEY
    with pytest.raises(ModelError, match="no key at env:OTHER") as caught:
        keys.find("env:OTHER", tmp_path)
    assert caught.value.kind == "key"


def test_a_file_is_private_and_found_again(tmp_path: Path) -> None:
    folder = tmp_path / ".keys"
    assert keys.store_in_file("cloud", KEY, folder) == "file:cloud"
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert keys.find("file:cloud", folder) == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o601])
def test_a_file_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    keys.store_in_file("cloud", KEY, tmp_path)
    (tmp_path / "cloud.token").chmod(mode)
    with pytest.raises(ModelError, match="others can read") as caught:
        keys.find("file:cloud", tmp_path)
    assert KEY not in str(caught.value)


def test_a_link_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_text(KEY)
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "linked.token").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe.token", 0o600)
    for name in ("linked", "pipe"):
        with pytest.raises(ModelError):
            keys.find(f"file:{name}", tmp_path)


def test_no_setting_leads_to_the_agents_own_key(tmp_path: Path) -> None:
    (tmp_path / "agent.key").write_text("PRIVATE")
    (tmp_path / "agent.key").chmod(0o600)
    for spec in ("file:agent.key", "file:../.keys/agent.key", "file:agent.key\0", "file:", "file:.", "file:.."):
        with pytest.raises(ModelError) as caught:
            keys.find(spec, tmp_path)
        assert "PRIVATE" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n", "two words", "line\nline", "é" * 10, "x" * 5000, "\x1b[31mred"])
def test_what_is_no_key_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "odd.token").write_text(content, encoding="utf-8")
    (tmp_path / "odd.token").chmod(0o600)
    with pytest.raises(ModelError):
        keys.find("file:odd", tmp_path)
    with pytest.raises(ModelError):
        keys.store_in_file("odd", content, tmp_path)


def test_an_unknown_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no place 'vault'"):
        keys.find("vault:x", tmp_path)


class Drawer(KeyringBackend):
    """A keyring in memory, or one that fails."""

    priority = 1  # type: ignore[assignment]

    def __init__(self, works: bool) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.works = works

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if not self.works:
            raise PasswordSetError(f"cannot store {password}")
        self.held[service, username] = password


@pytest.mark.slow
def test_the_keyring(tmp_path: Path) -> None:
    before = keyring.get_keyring()
    try:
        keyring.set_keyring(Drawer(works=True))
        assert keys.store_in_keyring("cloud", KEY) == "keyring:cloud"
        assert keys.find("keyring:cloud", tmp_path) == KEY
        keyring.set_keyring(Drawer(works=False))
        with pytest.raises(ModelError, match="keyring cannot be used") as caught:
            keys.store_in_keyring("cloud", KEY)
        assert KEY not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    finally:
        keyring.set_keyring(before)


def test_no_keyring_at_all_is_said_plainly(tmp_path: Path) -> None:
    from keyring.backends.fail import Keyring

    before = keyring.get_keyring()
    try:
        keyring.set_keyring(Keyring())
        with pytest.raises(ModelError, match="keyring cannot be used here"):
            keys.find("keyring:cloud", tmp_path)
        with pytest.raises(ModelError, match="keyring cannot be used here"):
            keys.store_in_keyring("cloud", KEY)
    finally:
        keyring.set_keyring(before)
