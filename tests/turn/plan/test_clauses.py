"""Clauses: where one thing to do ends and the next begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.slots import extract
from metnos.turn.plan.clauses import Clause, split
from metnos.turn.plan.fill_text import swallows
from tables import try_each
from turn.plan.routing import CWD, HOME, NOW


def clauses(text: str) -> tuple[Clause, ...]:
    return split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)


@try_each(("text", "parts"), [
    ("find the PDFs in ~/inbox and extract their text", ["find the PDFs in ~/inbox", "extract their text"]),
    ("trova i pdf in ~/inbox e poi cancellali", ["trova i pdf in ~/inbox", "cancellali"]),
    ("find a.txt, read it and summarise it", ["find a.txt", "read it", "summarise it"]),
    ("copy a.txt and b.txt to ~/c", ["copy a.txt and b.txt to ~/c"]),
    ("find 'read and delete' in ~/inbox", ["find 'read and delete' in ~/inbox"]),
    ("note: buy milk and delete the list", ["note: buy milk and delete the list"]),
    ("read a.txt and remind me tomorrow to delete it and move b.txt",
     ["read a.txt", "remind me tomorrow to delete it and move b.txt"]),
    ("sum and count of a in x.csv", ["sum and count of a in x.csv"]),
    ("find the photos in ~/Foto and upload them", ["find the photos in ~/Foto", "upload them"]),
    ("che differenza c'è tra a.txt e b.txt", ["che differenza c'è tra a.txt e b.txt"]),
])  # fmt: skip
def test_a_clause_is_one_thing_to_do(text: str, parts: list[str]) -> None:
    assert [clause.text for clause in clauses(text)] == parts


@pytest.mark.parametrize(("text", "negated"), [
    ("don't delete a.txt", True), ("non cancellare a.txt", True), ("never move a.txt", True), ("delete a.txt", False),
    ("find the files that do not end in .txt", False),
])  # fmt: skip
def test_a_negation_before_the_verb_negates(text: str, negated: bool) -> None:
    assert clauses(text)[0].negated is negated


def test_a_clause_knows_whether_it_speaks_of_what_came_before() -> None:
    first, second = clauses("trova i pdf in ~/inbox e spostali in ~/b")
    assert (first.back, second.back) == (False, True)


def test_an_unknown_verb_is_noticed() -> None:
    assert clauses("frobnicate the files")[0].stranger is not None
    assert clauses("shut down the computer")[0].stranger is not None
    assert clauses("find the files")[0].stranger is None


@given(st.text(max_size=120))
def test_clauses_are_parts_of_the_request_in_order(text: str) -> None:
    at = 0
    for clause in clauses(text):
        assert clause.text
        at = text.index(clause.text, at) + len(clause.text)
