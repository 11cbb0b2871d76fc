from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import slots
from metnos.fastpath.address import address, pin, placed


def test_the_only_one_of_its_class_is_known_by_the_class() -> None:
    (one,) = slots("list ~/inbox")
    (other,) = slots("list my downloads")
    assert address([one], 0) == address([other], 0) == {"slot": "place", "role": ""}


def test_a_goal_is_another_class_than_a_source() -> None:
    found = slots("copy ~/a to ~/b")
    assert [address(found, place) for place in (0, 1)] == [
        {"slot": "place", "role": ""},
        {"slot": "place", "role": "to"},
    ]


def test_of_several_each_is_known_by_its_own_kind_and_place() -> None:
    found = slots("compare a.txt and b.txt")
    assert address(found, 1) == {"slot": "name", "role": "", "nth": 1, "of": 2}
    assert placed(slots("compare c.txt and d.txt"), address(found, 1)) == 1
    assert placed(slots("compare c.txt, d.txt and e.txt"), address(found, 1)) is None
    assert placed(slots("compare c.txt"), address(found, 0)) is None


def test_measures_keep_their_role() -> None:
    older = slots("files older than 3 days")
    newer = slots("files newer than 3 days")
    assert placed(older, address(older, 0)) == 0
    assert placed(newer, address(older, 0)) is None


def test_a_pin_does_not_mind_capitals() -> None:
    assert pin(slots("find JPG files")[0]) == pin(slots("find jpg files")[0])


@given(st.text(max_size=60))
def test_every_particular_is_found_by_its_address(text: str) -> None:
    found = slots(text)
    assert [placed(found, address(found, place)) for place in range(len(found))] == list(range(len(found)))
