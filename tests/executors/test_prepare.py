"""What is known about a call before it runs: arguments, needs, walls."""

import contextlib
import os
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.calls import ADDRESS, READ, READS, WRITE, WRITES, manifest, mutating, ready
from metnos.core.errors import ExecutorFailed
from metnos.core.sections import ExecutorSettings
from metnos.executors import prepare as preparing
from metnos.executors import private
from metnos.executors.exposure import Exposure
from metnos.executors.manifest import Manifest
from metnos.executors.prepare import Prepared, build_walls, hosts_of
from metnos.law import self_running
from metnos.law.capability import Capability
from metnos.law.need import OWN, Need
from metnos.sandbox.profile import Walls
from support import at_once

HOME_READING = {"fs": {"read": ["~/**"]}}
ANY_HOST = {"net": {"http": {"hosts": ["*"], "methods": ["GET", "HEAD"]}}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a folder of two files."""
    made = (tmp_path / "home").resolve()
    (made / "box").mkdir()
    for name in ("a.txt", "b.txt"):
        (made / "box" / name).write_text(name)
    return made


def reads(*paths: Path) -> tuple[Need, ...]:
    return tuple(Need(Capability.FS_READ, str(path)) for path in paths)


def writes(*paths: Path) -> tuple[Need, ...]:
    return tuple(Need(Capability.FS_WRITE, str(path)) for path in paths)


def walls(read: Manifest, prepared: Prepared) -> Walls:
    with contextlib.closing(Exposure()) as exposure:
        return build_walls(read, prepared, read.limits(ExecutorSettings()), exposure)


class TestPaths:
    @pytest.mark.parametrize(
        "spelled", ["~/box", "box", "./box", "box/", "box/../box", "~//box/.", "link", "{home}/box", "//{home}/box"]
    )
    def test_one_spelling_for_every_spelling(self, home: Path, spelled: str) -> None:
        (home / "link").symlink_to("box")
        read = manifest({"path": READ}, HOME_READING)
        prepared = ready(read, home, path=spelled.format(home=home))
        assert prepared.args == {"path": str(home / "box")}
        assert (prepared.reads, prepared.needs) == ((home / "box",), reads(home / "box"))
        assert prepared.digest == ready(read, home, path=str(home / "box")).digest

    def test_relative_paths_are_relative_to_where_the_call_is_made(self, home: Path) -> None:
        read = manifest({"path": READ}, HOME_READING)
        assert ready(read, home, cwd=home / "box", path="a.txt").reads == (home / "box/a.txt",)

    def test_what_is_only_handed_on_is_made_real_and_is_no_need(self, home: Path) -> None:
        """Whoever gets it has the scopes, and looks whether it is there when its turn has come."""
        calling = manifest({"path": READ, "paths": READS}, {"executor": {"call": ["list_folders"]}})
        prepared = ready(calling, home, path="box/../later", paths=["~/box", "/etc"])
        assert prepared.args == {"path": str(home / "later"), "paths": [str(home / "box"), "/etc"]}
        assert prepared.needs == (Need(Capability.EXECUTOR_CALL, "list_folders"),)
        assert (prepared.reads, prepared.writes, walls(calling, prepared).binds) == ((), (), ())

    def test_several_at_once_and_each_counts_once(self, home: Path) -> None:
        read = manifest({"paths": READS}, HOME_READING)
        prepared = ready(read, home, paths=["box/a.txt", "~/box/b.txt", "./box/a.txt"])
        assert prepared.args["paths"] == [str(home / "box" / name) for name in ("a.txt", "b.txt", "a.txt")]
        assert prepared.needs == reads(home / "box/a.txt", home / "box/b.txt")

    def test_other_arguments_make_another_call(self, home: Path) -> None:
        read = manifest({"path": READ, "depth": {"type": "integer", "default": 3, "description": "x"}}, HOME_READING)
        same = ready(read, home, path="box")
        assert same.args["depth"] == 3
        assert same.digest == ready(read, home, path="~/box", depth=3).digest
        assert same.digest != ready(read, home, path="box", depth=4).digest
        assert same.digest != ready(read, home, path="box/a.txt").digest

    def test_what_is_to_be_read_must_be_there_and_what_is_written_need_not(self, home: Path) -> None:
        with pytest.raises(ExecutorFailed, match="there is no") as caught:
            ready(manifest({"path": READ}, HOME_READING), home, path="box/none")
        assert caught.value.kind == "not_found"
        prepared = ready(mutating(args={"to": WRITE}, capabilities={"fs": {"write": ["~/**"]}}), home, to="new/er")
        assert (prepared.writes, prepared.needs) == ((home / "new/er",), writes(home / "new/er"))

    @pytest.mark.parametrize("path", ["/etc/hostname", "..", "box/../../x", "out", "out/hostname", "beside"])
    def test_a_path_outside_the_scope_in_any_spelling(self, home: Path, path: str) -> None:
        (home / "out").symlink_to("/etc")
        (home / "beside").symlink_to(home.parent)
        for read in (
            manifest({"path": READ}, HOME_READING),
            mutating(args={"path": WRITE}, capabilities={"fs": {"write": ["~/box/**"]}}),
        ):
            with pytest.raises(ExecutorFailed, match="outside what its manifest declares") as caught:
                ready(read, home, path=path)
            assert caught.value.kind == "not_permitted"

    def test_a_scope_without_stars_is_that_path_alone(self, home: Path) -> None:
        read = manifest({"path": READ}, {"fs": {"read": ["~/box"]}})
        assert ready(read, home, path="box").reads == (home / "box",)
        with pytest.raises(ExecutorFailed, match="outside"):
            ready(read, home, path="box/a.txt")

    def test_reading_and_writing_are_separate_scopes(self, home: Path) -> None:
        can = {"fs": {"read": ["~/**"], "write": ["~/box/**"]}}
        read = mutating(args={"from": READ, "to": WRITE}, capabilities=can)
        prepared = ready(read, home, **{"from": "box/a.txt", "to": "box/c.txt"})
        assert prepared.needs == (*reads(home / "box/a.txt"), *writes(home / "box/c.txt"))
        with pytest.raises(ExecutorFailed, match="argument 'to'"):
            ready(read, home, **{"from": "box/a.txt", "to": "c.txt"})

    @pytest.mark.parametrize("path", ["", "a\0b", "loop"])
    def test_what_is_no_path(self, home: Path, path: str) -> None:
        (home / "loop").symlink_to("loop")
        with pytest.raises(ExecutorFailed) as caught:
            ready(manifest({"path": READ}, HOME_READING), home, path=path)
        assert caught.value.kind == "invalid"

    @pytest.mark.parametrize("args", [{"path": 5}, {"path": None}, {"path": "box", "more": 1}, {"path": "\ud800"}])
    def test_arguments_that_do_not_fit(self, home: Path, args: dict[str, Any]) -> None:
        with pytest.raises(ExecutorFailed) as caught:
            ready(manifest({"path": READ}, HOME_READING), home, **args)
        assert caught.value.kind == "invalid"

    def test_a_folder_that_is_closed_to_us_is_a_failure_and_no_crash(self) -> None:
        def call() -> str:
            if os.geteuid() == 0:
                os.seteuid(65534)
            try:
                ready(manifest({"path": READ}, {"fs": {"read": ["/**"]}}), Path("/"), path=f"{closed}/x")
            except ExecutorFailed:
                return "failed"
            except OSError:
                return "crashed"
            return "read"

        with tempfile.TemporaryDirectory() as closed:
            Path(closed).chmod(0)
            assert at_once([call]) == ["failed"]


class TestWithoutPathArguments:
    def test_the_scopes_are_what_is_needed(self, home: Path) -> None:
        can = {"fs": {"read": ["~/box/**", "~/none/**"], "write": ["{workspace}/notes/**"]}}
        prepared = ready(mutating(capabilities=can), home)
        notes = home.parent / "workspace/notes"
        assert (prepared.reads, prepared.writes) == ((home / "box",), (notes,))
        assert prepared.needs == (*reads(home / "box"), Need(Capability.FS_WRITE, str(notes), OWN))

    def test_a_path_argument_of_one_mode_leaves_the_other_scope_whole(self, home: Path) -> None:
        can = {"fs": {"read": ["~/**"], "write": ["{workspace}/notes/**"]}}
        prepared = ready(mutating(args={"path": READ}, capabilities=can), home, path="box")
        assert (prepared.reads, prepared.writes) == ((home / "box",), (home.parent / "workspace/notes",))

    def test_a_path_argument_that_was_left_out_names_nothing(self, home: Path) -> None:
        assert ready(manifest({"path": READ}, HOME_READING), home).needs == ()


class TestHosts:
    @pytest.mark.parametrize(
        ("address", "host"),
        [
            ("http://A.example/x?y", "a.example"),
            ("https://a.example:8443/", "a.example"),
            ("http://[::1]:8080/", "::1"),
            ("https://münchen.example/", "xn--mnchen-3ya.example"),
        ],
    )
    def test_of_an_address_among_the_arguments(self, home: Path, address: str, host: str) -> None:
        needs = ready(manifest({"url": ADDRESS}, ANY_HOST), home, url=address).needs
        assert [(need.capability, need.target, need.verb) for need in needs] == [
            (Capability.NET_HTTP, host, "GET"),
            (Capability.NET_HTTP, host, "HEAD"),
        ]

    def test_of_a_list_of_addresses(self, home: Path) -> None:
        urls = {"type": "array", "items": {"type": "string", "format": "uri"}, "description": "x"}
        read = manifest({"urls": urls}, ANY_HOST)
        needs = ready(read, home, urls=["http://a.example/", "http://b.example/", "http://a.example/2"]).needs
        assert list(dict.fromkeys(need.target for need in needs)) == ["a.example", "b.example"]

    @pytest.mark.parametrize("address", ["ftp://a.example/", "nonsense", "http://", "http://[", "http://a.example:x/"])
    def test_of_what_is_no_web_address_there_is_none(self, home: Path, address: str) -> None:
        assert ready(manifest({"url": ADDRESS}, ANY_HOST), home, url=address).needs == ()

    def test_those_that_the_manifest_names_when_no_argument_is_an_address(self, home: Path) -> None:
        can = {"net": {"http": {"hosts": ["api.example", "*.b.example"]}}}
        assert [need.target for need in ready(manifest({}, can), home).needs] == ["api.example"]
        with pytest.raises(ExecutorFailed, match="does not say which hosts") as caught:
            ready(manifest({}, {"net": {"http": {"hosts": ["*.b.example"]}}}), home)
        assert (caught.value.kind, 'format = "uri"' in caught.value.fix) == ("not_permitted", True)

    def test_an_address_that_was_left_out_needs_no_host(self, home: Path) -> None:
        can = {"net": {"http": {"hosts": ["api.example"]}}}
        assert ready(manifest({"url": ADDRESS}, can), home).needs == ()

    @pytest.mark.parametrize(
        ("host", "outside"),
        [("nas.local", False), ("nas", False), ("192.168.1.7", False), ("localhost", False), ("[::1]", False),
         ("a.example", True), ("local", False), ("nas.local.example", True), ("8.8.8.8", True)],
    )  # fmt: skip
    def test_its_name_alone_says_whether_it_is_outside(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, host: str, outside: bool
    ) -> None:
        """To look it up would already tell somebody."""
        monkeypatch.setattr("socket.getaddrinfo", None)
        needs = ready(manifest({"url": ADDRESS}, ANY_HOST), home, url=f"http://{host}/").needs
        assert {need.outside for need in needs} == {outside}

    def test_a_host_that_the_manifest_does_not_cover(self, home: Path) -> None:
        read = manifest({"url": ADDRESS}, {"net": {"http": {"hosts": ["*.b.example"]}}})
        with pytest.raises(ExecutorFailed, match=r"may not speak to a\.example") as caught:
            ready(read, home, url="http://a.example/")
        assert caught.value.kind == "not_permitted"

    @given(st.one_of(st.text(), st.text(alphabet="ahtp:/[]@.%x1é\\ \n?#", max_size=30).map("http://{}".format)))
    def test_whatever_is_given_as_an_address(self, address: str) -> None:
        for host in hosts_of(manifest({"url": ADDRESS}, ANY_HOST), {"url": address}):
            assert host == host.lower() != ""

    def test_a_list_of_anything(self) -> None:
        anything = {"type": "array", "items": True, "description": "x"}
        assert hosts_of(manifest({"values": anything, "url": ADDRESS}, ANY_HOST), {}) == ()


def test_everything_else_that_is_declared_is_needed(home: Path) -> None:
    can = {
        "shell": {"exec": {"allow": ["/usr/bin/true"]}},
        "executor": {"call": ["find_files"]},
        "model": {"chat": True},
        "system": {"read": ["disks", "host"]},
    }
    needs = ready(mutating(capabilities=can), home).needs
    assert [(need.capability, need.target) for need in needs] == [
        (Capability.SHELL_EXEC, "/usr/bin/true"),
        (Capability.EXECUTOR_CALL, "find_files"),
        (Capability.MODEL_CHAT, "main"),
        (Capability.SYSTEM_READ, "disks"),
        (Capability.SYSTEM_READ, "host"),
    ]


class TestWalls:
    def test_exactly_what_was_named_is_bound_the_outermost_of_each(self, home: Path) -> None:
        read = manifest({"paths": READS}, HOME_READING)
        assert walls(read, ready(read, home, paths=["box/a.txt"])).binds == (str(home / "box/a.txt"),)
        assert walls(read, ready(read, home, paths=["box/a.txt", "box", "box/b.txt"])).binds == (str(home / "box"),)

    def test_of_a_target_that_is_not_there_the_folder_above_it_is(self, home: Path) -> None:
        read = mutating(args={"to": WRITES}, capabilities={"fs": {"write": ["~/**"]}})
        built = walls(read, ready(read, home, to=["box/new", "none/none/new", "box/b.txt"]))
        assert built.binds == (str(home / "box/b.txt"),)
        assert set(built.folders) == {str(home / "box"), str(home)}

    def test_what_is_private_below_it_is_masked(self, home: Path) -> None:
        for name in (".ssh/id_rsa", "box/.env", "box/server.pem", "box/deep/.git/hooks/x", "box/fine.txt"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("x")
        read = manifest({"path": READ}, HOME_READING)
        hidden = {str(home / name) for name in (".ssh", "box/.env", "box/server.pem", "box/deep/.git")}
        assert set(walls(read, ready(read, home, path="~")).masks) == hidden
        assert walls(read, ready(read, home, path="box/a.txt")).masks == ()

    def test_what_is_itself_out_of_bounds_is_not_bound(self, home: Path) -> None:
        (home / ".ssh").mkdir()
        read = manifest({"paths": READS}, HOME_READING)
        assert walls(read, ready(read, home, paths=[".ssh", "box"])).binds == (str(home / "box"),)

    @pytest.mark.parametrize(("where", "limit", "most"), [(private, "_MOST_ENTRIES", 2), (preparing, "_MOST_MASKS", 1)])
    def test_more_than_can_be_looked_through(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, where: ModuleType, limit: str, most: int
    ) -> None:
        for name in (".env", ".envrc"):
            (home / "box" / name).write_text("x")
        read = manifest({"path": READ}, HOME_READING)
        prepared = ready(read, home, path="box")
        assert len(walls(read, prepared).masks) == 2
        monkeypatch.setattr(where, limit, most)
        with pytest.raises(ExecutorFailed, match="too much below") as caught:
            walls(read, prepared)
        assert (caught.value.kind, caught.value.fix) == ("too_large", "Name a smaller folder.")

    def test_limits_and_programs_come_from_the_manifest(self, home: Path) -> None:
        can = {"shell": {"exec": {"allow": ["/usr/bin/true"]}}}
        read = mutating(capabilities=can, quotas={"cpu_s": 1, "ram_mb": 64, "wall_s": 2})
        built = walls(read, ready(read, home))
        assert (built.programs, built.cpu_s, built.ram_mb, built.wall_s) == (("/usr/bin/true",), 1, 64, 2)


def test_many_folders_are_not_each_a_place_for_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def what(path: str) -> None:
        asked.append(path)

    monkeypatch.setattr(self_running, "what_runs", what)
    read = mutating("irreversible", {"targets": WRITES, "to": WRITE}, {"fs": {"write": [f"{tmp_path}/**"]}})
    for number in range(60):
        (tmp_path / f"{number}").mkdir()
    (tmp_path / "to").mkdir()
    targets = [str(tmp_path / f"{number}") for number in range(60)]
    ready(read, tmp_path, targets=targets, to=str(tmp_path / "to"))
    assert str(tmp_path / "to/7") in asked
    assert len(asked) < 4 * 60
