"""What is hidden, and what something runs by itself: through the one door, at the level that asks least."""

import os
from pathlib import Path

import pytest

from executors.calls import mutating
from executors.hands import OWNER, PATH, TARGET, give, home, mutator, place, run
from executors.sensitive import PRIVATE, RUN
from metnos.app import App
from metnos.core.errors import Refused, Waiting
from metnos.core.workspace import Workspace
from metnos.executors.mcp.servers import Server, Servers
from metnos.executors.prepare import Place, prepare
from metnos.executors.run import Call
from metnos.law.capability import Capability
from metnos.law.forbidden import Access, why_forbidden
from metnos.law.guarded import is_hidden, what_runs
from metnos.law.inbox import State
from metnos.law.levels import Use, asks_anew, use_of, uses_of
from metnos.law.need import Need
from metnos.law.own_places import own_places
from metnos.law.principal import at_terminal
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


class TestStarted:
    """What an MCP server is started from runs as the owner, outside the sandbox."""

    @pytest.fixture
    def served(self, full: App) -> App:
        place("mcp/server.py")
        place("alone.py")
        place("project/x.txt")
        place("Documents/a.txt")
        (home() / "link").symlink_to("mcp")
        servers = Servers(full.workspace.mcp_servers)
        servers.put(Server("mine", ("python3", str(home() / "mcp/server.py"), str(home() / "Documents"))))
        servers.put(Server("tool", ("uvx", f"--from={home() / 'project'}", "tool")))
        servers.put(Server("other", ("python3", "alone.py")))
        mutator(full, WRITE)
        return full

    @pytest.mark.parametrize("name", ["mcp/server.py", "mcp/json.py", "mcp", "link/x", "alone.py", "project/a/b.txt"])
    def test_it_is_changed_only_after_a_question(self, served: App, name: str) -> None:
        served.grants.grant("*", Capability.FS_WRITE, str(home()), days=1, by=OWNER)
        assert verdict(served, "write_files", target=f"~/{name}") == "ask"

    @pytest.mark.parametrize("name", ["letter.txt", "mcp.txt", "Documents/server.py", "Documents/a.txt"])
    def test_what_lies_elsewhere_is_not_asked_about(self, served: App, name: str) -> None:
        assert verdict(served, "write_files", target=f"~/{name}") == "allow"

    def test_a_folder_above_does_not_permit_it(self, served: App) -> None:
        place("box/mcp/server.py")
        Servers(served.workspace.mcp_servers).put(Server("boxed", ("python3", "box/mcp/server.py")))
        names = {"type": "string", "description": "What to call them, with bars between."}
        mutator(served, WRITE_BELOW, args={"target": TARGET, "names": names})
        with pytest.raises(Waiting):
            run(served, "write_files", target="~/box", names="mcp/json.py|letter.txt")
        assert os.listdir(home() / "box") == ["mcp"]  # noqa: PTH208
        assert os.listdir(home() / "box/mcp") == ["server.py"]  # noqa: PTH208

    def test_a_list_that_cannot_be_read_starts_none(self, served: App) -> None:
        served.workspace.mcp_servers.write_text("no list")
        assert verdict(served, "write_files", target="~/letter.txt") == "allow"


class TestNamed:
    @try_each(
        "words, names",
        [
            ("set the theme in ~/.config/app/x.toml, please", [".config/app/x.toml"]),
            ("write it to `.config/app/x.toml`.", [".config/app/x.toml"]),
            ('in "~/.my file" and ~/.b', [".my file", ".b"]),
            ("tidy ~/.config", [".config"]),
            ("in '~/.my file' and (~/.b)", [".my file", ".b"]),
            (
                'it\'s time: replace "dark" with "light" in ~/.config/app/x.toml, isn\'t it',
                [".config/app/x.toml"],
            ),
            ("nell'impostazione ~/.config/app/x.toml dell'app", [".config/app/x.toml"]),
            ("the users' choice in ~/.config/app/x.toml, and the others' too", [".config/app/x.toml"]),
            ("'don't lose ~/.b'", [".b"]),
            ("read https://example.org/.well-known/x and note it", []),
            ("tidy up my home, dots and all...", []),
            ("write ~/plain.txt", []),
        ],
    )
    def test_only_whole_hidden_paths_are_named(self, words: str, names: list[str]) -> None:
        owner = Path("/home/owner")
        assert named_paths(words, owner, owner) == {owner / name for name in names}

    def test_words_between_two_apostrophes_name_what_they_name(self) -> None:
        owner = Path("/home/owner")
        for words in ("say 'it is in ~/.b', now", "'tis in ~/.b, the others' too", "the 'dots' in ~/.b, 'all'"):
            assert owner / ".b" in named_paths(words, owner, owner), words
        assert owner / ".b" not in named_paths('write "it is in ~/.b" to ~/.a', owner, owner)

    def test_arguments_that_were_typed_name_paths_too(self) -> None:
        owner = Path("/home/owner")
        assert typed_paths(["~/.my file", ["~/.a", "~/b"], 3], owner, owner) == {owner / ".my file", owner / ".a"}
        assert typed_paths([{"path": "~/.it's"}, "x"], owner, owner) == {owner / ".it's"}
        assert owner / ".a" not in typed_paths(["~/.a isn't meant", "see ~/.a"], owner, owner)

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
        tried = ["fine.txt", ".hidden-thing", ".gitignore"]
        outcome = full.runner.run(Call("write_files", {"target": "~/box", "names": "|".join(tried)}, OWNER, home()))
        assert outcome.ok
        for name in ("Makefile", "conftest.py", "x.desktop"):
            with pytest.raises(Waiting):
                full.runner.run(Call("write_files", {"target": "~/box", "names": f"a.txt|{name}"}, OWNER, home()))
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


