import math
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.kit import table_reading, table_writing
from sandbox.kit.kit_context import ENDLESS, Failure, context

FORMATS = ("csv", "tsv", "json", "jsonl", "xlsx", "sqlite")
NAMES = st.lists(st.text("abcdefghijkl", min_size=1, max_size=6), min_size=1, max_size=4, unique=True)


def save(local: Path, rows: list[dict[str, Any]], kind: str, **more: Any) -> table_writing.Saved:
    writer = table_writing.Writer(context(), local=str(local), **{"cpu_s": ENDLESS, **more})
    local.unlink(missing_ok=True)
    return writer.save(rows, table_writing.columns_of(rows), kind)


def back(local: Path, kind: str) -> list[dict[str, Any]]:
    args = {"format": "csv" if kind == "tsv" else kind, "header": True, "delimiter": "\t" if kind == "tsv" else None}
    args = {name: value for name, value in args.items() if value is not None}
    ctx = context()
    return list(table_reading.Reader(str(local), args, ctx, table_reading.forgiving([], ctx), cpu_s=ENDLESS).rows())


def tables_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return NAMES.flatmap(
        lambda names: st.lists(st.fixed_dictionaries(dict.fromkeys(names, values)), min_size=1, max_size=6)
    )


# What every format keeps: a word that looks like nothing else, and numbers that fit into any cell.
WORDS = st.text("abcdefghijklmnopqrstuvwxyzàèìòù ,;\"'", max_size=15).map(lambda text: f"w{text}w")


@given(tables_of(WORDS), st.sampled_from(FORMATS))
def test_words_come_back_as_they_were(tmp_path_factory: Any, rows: list[dict[str, Any]], kind: str) -> None:
    local = tmp_path_factory.getbasetemp() / f"words-{kind}"
    save(local, rows, kind)
    assert back(local, kind) == rows


@given(tables_of(st.integers(-(10**14), 10**14)), st.sampled_from(FORMATS))
def test_numbers_come_back_as_they_were(tmp_path_factory: Any, rows: list[dict[str, Any]], kind: str) -> None:
    local = tmp_path_factory.getbasetemp() / f"numbers-{kind}"
    save(local, rows, kind)
    assert back(local, kind) == rows


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(tables_of(ANYTHING | st.lists(ANYTHING, max_size=2)), st.sampled_from(FORMATS))
def test_whatever_the_cells_hold_no_row_is_lost(tmp_path_factory: Any, rows: list[dict[str, Any]], kind: str) -> None:
    local = tmp_path_factory.getbasetemp() / f"anything-{kind}"
    saved = save(local, rows, kind)
    assert saved.size == local.stat().st_size > 0
    if kind in ("json", "jsonl"):
        assert len(back(local, kind)) == len(rows)
    elif kind == "sqlite":
        assert [set(row) for row in back(local, kind)] == [set(row) for row in rows]


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "\r=1", "=HYPERLINK()"])
def test_what_would_be_run_is_kept_text_and_counted(tmp_path: Path, text: str) -> None:
    assert save(tmp_path / "t", [{"a": text}], "csv").guarded == 1
    assert "'" + text[0] in (tmp_path / "t").read_bytes().decode()
    if text.startswith("="):
        assert save(tmp_path / "x.xlsx", [{"a": text}], "xlsx").guarded == 1
        assert openpyxl.load_workbook(tmp_path / "x.xlsx")["table"]["A2"].data_type != "f"


@pytest.mark.parametrize("text", ["+39 059 123456", "-12,5", "1=1", "a@b.example", "-"])
def test_numbers_and_addresses_are_left_alone(tmp_path: Path, text: str) -> None:
    assert save(tmp_path / "t", [{"a": text}], "csv").guarded == 0


def test_a_header_can_be_a_formula_too(tmp_path: Path) -> None:
    save(tmp_path / "t", [{"=1": "x"}], "csv")
    assert (tmp_path / "t").read_text().startswith("'=1\n")


@pytest.mark.parametrize("kind", FORMATS)
def test_halves_of_characters_do_no_harm(tmp_path: Path, kind: str) -> None:
    save(tmp_path / "t", [{"a\ud800": "b\udfff"}], kind)
    assert len(back(tmp_path / "t", kind)) == 1


def test_names_only_ever_name_in_sqlite(tmp_path: Path) -> None:
    rows = [{'a"); DROP TABLE x; --': 1, "'b'": "c"}]
    save(tmp_path / "t", rows, "sqlite", table='x"; --')
    assert back(tmp_path / "t", "sqlite") == rows


@pytest.mark.parametrize(
    ("rows", "kind", "failure"),
    [
        ([{"a": "x" * 32_768}], "xlsx", "too_large"),
        ([{f"c{number}": 1 for number in range(16_385)}], "xlsx", "too_large"),
        ([{f"c{number}": 1 for number in range(2_001)}], "sqlite", "too_large"),
        ([{"a": 1, "A": 2}], "sqlite", "invalid"),
    ],
)
def test_what_a_format_has_no_room_for(tmp_path: Path, rows: list[dict[str, Any]], kind: str, failure: str) -> None:
    with pytest.raises(Failure) as caught:
        save(tmp_path / "t", rows, kind)
    assert caught.value.kind == failure


@pytest.mark.parametrize("kind", FORMATS)
def test_it_ends_when_its_time_is_used_up(tmp_path: Path, kind: str) -> None:
    with pytest.raises(Failure, match="too large to be written"):
        save(tmp_path / "t", [{"a": 1}], kind, cpu_s=-math.inf)


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_writing, "MOST_FILE", 3)
    with pytest.raises(Failure, match="more than 3 bytes"):
        save(tmp_path / "t", [{"a": "long"}], "csv")


def test_the_format_is_said_or_in_the_name() -> None:
    assert table_writing.format_of("/a/b.XLSX", "auto", context()) == "xlsx"
    assert table_writing.format_of("/a/b.txt", "csv", context()) == "csv"
    with pytest.raises(Failure, match="say the `format`"):
        table_writing.format_of("/a/b.txt", "auto", context())
