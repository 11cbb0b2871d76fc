import hashlib
from pathlib import Path

import pytest

from law.packages import make_package, plant, write_record
from metnos import app
from metnos.app import code_checks
from metnos.core.records import Check, Level
from metnos.core.workspace import Workspace
from metnos.law.audit_line import Entry
from metnos.law.own_pin import OwnPin
from metnos.law.principal import at_terminal
from metnos.law.witness import Witness


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path / "packages")


class TestOwn:
    def test_green_as_pinned_and_red_with_what_to_type_when_changed(self, opened: app.App, package: Path) -> None:
        seat = opened.seat
        own = OwnPin(seat.db, seat.audit, seat.signer, opened.clock, package)
        own.uphold()
        own.pin(own.look().word, at_terminal())
        assert code_checks.check_own(own).level is Level.GREEN
        levels = package / "law" / "levels.py"
        levels.write_text("LIMIT = 99\n")
        found = code_checks.check_own(own)
        assert found.level is Level.RED
        assert "law/levels.py was changed" in found.found
        assert "metnos doctor --pin" in found.fix

    def test_red_while_this_process_runs_what_was_pinned_before(self, opened: app.App, package: Path) -> None:
        seat = opened.seat
        own = OwnPin(seat.db, seat.audit, seat.signer, opened.clock, package)
        own.uphold()
        (package / "law" / "levels.py").write_text("LIMIT = 99\n")
        own.pin(own.look().word, at_terminal())
        assert code_checks.check_own(own).level is Level.RED

    def test_red_for_a_wheel_that_is_not_as_installed(self, opened: app.App, package: Path) -> None:
        seat = opened.seat
        write_record(package)
        (package / "law" / "levels.py").write_text("LIMIT = 99\n")
        own = OwnPin(seat.db, seat.audit, seat.signer, opened.clock, package)
        own.uphold()
        own.pin(own.look().word, at_terminal())
        found = code_checks.check_own(own)
        assert found.level is Level.RED
        assert "not what was installed" in found.found


def test_compiled_files_of_the_whole_package(package: Path) -> None:
    assert code_checks.check_bytecode(package).level is Level.GREEN
    (package / "web").mkdir(exist_ok=True)
    make_package(package.parent, {"web/site.py": "x = 1\n"})
    plant(package / "web" / "site.py", "x = 2\n")
    found = code_checks.check_bytecode(package)
    assert found.level is Level.RED
    assert "site" in found.found


def test_packages_as_installed_and_not(package: Path) -> None:
    info = write_record(package)
    folder = package.parent
    assert code_checks.check_packages([folder]).level is Level.GREEN
    (folder / "sitecustomize.py").write_text("import os\n")
    found = code_checks.check_packages([folder])
    assert found.level is Level.YELLOW
    assert "sitecustomize.py" in found.found
    (package / "law" / "levels.py").write_text("")
    found = code_checks.check_packages([folder])
    assert found.level is Level.RED
    assert "law/levels.py was changed" in found.found
    (info / "RECORD").unlink()
    assert "has no RECORD" in code_checks.check_packages([folder]).found


def test_pythons_own_library(tmp_path: Path) -> None:
    library, info = tmp_path / "lib" / "python3", tmp_path / "info"
    library.mkdir(parents=True)
    info.mkdir()
    assert code_checks.check_library(library, info).level is Level.YELLOW
    module = library / "os.py"
    module.write_text("name = 'posix'\n")
    digest = hashlib.md5(module.read_bytes()).hexdigest()
    (info / "libpython3-stdlib.md5sums").write_text(f"{digest}  {str(module)[1:]}\n{'0' * 32}  usr/share/doc/x\n")
    assert code_checks.check_library(library, info).level is Level.GREEN
    module.write_text("name = 'mine'\n")
    found = code_checks.check_library(library, info)
    assert found.level is Level.RED
    assert str(module) in found.found


def test_bubblewrap_that_others_could_change(tmp_path: Path) -> None:
    assert code_checks.check_bubblewrap("").level is Level.GREEN
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o777)
    assert code_checks.check_bubblewrap(str(program)).level is Level.RED
    assert code_checks.check_bubblewrap(str(tmp_path / "nowhere")).level is Level.RED


@pytest.mark.slow
def test_all_of_metnos_itself(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    monkeypatch.setattr(code_checks, "_folders", lambda: [str(package.parent)])
    write_record(package)
    found = {check.name: check.level for check in code_checks.check_deep("")}
    assert list(found) == ["bytecode", "packages", "library", "bubblewrap"]
    assert (found["bytecode"], found["packages"], found["bubblewrap"]) == (Level.GREEN,) * 3


@pytest.mark.slow
def test_the_doctor_goes_deep_only_if_asked(blank: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_checks, "check_deep", lambda _: iter([Check.green("deep", "it is")]))
    assert "deep" in [check.name for check in app.examine(blank, deep=True)]
    assert "deep" not in [check.name for check in app.examine(blank)]


class TestWitness:
    def test_green_where_it_knows_the_whole_audit(self, opened: app.App) -> None:
        opened.audit.append(Entry("thing done"))
        found = code_checks.check_witness(opened.audit)
        assert found.level is Level.GREEN
        assert str(opened.audit.witness.path) in found.found

    def test_yellow_where_there_is_none_and_says_where_it_looked(
        self, opened: app.App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened.audit.append(Entry("thing done"))
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "empty"))
        found = code_checks.check_witness(app.App.open(opened.workspace, opened.clock).audit)
        assert found.level is Level.YELLOW
        assert str(tmp_path / "empty") in found.found

    @pytest.mark.parametrize("place", ["file", "/proc/1/nowhere"])
    def test_yellow_where_it_cannot_be_written(
        self, opened: app.App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / place))
        again = app.App.open(opened.workspace, opened.clock)
        again.audit.append(Entry("thing done"))
        found = code_checks.check_witness(again.audit)
        assert found.level is Level.YELLOW
        assert str(tmp_path / place) in found.found
        assert found.fix

    def test_yellow_where_one_that_is_there_is_closed_or_behind(self, opened: app.App) -> None:
        opened.audit.append(Entry("thing done"))
        path = opened.audit.witness.path
        assert path is not None
        old = path.read_bytes()
        opened.audit.append(Entry("thing done"))
        path.write_bytes(old)
        assert code_checks.check_witness(opened.audit).level is Level.YELLOW
        path.unlink()
        path.mkdir()
        assert code_checks.check_witness(opened.audit).level is Level.YELLOW

    def test_yellow_without_a_home(self, opened: app.App, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(opened.audit, "witness", Witness(None, ""))
        assert code_checks.check_witness(opened.audit).level is Level.YELLOW