class TestNamesByLinks:
    def test_what_a_link_in_a_linked_folder_leads_to_is_closed(self, full: App) -> None:
        reader(full)
        mutator(full, WRITE)
        keys = place("keys/ak", "good")
        place("private/gh/hosts.yml", "token")
        place("dotfiles/ssh/known")
        (home() / ".ssh").symlink_to("dotfiles/ssh")
        (home() / ".ssh/authorized_keys").symlink_to("../../keys/ak")
        (home() / "dotfiles/config").mkdir()
        (home() / ".config").symlink_to("dotfiles/config")
        (home() / ".config/gh").symlink_to("../../private/gh")
        for target in ("~/keys/ak", "~/private/gh/hosts.yml", "~/dotfiles/ssh/authorized_keys"):
            with pytest.raises(Refused):
                run(full, "write_files", target=target)
            with pytest.raises(Refused):
                run(full, path=target)
        assert keys.read_text() == "good"

    def test_below_a_folder_every_name_counts(self, full: App) -> None:
        names = {"type": "string", "description": "What to call them, with bars between."}
        source = WRITE_BELOW.replace('"new")', '"new", overwrite=True)')
        mutator(full, source, args={"target": TARGET, "names": names})
        places = [place(f"dotfiles/{name}", "old") for name in ("scripts/ls", "Xresources", "app/token", "bashrc")]
        (home() / "bin").symlink_to("dotfiles/scripts")
        (home() / ".Xresources").symlink_to("dotfiles/Xresources")
        (home() / ".config").mkdir()
        (home() / ".config/app").symlink_to(home() / "dotfiles/app")
        (home() / ".bashrc").symlink_to("dotfiles/bashrc")
        args = {"target": "~/dotfiles", "names": "Xresources|app/token|bashrc|fine.txt"}
        outcome = full.runner.run(Call("write_files", args, OWNER, home()))
        with pytest.raises(Waiting):
            full.runner.run(Call("write_files", {**args, "names": "scripts/ls"}, OWNER, home()))
        assert outcome.ok
        assert {path.read_text() for path in places} == {"old"}
        assert (home() / "dotfiles/fine.txt").read_text() == "new"

    def test_what_has_a_hidden_name_by_a_link_is_covered_in_its_folder(self, full: App) -> None:
        source = """
        import os

        def run(args, ctx):
            seen = []
            for folder, _, names in os.walk(args["path"]):
                for name in names:
                    try:
                        with open(os.path.join(folder, name)) as file:
                            seen.append({"any": file.read()})
                    except PermissionError:
                        pass
            return {"entries": sorted(seen, key=str)}
        """
        give(full, source, args={"path": PATH}, capabilities={"fs": {"read": ["~/**"]}})
        place("dotfiles/app/token", "secret")
        place("dotfiles/letter", "text")
        (home() / ".config").mkdir()
        (home() / ".config/app").symlink_to(home() / "dotfiles/app")
        assert run(full, path="~/dotfiles").reply["entries"] == [{"any": "text"}]
        with pytest.raises(Waiting) as waiting:
            run(full, path="~/dotfiles/app")
        outcome = full.runner.resume(full.inbox.approve(waiting.value.item, OWNER, seen=0))
        assert outcome.reply["entries"] == [{"any": "secret"}]

    def test_a_grant_for_a_folder_speaks_for_no_hidden_name(self, full: App) -> None:
        reader(full)
        place("dotfiles/app/token")
        (home() / ".config").mkdir()
        (home() / ".config/app").symlink_to(home() / "dotfiles/app")
        read = Need(Capability.FS_READ, str(home() / "dotfiles/app/token"))
        assert asks_anew(read)
        full.grants.grant("*", Capability.FS_READ, str(home()), days=1, by=OWNER)
        for path in ("~/dotfiles/app/token", "~/.config/app/token"):
            assert verdict(full, "read_files", path=path) == "ask"
        full.grants.grant("*", Capability.FS_READ, str(home() / ".config/app"), days=1, by=OWNER)
        for path in ("~/dotfiles/app/token", "~/.config/app/token"):
            assert verdict(full, "read_files", path=path) == "allow"

    def test_what_runs_by_the_name_of_a_link_is_asked_about(self, full: App) -> None:
        mutator(full, WRITE)
        names = {"project/CLAUDE.md": "project/docs/agents.txt", "project/Makefile": "project/build/linux.txt"}
        for name, leads in names.items():
            place(leads)
            (home() / name).symlink_to(home() / leads)
            assert verdict(full, "write_files", target=f"~/{leads}") == "allow"
            assert verdict(full, "write_files", target=f"~/{name}") == "ask"
            full.grants.grant("*", Capability.FS_WRITE, str(home()), days=1, by=OWNER)
            assert verdict(full, "write_files", target=f"~/{name}") == "ask"

    def test_and_not_written_through_a_link_below_what_was_permitted(self, full: App) -> None:
        names = {"type": "string", "description": "What to call them, with bars between."}
        mutator(full, WRITE_BELOW.replace('"new")', '"new", overwrite=True)'), args={"target": TARGET, "names": names})
        real = place("project/scripts/ls", "old")
        (home() / "project/bin").symlink_to("scripts")
        full.runner.run(Call("write_files", {"target": "~/project", "names": "bin/ls"}, OWNER, home()))
        assert real.read_text() == "old"

    def test_a_workspace_behind_a_hidden_link_stays_open(self, full: App) -> None:
        owner = home()
        notes = owner / "disk/share/metnos/notes"
        notes.mkdir(parents=True)
        (owner / ".data").symlink_to("disk")
        keep = mutating("irreversible", {}, {"fs": {"write": ["{workspace}/notes/**"]}})
        prepared = prepare(keep, {}, Place(owner, owner, Workspace(notes.parent)))
        assert [set(uses_of(need)) for need in prepared.needs] == [{Use.NOTES}]


