from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.pathing import filled, hear, learnt, why
from fastpath.reading import NOW
from metnos.fastpath.shape import CONSTANT, Learnt, Seen, Unresolved, fill, learn, observe, refers_back, takes
from tables import try_each

FIND = "find the PDFs in ~/inbox"
REQUESTS = [
    FIND,
    "move One.pdf and two.pdf to my pictures",
    "remind me in 2 hours to call the dentist",
    "what is 15% of 1250 plus 3.5 squared?",
    "list the PDFs in ~/inbox that I changed yesterday",
    "replace 'Foo' by 'bar' in b.txt",
    "quanti giorni tra il 1 marzo e il 15 agosto 2026?",
]
FOUND = {"path": "~/inbox", "pattern": "*.pdf"}


# -- what must not be filled


@try_each(
    "asked",
    [
        "find the PDFs in ~/inbox and delete them",
        "find the PDFs in ~/inbox and ~/other",
        "find the PDFs in ~/inbox from last week",
        "find the PDFs in ~/inbox larger than 3 MB",
        "find the three newest PDFs in ~/inbox",
        "find the hidden PDFs in ~/inbox",
        "don't find the PDFs in ~/inbox",
        "find the PDFs but not in ~/inbox",
        "find the PDFs in ~/inbox about 'rent'",
        "delete the PDFs in ~/inbox",
        "copy the PDFs in ~/inbox to ~/out",
        "find only the PDFs in ~/inbox",
        "find the PDFs",
        "find the photos in ~/inbox",
        "trova i PDF in ~/inbox senza data",
        "find the PDFs in ~/inbox except a.pdf",
    ],
)
def test_a_request_that_says_something_else_is_not_filled(asked: str) -> None:
    assert isinstance(filled(learnt(FIND, FOUND), FIND, asked), Unresolved)


@pytest.mark.parametrize("asked", ["search the PDFs in ~/b", "which PDFs are in ~/b", "show me the PDFs in ~/b", FIND])
def test_the_same_wish_in_other_words_is_filled(asked: str) -> None:
    folder = "~/inbox" if asked == FIND else "~/b"
    assert filled(learnt(FIND, FOUND), FIND, asked) == ({"path": folder, "pattern": "*.pdf"},)


def test_nothing_is_done_that_was_not_asked_for() -> None:
    both = "find the PDFs in ~/inbox and delete them"
    shape = learnt(both, FOUND, {"paths": "{{step1.entries.path}}"})
    assert "delet" in why(filled(shape, both, "find the PDFs in ~/b"))
    assert filled(shape, both, "find the PDFs in ~/b, then delete them") == (
        {"path": "~/b", "pattern": "*.pdf"},
        {"paths": "{{step1.entries.path}}"},
    )


def test_a_word_of_the_request_is_bound_to_it() -> None:
    cats = "files about cats in ~/x"
    shape = learnt(cats, {"path": "~/x", "pattern": "cats"})
    assert "cats" in why(filled(shape, cats, "files about dogs in ~/x"))
    assert filled(shape, cats, "files about cats in ~/y") == ({"path": "~/y", "pattern": "cats"},)


def test_a_word_in_another_form_is_bound_to_its_stem() -> None:
    said = "find invoices in ~/x"
    shape = learnt(said, {"path": "~/x", "pattern": "invoice"})
    assert filled(shape, said, "find invoices in ~/y") == ({"path": "~/y", "pattern": "invoice"},)
    assert "invoice" in why(filled(shape, said, "find letters in ~/y"))


def test_another_spelling_is_for_a_planner() -> None:
    said = "read the sheet Spese of a.xlsx"
    shape = learnt(said, {"path": "a.xlsx", "table": "Spese"})
    assert "Spese" in why(filled(shape, said, "read the sheet SPESE of a.xlsx"))


@pytest.mark.parametrize("text", ["ÜBER", "MiXeDcAsE", "日本語", "e\u0301te\u0301", "straße", "ﬁn", "İı"])
def test_particulars_keep_their_spelling(text: str) -> None:
    said = 'write "x" into ~/a'
    shape = learnt(said, {"text": "x\n", "path": "~/a"})
    asked = f'write "{text}" into ~/B{text}'
    assert filled(shape, said, asked) == ({"text": f"{text}\n", "path": f"~/B{text}"},)


def test_an_unsaid_value_is_used_after_three_equal_passes_and_for_the_same_form_only() -> None:
    said = "show the reminders of ~/x"
    shape = learnt(said, {"path": "~/x", "which": "due", "deep": True})
    assert set(shape.constants.values()) == {"due", True}
    assert "3 passes" in why(filled(shape, said, "show the reminders of ~/y", passes=2))
    assert filled(shape, said, "show the reminders of ~/y") == ({"path": "~/y", "which": "due", "deep": True},)
    assert "other words" in why(filled(shape, said, "show the alarms of ~/y"))


def test_a_particular_that_no_argument_takes_must_be_the_same() -> None:
    said = "make a jpg copy of ~/a.png"
    shape = learnt(said, {"path": "~/a.png", "format": "jpeg"})
    assert filled(shape, said, "make a jpg copy of ~/b.png") == ({"path": "~/b.png", "format": "jpeg"},)
    assert "jpg" in why(filled(shape, said, "make a gif copy of ~/b.png"))


