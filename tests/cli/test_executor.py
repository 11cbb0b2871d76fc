"""``metnos executor`` as a person meets it: the installed program, a pseudo-terminal, and every message."""

import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.terminal import on_a_terminal, plain
from cli.warm import metnos
from executors.hands import mutator
from executors.samples import write_sample
from grimoire.traces import step
from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.executors import fitness
from signing import sign
from support import Ran, Say

WRITE = """
def run(args, ctx):
    ctx.write(args["target"], "new")
    return {"results": [{"any": "done"}]}
"""

pytestmark = pytest.mark.usefixtures("root", "typist")


@pytest.fixture
def home(root: Path) -> Path:
    """The home, with a folder of two files."""
    found = root.parents[2]
    (found / "box").mkdir()
    for name in ("a.txt", "b.txt"):
        (found / "box" / name).write_text(f"{name}\n")
    return found


def data(ran: Ran) -> Any:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


class TestSeeing:
    def test_list(self, say: Say) -> None:
        ran = say("executor", "list")
        assert ran.code == 0
        assert ran.out.splitlines()[0].split() == ["name", "state", "version", "from", "purpose"]
        row = next(line for line in ran.out.splitlines() if line.startswith("find_files "))
        assert row.split()[1:4] == ["active", "1.0.0", "builtin"]

    def test_list_of_one_state_and_as_json(self, say: Say) -> None:
        assert say("executor", "disable", "find_files").code == 0
        rows = data(say("executor", "list", "--state", "disabled", "--json"))
        assert [(row["name"], row["reason"]) for row in rows] == [("find_files", "switched off by the owner")]
        assert say("executor", "list", "--state", "sleeping").code == 2

    def test_show(self, say: Say) -> None:
        shown = say("executor", "show", "delete_files").out
        assert all(words in shown for words in ("puts things into the trash", "change what a call names", "--paths"))
        assert "def run" not in shown
        assert "def run" in say("executor", "show", "delete_files", "--code").out
        assert data(say("executor", "show", "delete_files", "--json"))["manifest"]["reversal"] == "restore_trashed"

    def test_show_says_what_it_is_worth_and_whether_planners_see_it(self, say: Say, root: Path) -> None:
        app = App.open(Workspace(root))
        write_sample(app.workspace.executors, "sample_lines")
        digest = sign(app, "sample_lines", "a test").digest
        failed = step(1, "sample_lines", digest=digest, ok=False, kind="failed", gap_after=2, wall_ms=0)
        for number in range(5):
            fitness.record(app.catalog.db, f"T{number}", app.clock.now(), "sample lines", (failed,))
        shown = say("executor", "show", "sample_lines").out
        assert "-5.00 for: sample lines (5 uses)" in shown
        assert "planners do not see it" not in shown
        app.selection.judge(app.clock.now(), lambda _since: 0)
        shown = say("executor", "show", "sample_lines").out
        assert "planners do not see it: it mostly failed lately" in shown
        found = data(say("executor", "show", "sample_lines", "--json"))
        assert (found["hidden"], found["fitness"][0]["signals"]) == ("unfit", 5)
        assert data(say("executor", "show", "find_files", "--json"))["fitness"] == []

    def test_archive_puts_away_and_enable_brings_back(self, say: Say) -> None:
        assert say("executor", "archive", "find_links", "--reason", "not now").out == "find_links: active → archived\n"
        ran = say("executor", "run", "find_links", "--paths", "x")
        assert (ran.code, "find_links is archived: not now" in ran.err) == (1, True)
        assert say("executor", "enable", "find_links").out == "find_links: archived → active\n"

    def test_what_there_is_not(self, say: Say) -> None:
        ran = say("executor", "show", "find_fils")
        assert (ran.code, "there is no executor 'find_fils'" in ran.err) == (1, True)
        assert "Did you mean 'find_files'?" in ran.err

    def test_help_of_the_command_and_of_one_executor(self, say: Say) -> None:
        shown = say("executor", "run", "--help")
        assert (shown.code, "metnos executor run [OPTIONS] NAME" in shown.out) == (0, True)
        assert all(option in shown.out for option in ("--args", "--dry-run", "--json"))
        for asked in (["find_files", "--help"], ["find_files", "--path", "x", "-h"]):
            shown = say("executor", "run", *asked)
            assert (shown.code, "--older_than_days" in shown.out, "Examples" in shown.out) == (0, True, True)

    def test_an_example_can_be_pasted_into_a_shell(self, say: Say) -> None:
        shown = say("executor", "run", "set_reminders", "--help").out
        lines = [line for line in shown.splitlines() if line.startswith("    metnos ")]
        assert all(isinstance(json.loads(shlex.split(line)[-1]), dict) for line in lines)


