import json
import shutil
from pathlib import Path

import pytest

from executors.samples import SOURCE, Shop, open_shop, write_sample
from metnos.core.clock import SystemClock
from metnos.core.errors import ExecutorError, NotTrusted
from metnos.executors import builtins, index, journal
from metnos.executors.journal import Line
from metnos.executors.signature import Origin
from metnos.executors.state import State
from support import at_once

NAMES = ["find_files", "list_files", "read_files"]


def ship(folder: Path, names: list[str] = NAMES, **changes: str) -> Path:
    """A package's folder with its list of digests."""
    for name in names:
        write_sample(folder, name, **changes)
    (folder / builtins.DIGESTS).write_text(json.dumps(builtins.measure(folder)))
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return open_shop(tmp_path)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return ship(tmp_path / "package")


def test_all_are_installed_signed_and_active(shop: Shop, package: Path) -> None:
    report = builtins.install(shop.catalog, package)
    assert (report.fresh, report.upgraded, report.restored, report.refused) == (tuple(NAMES), (), (), {})
    for name in NAMES:
        found = shop.catalog.get(name)
        assert (found.state, found.origin) == (State.ACTIVE, Origin.BUILTIN)
    (line,) = shop.lines("builtins installed")
    assert line.entry.counts["fresh"] == 3
    assert line.entry.digests["shipped"] == builtins.digests_hash(builtins.read_digests(package))


def test_again_writes_nothing(shop: Shop, package: Path) -> None:
    builtins.install(shop.catalog, package)
    before = {path: path.stat().st_mtime_ns for path in shop.folder.rglob("*")}
    head = shop.audit.head()
    assert builtins.install(shop.catalog, package).changed == ()
    assert {path: path.stat().st_mtime_ns for path in shop.folder.rglob("*")} == before
    assert shop.audit.head() == head


def test_what_the_package_does_not_vouch_for_is_refused_alone(shop: Shop, package: Path) -> None:
    (package / "find_files" / "executor.py").write_text(SOURCE + "# evil\n")
    (package / "list_files" / "tests.toml").unlink()
    report = builtins.install(shop.catalog, package)
    assert report.fresh == ("read_files",)
    assert "find_files/executor.py is not what was shipped" in report.refused["find_files"]
    assert "lacks list_files/tests.toml" in report.refused["list_files"]
    assert shop.catalog.names() == ["read_files"]


def test_one_that_does_not_follow_the_contract_is_refused_alone(shop: Shop, tmp_path: Path) -> None:
    package = tmp_path / "package"
    write_sample(package, "list_files", source="def go(): ...")
    report = builtins.install(shop.catalog, ship(package, ["find_files"]))
    assert report.fresh == ("find_files",)
    assert "no function run" in report.refused["list_files"]


def test_a_damaged_list_and_none(shop: Shop, package: Path) -> None:
    (package / builtins.DIGESTS).write_text("{")
    with pytest.raises(ExecutorError, match="damaged"):
        builtins.install(shop.catalog, package)
    (package / builtins.DIGESTS).unlink()
    assert builtins.install(shop.catalog, package).changed == ()


