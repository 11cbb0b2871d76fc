"""Each command by its effects."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import support
from cli.terminal import on_a_terminal
from cli.warm import metnos
from metnos.app import App, read_backup
from metnos.core.workspace import Workspace
from metnos.law.principal import at_terminal
from support import PROGRAM, Ran, Say

HOME_WORKSPACE = Path(".local/share/metnos")


def data(ran: Ran) -> object:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


class TestInit:
    def test_makes_the_default_workspace_once(self, tmp_path: Path) -> None:
        first = support.metnos("init")
        root = tmp_path / "home" / HOME_WORKSPACE
        assert f"Workspace ready at {root}" in first.out
        assert "SOUL.md" in first.out
        again = metnos("init")
        assert (again.code, "nothing was changed" in again.out) == (0, True)
        assert data(metnos("init", "--json")) == {"workspace": str(root), "made": []}

    def test_elsewhere_by_option_or_variable(self, tmp_path: Path, say: Say) -> None:
        say("--workspace", str(tmp_path / "named"), "init")
        say("init", METNOS_HOME=str(tmp_path / "variable"))
        assert (tmp_path / "named" / "SOUL.md").exists()
        assert (tmp_path / "variable" / "SOUL.md").exists()
        assert not (tmp_path / "home" / HOME_WORKSPACE).exists()

    def test_a_place_that_cannot_be(self, tmp_path: Path, say: Say) -> None:
        (tmp_path / "file").write_text("mine")
        ran = say("--workspace", str(tmp_path / "file"), "init")
        assert ran.code == 1
        assert "is a file, not a folder" in ran.err


class TestDoctor:
    def test_green_with_a_real_probe(self, root: Path, say: Say) -> None:
        ran = metnos("doctor")
        assert ran.code == 0
        assert "✓ sandbox" in ran.out
        assert "the same program outside could" in ran.out
        found = data(say("doctor", "--json"))
        assert isinstance(found, dict)
        assert found["well"] is True
        assert {check["name"] for check in found["checks"]} >= {"python", "sqlite", "sandbox", "disk", "model", "clock"}

    def test_red_exits_with_1_and_says_what_to_type(self, root: Path, say: Say) -> None:
        (root / ".keys").chmod(0o755)
        ran = say("doctor")
        assert ran.code == 1
        assert f"→ chmod go-rwx {root / '.keys'}" in ran.out
        assert "checks need mending" in ran.out
        assert json.loads(say("doctor", "--json").out)["well"] is False


class TestHome:
    def test_the_first_start_makes_everything_and_says_what_next(self, tmp_path: Path) -> None:
        ran = metnos()
        assert ran.code == 0, ran.err
        assert "First start: making a workspace" in ran.out
        assert "All is well" in ran.out
        assert "0  perimeter:" in ran.out
        assert "metnos audit tail" in ran.out
        assert "First start" not in metnos().out

    def test_when_something_is_red_it_says_that_alone(self, root: Path, say: Say) -> None:
        (root / "SOUL.md").write_text("")
        ran = say()
        assert ran.code == 1
        assert "✗ constitution" in ran.out


class TestConfig:
    def test_set_show_and_path(self, root: Path, say: Say) -> None:
        assert say("config", "path").out.strip() == str(root / "metnos.toml")
        assert say("config", "set", "disk.need_free_mb", "7").out == "disk.need_free_mb = 7\n"
        assert say("config", "show", "disk.need_free_mb").out == "7\n"
        rows = data(say("config", "show", "--json"))
        assert {"key": "disk.need_free_mb", "value": 7, "origin": "file"} in rows
        assert {"key": "disk.warn_free_mb", "value": 1024, "origin": "default"} in rows

    def test_a_variable_wins_and_is_said(self, root: Path, say: Say) -> None:
        assert say("config", "show", "disk.need_free_mb", METNOS_DISK__NEED_FREE_MB="9").out == "9\n"
        ran = say("config", "set", "disk.need_free_mb", "7", METNOS_DISK__NEED_FREE_MB="9")
        assert "METNOS_DISK__NEED_FREE_MB still wins" in ran.err

    def test_a_wrong_value_is_refused_with_the_reason(self, root: Path, say: Say) -> None:
        ran = say("config", "set", "disk.need_free_mb", "lots")
        assert ran.code == 2
        assert "does not fit" in ran.err

    def test_two_at_once_lose_nothing(self, root: Path) -> None:
        wanted = {
            "disk.need_free_mb": "3",
            "disk.warn_free_mb": "5",
            "turn.show": "9",
            "models.main.name": "m",
        }
        threads = [threading.Thread(target=metnos, args=("config", "set", key, value)) for key, value in wanted.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = data(metnos("config", "show", "--json"))
        assert isinstance(rows, list)
        assert {row["key"]: str(row["value"]) for row in rows if row["origin"] == "file"} == wanted


class TestAudit:
    def test_tail_show_and_verify(self, root: Path, say: Say) -> None:
        lines = data(say("audit", "tail", "--json"))
        assert isinstance(lines, list)
        kinds = [
            "key installed",
            "workspace created",
            "own code pinned",
            "constitution pinned",
            "builtins installed",
            "builtins installed",
        ]
        assert [line["kind"] for line in lines] == kinds
        assert "builtins installed" in say("audit", "tail", "-n", "2").out
        assert "key installed" not in say("audit", "tail", "-n", "2").out
        assert data(say("audit", "show", "2", "--json")) == lines[1]
        assert lines[1]["hash"] in say("audit", "show", "2").out
        assert say("audit", "verify").out.startswith("sound: 6 lines")
        assert say("audit", "show", "99").code == 1

    def test_tampering_is_found_and_named(self, root: Path, say: Say) -> None:
        (log,) = (root / ".audit").iterdir()
        log.write_bytes(log.read_bytes().replace(b"workspace created", b"workspace crested"))
        ran = say("audit", "verify")
        assert ran.code == 1
        assert re.search(rf"^changed +{log.name}:2 ", ran.out, re.MULTILINE)
        found = json.loads(say("audit", "verify", "--json").out)
        assert (found["sound"], found["faults"][0]["wrong"]) == (False, "changed")

    def test_a_hand_edit_of_the_constitution_is_noticed(self, root: Path, say: Say) -> None:
        soul = root / "SOUL.md"
        soul.write_text(soul.read_text().replace("double approval", "some approval"))
        ran = say("audit", "tail", "-n", "1")
        assert "SOUL.md was edited since the last start" in ran.err
        assert "constitution modified" in ran.out
        assert say("audit", "tail", "-n", "1").err == ""

    def test_following_shows_new_lines(self, root: Path, say: Say) -> None:
        with subprocess.Popen(
            [str(PROGRAM), "audit", "tail", "--follow"], stdout=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout is not None
            try:
                seen = [running.stdout.readline() for _ in range(7)]
                say("config", "set", "disk.need_free_mb", "7")
                seen += [running.stdout.readline() for _ in range(2)]
                running.send_signal(signal.SIGINT)
                running.wait(120)
            finally:
                running.kill()
        assert "constitution pinned" in seen[4]
        assert all(word in seen[7] for word in ("channel=script", "phase=intent", "setting=disk.need_free_mb"))
        assert all(word in seen[8] for word in ("channel=script", "phase=done", "setting=disk.need_free_mb"))

    def test_it_can_be_read_when_nothing_else_works(self, root: Path, say: Say) -> None:
        (root / "SOUL.md").unlink()
        shutil.rmtree(root / ".keys")
        ran = say("audit", "tail")
        assert ran.code == 0
        assert "constitution pinned" in ran.out
        assert "the agent's key is missing" in ran.err
        assert say("audit", "verify").code == 1


def word_of(archive: str | Path) -> str:
    """What a person types to restore it."""
    return read_backup(Path(archive)).public_key[:8]


class TestBackupAndRestore:
    def test_there_and_back(self, root: Path, tmp_path: Path, say: Say) -> None:
        (root / "USER.md").write_text("as it was")
        made = data(metnos("backup", "--to", str(tmp_path), "--json"))
        assert isinstance(made, dict)
        (root / "USER.md").write_text("newer")
        refused = say("restore", made["path"])
        assert (refused.code, "--replace" in refused.err) == (1, True)
        looked = say("restore", made["path"], "--dry-run")
        assert "is whole" in looked.out
        assert (root / "USER.md").read_text() == "newer"
        piped = metnos("restore", made["path"], "--replace", stdin=f"{word_of(made['path'])}\nyes\n")
        assert (piped.code, "only a person may" in piped.err) == (1, True)
        assert (root / "USER.md").read_text() == "newer"
        done = on_a_terminal("restore", made["path"], "--replace", typed=[("Type ", word_of(made["path"]))])
        assert done.code == 0, done.out
        assert "is kept at" in done.out
        assert (root / "USER.md").read_text() == "as it was"
        assert say("audit", "verify").code == 0

    def test_with_keys(self, root: Path, tmp_path: Path, say: Say) -> None:
        secret = tmp_path / "passphrase"
        secret.write_text("correct horse\n")
        secret.chmod(0o644)
        target = str(tmp_path / "b.tar.gz")
        refused = say("backup", "--to", target, "--with-keys", "--passphrase-file", str(secret))
        assert (refused.code, "chmod 600" in refused.err) == (1, True)
        secret.chmod(0o600)
        assert say("backup", "--to", target, "--with-keys", "--passphrase-file", str(secret)).code == 0
        elsewhere = ("--workspace", str(tmp_path / "elsewhere"))
        line = (*elsewhere, "restore", target, "--with-keys", "--passphrase-file", str(secret), "--json")
        nobody = say(*line)
        assert (nobody.code, "only a person" in nobody.err) == (1, True)
        assert not (tmp_path / "elsewhere").exists()
        wrong = on_a_terminal(*line, typed=[("Type ", "yes")])
        assert (wrong.code, "nothing was done" in wrong.out) == (1, True)
        assert not (tmp_path / "elsewhere").exists()
        done = on_a_terminal(*line, typed=[("Type ", word_of(target))])
        assert (done.code, '"keys": "from the backup"' in done.out) == (0, True)
        assert (tmp_path / "elsewhere" / ".keys" / "agent.key").read_bytes() == (
            root / ".keys" / "agent.key"
        ).read_bytes()

    def test_a_passphrase_is_asked_for_twice_and_never_shown(self, root: Path, tmp_path: Path) -> None:
        line = ("backup", "--with-keys", "--to")
        wrong = on_a_terminal(
            *line,
            str(tmp_path / "1.tar.gz"),
            typed=[
                ("Passphrase", "correct horse"),
                ("Repeat", "wrong horse"),
                ("Passphrase", "correct horse"),
                ("Repeat", "correct horse"),
            ],
        )
        assert (wrong.code, wrong.out.count("Passphrase:")) == (0, 2)
        assert "do not match" in wrong.out
        assert "horse" not in wrong.out
        assert "backing up: " in wrong.out
        elsewhere = ("--workspace", str(tmp_path / "elsewhere"), "restore", str(tmp_path / "1.tar.gz"), "--with-keys")
        assert on_a_terminal(*elsewhere, typed=[("Passphrase", "wrong horse")]).code == 1
        word = word_of(tmp_path / "1.tar.gz")
        done = on_a_terminal(*elsewhere, typed=[("Passphrase", "correct horse"), ("Type ", word)])
        assert (done.code, "The agent's key: from the backup" in done.out) == (0, True)

    def test_another_agents_backup_shows_what_it_brings(self, root: Path, tmp_path: Path, say: Say) -> None:
        opened = App.open(Workspace(root))
        for name, value in (("policy.autonomy", "full"), ("models.main.url", "http://127.0.0.1:9/v1")):
            opened.set_setting(name, value, at_terminal())
        servers = {"notes": {"command": ["/tmp/evil", "a b"], "url": "", "env": {}, "key": ""}}
        (root / "mcp.json").write_text(json.dumps({"servers": servers}))
        (root / "SOUL.md").write_text((root / "SOUL.md").read_text() + "\nAnd \x1b[2Jbe kind.\n")
        path = tmp_path / "b.tar.gz"
        assert say("backup", "--to", str(path)).code == 0
        elsewhere = ("--workspace", str(tmp_path / "elsewhere"), "restore", str(path))
        ran = on_a_terminal(*elsewhere, typed=[("Type ", word_of(path))])
        assert ran.code == 0
        for shown in ("policy.autonomy full", "http://127.0.0.1:9/v1", "/tmp/evil", "be kind",
                      "metnos mcp confirm notes", word_of(path)):  # fmt: skip
            assert shown in ran.out
        assert "\x1b[2J" not in ran.out

    def test_keys_that_are_not_there(self, root: Path, tmp_path: Path, say: Say) -> None:
        say("backup", "--to", str(tmp_path / "b.tar.gz"))
        assert say("restore", str(tmp_path / "b.tar.gz"), "--with-keys", "--replace").code == 2

    def test_a_damaged_archive(self, root: Path, tmp_path: Path, say: Say) -> None:
        (tmp_path / "b.tar.gz").write_bytes(os.urandom(1000))
        ran = say("restore", str(tmp_path / "b.tar.gz"), "--replace")
        assert (ran.code, "is damaged" in ran.err) == (1, True)

    def test_links_are_named_and_left_out(self, root: Path, tmp_path: Path, say: Say) -> None:
        (root / "memory" / "link").symlink_to("/etc/passwd")
        ran = say("backup", "--to", str(tmp_path / "b.tar.gz"))
        assert "memory/link" in ran.err
