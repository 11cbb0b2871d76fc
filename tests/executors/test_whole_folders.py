"""Whole folders that are copied, moved or trashed: what goes along, what is asked, and what stays out of sight."""

from pathlib import Path

import pytest

from executors.hands import OWNER, PATH, TARGET, give, home, place, run
from metnos.app import App
from metnos.core.errors import ExecutorFailed, Refused, Waiting
from metnos.executors import index
from metnos.executors.index import Use
from metnos.executors.run import Call, Runner
from metnos.law import aliases
from metnos.law.principal import at_terminal
from metnos.turn.named import named_paths

CARRY = """
import os

def run(args, ctx):
    getattr(ctx, args["how"])(args["source"] + "/sub", args["to"] + "/sub")
    try:
        with open(args["to"] + "/sub/.secret/diary") as file:
            return {"results": [{"any": file.read()}]}
    except OSError as error:
        return {"results": [{"any": "closed"}]}
"""
HOW = {"type": "string", "description": "What to do."}


def repository() -> Path:
    """A project as people have it."""
    for name in ("config", "HEAD", "hooks/pre-commit.sample", "objects/12/3456"):
        place(f"proj/.git/{name}")
    place("proj/.vscode/settings.json")
    place("proj/Makefile")
    place("proj/bin/activate")
    (home() / "Old").mkdir()
    return place("proj/main.c").parent


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


