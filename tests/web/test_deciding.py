"""A question, laid out so that it can be decided."""

import json

import pytest

from metnos.web.deciding import question
from web.standin import EVIL, ITEM, ITEMS, part


def test_short_parts_stand_together_and_each_other_by_itself() -> None:
    groups = question(ITEMS["born"]).groups
    assert [[each["title"] for each in group] for group in groups] == [
        ["Why", "What it may do", "What it may never do"],
        ["How it was tried: 1 of 2 tests passed"],
        ["What changed of its code"],
        ["executor.py"],
        ["manifest.toml"],
    ]


def test_no_part_is_lost_and_their_order_stays() -> None:
    for item in ITEMS.values():
        assert [each for group in question(item).groups for each in group] == item["parts"]


@pytest.mark.parametrize(("name", "field"), [("act", "args"), ("line", "text"), ("born", "code"), ("gone", "")])
def test_what_can_be_edited_stands_in_its_field(name: str, field: str) -> None:
    assert question(ITEMS[name]).field == field


def test_a_field_begins_with_what_is_there_now() -> None:
    assert json.loads(question(ITEMS["act"]).text) == {"to": EVIL}
    assert question(ITEMS["line"]).text == "You like tea."
    assert question(ITEMS["born"]).text == f"def run(): return '{EVIL}'"


def test_the_second_yes_is_asked_for_as_such() -> None:
    assert question(ITEMS["twice"]).second
    assert not question(ITEMS["act"]).second
    assert not question(ITEMS["twice"] | {"state": "approved"}).second


def test_a_kind_that_is_not_known_can_be_answered_too() -> None:
    odd = question(ITEM | {"id": "x", "kind": "strange", "parts": [part("Also", "pairs", ["a", "b"])]})
    assert (odd.yes, odd.waits, len(odd.groups)) == ("Yes", True, 1)
