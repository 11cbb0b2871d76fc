from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import CWD, HOME, NOW
from metnos.fastpath.slots import Kind, Slot
from metnos.fastpath.slots_source import MARKS, Source, fold, resolve

anything = st.text(st.characters(), max_size=200)


@given(anything)
def test_a_folded_text_is_as_long_and_folds_no_further(text: str) -> None:
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded


@given(anything)
def test_nobody_else_can_set_a_mark(text: str) -> None:
    assert not set(fold(text)) & set(MARKS.values())


def test_letters_with_a_longer_small_form_shift_nothing() -> None:
    assert fold("İİ Perché") == "İİ perche"


spans = st.tuples(st.integers(0, 60), st.integers(1, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(spans, max_size=12))
def test_what_is_kept_never_overlaps(found: list[tuple[int, int]]) -> None:
    kept = resolve(Slot(Kind.NUMBER, start, end, "", 0) for start, end in found)
    assert all(one.end <= two.start for one, two in pairwise(kept))
    assert bool(kept) == bool(found)


def test_the_longest_of_what_overlaps_is_kept() -> None:
    short, long = Slot(Kind.NUMBER, 0, 3, "", 0), Slot(Kind.DATE, 2, 9, "", 0)
    assert resolve([short, long]) == [long]


def test_what_was_claimed_cannot_be_claimed_again() -> None:
    source = Source("one two three", NOW, HOME, CWD)
    source.claim([source.slot(Kind.NAME, 4, 7, "two")])
    source.claim([source.slot(Kind.QUOTED, 0, 13, "all"), source.slot(Kind.NUMBER, 8, 13, 3)])
    assert [slot.kind for slot in source.slots] == [Kind.NAME]
    source.claim([source.slot(Kind.NUMBER, 8, 13, 3)])
    assert [slot.kind for slot in source.slots] == [Kind.NAME, Kind.NUMBER]