class TestRunning:
    def test_a_producer(self, home: Path) -> None:
        ran = metnos("executor", "run", "find_files", "--path", "~/box", "--order=newest", "--pattern", "a*", "--json")
        reply = data(ran)
        assert (reply["ok"], reply["count"], reply["total"]) == (True, 1, 1)
        assert reply["entries"][0]["path"] == str(home.resolve() / "box/a.txt")

    def test_as_a_table_with_the_count_beside_it(self, home: Path, say: Say) -> None:
        ran = say("executor", "run", "find_files", "--path", "box", "--limit", "1")
        assert ran.out.splitlines()[0].split() == ["path", "name", "kind", "size", "modified"]
        assert ran.err.strip() == "1 of 2"

    def test_arguments_as_json(self, home: Path, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
        assert data(say("executor", "run", "find_files", "--args", '{"path": "box"}', "--json"))["count"] == 2
        both = say("executor", "run", "find_files", "--pattern", "a*", "--args", '{"path": "box"}', "--json")
        assert data(both)["count"] == 1
        monkeypatch.setattr("sys.stdin", io.StringIO('{"path": "box"}'))
        assert data(say("executor", "run", "find_files", "--args", "-", "--json"))["count"] == 2

    def test_a_dry_run_changes_nothing(self, home: Path, say: Say) -> None:
        line = ("executor", "run", "delete_files", "--paths", "box/a.txt", "--dry-run")
        assert say(*line).out == f"move {home.resolve() / 'box/a.txt'} to the trash\n"
        assert data(say(*line, "--json"))["effects"] == [["trash", str(home.resolve() / "box/a.txt")]]
        assert (home / "box/a.txt").exists()
        assert say("inbox", "list").out == "Nothing waits for you.\n"

    def test_what_failed_for_some(self, home: Path, say: Say) -> None:
        ran = say("executor", "run", "read_files", "--paths", "box", "--paths", "box/a.txt")
        assert ran.code == 0
        assert "is a folder, not a file" in ran.err
        assert "1, 1 failed" in ran.err
        assert say("executor", "run", "read_files", "--paths", "box").code == 1

    def test_what_is_out_of_bounds(self, home: Path, say: Say) -> None:
        ran = say("executor", "run", "write_files", "--path", "~/.bashrc", "--text", "x")
        assert ran.code == 1
        assert "out of bounds for any write" in ran.err
        assert "No setting, grant or approval lifts this" in ran.err

    def test_a_wrong_line_says_what_is_wrong(self, home: Path, say: Say) -> None:
        for line, code, said in (
            ("", 1, "`path` is missing"),
            ("box", 2, "'box' stands alone"),
            ("--path", 2, "--path needs a value"),
            ("--pth box", 2, "find_files has no argument 'pth'"),
            ("--path box --depth deep", 2, "It must be: whole number"),
            ("--path box --kind thing", 1, "`kind` must be one of file, folder, link, any"),
            ("--path box --path box", 2, "--path was given twice"),
            ("--path none", 1, "Check the spelling of the path"),
            ("--args nonsense", 2, "--args is no JSON"),
            ("--args []", 2, "--args is no JSON object"),
        ):
            ran = say("executor", "run", "find_files", *line.split())
            assert (ran.code, ran.out, said in ran.err) == (code, "", True), ran.err

    def test_no_name_and_a_wrong_name(self, say: Say) -> None:
        assert say("executor", "run").code == 2
        ran = say("executor", "run", "find_flies", "--path", ".")
        assert (ran.code, "Did you mean 'find_files'?" in ran.err) == (1, True)


class TestAsking:
    def test_a_change_waits_is_approved_taken_back_and_done_again(self, home: Path, say: Say) -> None:
        path = home / "box/a.txt"
        waits = metnos("executor", "run", "delete_files", "--paths", "box/a.txt")
        assert (waits.code, waits.out, path.exists()) == (3, "", True)
        assert waits.err.startswith("waits: This needs a yes")
        item = waits.err.split()[-1]
        assert (metnos("inbox", "approve", item, stdin="yes\n").code, path.exists()) == (1, True)
        done = on_a_terminal("inbox", "approve", item, typed=[("Type yes", "yes")])
        assert (done.code, path.exists()) == (0, False), done.out
        action = plain(done.out).split()[-1]
        assert f"metnos undo {action}" in plain(done.out)
        assert say("undo", action, "--yes").code == 0
        assert path.read_text() == "a.txt\n"
        assert metnos("redo", action, stdin="yes\n").code == 1
        assert path.exists(), "a pipe does nothing again"
        assert on_a_terminal("redo", action, typed=[("Type yes", "yes")]).code == 0
        assert not path.exists()

    def test_at_a_terminal_a_yes_is_used_at_once(self, home: Path) -> None:
        line = ("executor", "run", "delete_files", "--paths", "box/a.txt", "--paths", "box/b.txt")
        yes = on_a_terminal(*line, typed=[("Do this?", "y")])
        assert (yes.code, list((home / "box").iterdir())) == (0, [])
        assert f"move {home.resolve() / 'box/b.txt'} to the trash" in yes.out
        assert "To take it back: metnos undo" in yes.out

    def test_what_cannot_be_taken_back_is_asked_twice_and_one_no_is_enough(self, root: Path, home: Path) -> None:
        app = App.open(Workspace(root))
        mutator(app, WRITE, reversal="irreversible")
        app.close()
        typed = [("Do this?", "y"), ("all the same?", "n")]
        asked = on_a_terminal("executor", "run", "write_files", "--target", "~/new.txt", typed=typed)
        assert "Do this?" in asked.out
        assert "This cannot be taken back. Do it all the same?" in asked.out
        assert (asked.code, "you said no" in asked.out, (home / "new.txt").exists()) == (1, True, False)


class TestSwitching:
    def test_off_on_and_quarantine(self, home: Path, say: Say) -> None:
        line = ("executor", "run", "find_files", "--path", "box")
        assert say("executor", "disable", "find_files").out == "find_files: active → disabled\n"
        off = say(*line)
        assert (off.code, "find_files is disabled" in off.err) == (1, True)
        assert "metnos executor enable find_files" in off.err
        assert say("executor", "enable", "find_files").out == "find_files: disabled → active\n"
        assert say("executor", "quarantine", "find_files", "--reason", "odd").code == 0
        assert "find_files is in quarantine: odd" in say(*line).err
        say("executor", "enable", "find_files")
        assert say(*line).code == 0
        again = say("executor", "enable", "find_files")
        assert (again.code, "active already" in again.err) == (1, True)

    def test_revoked_is_final(self, say: Say) -> None:
        say("executor", "new", "count_lines")
        assert say("executor", "sign", "count_lines").code == 0
        assert metnos("executor", "revoke", "count_lines", "--yes").code == 2, "no option stands for a person"
        assert metnos("executor", "revoke", "count_lines", stdin="count_lines\n").code == 1
        assert on_a_terminal("executor", "revoke", "count_lines", typed=[("Type count_lines", "yes")]).code == 1
        assert data(say("executor", "show", "count_lines", "--json"))["state"] == "active"
        assert on_a_terminal("executor", "revoke", "count_lines", typed=[("Type count_lines", "count_lines")]).code == 0
        for command in (("enable", "count_lines"), ("sign", "count_lines")):
            ran = say("executor", *command)
            assert (ran.code, "revoked" in ran.err) == (1, True)

    def test_nothing_is_revoked_where_nobody_can_answer(self, say: Say) -> None:
        assert metnos("executor", "revoke", "find_files").code != 0
        assert on_a_terminal("executor", "revoke", "find_files", typed=[("Type find", "find_files")]).code == 1
        assert data(say("executor", "show", "find_files", "--json"))["state"] == "active"

    def test_panic_and_lift(self, home: Path, say: Say) -> None:
        say("executor", "new", "count_lines")
        say("executor", "sign", "count_lines")
        stopped = say("executor", "panic", "--reason", "smoke")
        assert "Executors disabled: count_lines." in stopped.out
        assert "metnos executor panic --lift" in stopped.out
        line = ("executor", "run", "find_files", "--path", "box")
        refused = say(*line)
        assert (refused.code, "smoke" in refused.err, "--lift" in refused.err) == (1, True, True)
        assert say("executor", "panic", "--lift").out == "Things may happen again.\n"
        assert say("executor", "panic", "--lift").out == "Nothing is halted.\n"
        assert say(*line).code == 0
        assert "is disabled: smoke" in say("executor", "run", "count_lines", "--path", "box/a.txt").err


class TestMaking:
    def test_new_test_sign_run(self, home: Path, say: Say) -> None:
        made = say("executor", "new", "count_lines")
        assert [Path(line).name for line in made.out.splitlines()[:3]] == ["manifest.toml", "executor.py", "tests.toml"]
        assert "metnos executor test count_lines" in made.out
        draft = say("executor", "run", "count_lines", "--path", "box/a.txt")
        assert (draft.code, "was not signed yet" in draft.err) == (1, True)
        tested = say("executor", "test", "count_lines")
        assert (tested.code, tested.out.count("✓"), "metnos executor sign count_lines" in tested.out) == (0, 4, True)
        signed = on_a_terminal("executor", "sign", "count_lines", typed=[("Type count_lines", "count_lines")])
        assert (signed.code, "count_lines 1.0.0 is signed and active" in signed.out) == (0, True)
        assert "read what a call names, within ~/**" in signed.out
        ran = say("executor", "run", "count_lines", "--path", "box/a.txt", "--json")
        assert data(ran)["entries"][0]["lines"] == 1

    def test_what_does_not_pass_is_not_signed(self, root: Path, say: Say) -> None:
        say("executor", "new", "count_lines")
        code = root / "executors/count_lines/executor.py"
        code.write_text(code.read_text().replace("1 for", "2 for"))
        tested = say("executor", "test", "count_lines")
        assert tested.code == 1
        assert "✗ test: counts lines" in tested.out
        assert "4 instead of 2" in tested.out
        refused = say("executor", "sign", "count_lines")
        assert (refused.code, "count_lines was not signed" in refused.err) == (1, True)
        code.write_text("import subprocess\n" + code.read_text())
        assert "✗ static gate" in say("executor", "test", "count_lines").out

    @pytest.mark.parametrize(
        ("name", "said"),
        [("nonsense", "is not a name"), ("count_nonsense", "has no object 'nonsense'"), ("find_files", "already")],
    )
    def test_a_name_that_cannot_be(self, say: Say, name: str, said: str) -> None:
        ran = say("executor", "new", name)
        assert (ran.code != 0, said in ran.err, "fix:" in ran.err) == (True, True, True)


class TestVerifying:
    def test_what_was_changed_is_named_and_quarantined(self, root: Path, say: Say) -> None:
        say("executor", "new", "count_lines")
        say("executor", "sign", "count_lines")
        fine = say("executor", "verify")
        assert (fine.code, fine.out.endswith("each as it was signed\n")) == (0, True)
        with (root / "executors/count_lines/executor.py").open("a") as file:
            file.write("# one line more\n")
        found = say("executor", "verify")
        assert (found.code, "executor.py was changed since it was signed" in found.out) == (1, True)
        (wrong,) = json.loads(say("executor", "verify", "--json").out)["wrong"]
        assert (wrong["name"], wrong["state"]) == ("count_lines", "quarantine")
        ran = say("executor", "run", "count_lines", "--path", "x")
        assert (ran.code, "not as it was signed" in ran.err) == (1, True)
        assert say("executor", "sign", "count_lines").code == 0
        assert say("executor", "verify").code == 0

    def test_a_builtin_that_was_changed_is_put_back_and_recorded(self, root: Path, say: Say) -> None:
        code = root / "executors/find_files/executor.py"
        before = code.read_text()
        code.write_text(before + "# one line more\n")
        say("executor", "verify")
        assert code.read_text() == before
        assert "executor quarantined" in say("audit", "tail").out

    def test_the_owner_is_told_that_a_builtin_was_changed(self, root: Path, say: Say) -> None:
        with (root / "executors/find_files/executor.py").open("a") as file:
            file.write("# one line more\n")
        ran = say("executor", "verify")
        assert "find_files" in ran.out + ran.err

    def test_rebuild(self, say: Say) -> None:
        assert say("executor", "rebuild").out == "0 executors entered.\n"
