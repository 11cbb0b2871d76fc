import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pydantic
import pytest

import metnos
from metnos.__main__ import divide, library_folders, strange
from metnos.law import own_places as own
from metnos.law.own_places import outermost, own_places
from support import PROGRAM, ROOT

HOME = Path("/home/owner")


def covered(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in own_places())


def test_everything_that_this_process_runs_from_is_a_place_of_its_own() -> None:
    assert metnos.__file__
    libraries = [Path(str(module.__file__)) for module in (pydantic, os, json)]
    programs = [Path(sys.executable), Path(sys.executable).resolve(), Path("/usr/bin/bwrap")]
    folders = [Path(sys.prefix), Path(sys.base_prefix), Path(sysconfig.get_path("stdlib")), ROOT]
    for path in (Path(metnos.__file__), *libraries, *programs, *folders):
        assert covered(path), path
        assert covered(path.resolve()), path
    assert covered(ROOT / "src/metnos/law/levels.py")
    assert covered(ROOT / "pyproject.toml")


def test_every_folder_that_python_looks_for_libraries_in_is_a_place_of_its_own(tmp_path: Path) -> None:
    program = "from metnos.law.own_places import own_places; print(*own_places(), sep=chr(10))"
    folders = [tmp_path / "library", tmp_path / "linked", tmp_path / "script"]
    for folder in (folders[0], folders[2]):
        folder.mkdir()
    folders[1].symlink_to("real")
    search = os.pathsep.join(map(str, (*folders[:2], tmp_path, ROOT / "src")))
    environment = {"HOME": str(tmp_path), "PYTHONPATH": search}
    line = [sys.executable, "-c", program]
    told = subprocess.run(line, cwd=folders[2], env=environment, capture_output=True, text=True, check=True).stdout
    found = set(map(Path, told.split("\n")[:-1]))
    assert {*folders, tmp_path / "real"} <= found
    assert tmp_path not in found  # in a home nothing could be done then


