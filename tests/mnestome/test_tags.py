import math

import pytest

from metnos.core.errors import UsageError
from metnos.mnestome.lists import history
from metnos.mnestome.rules import Kind, Rules
from metnos.mnestome.tags import RETAGGED, retag
from metnos.store.db import Database
from mnestome.turns import DAY, START, check, everything, passed

RULES = Rules(lambdas={"invoice": 0.005, "news": 0.2})


def test_tags_are_given_and_taken(db: Database) -> None:
    key = passed(db, "a", "b", tags=["x", "y"])
    assert retag(db, key, START, add=["z", "x"]).tags == ("x", "y", "z")
    assert retag(db, key, START, remove=["y", "nothing"]).tags == ("x", "z")
    assert retag(db, key, START, clear=True, add=["new"]).tags == ("new",)
    assert retag(db, key, START, clear=True).tags == ()
    assert len(history(db, key)) == 1  # what does not weigh is no event
    check(db)


def test_a_tag_with_a_lambda_changes_how_it_fades_and_not_what_it_weighs(db: Database) -> None:
    key = passed(db, "a", "b")
    later = START + 10 * DAY
    before = everything(db)[0].at(later)
    made = retag(db, key, later, add=["invoice"], rules=RULES)
    assert (made.weight, made.weighed, made.decay_lambda) == (before, later, 0.005)
    assert made.at(later + 100 * DAY) == pytest.approx(before * math.exp(-0.5))
    last = history(db, key)[-1]
    assert (last.event.kind, last.event.reason, last.event.decay_lambda) == (Kind.DECAY, RETAGGED, 0.005)
    assert last.event.delta == pytest.approx(before - 0.30)
    assert retag(db, key, later + DAY, clear=True, rules=RULES).decay_lambda == 0.018
    check(db)


def test_a_clock_that_was_set_back_does_no_harm(db: Database) -> None:
    key = passed(db, "a", "b")
    made = retag(db, key, START - 9 * DAY, add=["news"], rules=RULES)
    assert (made.weight, made.weighed, made.decay_lambda) == (0.30, START, 0.2)
    check(db)


@pytest.mark.parametrize("odd", ["", "  ", "x" * 65, "a\nb", "\x1b[31m", "\udcff"])
def test_what_cannot_be_a_tag(db: Database, odd: str) -> None:
    key = passed(db, "a", "b", tags=["x"])
    with pytest.raises(UsageError, match="cannot be a tag"):
        retag(db, key, START, add=["good", odd], clear=True)
    assert everything(db)[0].tags == ("x",)


def test_a_mnest_that_is_not_there(db: Database) -> None:
    with pytest.raises(UsageError, match="there is no mnest"):
        retag(db, "01HW", START, add=["x"])
