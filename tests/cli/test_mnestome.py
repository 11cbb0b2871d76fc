import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from metnos.cli import Choice
from metnos.cli import mnestome as commands
from metnos.core.clock import MovableClock
from metnos.grimoire.trace import Desired
from metnos.mnestome import proto, schema
from metnos.store.db import Database


@pytest.fixture
def db(tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    made = Database(tmp_path / "mnest.sqlite", schema.MIGRATIONS)
    house = SimpleNamespace(clock=clock, catalog=SimpleNamespace(db=made))
    monkeypatch.setattr(commands, "open_app", lambda _: house)
    yield made
    made.close()


def type_in(*line: str) -> Result:
    return CliRunner().invoke(commands.mnestome, line, obj=Choice(None), help_option_names=["-h", "--help"])


def test_nothing_was_wished_for(db: Database) -> None:
    assert type_in("proto").output == "Nothing was wished for that does not exist.\n"
    assert json.loads(type_in("proto", "--json").output) == []


def test_what_was_wished_for_and_how_much_it_weighs_now(db: Database, clock: MovableClock) -> None:
    sign = Desired("sign_files", "request", "", {"summary": "sign \x1b[31mfiles " + "and more " * 30})
    for number in range(3):
        proto.record_wishes(db, [sign], f"T{number}", clock.now())
    clock.move(timedelta(seconds=1))
    proto.record_wishes(db, [Desired("count_words", "read_files", "1.0.0", {})], "T9", clock.now())
    clock.move(timedelta(days=10))
    listed = type_in("proto").output.splitlines()
    assert listed[0].split()[:6] == ["name", "from", "uses", "weight", "often", "last"]
    assert listed[1].split()[:4] == ["count_words", "read_files", "1", "0.25"]
    assert listed[2].split()[:5] == ["sign_files", "request", "3", "0.50", "yes"]
    assert "\x1b" not in listed[2]
    assert listed[2].endswith("…")
    count, many = json.loads(type_in("proto", "--json").output)
    assert (count["name"], count["recurring"], count["from_version"]) == ("count_words", False, "1.0.0")
    assert (many["uses"], many["recurring"], many["last"]) == (3, True, "2026-11-15T12:00:00.000Z")
