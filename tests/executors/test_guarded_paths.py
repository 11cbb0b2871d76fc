"""What is hidden, and what something runs by itself: through the one door, at the level that asks least."""

import os
from pathlib import Path

import pytest

from executors.calls import mutating
from executors.hands import OWNER, PATH, TARGET, give, home, mutator, run
from executors.sensitive import PRIVATE, RUN
from metnos.app import App
from metnos.core.errors import Refused, Waiting
from metnos.core.workspace import Workspace
from metnos.executors.prepare import Place, prepare
from metnos.executors.run import Call
from metnos.law.capability import Capability
from metnos.law.forbidden import Access, why_forbidden
from metnos.law.guarded import is_hidden, what_runs
from metnos.law.inbox import State
from metnos.law.levels import Use, use_of
from metnos.law.own_places import own_places
from metnos.turn.named import named_paths, typed_paths
from support import ROOT
from tables import try_each

READ = """
def run(args, ctx):
    with open(args["path"]) as file:
        return {"entries": [{"any": file.read()}]}
"""
WRITE = """
def run(args, ctx):
    ctx.write(args["target"], "new", overwrite=True)
    return {"results": [{"any": args["target"]}]}
"""
WRITE_BELOW = """
def run(args, ctx):
    done = []
    for name in args["names"].split("|"):
        try:
            ctx.make_folder(args["target"])
            ctx.write(args["target"] + "/" + name, "new")
            done.append({"any": name})
        except Exception as error:
            done.append({"any": str(error)})
    return {"results": done}
"""
ORDINARY = [
    "letter.txt", "Documents/taxes.pdf", "project/main.py", "project/.gitignore", "project/README.md", "notes.d/x.md",
    "Pictures/2026/x.jpg", "project/src/app.ts", "data.csv", "profile.txt", "build/report.html", "workspace/x.txt",
]  # fmt: skip


def reader(app: App) -> None:
    give(app, READ, args={"path": PATH}, capabilities={"fs": {"read": ["/**"]}})


def verdict(app: App, executor: str, named: frozenset[Path] = frozenset(), **args: str) -> str:
    """What the policy says of a call in the end, without making it."""
    return app.runner.explain(Call(executor, args, OWNER, home(), named=named))[-1][1]


def place(name: str, text: str = "content") -> Path:
    path = home() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_there_are_enough_of_them() -> None:
    assert len(set(PRIVATE)) >= 100
    assert len(set(RUN)) >= 136


def test_nothing_private_is_read_unasked(full: App) -> None:
    reader(full)
    for name in PRIVATE:
        place(name)
    found = {name: verdict(full, "read_files", path=f"~/{name}") for name in PRIVATE}
    assert {name for name, each in found.items() if each not in ("ask", "refuse")} == set()
    for name, each in found.items():
        assert each == ("refuse" if why_forbidden(home() / name, Access.READ) else "ask"), name


def test_nothing_that_is_run_is_written_unasked(full: App) -> None:
    mutator(full, WRITE)
    found = {name: verdict(full, "write_files", target=f"~/{name}") for name in RUN}
    assert {name for name, each in found.items() if each not in ("ask", "refuse")} == set()
    for name, each in found.items():
        closed = is_hidden(name) or why_forbidden(home() / name, Access.WRITE)
        assert each == ("refuse" if closed else "ask"), name


def test_what_is_ordinary_needs_no_question(full: App) -> None:
    reader(full)
    mutator(full, WRITE)
    for name in ORDINARY:
        place(name)
        assert verdict(full, "read_files", path=f"~/{name}") == "allow", name
        assert verdict(full, "write_files", target=f"~/{name}") == "allow", name


