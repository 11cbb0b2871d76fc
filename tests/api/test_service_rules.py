import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.api import service_rules as rules

HOME = Path("/home/someone/.local/share/metnos")
PATHS = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=40).map(
    lambda name: Path(f"/srv/{name}")
)


def made(workspace: Path = HOME, **more: bool) -> rules.Unit:
    return rules.unit(workspace, "/opt/venv/bin/python", {"PATH": "/opt/venv/bin:/usr/bin"}, default=True, **more)


def command_of(unit: rules.Unit) -> str:
    return next(line for line in unit.text.splitlines() if line.startswith("ExecStart="))


def read_by_systemd(line: str) -> list[str]:
    """A command as `man systemd.service` says that it is read: quotes, C-like escapes, specifiers, variables."""
    words, word, inside, place = list[str](), "", False, 0
    while place < len(line):
        char = line[place]
        if char == '"':
            inside = not inside
        elif char == "\\" and inside:
            place += 1
            length = {"x": 2, "U": 8}.get(line[place], 0)
            word += chr(int(line[place + 1 : place + 1 + length], 16)) if length else line[place]
            place += length
        elif char == " " and not inside:
            words.append(word)
            word = ""
        else:
            word += char
        place += 1
    return [each.replace("%%", "%").replace("$$", "$") for each in (*words, word)]


def test_the_usual_workspace_has_a_plain_name_and_others_one_each() -> None:
    assert rules.name_of(HOME, default=True) == "metnos.service"
    one, other = (rules.name_of(Path(f"/srv/{name}/My agent!"), default=False) for name in "ab")
    assert one.startswith("metnos-my-agent-")
    assert one != other


@given(PATHS)
def test_whatever_a_folder_is_called_systemd_reads_the_command_back(workspace: Path) -> None:
    unit = made(workspace)
    words = read_by_systemd(command_of(unit).removeprefix("ExecStart="))
    assert words == ["/opt/venv/bin/python", "-P", "-m", "metnos", "--workspace", str(workspace), "serve"]
    assert all(char.isprintable() or char == "\n" for char in unit.text)
    assert len([line for line in unit.text.split("\n") if line.startswith("ExecStart=")]) == 1
    assert rules.read(unit.text) == rules.Found(True, rules.printable(str(workspace)), True)


def test_one_changed_letter_shows_and_another_s_unit_is_not_ours() -> None:
    text = made().text
    assert rules.read(text).unchanged
    assert rules.read(text.replace("RestartSec=5", "RestartSec=6")) == rules.Found(True, str(HOME), False)
    for foreign in ("", "[Unit]\n", text.split("\n", 1)[1], text.split("\n")[0]):
        assert not rules.read(foreign).ours


def test_namespaces_stay_allowed_and_a_setuid_bubblewrap_keeps_its_privilege() -> None:
    keys = {line.partition("=")[0] for line in made().text.splitlines() if not line.startswith("#")}
    assert "NoNewPrivileges" in keys
    # Each of these would keep bubblewrap from making its sandbox, or needs a mount namespace itself.
    assert not keys & {
        "RestrictNamespaces",
        "PrivateUsers",
        "ProtectSystem",
        "PrivateTmp",
        "ProtectHome",
        "PrivateDevices",
    }
    assert {"Restart", "KillSignal", "TimeoutStopSec", "UMask"} <= keys
    assert "NoNewPrivileges" not in made(bwrap_is_setuid=True).text


def test_a_file_of_the_folder_it_is_started_in_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('taken over')")
    command = [*rules.command_to_serve(tmp_path / "workspace", sys.executable), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    # By a Python without that, the file is taken: a check of the check.
    bare = [sys.executable, "-c", "import click"]
    assert subprocess.run(bare, cwd=tmp_path, capture_output=True, timeout=300).returncode == 1


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_itself_finds_nothing_wrong(tmp_path: Path) -> None:
    unit = rules.unit(
        tmp_path / 'my "odd" 100% folder', "/usr/bin/env", {"PATH": "/usr/bin", "XDG_DATA_HOME": "/a b"}, default=False
    )
    path = tmp_path / unit.name
    path.write_text(unit.text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--user", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    complaints = [line for line in done.stderr.splitlines() if unit.name in line]
    assert complaints == []