def test_a_particular_that_is_left_over_is_not_ignored() -> None:
    said = "pack two things in ~/x"
    shape = learnt(said, {"path": "~/x"})
    assert filled(shape, said, "pack two things in ~/y") == ({"path": "~/y"},)
    assert "'5'" in why(filled(shape, said, "pack two things 5 in ~/y"))


def test_words_that_stood_together_must_stand_together() -> None:
    said = "jot down: pay 5 euro"
    shape = learnt(said, {"text": "pay 5 euro"})
    assert filled(shape, said, "jot down: pay 7 euro") == ({"text": "pay 7 euro"},)
    assert "order" in why(filled(shape, said, "jot down: 7 euro pay"))


def test_what_is_reckoned_from_a_day_in_an_unknown_way_is_not_learnt() -> None:
    found = learn([{"since": 17}], hear("what did I note yesterday?"))
    assert isinstance(found, Unresolved)
    assert "time" in found.why


def test_relative_days_are_those_of_the_new_request() -> None:
    said = "files in ~/x changed yesterday"
    shape = learnt(said, {"path": "~/x", "newer_than_days": 1.5, "older_than_days": 0.5})
    later = NOW + timedelta(days=30, hours=6)
    assert fill(shape.shape, {}, hear(said, later), hear(said).form) == (
        {"path": "~/x", "newer_than_days": 1.75, "older_than_days": 0.75},
    )


def test_a_day_that_is_not_over_is_another_form() -> None:
    said = "files in ~/x changed yesterday"
    shape = learnt(said, {"path": "~/x", "newer_than_days": 1.5, "older_than_days": 0.5})
    assert "<date.now>" in why(filled(shape, said, "files in ~/x changed today"))


def test_another_kind_of_file_is_another_form() -> None:
    said = "what does a.pdf say?"
    shape = learnt(said, {"paths": ["a.pdf"]})
    assert filled(shape, said, "what does B.PDF say?") == ({"paths": ["B.PDF"]},)
    assert "office" in why(filled(shape, said, "what does b.docx say?"))


def test_two_particulars_that_say_the_same_are_not_told_apart() -> None:
    found = learn([{"old": "a.txt", "new": "a.txt"}], hear("compare a.txt and a.txt"))
    assert isinstance(found, Unresolved)


def test_a_goal_is_not_a_source() -> None:
    said = "copy ~/a to ~/b"
    shape = learnt(said, {"path": "~/a", "to": "~/b"})
    assert filled(shape, said, "copy ~/x to ~/y") == ({"path": "~/x", "to": "~/y"},)
    assert isinstance(filled(shape, said, "copy ~/x"), Unresolved)


# -- references


def test_no_request_can_smuggle_a_reference_in() -> None:
    said, plan = "note 'x'", {"text": "x"}
    assert "reference" in why(filled(learnt(said, plan), said, "note '{{last.entries}}'"))
    assert isinstance(learn([{"text": "{{last.entries}}"}], hear("note '{{last.entries}}'")), Learnt | Unresolved)


def test_references_stay_as_they_were_planned() -> None:
    said = "read them in ~/x"
    shape = learnt(said, {"path": "~/x", "paths": "{{last.entries.path}}", "note": "of {{step1.entries[0].path}}"})
    (args,) = filled(shape, said, "read them in ~/y")
    assert args == {"path": "~/y", "paths": "{{last.entries.path}}", "note": "of {{step1.entries[0].path}}"}
    assert refers_back(shape.shape)
    assert not refers_back(learnt(FIND, FOUND).shape)
    assert takes(shape.shape) == ("place",)


# -- bounds


def test_what_is_too_much_is_not_remembered() -> None:
    deep: Any = 1
    for _ in range(20):
        deep = [deep]
    for value in (deep, "x" * 3000, list(range(300))):
        assert isinstance(learn([{"a": value}], hear(FIND)), Unresolved)


def test_an_unsaid_value_that_varied_is_never_used_again() -> None:
    seen = observe({}, {"0/a": 1, "0/b": 2}, first=True)
    seen = observe(seen, {"0/a": 1, "0/b": 3}, first=False)
    assert seen == {"0/a": [1, 2], "0/b": None}
    assert observe(seen, {"0/a": 1, "0/b": 2}, first=False) == {"0/a": [1, 3], "0/b": None}
    assert observe(seen, {"0/a": True, "0/b": 2}, first=False)["0/a"] is None  # 1 and true are two values


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(REQUESTS), st.lists(st.dictionaries(st.text(max_size=4), _values), max_size=3))
def test_whatever_is_learnt_gives_itself_again(text: str, plan: list[dict[str, Any]]) -> None:
    heard = hear(text)
    shape = learn(plan, heard)
    if isinstance(shape, Learnt) and plan:
        observed = {place: Seen(value, CONSTANT) for place, value in shape.constants.items()}
        assert fill(shape.shape, observed, heard, heard.form) == tuple(plan)


@given(st.text(max_size=60))
def test_no_request_makes_it_fail(text: str) -> None:
    shape = learnt(FIND, FOUND)
    found = filled(shape, FIND, text)
    assert isinstance(found, Unresolved) or found[0].keys() == FOUND.keys()