def test_no_grant_speaks_for_high_risk_or_for_what_is_hidden_below(full: App) -> None:
    mutator(full, WRITE)
    reader(full)
    place(".config/app/x")
    for capability in (Capability.FS_READ, Capability.FS_WRITE):
        full.grants.grant("*", capability, str(home()), days=1, by=OWNER)
    assert verdict(full, "write_files", target="~/Makefile") == "ask"
    assert verdict(full, "read_files", path="~/.config/app/x") == "ask"
    full.grants.grant("*", Capability.FS_READ, str(home() / ".config/app"), days=1, by=OWNER)
    assert verdict(full, "read_files", path="~/.config/app/x") == "allow"


class TestNamed:
    @try_each(
        "words, names",
        [
            ("set the theme in ~/.config/app/x.toml, please", [".config/app/x.toml"]),
            ("write it to `.config/app/x.toml`.", [".config/app/x.toml"]),
            ('in "~/.my file" and ~/.b', [".my file", ".b"]),
            ("tidy ~/.config", [".config"]),
            ("read https://example.org/.well-known/x and note it", []),
            ("tidy up my home, dots and all...", []),
            ("write ~/plain.txt", []),
        ],
    )
    def test_only_whole_hidden_paths_are_named(self, words: str, names: list[str]) -> None:
        owner = Path("/home/owner")
        assert named_paths(words, owner, owner) == {owner / name for name in names}

    def test_arguments_that_were_typed_name_paths_too(self) -> None:
        owner = Path("/home/owner")
        assert typed_paths(["~/.my file", ["~/.a", "~/b"], 3], owner, owner) == {owner / ".my file", owner / ".a"}

    def test_it_is_asked_about_and_the_difference_is_shown(self, full: App) -> None:
        mutator(full, WRITE)
        path = place(".config/app/x.toml", "old\n")
        with pytest.raises(Refused):
            run(full, "write_files", target="~/.config/app/x.toml")
        named = named_paths("change ~/.config/app/x.toml", home(), home())
        call = Call("write_files", {"target": "~/.config/app/x.toml"}, OWNER, home(), named=named)
        full.grants.grant("*", Capability.FS_WRITE, str(home()), days=1, by=OWNER)
        with pytest.raises(Waiting) as waiting:
            full.runner.run(call)
        item = full.inbox.find(waiting.value.item)
        shown = "\n".join(str(line) for line in item.body["preview"])
        assert "-old" in shown
        assert "+new" in shown
        assert path.read_text() == "old\n"
        approved = full.inbox.approve(item.id, OWNER, seen=0)
        assert approved.state is State.APPROVED
        assert full.runner.resume(approved).ok
        assert path.read_text() == "new"

    def test_the_folders_that_lead_to_it_are_made(self, full: App) -> None:
        source = """
        def run(args, ctx):
            ctx.make_folder(args["target"].rpartition("/")[0])
            ctx.write(args["target"], "new")
            return {"results": [{"any": args["target"]}]}
        """
        mutator(full, source)
        named = named_paths("write ~/.config/app/x.toml", home(), home())
        call = Call("write_files", {"target": "~/.config/app/x.toml"}, OWNER, home(), named=named)
        with pytest.raises(Waiting) as waiting:
            full.runner.run(call)
        assert full.runner.resume(full.inbox.approve(waiting.value.item, OWNER, seen=0)).ok
        assert (home() / ".config/app/x.toml").read_text() == "new"

    def test_a_name_is_for_that_very_path(self, full: App) -> None:
        mutator(full, WRITE)
        named = named_paths("change ~/.config/app/x.toml", home(), home())
        for target in ("~/.config/app/y.toml", "~/.config/app/x.toml/below", "~/.config"):
            assert verdict(full, "write_files", named, target=target) == "refuse"
        assert verdict(full, "write_files", named, target="~/.config/app/x.toml") == "ask"

    def test_no_words_open_what_is_forbidden(self, full: App) -> None:
        mutator(full, WRITE)
        for name in (".bashrc", ".ssh/authorized_keys", "project/.git/hooks/pre-commit"):
            named = named_paths(f"write ~/{name}", home(), home())
            assert named
            assert verdict(full, "write_files", named, target=f"~/{name}") == "refuse"