def test_leave_to_read_a_folder_is_none_to_change_what_runs_in_it(full: App) -> None:
    source = """
    def run(args, ctx):
        try:
            ctx.write(args["path"], "evil", overwrite=True)
        except Exception:
            pass
        return {"results": [{"any": "ok"}]}
    """
    both = {"fs": {"read": ["~/**"], "write": ["~/**"]}}
    mutator(full, source, args={"path": PATH, "target": TARGET}, capabilities=both)
    for name in ("bin/tool", "node_modules/x/index.js"):
        path = place(f"box/{name}", "good")
        with pytest.raises(Waiting):
            full.runner.run(Call("write_files", {"path": str(path), "target": "~/box"}, OWNER, home()))
        assert path.read_text() == "good", name


class TestOwnCode:
    @pytest.mark.parametrize("level", ["supervised", "full"])
    def test_it_is_not_written_at_any_level(self, equipped: App, level: str) -> None:
        equipped.set_setting("policy.autonomy", level, at_terminal())
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


def test_a_folder_in_which_programs_are_looked_for_is_one_of_programs(
    full: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutator(full, WRITE)
    place("scripts/git")
    place("disk/tools/ls")
    (home() / "tools").symlink_to("disk/tools")
    names = ("scripts/git", "scripts/new", "disk/tools/ls", "tools/ls", "scripts")
    for name in names:
        assert verdict(full, "write_files", target=f"~/{name}") == "allow"
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{home()}/scripts/::.:{home()}/tools")
    for name in names:
        assert verdict(full, "write_files", target=f"~/{name}") == "ask"
    for name in ("scripts/data/x.csv", "letter.txt"):
        assert verdict(full, "write_files", target=f"~/{name}") == "allow"


def test_web_servers_and_old_build_files_are_told_from_folders_of_that_name() -> None:
    for name in ("public_html/x.php", "www/a/b/index.php", "p/WORKSPACE", "p/BUILD"):
        assert what_runs(f"/home/me/{name}") is not None, name
    for name in ("src/x.php", "www/page.html", "workspace", "build", "BUILD/x.txt", "build/WORKSPACE/notes.md"):
        assert what_runs(f"/home/me/{name}") is None, name


def test_what_runs_is_found_wherever_it_lies_and_ordinary_names_are_not() -> None:
    for name in ("Makefile", "bin/x", "a/b/conftest.py", "x/site-packages/y.py", "AGENTS.md"):
        assert what_runs(f"/mnt/disk/{name}") is not None, name
        assert what_runs(f"/mnt/disk/{name.upper()}") is not None, name
    for name in ORDINARY:
        assert what_runs(f"/home/me/{name}") is None, name
