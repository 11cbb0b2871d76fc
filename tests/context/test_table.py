from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.context.table import is_tabular, table

CELLS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20))
ROWS = st.lists(st.dictionaries(st.text(max_size=8), CELLS, max_size=5), max_size=6)


def test_records_become_a_table() -> None:
    rows = [{"name": "a.txt", "size": 10, "new": True}, {"name": "b.txt", "note": "x"}]
    assert table(rows) == (
        "| name | size | new | note |\n|---|---|---|---|\n| a.txt | 10 | yes |  |\n| b.txt |  |  | x |"
    )


def test_what_nothing_fills_is_left_out() -> None:
    assert table([{"a": 1, "b": None}, {"a": 2, "b": ""}]) == "| a |\n|---|\n| 1 |\n| 2 |"
    assert table([]) == ""
    assert table([{"a": None}]) == ""


def test_what_is_too_much_is_counted() -> None:
    assert table([{"a": n} for n in range(5)], most=2).endswith("| 0 |\n| 1 |\n(3 more rows)")


@given(ROWS)
def test_no_content_ends_its_cell_or_begins_a_row(rows: list[dict[str, Any]]) -> None:
    made = table(rows)
    if made:
        lines = made.split("\n")
        bars = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines}
        assert len(bars) == 1
        assert len(made.splitlines()) == len(lines) == len(rows) + 2


def test_only_several_flat_records_are_for_a_table() -> None:
    assert is_tabular([{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    assert not is_tabular([{"a": 1}])
    assert not is_tabular([{"a": 1}, "text"])
    assert not is_tabular([{"a": {"deep": 1}}, {"a": {"deep": 2}}])
    assert not is_tabular([{"a": 1}, {"b": 1}, {"c": 1}])
    assert not is_tabular([{f"c{n}": 1 for n in range(20)}] * 3)
    assert not is_tabular([{}, {}])