def test_a_workspace_or_a_home_with_a_hidden_name_is_open_and_what_is_hidden_in_it_is_not(tmp_path: Path) -> None:
    owner = tmp_path / ".homes/owner"
    notes = owner / ".local/share/metnos/notes"
    notes.mkdir(parents=True)
    read = mutating("irreversible", {"path": PATH}, {"fs": {"read": ["/**"], "write": ["{workspace}/notes/**"]}})
    for name, use in (("a.md", Use.READ), (".b.md", Use.HIDDEN_READING), ("../PLAYBOOK.md", Use.READ)):
        (notes / name).touch()
        prepared = prepare(read, {"path": str(notes / name)}, Place(owner, owner, Workspace(notes.parent)))
        assert [use_of(need) for need in prepared.needs] == [use, Use.NOTES]
    for name, use in (("letter", Use.READ), (".letter", Use.HIDDEN_READING)):
        (owner / name).touch()
        prepared = prepare(read, {"path": f"~/{name}"}, Place(owner, owner, Workspace(notes.parent)))
        assert use_of(prepared.needs[0]) is use


def test_a_folder_is_hidden_by_any_dot(full: App) -> None:
    reader(full)
    mutator(full, WRITE)
    place(".keep/diary")
    place(".nomedia", "")
    assert verdict(full, "read_files", path="~/.nomedia") == "allow"
    for path in ("~/.keep", "~/.keep/diary"):
        assert verdict(full, "read_files", path=path) == "ask"
        assert verdict(full, "write_files", target=path) == "refuse"


class TestBelowAFolder:
    def test_hidden_names_are_shown_and_their_content_is_not(self, full: App) -> None:
        source = """
        import os

        def run(args, ctx):
            seen = []
            for folder, inner, names in os.walk(args["path"]):
                seen += [{"any": name} for name in inner]
                for name in names:
                    try:
                        with open(os.path.join(folder, name)) as file:
                            seen.append({"any": name + ":" + file.read()})
                    except PermissionError:
                        seen.append({"any": name + " is closed"})
            return {"entries": sorted(seen, key=str)}
        """
        give(full, source, args={"path": PATH}, capabilities={"fs": {"read": ["~/**"]}})
        for name in ("a.txt", ".config/app/secret", "project/.diary", "project/.gitignore", "project/b.txt"):
            place(name)
        seen = {entry["any"] for entry in run(full, path="~").reply["entries"]}
        assert {"a.txt:content", "b.txt:content", ".gitignore:content", ".config", "project"} <= seen
        assert ".diary is closed" in seen
        assert not any("secret" in each for each in seen)

    def test_what_was_not_decided_about_is_not_written(self, full: App) -> None:
        names = {"type": "string", "description": "What to call them, with bars between."}
        mutator(full, WRITE_BELOW, args={"target": TARGET, "names": names})
        (home() / "box").mkdir()
        tried = ["fine.txt", ".hidden-thing", "Makefile", "conftest.py", ".gitignore", "x.desktop"]
        outcome = full.runner.run(Call("write_files", {"target": "~/box", "names": "|".join(tried)}, OWNER, home()))
        assert outcome.ok
        assert sorted(os.listdir(home() / "box")) == [".gitignore", "fine.txt"]  # noqa: PTH208

    def test_it_is_written_once_the_owner_was_shown_it(self, equipped: App) -> None:
        names = {"type": "string", "description": "What to call them, with bars between."}
        mutator(equipped, WRITE_BELOW, args={"target": TARGET, "names": names})
        (home() / "box").mkdir()
        with pytest.raises(Waiting) as waiting:
            equipped.runner.run(Call("write_files", {"target": "~/box", "names": "Makefile|.x"}, OWNER, home()))
        approved = equipped.inbox.approve(waiting.value.item, OWNER, seen=0)
        assert equipped.runner.resume(approved).ok
        assert os.listdir(home() / "box") == ["Makefile"]  # noqa: PTH208


