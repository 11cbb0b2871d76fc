"""What the episodes of a domain teach, by rules."""

import json
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import EPISODES, observed, step, turn
from metnos.grimoire.cluster import Cluster
from metnos.grimoire.domain import HOME, EventKind
from metnos.grimoire.episode import Episode
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.extract import Candidate, Material, baselines, extract, failures, misfortunes, quoted
from metnos.grimoire.extract import topics as recurring
from metnos.grimoire.fact import Kind


def material(episodes: list[Episode], old: int = 0, usual: dict[str, Baseline] | None = None) -> Material:
    """A cluster of these, of which the first ``old`` are not new."""
    fresh = frozenset(each.id for each in episodes[old:])
    return Material(Cluster("files", tuple(episodes), (tuple(episodes),)), fresh, HOME, usual or {})


def only(found: list[Candidate], kind: Kind) -> list[Candidate]:
    return [each for each in found if each.kind is kind]


# -- of anything


@given(st.lists(EPISODES, max_size=8, unique_by=lambda each: each.id))
def test_whatever_the_payloads_hold_nothing_breaks_and_every_candidate_has_grounds(group: list[Episode]) -> None:
    for found in extract(material(group)):
        assert 0 <= found.sure <= 1
        assert found.text.isprintable()
        assert found.subject
        assert found.value
        assert set(found.sources) <= {each.id for each in group}
        json.dumps(found.data)


def test_two_episodes_teach_nothing() -> None:
    assert extract(material([turn(), turn()])) == []


def test_what_was_only_replayed_teaches_nothing_anew() -> None:
    failing = [turn("x", step("fetch", ok=False, kind="timeout", url="a"), state="failed") for _ in range(5)]
    assert only(extract(material(failing)), Kind.ANTI)
    assert extract(material(failing, old=5)) == []


# -- measures


def test_a_measure_gets_a_baseline() -> None:
    (found,) = baselines(material([observed(temperature=value) for value in (19.0, 20.0, 21.0)]))
    assert found.kind is Kind.BASELINE
    assert found.data["metric"] == "temperature"
    assert (found.data["mean"], found.data["count"]) == (20.0, 3)
    assert round(found.data["stddev"], 3) == 0.816


def test_a_baseline_grows_by_what_is_new_alone() -> None:
    seen = [observed(temperature=value) for value in (100.0, 100.0, 22.0)]
    (found,) = baselines(material(seen, old=2, usual={"temperature": Baseline(20.0, 0.0, 3)}))
    assert (found.data["mean"], found.data["count"]) == (20.5, 4)
    assert found.sources == (seen[2].id,)


def test_what_is_no_number_is_not_measured() -> None:
    odd = [observed(temperature=value) for value in (float("nan"), float("inf"), True, True, True)]
    assert list(baselines(material(odd))) == []


# -- failures


def failing(count: int, **args: str) -> list[Episode]:
    return [turn("get {url}", step("fetch", ok=False, kind="timeout", **args), state="failed") for _ in range(count)]


def working(count: int, **args: str) -> list[Episode]:
    return [turn("get {url}", step("fetch", **args)) for _ in range(count)]


def test_what_fails_again_and_again_on_one_thing_is_anti_knowledge() -> None:
    (found,) = failures(material([*failing(3, url="slow.example"), *working(5, url="fast.example")]))
    assert found.kind is Kind.ANTI
    assert found.data["executor"] == "fetch"
    assert found.data["error"] == "timeout"
    assert found.data["when"] == {"args": {"url": "slow.example"}}
    assert "fails with timeout" in found.text
    assert len(found.sources) == 3


def test_what_mostly_works_is_not_warned_of() -> None:
    assert list(failures(material([*failing(3, url="a"), *working(7, url="a")]))) == []


def test_where_arguments_differ_the_form_of_the_request_is_what_fails() -> None:
    different = [*failing(1, url="a"), *failing(1, url="b"), *failing(1, url="c")]
    (found,) = failures(material(different))
    assert found.data["when"] == {"canonical": "get {url}"}


def test_two_things_that_fail_are_two_warnings() -> None:
    found = list(failures(material([*failing(3, url="a"), *failing(4, url="b"), *working(2, url="c")])))
    assert [(each.data["when"]["args"]["url"], each.data["count"]) for each in found] == [("b", 4), ("a", 3)]


def test_one_turn_that_fails_thrice_is_one_failure() -> None:
    bad = step("fetch", ok=False, kind="timeout", url="a")
    assert list(failures(material([turn("x", bad, bad, bad, state="failed")]))) == []


# -- topics


MARKET = replace(HOME, events={"swap": EventKind("exchanged"), "reverted": EventKind("it failed", bad=True)})


def happenings(reverted: int, swapped: int) -> Material:
    events = [observed(event="reverted") for _ in range(reverted)] + [observed(event="swap") for _ in range(swapped)]
    return replace(material(events), domain=MARKET)


def test_where_something_bad_is_what_mostly_happens_one_is_warned() -> None:
    (found,) = misfortunes(happenings(4, 1))
    assert found.kind is Kind.ANTI
    assert found.text == '"files" mostly ends in reverted (4 of 5 times): it failed.'
    assert (len(found.sources), found.data["misfortune"]) == (4, "reverted")
    assert 0 < found.sure < 0.8


def test_what_seldom_goes_wrong_or_is_not_bad_is_not_warned_of() -> None:
    assert list(misfortunes(happenings(3, 3))) == []
    assert list(misfortunes(happenings(2, 0))) == []
    assert list(misfortunes(happenings(0, 9))) == []
    assert list(misfortunes(material([observed(event="reverted") for _ in range(9)]))) == []  # another pack


def test_what_happens_on_several_days_is_a_pattern_and_one_busy_day_is_none() -> None:
    daily = [observed(timedelta(days=place), event="the backup took long", minutes=9.0) for place in range(4)]
    (found,) = recurring(material(daily))
    assert found.data == {"pattern": "recurrence", "form": '"the backup took long"', "count": 4, "days": 4}
    assert list(recurring(material([observed(event="x") for _ in range(9)]))) == []


def test_what_is_asked_for_again_is_left_to_the_medium_memory() -> None:
    assert list(recurring(material([turn(at=timedelta(days=place)) for place in range(5)]))) == []


def test_a_quotation_stays_one() -> None:
    assert quoted('a "b"\n\u2028 c') == "\"a 'b' c\""
    assert len(quoted("x" * 1000)) < 130
