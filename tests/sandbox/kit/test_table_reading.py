import contextlib
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.kit import table_reading as tables
from sandbox.kit.kit_context import ENDLESS, Failure, context


def read(path: Path, *, cpu_s: float = ENDLESS, failures: list[Any] | None = None, **args: Any) -> list[dict[str, Any]]:
    ctx = context()
    broken = tables.forgiving([] if failures is None else failures, ctx)
    wanted = {"format": "auto", "header": True, **args}
    return list(tables.Reader(str(path), wanted, ctx, broken, cpu_s=cpu_s).rows())


def kind_of_failure(path: Path, **args: Any) -> str:
    with pytest.raises(Failure) as caught:
        read(path, **args)
    return caught.value.kind


def make(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,x\n2,\n", [{"a": 1, "b": "x"}, {"a": 2, "b": None}]),
        ("a;b\n1,5;x\n1.000,25;y\n", [{"a": 1.5, "b": "x"}, {"a": 1000.25, "b": "y"}]),
        ("zip\n00123\n00456\n", [{"zip": "00123"}, {"zip": "00456"}]),
        ("a\ttrue?\n1\ttrue\n2\tFALSE\n", [{"a": 1, "true?": True}, {"a": 2, "true?": False}]),
        ("a,a,\n1,2,3,4\n", [{"a": 1, "a_2": 2, "column_3": 3, "column_4": "4"}]),
        ("", []),
    ],
)
def test_csv(tmp_path: Path, content: str, rows: list[dict[str, Any]]) -> None:
    found = read(make(tmp_path, "t.csv", content))
    assert found == rows or [list(map(str, row.values())) for row in found] == [
        list(map(str, row.values())) for row in rows
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_every_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    assert read(make(tmp_path, "t.csv", "città,n\nForlì,1\n".encode(encoding))) == [{"città": "Forlì", "n": 1}]


def test_without_a_header_columns_are_numbered(tmp_path: Path) -> None:
    assert read(make(tmp_path, "t.csv", "1,2\n"), header=False) == [{"column_1": 1, "column_2": 2}]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('[{"a": 1}, {"a": [1, 2]}]', [{"a": 1}, {"a": "[1, 2]"}]),
        ('{"meta": 1, "rows": [{"a": 1}]}', [{"a": 1}]),
        ('[["a", "b"], [1, 2]]', [{"a": 1, "b": 2}]),
        ('{"a": NaN}', [{"a": None}]),
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ("[1, 99999999999999999999]", [{"value": 1}, {"value": "99999999999999999999"}]),
    ],
)
def test_json(tmp_path: Path, content: str, rows: list[dict[str, Any]]) -> None:
    assert read(make(tmp_path, "t.json", content)) == rows


def test_a_line_that_is_not_json_costs_only_itself_up_to_a_point(tmp_path: Path) -> None:
    failures: list[Any] = []
    assert read(make(tmp_path, "t.jsonl", '{"a": 1}\nbroken\n\n{"a": 2}\n'), failures=failures) == [{"a": 1}, {"a": 2}]
    assert [failure["item"] for failure in failures] == ["line 2"]
    assert kind_of_failure(make(tmp_path, "u.jsonl", "broken\n" * (tables.MOST_FAILURES + 1))) == "unreadable"


@pytest.mark.parametrize(
    ("name", "content", "args", "kind"),
    [
        ("t.csv", b"a\0b", {}, "unreadable"),
        ("t.json", "[" * 100_000, {}, "unreadable"),
        ("t.json", "3", {}, "unreadable"),
        ("t.json", "{broken", {"format": "json"}, "unreadable"),
        ("t.xlsx", b"PK\x03\x04 and no more", {}, "unreadable"),
        ("t.db", b"SQLite format 3\0 and no more", {}, "unreadable"),
    ],
)
def test_what_is_no_table_is_a_failure(
    tmp_path: Path, name: str, content: str | bytes, args: dict[str, Any], kind: str
) -> None:
    assert kind_of_failure(make(tmp_path, name, content), **args) == kind


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    assert kind_of_failure(tmp_path) == "invalid"


def test_it_ends_when_its_time_is_used_up(tmp_path: Path) -> None:
    for name, content in (("t.csv", "a\n1\n"), ("t.jsonl", '{"a": 1}\n')):
        assert kind_of_failure(make(tmp_path, name, content), cpu_s=0.0) == "too_large"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as made:
        made.execute('CREATE TABLE "od""d" (a, b BLOB)')
        made.execute('INSERT INTO "od""d" VALUES (1, ?)', (b"xy",))
    made.close()
    return path


def test_sqlite(base: Path) -> None:
    assert read(base) == [{"a": 1, "b": "(2 bytes)"}]
    assert read(base, table='od"d') == [{"a": 1, "b": "(2 bytes)"}]
    assert read(base, query='SELECT a, a FROM "od""d"') == [{"a": 1, "a_2": 1}]
    assert kind_of_failure(base, table="none") == "not_found"


@pytest.mark.parametrize(
    "query",
    [
        'DELETE FROM "od""d"',
        "ATTACH DATABASE '/tmp/other.db' AS other",
        "PRAGMA journal_mode = DELETE",
        "SELECT load_extension('x')",
        "CREATE TABLE t (a)",
        "SELECT 1; SELECT 2",
        "not SQL",
    ],
)
def test_a_query_can_only_read(base: Path, query: str) -> None:
    before = base.read_bytes()
    assert kind_of_failure(base, query=query) == "invalid"
    assert base.read_bytes() == before


def test_workbooks(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "one"
    for row in (("a", None), (1, "x"), (None, None), (2, None)):
        book.active.append(row)
    path = tmp_path / "whatever its name"
    book.save(path)
    assert read(path) == [{"a": 1, "column_2": "x"}, {"a": 2}]
    assert kind_of_failure(path, table="two") == "not_found"
    assert kind_of_failure(path, cpu_s=0.0) == "too_large"


def test_a_zip_that_is_no_workbook_or_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.xml", "<x/>")
    assert kind_of_failure(path) == "unreadable"
    monkeypatch.setattr(tables, "MOST_UNPACKED", 2)
    assert kind_of_failure(path) == "too_large"


@given(st.lists(st.none() | st.text(max_size=20) | st.integers(), max_size=20))
def test_names_of_columns_are_there_and_differ(names: list[Any]) -> None:
    made = tables.unique(names)
    assert len(made) == len(set(made)) == len(names)
    assert all(made)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: [each for each in items if _is_json(each)]),
    max_leaves=4,
)


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | list)


@given(VALUES)
def test_a_plain_value_can_be_carried_by_a_reply(value: Any) -> None:
    made = tables.plain(value)
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made is None or isinstance(made, bool | int | float | str)
    assert tables.plain(made) == made


@given(st.binary(max_size=300), st.sampled_from(["t.csv", "t.json", "t.jsonl", "t.db", "t.xlsx", "t"]))
def test_whatever_a_file_holds_it_gives_rows_or_a_failure(tmp_path_factory: Any, data: bytes, name: str) -> None:
    path = make(tmp_path_factory.getbasetemp(), name, data)
    with contextlib.suppress(Failure):
        json.dumps(read(path), allow_nan=False)
