import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cli.mnestome_house import House, open_house
from metnos.cli import mnestome_one
from metnos.core.clock import MovableClock
from metnos.core.errors import UsageError
from metnos.grimoire.trace import Desired
from metnos.mnestome import lists, rows
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import Event, Kind


@pytest.fixture
def house(tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    yield from open_house(tmp_path, clock, monkeypatch, mnestome={"fading": "invoice=0.005"})


def only(house: House) -> Mnest:
    (found,) = lists.listing(house.db, house.clock.now())
    return found


def fade(house: House, nights: int) -> None:
    """As the ager does it, each night."""
    for _ in range(nights):
        house.clock.move(timedelta(days=1))
        known, now = only(house), house.clock.now()
        with house.db.write() as tx:
            tx.execute("UPDATE mnests SET weight = ?, ts_decayed = ?", (known.at(now), rows.to_text(now)))
            rows.tell(tx, known.id, rows.to_text(now), Kind.DECAY, known.at(now) - known.weight, "nightly")


# -- history


def test_a_history_has_every_use_and_folds_the_nights(house: House) -> None:
    house.turn("find_files", "read_files")
    fade(house, 20)
    house.turn("find_files", "read_files")
    said = house.type_in("history", only(house).id).output
    assert said.startswith(f"find_files → read_files  {only(house).id}\nactive, weighs 0.359, 2 uses, 1.0.0 → 1.0.0\n")
    table = said[said.index("when ") :].splitlines()
    assert [line.split()[0] for line in table] == ["when", "2026-11-15", "2026-11-16", "2026-12-05"]
    assert table[2].split()[2:] == ["to", "2026-12-05", "faded,", "20", "times", "-0.091", "0.209", "nightly"]
    assert table[3].split()[2:5] == ["used", "+0.150", "0.359"]
    assert "(turn T2)" in table[3]
    assert house.type_in("history", only(house).id, "--all").output.count("faded") == 20


def test_the_json_of_a_history_has_the_weight_after_each_event(house: House) -> None:
    house.turn("find_files", "read_files")
    fade(house, 2)
    data = json.loads(house.type_in("history", only(house).id[-6:], "--json").output)
    assert data["id"] == only(house).id
    assert [(each["kind"], each["weight"]) for each in data["events"]] == [
        ("reinforce", 0.3), ("decay", 0.294648), ("decay", 0.289392)
    ]  # fmt: skip


def test_a_wish_says_what_it_should_do_and_has_a_history_too(house: House) -> None:
    house.turn(wishes=[Desired("sign_files", "read_files", "1.0.0", {"summary": "sign\n a \x1b[31mfile"})])
    (wish,) = json.loads(house.type_in("proto", "--json").output)
    said = house.type_in("history", wish["id"]).output
    assert "wished for, weighs 0.300" in said
    assert "should: sign a \\x1b[31mfile" in said


@pytest.mark.parametrize("part", ["", "???", "0" * 26, "ZZZZ"])
def test_an_id_that_nothing_has_is_refused_with_what_to_do(house: House, part: str) -> None:
    house.turn("find_files", "read_files")
    error = house.type_in("history", part).exception
    assert isinstance(error, UsageError)
    assert "metnos mnestome list" in error.fix


def test_an_id_that_several_have_is_refused(house: House) -> None:
    house.turn("find_files", "read_files", "count_text")
    error = house.type_in("history", "0").exception
    assert isinstance(error, UsageError)


# -- the plot


def test_the_plot_falls_between_uses_and_rises_with_them(clock: MovableClock) -> None:
    born = Event(clock.now(), Kind.REINFORCE, 1.0, 0.018)
    used = Event(clock.now() + timedelta(days=80), Kind.REINFORCE, 0.7)
    lines = mnestome_one.plot([born, used], clock.now() + timedelta(days=100))
    assert len(lines) == 8
    heights = [sum(line[7:].ljust(60)[column] != " " for line in lines[:6]) for column in range(60)]
    assert heights[0] == 6
    assert heights[:47] == sorted(heights[:47], reverse=True)
    assert heights[46] < heights[48] > heights[59] - 1
    assert lines[-1].split() == ["2026-11-15", "2027-02-23"]


def test_a_mnest_that_was_just_born_has_a_plot(clock: MovableClock) -> None:
    lines = mnestome_one.plot([Event(clock.now(), Kind.REINFORCE, 0.3)], clock.now())
    assert lines[-1].split() == ["2026-11-15", "2026-11-15"]


# -- tags


def test_tags_are_added_removed_and_cleared(house: House) -> None:
    house.turn("find_files", "read_files", tags=["photo", "old"])
    key = only(house).id[-8:]
    done = house.type_in("tag", key, "--add", "invoice", "--add", "work mail", "--remove", "old")
    assert done.output == "find_files → read_files has the tags: photo, invoice, work mail\n"
    assert only(house).decay_lambda == 0.005
    assert json.loads(house.type_in("tag", key, "--clear", "--json").output)["tags"] == []
    assert only(house).decay_lambda == 0.018


def test_changing_nothing_is_refused(house: House) -> None:
    house.turn("find_files", "read_files")
    error = house.type_in("tag", only(house).id).exception
    assert isinstance(error, UsageError)
    assert "--add" in error.fix


def test_a_tag_that_cannot_be_one_is_refused(house: House) -> None:
    house.turn("find_files", "read_files")
    assert isinstance(house.type_in("tag", only(house).id, "--add", " ").exception, UsageError)
    assert only(house).tags == ()
