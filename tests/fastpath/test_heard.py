from hypothesis import given
from hypothesis import strategies as st

from fastpath.pathing import hear


def test_a_form_says_of_what_quality_each_particular_is() -> None:
    assert hear("what does contract.pdf say?").form == "what do <name.pdf> say"
    assert hear("copy ~/a.csv to ~/b").form == "cop <path.table> to <path>"
    assert hear("files in ~/x changed yesterday").form == "fil in <path> chang <date.past>"


def test_words_stand_in_a_request_as_whole_words_in_their_spelling() -> None:
    heard = hear("note that Carthage and the cart are old")
    assert heard.says("cart")
    assert heard.says("the cart are")
    assert not heard.says("Cart")
    assert not heard.says("art")
    assert not heard.says("")


def test_later_occurrences_are_found_too() -> None:
    assert hear("carts and a cart").says("cart")


@given(st.text(max_size=60))
def test_every_request_has_a_form_with_one_mark_for_each_particular(text: str) -> None:
    heard = hear(text)
    assert [slot.start for slot in heard.slots] == sorted(slot.start for slot in heard.slots)
    assert heard.form.count("<") >= len(heard.slots)
