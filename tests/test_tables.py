"""A table in one test tries every case and hides none that fails."""

import pytest

from tables import try_each


def test_every_case_is_tried_and_all_that_fail_are_told() -> None:
    tried = []

    @try_each("one, other", [(1, 1), (1, 2), pytest.param(2, 2), (3, 4)])
    def same(one: int, other: int) -> None:
        tried.append((one, other))
        assert one == other

    with pytest.raises(ExceptionGroup) as caught:
        same()
    assert tried == [(1, 1), (1, 2), (2, 2), (3, 4)]
    assert [each.__notes__ for each in caught.value.exceptions] == [["case: 1, 2"], ["case: 3, 4"]]


class TestInAClass:
    @try_each("word", ["one", "two"])
    def test_a_case_of_one_value_is_that_value(self, word: str) -> None:
        assert word in ("one", "two")
