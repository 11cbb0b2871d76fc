"""Which files are meant."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.slots import extract
from metnos.turn.plan import fill_files
from metnos.turn.plan.clauses import split
from metnos.turn.plan.fill_files import Ground
from metnos.turn.plan.fill_text import swallows
from tables import try_each
from turn.plan.routing import CWD, HOME, NOW, THERE, calls, route

GROUND = Ground(CWD, HOME, THERE.__contains__)


def clause(text: str) -> Any:
    return split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0]


@try_each(("text", "expected"), [
    ("find the PDFs in ~/a", {"pattern": "*.pdf"}), ("find the bank PDFs in ~/a", {"pattern": "*bank*.pdf"}),
    ("trova i pdf della banca in ~/a", {"pattern": "*banca*.pdf"}),
    ("find files called bill in ~/a", {"pattern": "bill"}),
    ("the three newest PDFs in ~/a", {"pattern": "*.pdf", "order": "newest", "limit": 3}),
    ("the largest file in ~/a", {"order": "largest", "limit": 1}), ("the largest files in ~/a", {"order": "largest"}),
    ("il file più vecchio in ~/a", {"order": "oldest", "limit": 1}), ("files over 1 GB in ~/a", {"min_size": "1 GB"}),
    ("files older than 30 days in ~/a", {"older_than_days": 30}), ("find invoices in ~/a", {"pattern": "invoice"}),
    ("hidden files in ~/a", {"hidden": True}),
])  # fmt: skip
def test_what_files_are_like(text: str, expected: dict[str, Any]) -> None:
    found = clause(text)
    assert fill_files.filters(found, found.slots, NOW) == expected


@given(st.integers(2, 3000))
def test_a_day_is_an_age_of_one_day(days: int) -> None:
    day = NOW - timedelta(days=days)
    found = fill_files.ages(clause(f"find the files changed on {day:%Y-%m-%d} in ~/a").slots, NOW)
    assert found == {"newer_than_days": days + 0.5, "older_than_days": days - 0.5}


@pytest.mark.parametrize(("said", "meant"), [
    ("here.txt", "here.txt"), ("contract.pdf", "~/contract.pdf"), ("a.txt", "~/Work/a.txt"), ("none.txt", "none.txt"),
    ("~/none.txt", "~/none.txt"), ("/etc/hosts", "/etc/hosts"),
])  # fmt: skip
def test_a_name_is_what_exists(said: str, meant: str) -> None:
    slots = fill_files.resolved(clause(f"read {said} in ~/Work").slots, GROUND)
    assert slots[0].value == meant


def test_a_well_known_folder_is_the_one_that_is_there() -> None:
    assert calls(route("list my documents")) == [("list_folders", {"path": "~/Documenti"})]
    assert calls(route("list my pictures folder")) == [("list_folders", {"path": "~/Immagini"})]


@pytest.mark.parametrize(("text", "goal"), [
    ("move a.txt to ~/b", "~/b"), ("put a.txt in ~/b", "~/b"), ("move a.txt from ~/a to ~/b", "~/b"),
    ("delete a.txt", None),
])  # fmt: skip
def test_where_things_go(text: str, goal: str | None) -> None:
    found = fill_files.goal(clause(text).slots, source=True)
    assert (found.value if found else None) == goal


@pytest.mark.parametrize(("place", "folder"), [("~/a/b.txt", "~/a"), ("b.txt", "."), ("/b", "/"), ("/a/b/", "/a")])
def test_the_folder_of_a_path(place: str, folder: str) -> None:
    assert fill_files.parent(place) == folder
