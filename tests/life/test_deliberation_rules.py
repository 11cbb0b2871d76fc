"""What an event is worth, and what was foretold of it: properties."""

from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import PLAIN
from metnos.grimoire.domain import HOME
from metnos.grimoire.episode import Episode
from metnos.grimoire.evidence import Baseline
from metnos.life import deliberation_rules as rules
from metnos.life import pack

UNIT = st.floats(0, 1)
ODD = st.one_of(st.none(), UNIT)
WARNINGS = st.lists(UNIT, max_size=4)


@given(UNIT, ODD, WARNINGS, UNIT)
def test_importance_is_bounded_and_nothing_that_speaks_for_it_lowers_it(
    weight: float, odd: float | None, warnings: list[float], more: float
) -> None:
    worth = rules.importance(weight, odd, warnings)
    assert 0 <= worth <= 1
    assert rules.importance(max(weight, more), odd, warnings) >= worth
    assert rules.importance(weight, max(odd or 0.0, more), warnings) >= worth
    assert rules.importance(weight, odd, [*warnings, more]) >= worth - 1e-12


def test_what_matters_is_told_and_what_is_common_is_not() -> None:
    events = pack.read("defi").events
    common = rules.importance(events["transfer"].weight, 0.3, [])
    seized = rules.importance(events["liquidation"].weight, 0.9, [])
    assert common < 0.5
    assert seized > rules.RULES.telling


@given(st.lists(PLAIN, max_size=30, unique_by=lambda each: each.id))
def test_what_is_thought_about_is_the_most_curious_in_order(episodes: list[Episode]) -> None:
    chosen = rules.chosen(episodes)
    assert len(chosen) == min(len(episodes), rules.RULES.thoughts)
    left = [each.curiosity for each in episodes if each not in chosen]
    assert not chosen or min(each.curiosity for each in chosen) >= max(left, default=0.0)
    assert [each.seq for each in chosen] == sorted(each.seq for each in chosen)


@given(st.lists(PLAIN, max_size=30, unique_by=lambda each: each.id), st.randoms(use_true_random=False))
def test_the_lot_does_not_depend_on_the_order_nor_on_curiosity(episodes: list[Episode], chance: object) -> None:
    shuffled = list(episodes)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert {each.id for each in rules.sample(shuffled)} == {each.id for each in rules.sample(episodes)}
    assert len(rules.sample(episodes)) == min(len(episodes), rules.RULES.foretold)


def test_a_baseline_foretells_only_after_enough_was_seen() -> None:
    assert rules.came_true(1.0, Baseline(1.0, 0.1, 19)) is None
    assert rules.came_true(1.2, Baseline(1.0, 0.1, 20)) is True
    assert rules.came_true(1.3, Baseline(1.0, 0.1, 20)) is False


def test_what_is_odd_is_investigated_and_the_rest_is_monitored() -> None:
    defi = pack.read("defi")
    assert rules.task_of(0.9, defi) == "anomaly_investigation"
    assert rules.task_of(0.1, defi) == "routine_monitoring"
    assert rules.task_of(0.9, HOME) == "answer"
