"""References between steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ExecutorFailed
from metnos.executors import refs
from tables import try_each

REPLIES = {
    "step1": {"entries": [{"path": "/a", "size": 1}, {"path": "/b", "size": 2}], "count": 2},
    "step2": {"entries": []},
    "last": {"results": [{"to": "/c"}]},
}


@try_each(
    ("value", "wanted"),
    [
        ("{{step1.entries}}", REPLIES["step1"]["entries"]),
        ("{{ step1.entries.path }}", ["/a", "/b"]),
        ("{{step1.entries[1].path}}", "/b"),
        ("{{step1.count}}", 2),
        ("{{last.results.to}}", ["/c"]),
        ("{{step2.entries.path}}", []),
        ("see {{step1.entries[0].path}} now", "see /a now"),
        ("{{last.results.to}} only", "/c only"),
        (["{{step1.entries.path}}", "/z"], ["/a", "/b", "/z"]),
        ({"paths": "{{step1.entries.path}}", "n": 3}, {"paths": ["/a", "/b"], "n": 3}),
        ("{{step1}}", REPLIES["step1"]),
        ("{{ no.reference }}", "{{ no.reference }}"),
        (None, None),
    ],
)
def test_a_reference_stands_for_what_a_step_gave(value: object, wanted: object) -> None:
    assert refs.resolve(value, REPLIES) == wanted


@pytest.mark.parametrize(
    "value",
    [
        "{{step3.entries}}",
        "{{step1.results}}",
        "{{step1.entries[7]}}",
        "{{step1.entries.colour}}",
        "{{step1.count.more}}",
        "the list {{step1.entries}}",
    ],
)
def test_a_reference_that_leads_nowhere_is_an_error(value: str) -> None:
    with pytest.raises(ExecutorFailed, match="stands for") as caught:
        refs.resolve(value, REPLIES)
    assert caught.value.kind == "invalid"


def test_there_is_no_last_in_the_first_turn() -> None:
    with pytest.raises(ExecutorFailed, match="nothing before"):
        refs.resolve("{{last.entries}}", {})


def test_content_cannot_smuggle_a_reference_in() -> None:
    replies = {"step1": {"entries": [{"path": "{{step2.secret}}"}]}, "step2": {"secret": "x"}}
    assert refs.resolve("{{step1.entries[0].path}}", replies) == "{{step2.secret}}"
    assert refs.resolve("a {{step1.entries[0].path}}", replies) == "a {{step2.secret}}"


def test_which_step_and_which_field_of_its_entries() -> None:
    value = ["a {{step12.entries.path}}", {"b": "{{last.results[0].to}}"}, "{{step2.entries}}", "{{step3}}"]
    found = [(ref.step, ref.number, ref.field) for ref in refs.within(value)]
    assert found == [("step12", 12, "path"), ("last", 0, "to"), ("step2", 2, ""), ("step3", 3, "")]


def test_a_reference_and_nothing_beside() -> None:
    assert refs.whole(" {{step1.entries[0].path}} ") == refs.Ref(
        "step1", ("entries", 0, "path"), "{{step1.entries[0].path}}"
    )
    assert [refs.whole(value) for value in ("a {{step1}}", "{{step0}}", 3, ["{{step1}}"])] == [None] * 4


def test_named_finds_every_step() -> None:
    value = {"a": ["{{step1.entries}}", "x {{step2.text}}"], "b": "{{last.entries}}"}
    assert list(refs.named(value)) == ["step1", "step2", "last"]


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.sampled_from(["a ", "{{step1.count}}", "{{last}}", "{{no}}", "}"]), max_size=6).map("".join))
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    found = list(refs.pieces(text))
    assert "".join(each if isinstance(each, str) else each.text for each in found) == text
    assert [each for each in found if isinstance(each, refs.Ref)] == list(refs.within(text))


@given(_json)
def test_what_holds_no_reference_stays_as_it_is(value: object) -> None:
    if not list(refs.named(value)):
        assert refs.resolve(value, {}) == value