class TestWholeFolders:
    def carrier(self, app: App, how: str) -> None:
        reads = {"fs": {"read": ["~/**"], "write": ["{workspace}/notes/**", "~/**"]}}
        source = PATH if how == "copy" else TARGET
        args = {"source": source, "to": TARGET, "how": HOW}
        reversal = "remove_created" if how == "copy" else "move_back"
        give(app, CARRY, name="write_files", kind="mutator", reversal=reversal, args=args, capabilities=reads)

    def call(self, how: str, to: str = "~/out") -> Call:
        return Call("write_files", {"source": "~/Documents", "to": to, "how": how}, OWNER, home())

    @pytest.mark.parametrize("how", ["copy", "move"])
    def test_hidden_content_does_not_come_into_sight(self, full: App, how: str) -> None:
        self.carrier(full, how)
        place("Documents/sub/.secret/diary", "private")
        place("out/a.txt")
        with pytest.raises(Waiting) as waiting:
            full.runner.run(self.call(how))
        item = full.inbox.find(waiting.value.item)
        assert ".secret" in str(item.body["preview"])
        outcome = full.runner.resume(full.inbox.approve(item.id, OWNER, seen=0))
        assert outcome.ok
        assert outcome.reply["results"] == [{"any": "closed"}]
        assert (home() / "out/sub/.secret/diary").read_text() == "private"

    def test_nor_through_the_notes_which_need_no_question(self, equipped: App) -> None:
        capabilities = {"fs": {"read": ["~/**"], "write": ["{workspace}/notes/**"]}}
        args = {"source": PATH, "to": TARGET, "how": HOW}
        fields = {"kind": "mutator", "reversal": "remove_created", "args": args, "capabilities": capabilities}
        give(equipped, CARRY, name="write_files", **fields)
        place("Documents/sub/.secret/diary", "private")
        with pytest.raises(Waiting) as waiting:
            equipped.runner.run(self.call("copy", str(equipped.workspace.notes)))
        approved = equipped.inbox.approve(waiting.value.item, OWNER, seen=0)
        assert equipped.runner.resume(approved).reply["results"] == [{"any": "closed"}]

    def test_what_a_rehearsal_did_not_show_does_not_go_along(self, full: App) -> None:
        source = """
        def run(args, ctx):
            if not ctx.dry_run:
                ctx.copy(args["source"], args["to"] + "/sub")
            return {"results": []}
        """
        fields = {"kind": "mutator", "reversal": "remove_created", "args": {"source": PATH, "to": TARGET}}
        give(full, source, name="write_files", capabilities={"fs": {"read": ["~/**"], "write": ["~/**"]}}, **fields)
        place("out/a.txt")
        for name in ("Documents/.secret/diary", "Downloads/Makefile", "Music/node_modules/.bin/x"):
            folder = place(name).relative_to(home()).parts[0]
            outcome = run(full, "write_files", source=f"~/{folder}", to="~/out")
            assert (outcome.ok, outcome.kind) == (False, "not_permitted")
            assert files_below(home() / "out") == {"a.txt"}

    @pytest.mark.parametrize("level", ["supervised", "full"])
    @pytest.mark.parametrize(
        ("name", "args", "to"),
        [
            ("copy_files", {"paths": ["~/proj"], "to": "~/Old"}, "Old/proj"),
            ("copy_files", {"paths": ["~/proj"], "to": "~/proj (2)"}, "proj (2)"),
            ("move_files", {"paths": ["~/proj"], "to": "~/Old"}, "Old/proj"),
            ("rename_files", {"paths": ["~/proj"], "pattern": "proj", "replacement": "work"}, "work"),
            ("delete_files", {"paths": ["~/proj"]}, ""),
        ],
    )
    def test_a_project_goes_whole_after_a_yes(
        self, equipped: App, level: str, name: str, args: dict[str, object], to: str
    ) -> None:
        project = repository()
        before = files_below(project)
        equipped.set_setting("policy.autonomy", level, at_terminal())
        app = App.open(equipped.workspace, equipped.clock)
        with pytest.raises(Waiting) as waiting:
            app.runner.run(Call(name, args, OWNER, home()))
        item = app.inbox.find(waiting.value.item)
        assert ".git" in str(item.body["preview"])
        assert ("Makefile" in str(item.body["preview"])) is (name != "delete_files")
        outcome = app.runner.resume(app.inbox.approve(item.id, OWNER, seen=0))
        assert (outcome.ok, outcome.reply["failures"]) == (True, [])
        assert project.exists() is (name == "copy_files")
        if to:
            assert files_below(home() / to) == before
        app.close()

    @pytest.mark.parametrize("level", ["supervised", "full"])
    @pytest.mark.parametrize("late", ["Makefile", ".late", "deep/.late", ".git/hooks/late"])
    @pytest.mark.parametrize("name", ["copy_files", "move_files", "delete_files"])
    def test_what_joined_after_the_question_does_not_go_along(
        self, equipped: App, level: str, late: str, name: str
    ) -> None:
        place("proj/.hid")
        place("proj/deep/a.txt")
        (home() / "Old").mkdir()
        equipped.set_setting("policy.autonomy", level)
        app = App.open(equipped.workspace, equipped.clock)
        args = {"paths": ["~/proj"]} | ({} if name == "delete_files" else {"to": "~/Old"})
        with pytest.raises(Waiting) as waiting:
            app.runner.run(Call(name, args, OWNER, home()))
        approved = app.inbox.approve(waiting.value.item, OWNER, seen=0)
        place(f"proj/{late}")
        goes = name == "delete_files" and late == "Makefile"  # nothing runs it in the trash
        try:
            outcome = app.runner.resume(approved)
        except Waiting:
            assert not goes  # another question: it was seen in time
        else:
            kinds = [each["kind"] for each in outcome.reply["failures"]]
            assert kinds == ([] if goes else ["not_permitted"])
        assert (home() / "proj").exists() is not goes
        assert files_below(home() / "Old") == set()
        app.close()

    def test_nothing_is_rehearsed_where_nothing_is_left_for_today(
        self, full: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place("proj/a.txt")
        (home() / "Old").mkdir()
        used = Use("move_files", "0" * 64, full.clock.now(), ok=True, writes=10**6, write_bytes=0)
        index.record_use(full.catalog.db, used)
        rehearsed: list[str] = []

        def rehearse(_: object, call: Call, *_args: object, **_more: object) -> None:
            rehearsed.append(call.name)

        monkeypatch.setattr(Runner, "_rehearse", rehearse)
        with pytest.raises(Refused):
            run(full, "move_files", paths=["~/proj"], to="~/Old")
        assert rehearsed == []

    def test_what_went_along_is_what_was_shown(self, equipped: App) -> None:
        place("proj/.hid")
        place("proj/Makefile")
        (home() / "Old").mkdir()
        with pytest.raises(Waiting) as waiting:
            run(equipped, "move_files", paths=["~/proj"], to="~/Old")
        item = equipped.inbox.find(waiting.value.item)
        place("proj/letter.txt")
        (home() / "proj/Makefile").unlink()
        outcome = equipped.runner.resume(equipped.inbox.approve(item.id, OWNER, seen=0))
        assert (outcome.ok, outcome.reply["failures"]) == (True, [])
        assert files_below(home() / "Old") == {"proj/.hid", "proj/letter.txt"}
        shown = {tuple(effect) for effect in item.body["effects"]}  # type: ignore[union-attr, arg-type]
        assert set(outcome.effects) == shown - {("runs along", str(home() / "Old/proj/Makefile"))}

    def test_what_runs_by_itself_is_asked_about_and_what_does_not_is_not(self, full: App) -> None:
        place("Downloads/x/Makefile")
        place("Downloads/y/letter.txt")
        place("p/v/bundle/evil.rb")
        (home() / "Old").mkdir()
        assert run(full, "copy_files", paths=["~/Downloads/y"], to="~/Old").ok
        with pytest.raises(Waiting):
            run(full, "copy_files", paths=["~/Downloads/x"], to="~/Old")
        with pytest.raises(Waiting):
            run(full, "move_files", paths=["~/p/v"], to="~/p/vendor")
        assert files_below(home() / "Old") == {"y/letter.txt"}

    @pytest.mark.parametrize("level", ["supervised", "full"])
    def test_keys_do_not_go_along_and_it_is_said_at_once(self, equipped: App, level: str) -> None:
        place("box/server.pem")
        (home() / "Old").mkdir()
        equipped.set_setting("policy.autonomy", level, at_terminal())
        app = App.open(equipped.workspace, equipped.clock)
        for name in ("copy_files", "move_files"):
            if level == "full":
                failures = run(app, name, paths=["~/box"], to="~/Old").reply["failures"]
                assert [each["kind"] for each in failures] == ["not_permitted"]
                continue
            with pytest.raises(ExecutorFailed) as failed:
                run(app, name, paths=["~/box"], to="~/Old")
            assert failed.value.kind == "not_permitted"
        assert app.inbox.waiting() == []
        assert files_below(home() / "Old") == set()
        app.close()

    def test_what_a_rule_names_by_the_folder_itself_does_not_come_into_its_place(self, full: App) -> None:
        place("box/nvim/init.txt")
        named = named_paths("move it to ~/.config", home(), home())
        call = Call("move_files", {"paths": ["~/box"], "to": "~/.config"}, OWNER, home(), named=named)
        with pytest.raises((ExecutorFailed, Refused, Waiting)):
            assert full.runner.run(call).reply["failures"] == []
        assert not (home() / ".config/nvim").exists()


def test_other_names_are_looked_up_once_for_each_step_of_a_call(full: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once before an answer and once for it, in the rehearsal and in the run; not once for each file that is named."""
    looks: list[list[str]] = []
    homes = aliases._homes

    def look() -> list[str]:
        looks.append(homes())
        return looks[-1]

    def count(files: int) -> int:
        paths = [str(place(f"{files}/{number}.txt")) for number in range(files)]
        (home() / f"to{files}").mkdir()
        looks.clear()
        assert run(full, "move_files", paths=paths, to=f"~/to{files}").ok
        return len(looks)

    monkeypatch.setattr(aliases, "_homes", look)
    few, many = count(2), count(12)
    assert many - few <= 4 * 10