class TestProgram:
    """What is planted where Python looks for libraries does not run when Metnos starts."""

    PLANTED = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"

    def start(self, line: list[str], folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
        (folder / "click.py").write_text(self.PLANTED)
        (folder / "tomlkit.py").write_text(self.PLANTED)
        environment = {"HOME": str(home), "PYTHONPATH": str(folder), "METNOS_HOME": str(home / "workspace")}
        line = [*line, "config", "list"]
        return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    @pytest.mark.parametrize(
        "line", [[str(PROGRAM)], [sys.executable, "-m", "metnos"], [sys.executable, "-Pm", "metnos"]]
    )
    @pytest.mark.parametrize("name", ["planted", "site-packages"])
    def test_a_planted_library_is_not_looked_at(self, tmp_path: Path, line: list[str], name: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        done = self.start(line, folder, tmp_path)
        assert "Traceback" not in done.stderr
        assert not (folder / "ran").exists()

    def test_what_was_loaded_before_ends_the_program(self, tmp_path: Path) -> None:
        (tmp_path / "sitecustomize.py").write_text(self.PLANTED)
        done = self.start([str(PROGRAM)], tmp_path, tmp_path)
        assert done.returncode == 1
        assert str(tmp_path) in done.stderr

    @pytest.mark.parametrize("home", [sys.prefix, sysconfig.get_path("stdlib"), str(ROOT / "src/metnos/law")])
    def test_a_home_inside_of_what_runs_is_none(self, tmp_path: Path, home: str) -> None:
        """In its home Metnos may write."""
        environment = {"HOME": home, "METNOS_HOME": str(tmp_path / "workspace")}
        done = subprocess.run([str(PROGRAM), "version"], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert home in done.stderr or "home" in done.stderr

    def test_a_package_around_a_home_does_not_run(self, tmp_path: Path) -> None:
        (tmp_path / "metnos").symlink_to(ROOT / "src/metnos")
        done = self.start([sys.executable, "-m", "metnos"], tmp_path, tmp_path)
        assert done.returncode == 1
        assert not (tmp_path / "ran").exists()


def test_only_python_itself_packages_and_the_package_are_imported_from() -> None:
    entries = ["", "work", "/home/owner/pylib", "/home/owner", "/opt/py/bin", "/opt/py/lib/../../evil", "/opt/py/libx"]
    entries += ["/home/owner/site-packages", "/tmp/dist-packages/x"]  # a name is no sign of Python's own
    user = "/home/owner/.local/lib/python3/site-packages"
    right = ["/opt/py/lib/python3.zip", "/opt/py/lib/python3", user]
    libraries = [*library_folders(["/opt/py"]), user]
    kept, dropped = divide([*entries, "/code/src", *right], "/code/src", libraries)
    assert kept == [*right, "/code/src"]  # behind the others, so that nothing in it takes their place
    assert len(dropped) == len(entries)
    assert strange("/home/owner/pylib/re.py", kept, dropped) == "/home/owner/pylib"
    assert strange("/opt/py/lib/python3/re.py", kept, ["/"]) == ""


def test_no_place_holds_the_home_or_lies_in_another(tmp_path: Path) -> None:
    places, home = own_places(), Path.home()
    assert all(place.is_absolute() for place in places)
    assert not any(home.is_relative_to(place) for place in places)
    assert not any(tmp_path.is_relative_to(place) for place in places)
    assert not any(one != two and one.is_relative_to(two) for one in places for two in places)


def test_of_several_places_the_outermost_stay() -> None:
    found = outermost(map(Path, ("/a/b", "/a", "/a/b", "/b/c", "/home", "/", "relative", str(HOME))), HOME)
    assert found == (Path("/a"), Path("/b/c"))


@pytest.mark.parametrize("sign", [".git", "pyproject.toml"])
def test_a_checkout_is_the_nearest_folder_that_looks_like_one(tmp_path: Path, sign: str) -> None:
    package = tmp_path / "checkout/src/metnos"
    package.mkdir(parents=True)
    (tmp_path / "checkout" / sign).mkdir()
    assert list(own._checkout(package, HOME)) == [tmp_path / "checkout"]
    assert list(own._checkout(package, tmp_path / "checkout")) == []  # a home under version control is no checkout
    installed = tmp_path / "checkout/.venv/lib/python3/site-packages/metnos"
    assert list(own._checkout(installed, HOME)) == []


def test_a_prefix_that_holds_more_than_a_python_counts_in_parts() -> None:
    assert list(own._of_prefix(Path("/opt/python"), HOME)) == [Path("/opt/python")]
    for broad in (HOME / ".local", HOME, Path("/home"), Path("/")):
        found = set(own._of_prefix(broad, HOME))
        assert {broad / "bin", broad / "lib"} <= found
        assert not any((HOME / ".local/share/metnos").is_relative_to(place) for place in found)


def test_every_link_on_the_way_to_an_interpreter_counts(tmp_path: Path) -> None:
    real = tmp_path / "real/python3"
    real.parent.mkdir()
    real.touch()
    for name, leads in (("one", real), ("two", Path("../one/python3"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "python3").symlink_to(leads)
    found = set(own._of_program(tmp_path / "two/python3", HOME))
    assert {tmp_path / "two", tmp_path / "one", real.parent, real} <= found
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert len(list(own._of_program(tmp_path / "loop", HOME))) <= 80  # it ends


def test_the_places_do_not_depend_on_a_setting_or_on_where_one_stands(tmp_path: Path) -> None:
    program = "from metnos.law.own_places import own_places; print(*own_places(), sep=chr(10))"
    environment = {"HOME": str(tmp_path), "METNOS_WORKSPACE": str(tmp_path / "w"), "PATH": str(tmp_path)}
    line = [sys.executable, "-P", "-c", program]
    told = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert set(map(Path, told.split("\n")[:-1])) >= {ROOT}
    assert str(tmp_path) not in told
