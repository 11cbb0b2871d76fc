"""Other names of what is forbidden: links to it, links in it, and hard links."""

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.canon import canonical_path, path_ways
from metnos.core.errors import ForbiddenPath, PathError
from metnos.law import aliases
from metnos.law.forbidden import (
    OWN_CODE,
    Access,
    forbidden_below,
    refuse_forbidden,
    refuse_holding,
    refuse_ways,
    why_forbidden,
)
from metnos.law.own_places import own_places
from suite import Repeat
from support import ROOT
from tables import try_each


@pytest.fixture
def owner(ordinary: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a folder of its own for what its dotted names lead to."""
    monkeypatch.setenv("HOME", str(ordinary))
    (ordinary / "dotfiles").mkdir()
    return ordinary


def write(path: Path, text: str = "secret") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class TestWhereAWellKnownNameLeads:
    @try_each("link", [".netrc", ".bashrc", ".ssh/authorized_keys", ".config/gh/hosts.yml", ".docker/config.json"])
    def test_a_file_is_forbidden_under_every_name(self, owner: Path, link: str) -> None:
        real = write(owner / "dotfiles" / link.replace("/", "_").lstrip("."))
        (owner / link).parent.mkdir(parents=True, exist_ok=True)
        assert why_forbidden(real, Access.READ) is None
        (owner / link).symlink_to(real)
        try:
            for access in Access:
                assert why_forbidden(real, access) is not None
                with pytest.raises(ForbiddenPath):
                    refuse_ways(path_ways(f"~/{link}", cwd=owner, home=owner), access)
            assert set(forbidden_below(owner / "dotfiles", Access.READ, 100)) == {real}
        finally:
            (owner / link).unlink()
        assert why_forbidden(real, Access.READ) is None  # it is looked at each time

    def test_a_folder_is_forbidden_with_all_that_is_in_it(self, owner: Path) -> None:
        key = write(owner / "dotfiles/ssh/work_key")
        (owner / ".ssh").symlink_to("dotfiles/ssh")
        assert why_forbidden(key, Access.READ) == "keys"
        assert why_forbidden(owner / "dotfiles/ssh/new", Access.WRITE) == "keys"
        assert list(forbidden_below(owner, Access.READ, 100)) == [owner / ".ssh", owner / "dotfiles/ssh"]

    def test_a_folder_that_rules_lead_through_is_followed(self, owner: Path) -> None:
        write(owner / "dotfiles/config/autostart/x.desktop")
        write(owner / "dotfiles/config/gh/hosts.yml")
        fine = write(owner / "dotfiles/config/app.toml")
        (owner / ".config").symlink_to(owner / "dotfiles/config")
        assert why_forbidden(owner / "dotfiles/config/autostart/new", Access.WRITE) is not None
        assert why_forbidden(fine, Access.READ) is None
        found = set(forbidden_below(owner / "dotfiles", Access.READ, 100))
        assert found == {owner / "dotfiles/config/autostart", owner / "dotfiles/config/gh"}

    def test_a_chain_of_links_is_followed_to_its_end(self, owner: Path) -> None:
        real = write(owner / "far/away/secret")
        (owner / "dotfiles/second").symlink_to(real)
        (owner / "dotfiles/first").symlink_to("second")
        (owner / ".netrc").symlink_to("dotfiles/first")
        assert why_forbidden(real, Access.READ) == "credentials"
        (owner / "dotfiles/second").unlink()
        (owner / "dotfiles/second").symlink_to(write(owner / "far/other"))
        assert why_forbidden(real, Access.READ) is None
        assert why_forbidden(owner / "far/other", Access.READ) == "credentials"

    def test_a_link_in_a_forbidden_folder_counts(self, owner: Path) -> None:
        real = write(owner / "dotfiles/work")
        (owner / ".ssh/keys").mkdir(parents=True)
        (owner / ".ssh/keys/work").symlink_to(real)
        assert why_forbidden(real, Access.READ) == "keys"

    @try_each(
        "folder, link, leads",
        [
            (".ssh", "authorized_keys", "keys/ak"),
            (".ssh", "id_x", "vault/mykey"),
            (".config", "gh", "private/gh"),
            (".config", "autostart/x.desktop", "start/x"),
            (".local", "share/keyrings", "rings"),
        ],
    )
    def test_a_link_in_a_linked_folder_counts(self, owner: Path, folder: str, link: str, leads: str) -> None:
        real = write(owner / leads / "file" if leads in ("private/gh", "rings") else owner / leads)
        inner = owner / "dotfiles/linked" / link
        inner.parent.mkdir(parents=True, exist_ok=True)
        (owner / folder).symlink_to("dotfiles/linked")
        assert why_forbidden(real, Access.WRITE) is None
        inner.symlink_to(owner / leads)
        assert why_forbidden(real, Access.WRITE) is not None
        inner.unlink()
        assert why_forbidden(real, Access.WRITE) is None  # it is looked at each time
        (owner / folder).unlink()

    def test_a_linked_folder_behind_a_linked_folder_is_gone_into(self, owner: Path) -> None:
        real = write(owner / "vault/token")
        write(owner / "private/gh/x")
        (owner / "private/gh/hosts.yml").symlink_to(real)
        (owner / "dotfiles/config").mkdir()
        (owner / "dotfiles/config/gh").symlink_to("../../private/gh")
        (owner / ".config").symlink_to("dotfiles/config")
        assert why_forbidden(real, Access.READ) == "credentials"

    def test_a_linked_folder_that_comes_to_be_one_later_is_gone_into(self, owner: Path) -> None:
        real = write(owner / "vault/mykey")
        write(owner / "dotfiles/ssh/known")
        (owner / "dotfiles/ssh/id_x").symlink_to(real)
        (owner / ".ssh").symlink_to("dotfiles/chosen")
        assert why_forbidden(real, Access.READ) is None
        (owner / "dotfiles/chosen").symlink_to("ssh")  # the folder with the first link did not change
        assert why_forbidden(real, Access.READ) == "keys"

    def test_links_that_go_round_end(self, owner: Path) -> None:
        real = write(owner / "vault/mykey")
        write(owner / "dotfiles/ssh/known")
        for name in ("a", "b"):
            (owner / "dotfiles/ssh" / name).symlink_to(".")
        (owner / "dotfiles/ssh/.ssh").symlink_to("../ssh")
        (owner / "dotfiles/ssh/.config").symlink_to("../ssh")
        (owner / "dotfiles/ssh/id_x").symlink_to(real)
        (owner / ".ssh").symlink_to("dotfiles/ssh")
        (owner / ".config").symlink_to(".ssh")
        assert why_forbidden(real, Access.READ) == "keys"
        assert len(aliases.look().links) < 200

    def test_a_linked_folder_that_holds_a_home_is_not_gone_into(self, owner: Path) -> None:
        letter = write(owner / "letter.txt")
        os.link(letter, owner / "second.txt")
        (owner / "short").symlink_to("letter.txt")
        (owner / ".ssh").symlink_to(owner)
        (owner / ".aws").symlink_to("/")
        assert why_forbidden(letter, Access.READ) is None

    def test_what_is_not_there_yet_is_forbidden_too(self, owner: Path) -> None:
        (owner / ".bash_profile").symlink_to("dotfiles/not_yet")
        assert why_forbidden(owner / "dotfiles/not_yet", Access.WRITE) is not None

    def test_a_link_to_the_home_itself_forbids_no_home(self, owner: Path) -> None:
        (owner / ".ssh").symlink_to(owner)
        (owner / ".vault-token").symlink_to("/")
        assert why_forbidden(owner / "letter.txt", Access.READ) is None

    def test_a_link_that_comes_later_is_seen_at_once(self, owner: Path, repeat: Repeat) -> None:
        real = write(owner / "dotfiles/x")
        for _ in repeat("a link comes and goes", suite=20, soak=5000):
            assert why_forbidden(real, Access.READ) is None
            (owner / ".netrc").symlink_to(real)
            assert why_forbidden(real, Access.READ) is not None
            (owner / ".netrc").unlink()

    @given(st.lists(st.sampled_from(["link", "unlink", "folder", "look"]), max_size=12))
    def test_however_links_come_and_go_the_answer_is_that_of_the_moment(self, steps: list[str]) -> None:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder, pytest.MonkeyPatch.context() as patch:
            home = Path(folder)
            patch.setenv("HOME", folder)
            real = home / "target"
            for step in steps:
                if step == "link" and not (home / ".netrc").is_symlink():
                    (home / ".netrc").symlink_to(real)
                elif step == "unlink":
                    (home / ".netrc").unlink(missing_ok=True)
                elif step == "folder":
                    (home / ".aws").mkdir(exist_ok=True)
                assert (why_forbidden(real, Access.READ) is not None) is (home / ".netrc").is_symlink()

    def test_a_folder_is_read_again_only_when_it_changed(self, owner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(aliases, "_SURE_NS", -(10**18))
        aliases.look()
        read: list[str] = []
        really = aliases._read
        monkeypatch.setattr(aliases, "_read", lambda home, folder: read.append(folder) or really(home, folder))
        aliases.look()
        assert read == []
        (owner / ".netrc").symlink_to("x")
        aliases.look()
        assert read == [str(owner)]

    def test_one_step_looks_once_and_the_next_one_anew(self, owner: Path) -> None:
        real = write(owner / "dotfiles/x")
        with aliases.held():
            (owner / ".netrc").symlink_to(real)
            with aliases.held():
                assert why_forbidden(real, Access.READ) is None
            assert why_forbidden(real, Access.READ) is None
        assert why_forbidden(real, Access.READ) is not None


class TestHardLinks:
    def test_a_second_name_of_a_well_known_file_is_forbidden(self, owner: Path) -> None:
        secret, other = write(owner / ".netrc"), write(owner / "box/other")
        os.link(secret, owner / "box/innocent")
        os.link(other, owner / "box/fine")
        assert why_forbidden(owner / "box/innocent", Access.READ) == "credentials"
        assert why_forbidden(owner / "box/fine", Access.READ) is None
        assert list(forbidden_below(owner / "box", Access.READ, 100)) == [owner / "box/innocent"]

    def test_also_of_one_in_a_forbidden_folder(self, owner: Path) -> None:
        os.link(write(owner / ".ssh/work"), owner / "picture.jpg")
        assert why_forbidden(owner / "picture.jpg", Access.READ) == "keys"

    def test_also_of_one_in_a_linked_folder(self, owner: Path) -> None:
        os.link(write(owner / "dotfiles/ssh/work"), owner / "picture.jpg")
        (owner / ".ssh").symlink_to("dotfiles/ssh")
        assert why_forbidden(owner / "picture.jpg", Access.READ) == "keys"

    def test_a_file_that_may_be_read_is_only_closed_for_writing(self, owner: Path) -> None:
        os.link(write(owner / ".gitconfig"), owner / "copy")
        assert why_forbidden(owner / "copy", Access.READ) is None
        assert why_forbidden(owner / "copy", Access.WRITE) is not None


class TestWays:
    def test_every_link_on_the_way_is_told_and_the_end_is_last(self, owner: Path) -> None:
        write(owner / "real/sub/file")
        (owner / "two").symlink_to("real")
        (owner / "one").symlink_to(owner / "two/sub")
        ways = path_ways("one/./x/../file", cwd=owner, home=owner)
        assert ways == (owner / "one/file", owner / "two/sub/file", owner / "real/sub/file")

    def test_a_plain_path_has_one_name(self, owner: Path) -> None:
        assert path_ways("~/a/b", cwd=owner, home=owner) == (owner / "a/b",)

    def test_dots_behind_a_link_count_both_ways(self, owner: Path) -> None:
        (owner / "deep/er").mkdir(parents=True)
        (owner / "in").symlink_to("deep/er")
        assert path_ways("in/../x", cwd=owner, home=owner) == (owner / "x", owner / "deep/x")

    def test_a_loop_is_refused(self, owner: Path) -> None:
        (owner / "loop").symlink_to("loop")
        with pytest.raises(PathError):
            path_ways("loop/x", cwd=owner, home=owner)

    @given(
        st.lists(
            st.tuples(st.sampled_from("abcd"), st.sampled_from(["a", "b/c", "..", "../b", "/tmp", "c/../d"])),
            max_size=4,
        ),
        st.lists(st.sampled_from(["a", "b", "c", "d", "..", ".", "x"]), min_size=1, max_size=5),
    )
    def test_the_last_way_is_always_the_canonical_path(self, links: list[tuple[str, str]], parts: list[str]) -> None:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
            folder, text = Path(name), "/".join(parts)
            for link, leads in links:
                if not (folder / link).is_symlink():
                    (folder / link).symlink_to(leads)
            try:
                wanted = canonical_path(text, cwd=folder, home=folder)
            except PathError:
                with pytest.raises(PathError):
                    path_ways(text, cwd=folder, home=folder)
                return
            ways = path_ways(text, cwd=folder, home=folder)
            assert ways[-1] == wanted
            assert ways[0] == Path(os.path.normpath(folder / text))
            assert len(set(ways)) == len(ways)


class TestOwnCode:
    @try_each("path", [ROOT / "src/metnos/law/levels.py", ROOT / "x", *own_places()])
    def test_nothing_writes_it_whatever_the_spelling(self, path: Path) -> None:
        for spelled in (path, path / "below", Path(str(path).swapcase())):
            assert why_forbidden(spelled, Access.WRITE) is not None
        with pytest.raises(ForbiddenPath):
            refuse_forbidden(path, Access.WRITE)

    def test_it_may_be_read(self) -> None:
        assert why_forbidden(ROOT / "src/metnos/law/levels.py", Access.READ) is None
        assert why_forbidden(ROOT / "src/metnos/law/levels.py", Access.WRITE) == OWN_CODE

    def test_a_link_to_it_is_no_way_in(self, owner: Path) -> None:
        (owner / "mine").symlink_to(ROOT / "src")
        ways = path_ways("~/mine/metnos/law/new.py", cwd=owner, home=owner)
        with pytest.raises(ForbiddenPath):
            refuse_ways(ways, Access.WRITE)

    def test_a_folder_that_holds_it_is_not_moved_as_a_whole(self, owner: Path) -> None:
        for folder in (ROOT.parent, Path("/")):
            with pytest.raises(ForbiddenPath):
                refuse_holding(folder)
        refuse_holding(owner)


@given(
    st.lists(st.tuples(st.sampled_from(["/h/.x", "/h/y"]), st.sampled_from(["/a", "/a/b", "/a/bc", "/d"])), max_size=4),
    st.sampled_from(["/a", "/a/b/c", "/a/bc", "/a/b c", "/d/", "/", "a", "/h/.x/a"]),
)
def test_names_are_those_of_every_link_that_leads_above(links: list[tuple[str, str]], path: str) -> None:
    known = aliases.Aliases(tuple(links), ())
    wanted = [name + path[len(to) :] for name, to in links if path == to or path.startswith(f"{to}/")]
    assert sorted(known.names_of(path)) == sorted(wanted)


def test_many_links_cost_a_path_nothing() -> None:
    few, many = (aliases.Aliases(tuple((f"/h/.l{i}", f"/d/{i}") for i in range(n)), ()) for n in (1, 100_000))

    def cost(known: aliases.Aliases) -> float:
        begun = time.process_time()
        for _ in range(200):
            assert list(known.names_of("/d/0/x")) == ["/h/.l0/x"]
        return time.process_time() - begun

    assert cost(many) < 20 * cost(few) + 0.05
