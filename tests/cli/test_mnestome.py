import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from cli.mnestome_house import House, open_house
from metnos.cli.mnests import EMPTY
from metnos.core.clock import MovableClock
from metnos.core.errors import UsageError
from metnos.grimoire.trace import Desired
from metnos.mnestome.seeds import Seed, plant


@pytest.fixture
def house(tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    yield from open_house(tmp_path, clock, monkeypatch)


# -- list and top


@pytest.mark.parametrize("line", [("list",), ("top",)])
def test_an_empty_mnestome_says_how_it_fills(house: House, line: tuple[str, ...]) -> None:
    assert house.type_in(*line).output == f"{EMPTY}\n"
    assert json.loads(house.type_in(*line, "--json").output) == []


def test_mnests_are_listed_with_the_weight_they_have_now(house: House) -> None:
    house.turn("find_files", "read_files", "count_text", tags=["invoice"])
    house.turn("find_files", "read_files")
    house.clock.move(timedelta(days=38.508))  # to half
    head, first, second = house.type_in("list").output.splitlines()
    assert head.split() == ["id", "from", "to", "weight", "uses", "last", "state", "tags"]
    assert first.split()[1:4] == ["find_files", "read_files", "0.23"]
    assert first.split()[4:] == ["━━········", "2", "2026-11-15", "active", "invoice"]
    assert second.split()[1:4] == ["read_files", "count_text", "0.15"]
    (each,) = json.loads(house.type_in("top", "1", "--json").output)
    assert (each["from"], each["to"], each["weight"], each["uses"]) == ("find_files", "read_files", 0.225, 2)
    assert each["id"].endswith(first.split()[0])
    assert (each["from_version"], each["last"], each["state"]) == ("1.0.0", "2026-11-15T12:00:00.000Z", "active")


def test_a_list_can_be_of_one_tag_or_state(house: House) -> None:
    house.turn("find_files", "read_files", tags=["invoice"])
    house.turn("find_files", "count_text", tags=["photo"], wishes=[Desired("sign_files", "read_files", "1.0.0", {})])
    tagged = json.loads(house.type_in("list", "--tag", "photo", "--json").output)
    assert [each["to"] for each in tagged] == ["count_text"]
    wished = json.loads(house.type_in("list", "--state", "proto", "--json").output)
    assert [each["to"] for each in wished] == ["sign_files"]
    assert "wished for" in house.type_in("list", "--state", "proto").output
    assert house.type_in("list", "--tag", "nobody").output == "No mnest is like that.\n"
    assert json.loads(house.type_in("list", "--tag", "photo", "--state", "proto", "--json").output)[0]["to"] == (
        "sign_files"
    ), "a wish has the tags of its turn"
    assert house.type_in("list", "--state", "gone").exit_code == 2


def test_what_is_on_its_way_out_can_be_listed_alone(house: House) -> None:
    house.turn("find_files", "read_files")
    house.turn("find_files", "count_text")
    assert house.type_in("list", "--decaying").output == "No mnest is like that.\n"
    with house.db.write() as tx:
        tx.execute("UPDATE mnests SET state = 'decaying' WHERE dst_executor = 'count_text'")
    listed = json.loads(house.type_in("list", "--decaying", "--json").output)
    assert [each["to"] for each in listed] == ["count_text"]
    assert house.type_in("list", "--decaying", "--state", "active").exit_code == 2


def test_what_is_only_expected_is_hidden_and_counted(house: House) -> None:
    expected = [Seed("find_files", "1.0.0", f"read_part{number}", "1.0.0", "documented") for number in range(3)]
    plant(house.db, expected, house.clock.now())
    assert house.type_in("list").output == f"{EMPTY}\n3 that are only expected (seed) are hidden: --all\n"
    assert json.loads(house.type_in("list", "--json").output) == []
    house.turn("find_files", "read_part1")
    said = house.type_in("list").output
    assert "read_part1" in said
    assert said.endswith("2 that are only expected (seed) are hidden: --all\n")
    assert "hidden" not in house.type_in("list", "--all").output
    assert len(json.loads(house.type_in("list", "--all", "--json").output)) == 3
    assert len(json.loads(house.type_in("list", "--state", "seed", "--json").output)) == 2


def test_a_tag_that_a_model_made_up_cannot_speak_to_the_terminal(house: House) -> None:
    house.turn("find_files", "read_files", tags=["\x1b[2J\x07evil", "‮back"])
    said = house.type_in("list").output
    assert "\x1b" not in said
    assert "\\x1b[2J\\x07evil" in said
    assert "‮" not in said


def test_only_as_many_as_were_asked_for(house: House) -> None:
    for number in range(5):
        house.turn("find_files", f"read_part{number}")
    assert len(house.type_in("top", "3").output.splitlines()) == 4
    assert house.type_in("top", "0").exit_code == 2
    assert house.type_in("top", "many").exit_code == 2


# -- graph


def test_the_neighbourhood_is_a_tree_in_both_directions(house: House) -> None:
    for _ in range(2):
        house.turn("find_files", "read_files", "count_text", wishes=[Desired("sign_files", "read_files", "1.0.0", {})])
    house.turn("read_files", "search_text")  # all that it may call, it did
    assert house.type_in("graph", "executor", "read_files").output.splitlines() == [
        "read_files",
        "",
        "gives to",
        "  ├─ count_text   0.45 ━━━━······  2 uses, active",
        "  ├─ sign_files   0.45 ━━━━······  2 uses, wished for",
        "  └─ search_text  0.30 ━━━·······  1 use, active",
        "",
        "takes from",
        "  └─ find_files   0.45 ━━━━······  2 uses, active",
    ]


def test_what_an_executor_may_call_and_never_did_is_named(house: House) -> None:
    house.turn("find_files", "read_files", "count_text")
    said = house.type_in("graph", "executor", "read_files").output
    assert said.endswith("\nIt may call search_text, but never did.\n")
    assert "It may call count_text" not in said
    assert json.loads(house.type_in("graph", "executor", "read_files", "--json").output)["never_called"] == [
        "search_text"
    ]
    assert "may call" not in house.type_in("graph", "executor", "find_files").output


def test_the_tree_is_as_deep_as_asked_for_and_a_circle_ends(house: House) -> None:
    house.turn("find_files", "read_files", "count_text", "find_files")
    shallow = house.type_in("graph", "executor", "find_files", "--depth", "1").output
    assert "read_files" in shallow
    assert "count_text" not in shallow.partition("takes from")[0]
    whole = house.type_in("graph", "executor", "find_files", "--depth", "5").output
    assert "        └─ find_files ↺" in whole
    data = json.loads(house.type_in("graph", "executor", "find_files", "--json").output)
    (there,) = data["gives_to"]
    assert (there["name"], there["next"][0]["name"], there["next"][0]["next"]) == ("read_files", "count_text", [])
    assert data["takes_from"][0]["name"] == "count_text"


def test_only_the_heaviest_neighbours_are_shown(house: House) -> None:
    for number in range(4):
        house.turn("find_files", f"read_part{number}")
    house.turn("find_files", "read_part2")
    data = json.loads(house.type_in("graph", "executor", "find_files", "--most", "2", "--json").output)
    assert [each["name"] for each in data["gives_to"]] == ["read_part2", "read_part0"]
    assert (data["gives_to_more"], data["takes_from_more"]) == (2, 0)


def test_what_is_left_out_of_a_tree_is_counted_and_can_be_had(house: House) -> None:
    for number in range(4):
        house.turn("find_files", f"read_part{number}", wishes=[Desired("sign_files", "find_files", "1.0.0", {})])
    house.turn("list_folders", "find_files")
    said = house.type_in("graph", "executor", "find_files", "--most", "3", "--depth", "1").output
    assert "  └─ … 2 more: --most 5" in said
    assert "more" not in house.type_in("graph", "executor", "find_files", "--most", "5", "--depth", "1").output
    further = house.type_in("graph", "executor", "list_folders", "--most", "1").output
    assert "     └─ … 4 more: --most 5" in further, "also where it branches further out"


def test_an_executor_through_which_nothing_passed(house: House) -> None:
    assert house.type_in("graph", "executor", "show_time").output == "Nothing passed through show_time yet.\n"


def test_a_name_that_nobody_knows_is_refused_with_what_may_be_meant(house: House) -> None:
    error = house.type_in("graph", "executor", "read_file").exception
    assert isinstance(error, UsageError)
    assert "read_files" in error.fix
    other = house.type_in("graph", "executor", "zzz").exception
    assert isinstance(other, UsageError)
    assert "metnos executor list" in other.fix


# -- proto


def test_nothing_was_wished_for(house: House) -> None:
    assert house.type_in("proto").output == "Nothing was wished for that does not exist.\n"
    assert json.loads(house.type_in("proto", "--json").output) == []


def test_what_was_wished_for_and_how_much_it_weighs_now(house: House) -> None:
    sign = Desired("sign_files", "request", "", {"summary": "sign \x1b[31mfiles " + "and more " * 30})
    for _ in range(3):
        house.turn(wishes=[sign])
    house.clock.move(timedelta(seconds=1))
    house.turn(wishes=[Desired("count_words", "read_files", "1.0.0", {})])
    house.clock.move(timedelta(days=10))
    listed = house.type_in("proto").output.splitlines()
    assert listed[0].split()[:6] == ["name", "from", "uses", "weight", "often", "last"]
    assert listed[1].split()[:4] == ["count_words", "read_files", "1", "0.25"]
    assert listed[2].split()[:5] == ["sign_files", "request", "3", "0.50", "yes"]
    assert "\x1b" not in listed[2]
    assert listed[2].endswith("…")
    count, many = json.loads(house.type_in("proto", "--json").output)
    assert (count["name"], count["recurring"], count["from_version"]) == ("count_words", False, "1.0.0")
    assert (many["uses"], many["recurring"], many["last"]) == (3, True, "2026-11-15T12:00:00.000Z")
