from datetime import UTC, datetime
from pathlib import Path

import pytest

from metnos.night import desktop
from metnos.night.notices import Notice

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def notices(*texts: str) -> list[Notice]:
    return [Notice(number, NOW, "reminder", text) for number, text in enumerate(texts)]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Writes down what it was called with, one argument on each line."""
    path = tmp_path / "notify-send"
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/said\n')
    path.chmod(0o755)
    return path


def said(program: Path) -> list[str]:
    return program.with_name("said").read_text().splitlines()


def test_it_is_shown_as_plain_text_and_never_as_an_option(program: Path) -> None:
    assert desktop.show(notices("--help <b>x</b> & \x1b[31m\n"), program) == 1
    assert said(program) == ["--app-name=Metnos", "--", "Metnos", "--help &lt;b&gt;x&lt;/b&gt; &amp;  [31m "]


def test_many_are_counted(program: Path) -> None:
    assert desktop.show(notices(*"abcdef"), program) == 4
    assert said(program)[3::4] == ["a", "b", "c", "… and 3 more"]


def test_it_never_fails(tmp_path: Path, program: Path) -> None:
    assert desktop.show(notices("a"), None) == 0
    assert desktop.show(notices("a"), tmp_path / "missing") == 0
    assert desktop.show([], program) == 0
    program.write_text("#!/bin/sh\nexit 1\n")
    assert desktop.show(notices("a", "b"), program) == 0


def test_one_that_hangs_is_left_alone(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop, "_PATIENCE_S", 0.1)
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    assert desktop.show(notices("a", "b"), program) == 0


def test_it_is_only_taken_from_the_system(monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert desktop.find() != program
    monkeypatch.setattr(desktop, "_FOLDERS", (str(program.parent),))
    assert desktop.find() == program
