"""What one step hands to the next: every row of a table, however many, or nothing and a word about it."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App
from metnos.core.errors import ExecutorFailed
from metnos.grimoire.trace import State
from metnos.turn.events import Answer
from metnos.turn.recipe import Given, complete
from turn.turning import take

ROWS = 5000


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def sales(home: Path) -> Path:
    """Prices 1 to 5000 in three cities, the least last."""
    rows = [[number, ("Rome", "Bari", "Pisa")[number % 3], number] for number in range(ROWS, 0, -1)]
    return _write(home / "sales.csv", ["id", "city", "price"], rows)


def _write(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def _read(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def _last(app: App, text: str, **more: Any) -> Any:
    trace = take(app, text, **more).trace
    assert trace is not None
    assert trace.state is State.DONE, trace.answer
    return trace.steps[-1].reply


class TestTablesOfManyRows:
    @pytest.mark.parametrize(
        ("text", "column", "value"),
        [
            ("sum the column price of ~/sales.csv", "sum_price", ROWS * (ROWS + 1) // 2),
            ("what is the average price in ~/sales.csv", "mean_price", (ROWS + 1) / 2),
            ("what is the lowest price in ~/sales.csv", "min_price", 1),
            ("count the rows of ~/sales.csv", "count", ROWS),
            ("somma la colonna price di ~/sales.csv", "sum_price", ROWS * (ROWS + 1) // 2),
            ("sum price in ~/sales.csv where price > 10", "sum_price", ROWS * (ROWS + 1) // 2 - 55),
        ],
    )
    def test_a_figure_counts_every_row(self, equipped: App, sales: Path, text: str, column: str, value: float) -> None:
        (entry,) = _last(equipped, text)["entries"]
        assert entry[column] == value

    def test_groups_count_every_row(self, equipped: App, sales: Path) -> None:
        entries = _last(equipped, "sum price per city in ~/sales.csv")["entries"]
        assert sum(each["count"] for each in entries) == ROWS

    def test_the_least_of_all_is_found(self, equipped: App, sales: Path) -> None:
        assert _last(equipped, "sort ~/sales.csv by price")["entries"][0]["price"] == 1

    def test_a_filter_sees_every_row(self, equipped: App, sales: Path) -> None:
        reply = _last(equipped, "show the rows of ~/sales.csv where price < 4")
        assert [each["price"] for each in reply["entries"]] == [3, 2, 1]

    def test_a_sorted_copy_has_every_row(self, equipped: App, sales: Path, home: Path) -> None:
        taken = take(equipped, "sort ~/sales.csv by price and save it as ~/sorted.csv", [Answer.YES])
        assert taken.ended.state == State.DONE, taken.ended.text
        assert [int(row[0]) for row in _read(home / "sorted.csv")] == list(range(1, ROWS + 1))

    def test_a_filtered_copy_has_every_row(self, equipped: App, sales: Path, home: Path) -> None:
        wish = "keep the rows of ~/sales.csv where price > 1000 and save them as ~/kept.csv"
        assert take(equipped, wish, [Answer.YES]).ended.state == State.DONE
        assert len(_read(home / "kept.csv")) == ROWS - 1000

    def test_two_tables_are_joined_in_whole(self, equipped: App, sales: Path, home: Path) -> None:
        _write(home / "names.csv", ["id", "name"], [[number, f"n{number}"] for number in range(1, ROWS + 1)])
        assert _last(equipped, "join ~/sales.csv and ~/names.csv by id")["total"] == ROWS

    def test_what_the_turn_before_read_is_whole_too(self, equipped: App, sales: Path) -> None:
        first = take(equipped, "show me ~/sales.csv")
        assert first.trace is not None
        reply = _last(equipped, "sort them by price", conversation=first.trace.conversation)
        assert reply["entries"][0]["price"] == 1

    def test_a_list_for_a_person_says_how_much_of_it_there_is(self, equipped: App, sales: Path) -> None:
        text = take(equipped, "show me ~/sales.csv").ended.text
        assert "the first 20 of 5000" in text

    def test_wide_rows_too(self, equipped: App, home: Path) -> None:
        names = [f"c{number}" for number in range(300)]
        _write(home / "wide.csv", names, [[row] * 300 for row in range(1500)])
        (entry,) = _last(equipped, "sum the column c7 of ~/wide.csv")["entries"]
        assert entry["sum_c7"] == sum(range(1500))
        assert _last(equipped, "sort ~/wide.csv by c7")["total"] == 1500

    @pytest.mark.slow
    def test_as_many_rows_as_there_may_be(self, equipped: App, home: Path) -> None:
        _write(
            home / "big.csv", ["price", "b", "c", "d", "e"], [[n, n * 2, n % 7, n / 4, n % 2] for n in range(200_000)]
        )
        (entry,) = _last(equipped, "sum the column price of ~/big.csv")["entries"]
        assert (entry["sum_price"], entry["count"]) == (sum(range(200_000)), 200_000)

    def test_more_is_refused_and_says_what_to_do(self, equipped: App, home: Path) -> None:
        (home / "huge.csv").write_text("price\n" + "1\n" * 200_001)
        ended = take(equipped, "sum the column price of ~/huge.csv").ended
        assert ended.state == State.FAILED
        assert "200,000 rows" in ended.text
        assert "SQLite" in ended.text


class TestListsOfManyFiles:
    def test_nothing_is_done_with_a_part(self, equipped: App, home: Path) -> None:
        (home / "many").mkdir()
        for number in range(1001):
            (home / "many" / f"{number}.txt").touch()
        taken = take(equipped, "move the txt files in ~/many to ~/done", [Answer.YES])
        assert taken.ended.state == State.FAILED
        assert "1000 of 1001" in taken.ended.text
        assert not (home / "done").exists()


def given(executor: str = "find_files", count: int = 2, total: int = 5, **args: Any) -> Given:
    return Given(executor, args, {"entries": [{"path": str(n)} for n in range(count)], "total": total}, "/here")


def test_a_number_that_was_asked_for_is_no_part() -> None:
    assert not given(limit=2).is_part
    assert given(limit=3).is_part
    assert not given(total=2).is_part
    assert not given(offset=3).is_part
    assert given(offset=2).is_part


@pytest.mark.parametrize("value", ["{{step1.entries}}", ["{{step1.entries.path}}"], "{{step1.count}}"])
def test_what_is_no_table_is_not_handed_on_in_part(value: Any) -> None:
    with pytest.raises(ExecutorFailed, match="2 of 5"):
        complete("sort_tables", {"entries": value}, {"entries": []}, {"step1": given()})


def test_one_of_a_part_may_be_taken() -> None:
    planned = {"path": "{{step1.entries[0].path}}"}
    assert complete("read_files", planned, {"path": "0"}, {"step1": given()}) == {"path": "0"}


def test_recipes_are_put_together() -> None:
    rows = {"entries": "{{step1.entries}}"}
    steps = {"step1": given("read_tables", path="a.csv", columns=["x"])}
    filtered = complete("filter_tables", rows, {"entries": [1], "conditions": []}, steps)
    sides = {"entries": "{{step1.entries}}", "right": "{{step2.entries}}"}
    steps = {"step1": given("read_tables", path="~/b.csv"), "step2": given("filter_tables", **filtered)}
    joined = complete("join_tables", sides, {"entries": [], "right": [], "on": []}, steps)
    assert joined["sources"] == ["~/b.csv", "/here/a.csv"]
    assert joined["recipe"]["entries"] == {"do": "read_tables", "source": 0}
    inner = {"do": "read_tables", "source": 1, "columns": ["x"]}
    assert joined["recipe"]["right"] == {"do": "filter_tables", "entries": inner, "conditions": []}


def test_what_was_kept_in_part_is_not_handed_on() -> None:
    cut = Given("find_files", {}, {"entries": [{}], "total": 1, "cut": True}, "/here")
    with pytest.raises(ExecutorFailed):
        complete("group_tables", {"entries": "{{last.entries}}"}, {"entries": [{}]}, {"last": cut})