class TestUpgrading:
    def test_a_newer_one_takes_the_place_and_keeps_state_and_journal(self, shop: Shop, package: Path) -> None:
        builtins.install(shop.catalog, package)
        shop.catalog.change("find_files", State.DISABLED, "not for me")
        line = Line("2026-11-15T12:00:00.000Z", ok=True, kind="", wall_ms=1, cpu_ms=1)
        assert journal.append(shop.folder / "read_files", line) == ""
        report = builtins.install(shop.catalog, ship(package, version="1.1.0"))
        assert report.upgraded == tuple(NAMES)
        assert shop.catalog.look("find_files").state is State.DISABLED
        assert shop.catalog.look("find_files").version == "1.1.0"
        assert shop.catalog.get("read_files").version == "1.1.0"
        assert journal.read(shop.folder / "read_files") == [line]
        assert len(shop.lines("executor signed")) == 3
        shop.catalog.change("find_files", State.ACTIVE, "after all")

    def test_one_quarantined_for_its_conduct_stays_so(self, shop: Shop, package: Path) -> None:
        builtins.install(shop.catalog, package)
        shop.catalog.change("find_files", State.QUARANTINE, "three strikes")
        builtins.install(shop.catalog, ship(package, version="1.1.0"))
        assert shop.catalog.look("find_files").state is State.QUARANTINE

    def test_none_is_revoked_and_one_switched_off_stays_so(self, shop: Shop, package: Path) -> None:
        builtins.install(shop.catalog, package)
        with pytest.raises(NotTrusted):
            shop.catalog.change("find_files", State.REVOKED, "never")
        assert shop.catalog.get("find_files").usable
        shop.catalog.change("find_files", State.DISABLED, "never")
        for version in ("1.0.0", "1.1.0"):
            builtins.install(shop.catalog, ship(package, version=version))
            assert shop.catalog.look("find_files").state is State.DISABLED

    def test_one_that_was_tampered_with_is_restored_and_said(self, shop: Shop, package: Path) -> None:
        builtins.install(shop.catalog, package)
        (shop.folder / "find_files" / "executor.py").write_text("evil")
        shutil.rmtree(shop.folder / "list_files")
        (shop.folder / "read_files" / "added").touch()
        with pytest.raises(NotTrusted, match=r"Put the shipped one back: metnos init"):
            shop.catalog.get("find_files")
        report = builtins.install(shop.catalog, package)
        assert report.restored == tuple(NAMES)
        assert len(shop.lines("executor quarantined")) == 3
        assert len(shop.lines("executor signed")) == 3
        for name in NAMES:
            assert shop.catalog.get(name).usable
        assert builtins.install(shop.catalog, package).changed == ()

    def test_tampering_does_not_switch_on_what_the_owner_switched_off(self, shop: Shop, package: Path) -> None:
        builtins.install(shop.catalog, package)
        shop.catalog.change("find_files", State.DISABLED, "not for me")
        (shop.folder / "find_files" / "executor.py").write_text("evil")
        assert builtins.install(shop.catalog, package).restored == ("find_files",)
        assert shop.catalog.look("find_files").state is State.DISABLED
        assert shop.catalog.verify_all() == []

    def test_another_key_means_signing_anew(self, shop: Shop, package: Path, tmp_path: Path) -> None:
        builtins.install(shop.catalog, package)
        shop.workspace.secret_key.unlink()
        shop.workspace.public_key.unlink()
        shop.workspace.settings.unlink()
        shop.workspace.soul.rename(tmp_path / "SOUL.md")
        again = open_shop(tmp_path)
        assert builtins.install(again.catalog, package).restored == tuple(NAMES)
        assert again.catalog.get("find_files").usable


class TestTheOwnersOwn:
    def test_a_name_that_is_taken_is_left_alone(self, shop: Shop, package: Path) -> None:
        write_sample(shop.folder, "find_files", source=SOURCE + "# mine\n")
        shop.catalog.sign("find_files", "mine")
        write_sample(shop.folder, "list_files")
        report = builtins.install(shop.catalog, package)
        assert report.fresh == ("read_files",)
        assert set(report.refused) == {"find_files", "list_files"}
        assert "your own" in report.refused["find_files"]
        assert shop.catalog.get("find_files").origin is Origin.OWNER
        assert shop.catalog.look("list_files").state is State.DRAFT
        assert builtins.install(shop.catalog, package).refused == report.refused


@pytest.mark.slow
def test_many_at_once_install_once(tmp_path: Path, package: Path) -> None:
    shop = open_shop(tmp_path, SystemClock())
    reports = at_once([lambda: builtins.install(open_shop(tmp_path, SystemClock()).catalog, package).fresh] * 3)
    assert sorted(reports) == [(), (), tuple(NAMES)]
    assert len(shop.lines("builtins installed")) == 1
    assert {entry.serial for entry in index.all_current(shop.catalog.db)} == {1}


def test_what_a_crash_left_unlisted_is_installed_again(shop: Shop, package: Path) -> None:
    builtins.install(shop.catalog, package)
    with shop.catalog.db.write() as tx:
        tx.execute("DELETE FROM executors WHERE name = 'find_files'")
    assert builtins.install(shop.catalog, package).fresh == ("find_files",)
    assert shop.catalog.get("find_files").usable


@pytest.mark.slow
def test_the_shipped_ones_are_all_sound(shop: Shop) -> None:
    report = builtins.install(shop.catalog)
    assert report.refused == {}
    assert [row.name for row in shop.catalog.rows() if row.problems] == []
