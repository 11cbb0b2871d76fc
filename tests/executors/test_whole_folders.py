"""Whole folders that are copied, moved or trashed: what goes along, what is asked, and what stays out of sight."""

import time
from pathlib import Path

import pytest

from executors.hands import OWNER, PATH, TARGET, give, home, place, run
from metnos.app import App
from metnos.core.errors import ExecutorFailed, Refused, Waiting
from metnos.executors import index
from metnos.executors.effect_plan import Planning
from metnos.executors.index import Use
from metnos.executors.mcp.servers import Server, Servers
from metnos.executors.run import Call, Runner
from metnos.executors.trash import Trash
from metnos.law import aliases
from metnos.law.capability import Capability
from metnos.law.forbidden import refuse_forbidden
from metnos.law.inbox import Item
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
        equipped.set_setting("policy.autonomy", level, OWNER)
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


def asked(app: App, name: str, **args: object) -> Item:
    """The question that a call ends in."""
    with pytest.raises(Waiting) as waiting:
        app.runner.run(Call(name, args, OWNER, home()))
    return app.inbox.find(waiting.value.item)


def approve(app: App, item: Item) -> None:
    outcome = app.runner.resume(app.inbox.approve(item.id, OWNER, seen=0))
    assert (outcome.ok, outcome.reply.get("failures", [])) == (True, [])


class TestByEveryName:
    """What lies in a folder is judged by the names that links and commands give it, and not by its letters alone."""

    @pytest.fixture
    def served(self, full: App) -> App:
        place("srv/mcp/server.py", "good")
        place("Downloads/srv/mcp/server.py", "other")
        Servers(full.workspace.mcp_servers).put(Server("mine", ("python3", str(home() / "srv/mcp/server.py"))))
        return full

    def test_what_a_server_is_started_from_neither_goes_nor_comes_unasked(self, served: App) -> None:
        for name, args in (
            ("move_files", {"paths": ["~/srv"], "to": "~/srv.old"}),
            ("rename_files", {"paths": ["~/srv"], "pattern": "srv", "replacement": "srv.old"}),
            ("delete_files", {"paths": ["~/srv"]}),
        ):
            assert "high risk" in str(asked(served, name, **args).body["preview"]), name
        (home() / "srv").rename(home() / "gone")
        item = asked(served, "copy_files", paths=["~/Downloads/srv"], to="~/")
        assert str(home() / "srv/mcp") in str(item.body["needs"])
        assert not (home() / "srv").exists()
        approve(served, item)
        assert (home() / "srv/mcp/server.py").read_text() == "other"

    def test_a_folder_of_programs_behind_a_link_neither_goes_nor_comes_unasked(self, full: App) -> None:
        place("dotfiles/scripts/ls", "good")
        place("Downloads/dotfiles/scripts/ls", "other")
        (home() / "bin").symlink_to("dotfiles/scripts")
        assert "scripts" in str(asked(full, "move_files", paths=["~/dotfiles"], to="~/old").body["preview"])
        (home() / "dotfiles").rename(home() / "old")
        item = asked(full, "copy_files", paths=["~/Downloads/dotfiles"], to="~/")
        assert str(home() / "dotfiles/scripts") in str(item.body["needs"])
        approve(full, item)
        assert (home() / "bin/ls").read_text() == "other"

    def test_what_a_hidden_link_leads_to_is_not_replaced_unasked(self, full: App) -> None:
        place("Downloads/dotfiles/app/conf")
        (home() / ".config").mkdir()
        (home() / ".config/app").symlink_to(home() / "dotfiles/app")
        assert "app" in str(asked(full, "copy_files", paths=["~/Downloads/dotfiles"], to="~/").body["needs"])

    @pytest.fixture
    def linked(self, equipped: App) -> App:
        place("dotfiles/app/token", "secret")
        place("dotfiles/letter")
        (home() / ".config").mkdir()
        (home() / ".config/app").symlink_to(home() / "dotfiles/app")
        return equipped

    def test_what_is_hidden_by_a_link_does_not_come_into_the_notes_unasked(self, linked: App) -> None:
        source = """
        def run(args, ctx):
            ctx.copy(args["source"], args["to"] + "/d")
            try:
                return {"results": [{"any": open(args["to"] + "/d/app/token").read()}]}
            except OSError:
                return {"results": [{"any": "closed"}]}
        """
        fields = {"kind": "mutator", "reversal": "remove_created", "args": {"source": PATH, "to": TARGET}}
        can = {"fs": {"read": ["~/**"], "write": ["{workspace}/notes/**"]}}
        give(linked, source, name="write_files", capabilities=can, **fields)
        item = asked(linked, "write_files", source="~/dotfiles", to=str(linked.workspace.notes))
        assert str(home() / "dotfiles/app") in str(item.body["needs"])
        assert files_below(linked.workspace.notes / "d") == set()
        outcome = linked.runner.resume(linked.inbox.approve(item.id, OWNER, seen=0))
        assert outcome.reply["results"] == [{"any": "closed"}]
        assert (linked.workspace.notes / "d/app/token").read_text() == "secret"

    def test_the_owner_is_shown_it(self, linked: App) -> None:
        (home() / "out").mkdir()
        item = asked(linked, "copy_files", paths=["~/dotfiles"], to="~/out")
        assert "hidden, goes along: app" in str(item.body["preview"])

    def test_a_link_with_a_hidden_name_goes_along_after_a_question(self, full: App) -> None:
        place("project/CLAUDE.md")
        (home() / "project/.cursorrules").symlink_to("CLAUDE.md")
        (home() / "project/.data").symlink_to("/var/tmp")
        (home() / "Old").mkdir()
        approve(full, asked(full, "copy_files", paths=["~/project"], to="~/Old"))
        assert (home() / "Old/project/.cursorrules").is_symlink()


class TestGrants:
    """Leave to read what is hidden where it is."""

    def test_it_is_none_to_let_it_go_elsewhere(self, full: App) -> None:
        place("Downloads/pkg/.husky/pre-commit", "other")
        full.grants.grant("*", Capability.FS_READ, str(home() / "Downloads/pkg/.husky"), days=1, by=OWNER)
        for to in ("~/new", "~/work"):
            item = asked(full, "copy_files", paths=["~/Downloads/pkg"], to=to)
            assert "high risk" in str(item.body["preview"])
        assert not (home() / "new").exists()

    def test_into_a_folder_that_is_there_it_goes_after_a_question(self, full: App) -> None:
        place("Downloads/pkg/.data/x")
        (home() / "work").mkdir()
        full.grants.grant("*", Capability.FS_READ, str(home() / "Downloads/pkg/.data"), days=1, by=OWNER)
        approve(full, asked(full, "copy_files", paths=["~/Downloads/pkg"], to="~/work"))
        assert files_below(home() / "work") == {"pkg/.data/x"}


def test_links_of_a_home_make_a_large_folder_hardly_dearer(tmp_path: Path) -> None:
    for number in range(3000):
        place(f"large/{number // 100}/{number}.txt", "")
    planning = Planning(refuse_forbidden, Trash(tmp_path / "Trash"))

    def cost() -> float:
        begun = time.process_time()
        planning.copy(home() / "large", home() / f"copy-{begun}")
        return time.process_time() - begun

    without = min(cost() for _ in range(3))
    (home() / ".config").mkdir()
    for number in range(300):
        (home() / f".config/{number}").symlink_to(home() / f"apps/{number}")
    assert min(cost() for _ in range(3)) < 2 * without


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
