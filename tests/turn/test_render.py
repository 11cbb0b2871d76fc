"""Entries as text."""

from datetime import UTC, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from metnos.turn.render import render, size


def show(entries: list[dict[str, object]], most: int = 20) -> list[str]:
    return render(entries, most=most, zone=UTC, home="/home/you")


def test_files_are_listed_with_size_and_time() -> None:
    common = {"kind": "file", "modified": "2026-11-15T10:00:00Z"}
    entries = [
        {"path": "/home/you/a.pdf", "name": "a.pdf", "size": 1234, **common},
        {"path": "/home/you/b2345.pdf", "name": "b2345.pdf", "size": 9, **common},
    ]
    assert show(entries) == ["~/a.pdf      1.2 KB   2026-11-15 10:00", "~/b2345.pdf  9 bytes  2026-11-15 10:00"]


def test_a_move_is_shown_as_one() -> None:
    assert show([{"path": "/home/you/a", "to": "/home/you/b/a"}]) == ["~/a → ~/b/a"]


def test_a_single_text_is_given_as_it_is() -> None:
    assert show([{"path": "/x", "text": "one\ntwo\n", "lines": 2}]) == ["one", "two"]


def test_several_texts_say_where_they_come_from() -> None:
    entries = [{"path": "/home/you/a.pdf", "page": page, "text": f"page\n{page}"} for page in (1, 2)]
    assert show(entries) == ["— ~/a.pdf, page 1", "page", "1", "— ~/a.pdf, page 2", "page", "2"]


def test_matches_are_shown_like_a_compiler_would() -> None:
    assert show([{"path": "/home/you/n.txt", "line": 3, "column": 1, "text": " milk "}]) == ["~/n.txt:3: milk"]


def test_tables_have_a_head() -> None:
    assert show([{"city": "Roma", "sum_x": 3.5}, {"city": "Bari", "sum_x": 12}]) == [
        "city  sum_x",
        "Roma  3.5",
        "Bari  12",
    ]


def test_what_speaks_for_itself_is_all() -> None:
    assert show([{"says": "10 miles are 16.1 km", "value": 10}]) == ["10 miles are 16.1 km"]


def test_what_is_left_out_is_counted() -> None:
    assert show([{"path": f"/f{number}"} for number in range(25)], most=20)[-1] == "… +5"


def test_a_long_text_is_cut_and_says_so() -> None:
    lines = show([{"text": "x" * 5000 + "\n"}])
    assert lines[-1] == "… +1000 characters"


def test_times_are_in_the_zone_of_whoever_asked() -> None:
    zone = timezone(timedelta(hours=2))
    shown = render([{"due": "2026-11-15T10:00:00+00:00", "id": 1}], most=5, zone=zone, home="/h")
    assert "due  2026-11-15 12:00" in shown


def test_sizes() -> None:
    assert [size(value) for value in (0, 999, 1500, 2_000_000, 3e12, 5e15)] == [
        "0 bytes",
        "999 bytes",
        "1.5 KB",
        "2.0 MB",
        "3.0 TB",
        "5000.0 TB",
    ]


_values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)


@given(st.lists(st.dictionaries(st.text(max_size=8), _values | st.lists(_values, max_size=2), max_size=6), max_size=8))
def test_any_entries_can_be_shown(entries: list[dict[str, object]]) -> None:
    lines = show(entries)
    assert all(isinstance(line, str) for line in lines)