class TestLinks:
    def test_a_secret_behind_a_link_is_not_read(self, full: App) -> None:
        reader(full)
        real = place("dotfiles/netrc", "password")
        (home() / ".netrc").symlink_to("dotfiles/netrc")
        for path in ("~/.netrc", "~/dotfiles/netrc", str(real), "~/dotfiles/../.netrc"):
            with pytest.raises(Refused):
                run(full, path=path)

    def test_nor_through_a_folder_that_holds_it(self, full: App) -> None:
        source = """
        import os

        def run(args, ctx):
            with open(os.path.join(args["path"], "netrc")) as file:
                return {"entries": [{"any": file.read()}]}
        """
        give(full, source, args={"path": PATH}, capabilities={"fs": {"read": ["~/**"]}})
        place("dotfiles/netrc", "password")
        (home() / ".netrc").symlink_to("dotfiles/netrc")
        outcome = run(full, path="~/dotfiles")
        assert "password" not in str(outcome.reply)

    def test_a_start_file_behind_a_link_is_not_written(self, full: App) -> None:
        mutator(full, WRITE)
        real = place("dotfiles/bashrc", "old")
        (home() / ".bashrc").symlink_to("dotfiles/bashrc")
        for path in ("~/.bashrc", "~/dotfiles/bashrc"):
            with pytest.raises(Refused):
                run(full, "write_files", target=path)
        assert real.read_text() == "old"

    def test_a_middle_link_with_a_forbidden_name_counts(self, full: App) -> None:
        reader(full)
        place("far/letter", "text")
        (home() / "project").mkdir()
        (home() / "project/.env").symlink_to(home() / "far")
        (home() / "way").symlink_to("project/.env")
        assert run(full, path="~/far/letter").reply["entries"] == [{"any": "text"}]
        with pytest.raises(Refused):
            run(full, path="~/way/letter")

    def test_a_hard_link_to_a_secret_is_not_read(self, full: App) -> None:
        reader(full)
        os.link(place(".netrc", "password"), home() / "innocent.txt")
        with pytest.raises(Refused):
            run(full, path="~/innocent.txt")


class TestOwnCode:
    @pytest.mark.parametrize("level", ["supervised", "full"])
    def test_it_is_not_written_at_any_level(self, equipped: App, level: str) -> None:
        equipped.set_setting("policy.autonomy", level)
        opened = App.open(equipped.workspace, equipped.clock)
        mutator(opened, WRITE, capabilities={"fs": {"write": ["/**"]}})
        (home() / "door").symlink_to(ROOT / "src")
        targets = [*own_places(), ROOT / "src/metnos/law/planted.py", home() / "door/metnos/law/planted.py"]
        for target in targets:
            assert verdict(opened, "write_files", target=str(target)) == "refuse"
        with pytest.raises(Refused):
            run(opened, "write_files", target=str(home() / "door/metnos/law/planted.py"))
        assert not (ROOT / "src/metnos/law/planted.py").exists()

    def test_a_folder_that_holds_it_is_not_thrown_away(self, full: App) -> None:
        source = """
        def run(args, ctx):
            ctx.trash(args["target"])
            return {"results": [{"any": "gone"}]}
        """
        mutator(full, source, capabilities={"fs": {"write": ["/**"]}}, reversal="restore_trashed")
        call = Call("write_files", {"target": str(ROOT.parent)}, OWNER, home())
        outcome, preview = full.runner.preview(call)  # only tried: this is no test that may succeed
        assert (outcome.ok, outcome.kind, preview.effects) == (False, "not_permitted", ())


def test_what_runs_is_found_wherever_it_lies_and_ordinary_names_are_not() -> None:
    for name in ("Makefile", "bin/x", "a/b/conftest.py", "x/site-packages/y.py", "AGENTS.md"):
        assert what_runs(f"/mnt/disk/{name}") is not None, name
        assert what_runs(f"/mnt/disk/{name.upper()}") is not None, name
    for name in ORDINARY:
        assert what_runs(f"/home/me/{name}") is None, name
