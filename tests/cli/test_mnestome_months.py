import json
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cli.mnestome_house import Closed, House, open_house
from metnos.api.lock import Lock
from metnos.app import App, ageing
from metnos.cli import Choice, mnestome, mnestome_months
from metnos.core.clock import MovableClock
from metnos.core.errors import DaemonError, UsageError
from metnos.grimoire.trace import Desired, Passing
from metnos.mnestome import lists, record
from metnos.mnestome.snapshot import Snapshots


@pytest.fixture
def house(tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    yield from open_house(tmp_path, clock, monkeypatch)


def keep_month(house: House) -> None:
    snapshots = Snapshots(house.workspace.snapshots, house.workspace.mnest_db, ageing.tables.of_mnestome())
    snapshots.make(house.clock.now())


# -- snapshots


def test_no_month_was_kept_yet(house: House) -> None:
    assert "no snapshot yet" in house.type_in("snapshot").output
    error = house.type_in("snapshot", "--month", "2026-10").exception
    assert isinstance(error, UsageError)


def test_the_months_are_listed_and_one_is_shown_as_it_was(house: House) -> None:
    house.turn("find_files", "read_files", wishes=[Desired("sign_files", "read_files", "1.0.0", {})])
    keep_month(house)
    house.clock.move(timedelta(days=40))
    house.turn("find_files", "count_text")
    assert house.type_in("snapshot").output.splitlines()[1].split()[0] == "2026-11"
    (listed,) = json.loads(house.type_in("snapshot", "--json").output)
    assert (listed["month"], listed["packed"]) == ("2026-11", False)
    said = house.type_in("snapshot", "--month", "2026-11").output
    assert said.startswith("The mnestome of 2026-11, as of 2026-11-15")
    assert "1 active, 1 wished for" in said
    assert "count_text" not in said
    data = json.loads(house.type_in("snapshot", "--month", "2026-11", "--json").output)
    assert [(each["to"], each["weight"]) for each in data["mnests"]] == [("read_files", 0.3), ("sign_files", 0.3)]


@pytest.mark.parametrize("month", ["2026-13", "november", "../2026-11"])
def test_what_is_no_month_is_refused(house: House, month: str) -> None:
    error = house.type_in("snapshot", "--month", month).exception
    assert isinstance(error, UsageError)
    assert "2026-03" in error.fix


def test_putting_back_needs_a_month_and_a_yes(house: House) -> None:
    assert isinstance(house.type_in("snapshot", "--restore").exception, UsageError)
    keep_month(house)
    error = house.type_in("snapshot", "--month", "2026-11", "--restore").exception
    assert isinstance(error, UsageError)
    assert "--yes" in error.fix


def test_a_month_is_put_back_unless_the_daemon_is_at_work(
    equipped: App, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnestome_months, "open_app", lambda _: equipped)
    db, line = equipped.catalog.db, ("snapshot", "--month", "2026-11", "--restore", "--yes")

    def pass_on(turn: str, dst: str) -> None:
        record.record_turn(db, Closed(turn, clock.now(), [Passing("find_files", "1", dst, "1", "reference", 1, 2)]))

    def living() -> set[str]:
        return {each.dst for each in lists.listing(db, clock.now()) if each.state == "active"}

    pass_on("T1", "read_files")
    ageing.snapshots(equipped).make(clock.now())
    pass_on("T2", "count_text")
    with Lock(equipped.workspace):
        refused = CliRunner().invoke(mnestome.mnestome, line, obj=Choice(None))
    assert isinstance(refused.exception, DaemonError)
    assert living() == {"read_files", "count_text"}
    done = CliRunner().invoke(mnestome.mnestome, line, obj=Choice(None))
    assert done.output.startswith("Put back: the mnestome of 2026-11")
    assert living() == {"read_files"}
    assert Path(done.output.split("kept at ")[1].strip()).is_file()


# -- export


def test_the_graph_is_printed_in_every_format(house: House) -> None:
    house.turn("find_files", "read_files", wishes=[Desired("sign_files", "read_files", "1.0.0", {})])
    data = json.loads(house.type_in("export", "--format", "json").output)
    assert {each["dst"] for each in data["edges"]} == {"read_files", "sign_files"}
    ElementTree.fromstring(house.type_in("export", "--format", "graphml").output)
    assert '"find_files" -> "read_files"' in house.type_in("export", "--format", "dot").output
    assert house.type_in("export", "--format", "html").output.startswith("<!doctype html>")


def test_a_file_is_private_and_never_replaced_unasked(house: House, tmp_path: Path) -> None:
    house.turn("find_files", "read_files")
    target = tmp_path / "graph.html"
    said = house.type_in("export", "--format", "html", "--output", str(target)).output
    assert said == f"1 mnest of 2 executors: {target}\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    again = house.type_in("export", "--format", "json", "--output", str(target))
    assert isinstance(again.exception, UsageError)
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    house.type_in("export", "--format", "json", "--output", str(target), "--replace")
    assert json.loads(target.read_text(encoding="utf-8"))["format"] == "metnos-mnestome"


def test_a_place_that_is_not_there_and_a_format_that_is_none_are_refused(house: House, tmp_path: Path) -> None:
    lost = house.type_in("export", "--format", "dot", "--output", str(tmp_path / "no" / "graph.dot"))
    assert isinstance(lost.exception, UsageError)
    assert house.type_in("export", "--format", "pdf").exit_code == 2
    assert house.type_in("export").exit_code == 2


def test_a_month_and_what_was_superseded_can_be_exported(house: House) -> None:
    house.turn("find_files", "read_files")
    keep_month(house)
    house.turn("find_files", "count_text")
    with house.db.write() as tx:
        tx.execute("UPDATE mnests SET state = 'superseded' WHERE dst_executor = 'read_files'")

    def exported(*more: str) -> set[str]:
        data = json.loads(house.type_in("export", "--format", "json", *more).output)
        return {each["dst"] for each in data["edges"]}

    assert exported() == {"count_text"}
    assert exported("--superseded") == {"count_text", "read_files"}
    assert exported("--month", "2026-11") == {"read_files"}


def test_an_empty_graph_is_exported_with_a_word_about_it(house: House) -> None:
    said = house.type_in("export", "--format", "dot")
    assert said.stdout.startswith("digraph")
    assert "mnestome is empty" in said.stderr
