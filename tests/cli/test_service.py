import json
import os
import sys
from pathlib import Path

import pytest

from metnos.api import service
from metnos.cli import FAILED, FINE, WRONG_USAGE, main
from metnos.core.workspace import Workspace

# As systemctl answers: it notes what it is asked, and knows whether the service is active.
FAKE = """#!/bin/sh
echo "$@" >> "{folder}/asked"
[ "$1" = --user ] || exit 9
case "$2" in
    show-environment) exit "$(cat "{folder}/reachable")" ;;
    is-active) cat "{folder}/active"; [ "$(cat "{folder}/active")" = active ] ;;
    is-enabled) echo enabled ;;
    start|restart) echo active > "{folder}/active" ;;
    disable) echo inactive > "{folder}/active" ;;
    enable) if [ -e "{folder}/broken" ]; then echo "Unit is masked." >&2; exit 1; fi ;;
esac
"""


class Systemd:
    """The outermost seam: the program `systemctl`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "systemctl"
        program.write_text(FAKE.format(folder=folder))
        program.chmod(0o755)
        self.says("reachable", "0")
        self.says("active", "inactive")

    def says(self, name: str, value: str) -> None:
        (self.folder / name).write_text(value + "\n")

    @property
    def asked(self) -> list[str]:
        asked = self.folder / "asked"
        lines = asked.read_text().splitlines() if asked.exists() else []
        return [line.removeprefix("--user ") for line in lines]

    @property
    def did(self) -> list[str]:
        return [line for line in self.asked if not line.startswith(("is-", "show-"))]


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Systemd:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Systemd(folder)


def run(workspace: Workspace, *words: str) -> int:
    return main(["--workspace", str(workspace.root), "service", *words])


def unit_of(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "home/.config/systemd/user").glob("metnos*.service")
    return found


def test_installing_writes_the_unit_and_starts_it(
    workspace: Workspace, systemd: Systemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "install") == FINE
    unit = unit_of(tmp_path)
    text = unit.read_text()
    assert f"ExecStart={sys.executable} -P -m metnos --workspace {workspace.root} serve\n" in text
    assert str(unit) in capsys.readouterr().out
    assert systemd.did == ["daemon-reload", f"enable {unit.name}", f"start {unit.name}"]


@pytest.mark.usefixtures("systemd")
@pytest.mark.parametrize("mode", [0o755, 0o4755])
def test_a_usual_bubblewrap_that_is_setuid_keeps_its_privilege(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    program = tmp_path / "bwrap"
    program.touch()
    program.chmod(mode)
    monkeypatch.setattr(service, "find_bwrap", lambda _named: program)
    assert run(workspace, "install") == FINE
    assert ("NoNewPrivileges" in unit_of(tmp_path).read_text()) == (mode == 0o755)


def test_installing_again_starts_it_anew(workspace: Workspace, systemd: Systemd, tmp_path: Path) -> None:
    assert run(workspace, "install") == FINE
    assert run(workspace, "install") == FINE
    assert systemd.did[-1] == f"restart {unit_of(tmp_path).name}"


def test_printing_changes_nothing(
    workspace: Workspace, systemd: Systemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "install", "--print") == FINE
    assert "[Service]" in capsys.readouterr().out
    assert not (tmp_path / "home/.config").exists()
    assert systemd.asked == []


def test_where_systemd_cannot_be_reached_it_says_what_to_type(
    workspace: Workspace, systemd: Systemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systemd.says("reachable", "1")
    assert run(workspace, "install") == FINE
    out = capsys.readouterr().out
    assert "systemctl --user daemon-reload" in out
    assert f"systemctl --user enable --now {unit_of(tmp_path).name}" in out
    assert systemd.did == []


def test_where_there_is_no_systemd_nothing_is_written(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert run(workspace, "install") == FAILED
    said = capsys.readouterr().err
    assert "no systemd" in said
    assert "metnos serve" in said
    assert not (tmp_path / "home/.config").exists()
    assert run(workspace, "remove") == FAILED
    assert run(workspace, "status") == FAILED
    assert "not installed" in capsys.readouterr().out


def test_a_unit_that_is_not_ours_is_left_alone_unless_it_is_said(
    workspace: Workspace, systemd: Systemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "install") == FINE
    unit = unit_of(tmp_path)
    ours = unit.read_text()
    for text, word in (
        ("[Unit]\nDescription=mine\n", "not ours"),
        (ours.replace("RestartSec=5", "RestartSec=50"), "changed by hand"),
        (ours.replace(f"# Workspace: {workspace.root}", "# Workspace: /srv/other"), "another workspace"),
    ):
        unit.write_text(text)
        for command in ("install", "remove"):
            assert run(workspace, command) == WRONG_USAGE
            assert word in capsys.readouterr().err
        assert unit.read_text() == text
    assert run(workspace, "install", "--replace") == FINE
    assert unit.read_text() == ours


def test_removing_stops_it_and_a_second_time_finds_nothing(
    workspace: Workspace, systemd: Systemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "install") == FINE
    unit = unit_of(tmp_path)
    assert run(workspace, "remove") == FINE
    assert not unit.exists()
    assert systemd.did[-2:] == [f"disable --now {unit.name}", "daemon-reload"]
    assert run(workspace, "remove") == FAILED
    assert "There is no" in capsys.readouterr().out


def test_what_systemd_refuses_is_told_in_its_words(
    workspace: Workspace, systemd: Systemd, capsys: pytest.CaptureFixture[str]
) -> None:
    systemd.says("broken", "")
    assert run(workspace, "install") == FAILED
    said = capsys.readouterr().err
    assert "Unit is masked." in said
    assert "journalctl --user" in said


def test_the_status_says_what_is_so(
    workspace: Workspace, systemd: Systemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "status", "--json") == FAILED
    assert json.loads(capsys.readouterr().out)["installed"] is False
    run(workspace, "install")
    capsys.readouterr()
    assert run(workspace, "status", "--json") == FAILED  # the service that systemd believes in answers nobody
    found = json.loads(capsys.readouterr().out)
    assert (found["installed"], found["changed"], found["active"], found["answers"]) == (True, False, "active", False)
    unit_of(tmp_path).write_text("[Unit]\n")
    run(workspace, "status")
    assert "changed by hand" in " ".join(capsys.readouterr().err.split())


def test_a_workspace_that_is_not_there_is_not_served(
    blank: Workspace, systemd: Systemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(blank, "install") == FAILED
    assert "metnos init" in capsys.readouterr().err
    assert systemd.did == []
