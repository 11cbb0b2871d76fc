"""What experience says to the planner: it orders what the words leave open, and does nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grimoire.traces import step, trace
from metnos.app import tables
from metnos.core.clock import MovableClock
from metnos.core.errors import StoreError
from metnos.grimoire.trace import Passing
from metnos.mnestome import record
from metnos.store.db import Database
from metnos.turn.plan.rank import Ranker, weighed
from metnos.turn.plan.records import Candidate, Kind, Plan, Tool
from metnos.turn.plan.router import Router
from metnos.turn.planning import Planner
from metnos.turn.reach import RULES, Reach, Reaching, Weight, factors, shares
from metnos.turn.request import Request
from metnos.turn.scratch import Scratch
from metnos.turn.tools import Kit
from turn.plan.asking import tools
from turn.plan.routing import CWD, HOME, NOW, router, table
from turn.turning import OWNER

NAMES = ("find_files", "extract_text_pdf", "summarise_text", "move_files", "delete_files")
SAYINGS = [case["say"] for case in table() if isinstance(case.get("say"), str)]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "mnest.sqlite", tables.of_mnestome())
    yield made
    made.close()


@pytest.fixture
def reach(db: Database, clock: MovableClock) -> Reach:
    return Reach(db, clock, lambda: NAMES)


def passed(reach: Reach, src: str, dst: str, times: int = 1) -> None:
    for number in range(times):
        passing = Passing(src, "1.0.0", dst, "1.0.0", "reference", 1, 2)
        record.record_passing(reach.db, passing, f"{src} {dst} {number}", reach.clock.now())


def factor(reach: Reach, context: Sequence[str], name: str, usable: Sequence[str] = NAMES) -> float:
    weight = reach(usable)(context)
    return 1.0 if weight is None else weight(name)


def names(ranked: Sequence[Candidate]) -> list[str]:
    return [each.tool.name for each in ranked]


# -- the factors


def test_what_followed_before_is_likelier_and_the_rest_is_as_it_was(reach: Reach) -> None:
    passed(reach, "find_files", "move_files")
    assert factor(reach, ["find_files"], "move_files") == pytest.approx(1 + RULES.alpha * 0.30)
    assert factor(reach, ["find_files"], "delete_files") == 1
    assert factor(reach, ["move_files"], "find_files") == 1  # a passing has a direction
    passed(reach, "find_files", "delete_files", times=3)
    assert factor(reach, ["find_files"], "delete_files") > factor(reach, ["find_files"], "move_files")


def test_what_is_two_passings_away_counts_less(reach: Reach) -> None:
    passed(reach, "find_files", "extract_text_pdf", times=4)
    passed(reach, "extract_text_pdf", "summarise_text", times=4)
    near = factor(reach, ["find_files"], "extract_text_pdf")
    assert near > factor(reach, ["find_files"], "summarise_text") > 1


def test_it_fades_with_time(reach: Reach, clock: MovableClock) -> None:
    passed(reach, "find_files", "move_files")
    fresh = factor(reach, ["find_files"], "move_files")
    clock.move(timedelta(days=60))
    assert 1 < factor(reach, ["find_files"], "move_files") < fresh


def test_the_step_before_counts_most(reach: Reach) -> None:
    passed(reach, "find_files", "move_files")
    passed(reach, "extract_text_pdf", "summarise_text")
    weight = reach(NAMES)(["find_files", "extract_text_pdf"])
    assert weight is not None
    assert weight("summarise_text") > weight("move_files") > 1


def test_an_empty_mnestome_says_nothing_and_so_does_an_empty_context(reach: Reach) -> None:
    assert reach(NAMES)(["find_files"]) is None
    passed(reach, "find_files", "move_files")
    assert reach(NAMES)([]) is None
    assert reach(NAMES)(["request"]) is None


def test_what_cannot_be_used_neither_leads_nor_is_led_over(reach: Reach) -> None:
    passed(reach, "find_files", "extract_text_pdf", times=4)
    passed(reach, "extract_text_pdf", "summarise_text", times=4)
    usable = [name for name in NAMES if name != "extract_text_pdf"]
    assert factor(reach, ["find_files"], "summarise_text") > 1
    assert factor(reach, ["find_files"], "summarise_text", usable) == 1
    assert factor(reach, ["extract_text_pdf"], "summarise_text", usable) == 1


def test_a_mnestome_that_cannot_be_read_takes_nothing_away(reach: Reach) -> None:
    def broken() -> list[str]:
        raise StoreError("the disk is gone", fix="Bring it back.")

    passed(reach, "find_files", "move_files")
    assert replace(reach, names=broken)(NAMES)(["find_files"]) is None


def test_within_one_turn_it_says_the_same_whatever_is_learnt_meanwhile(reach: Reach) -> None:
    passed(reach, "find_files", "move_files")
    turn = reach(NAMES)
    before = turn(["find_files"])
    passed(reach, "find_files", "move_files")
    assert turn(("find_files",)) is before


@given(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1)))
def test_a_factor_never_takes_away_and_grows_with_the_weight(weights: Mapping[str, float]) -> None:
    weight = factors(weights)
    for one in NAMES:
        assert 1 <= weight(one) <= 1 + RULES.alpha
        assert all(weight(one) >= weight(two) for two in NAMES if weights.get(one, 0) >= weights.get(two, 0))


@given(st.lists(st.sampled_from(NAMES), max_size=8))
def test_of_a_context_the_nearest_counts_wholly_and_others_less_and_less(context: list[str]) -> None:
    found = list(shares(context).items())
    assert [name for name, _ in found] == list(dict.fromkeys(reversed(context[-RULES.steps :])))
    assert [share for _, share in found[:1]] == [1.0] * bool(context)
    assert all(later < earlier for (_, earlier), (_, later) in pairwise(found))


# -- the order


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 10))
@example(0.0, 1.0, 0.0)
def test_the_same_factor_makes_no_two_change_places(one: float, two: float, by: float) -> None:
    low, high = sorted((one, two))
    assert 0 <= weighed(low, by) <= weighed(high, by) <= 1
    assert weighed(low, 1.0) == low
    assert weighed(low, by) >= low or by < 1


def test_weights_do_not_meet_at_the_upper_end() -> None:
    assert weighed(0.97, 6.0) < weighed(0.98, 6.0) < weighed(0.98, 6.1) < 1


@cache
def ranker() -> Ranker:
    return Ranker(tuple(tools().values()), None)


def by(weights: Mapping[str, float]) -> Weight:
    return lambda name: weights.get(name, 1.0)


some_weights = st.dictionaries(st.sampled_from(sorted(tools())), st.floats(0, 6), max_size=12)


@settings(max_examples=settings().max_examples // 2)
@given(st.sampled_from(SAYINGS), some_weights)
def test_no_weight_raises_a_score_or_loses_a_tool(text: str, weights: Mapping[str, float]) -> None:
    plain = {each.tool.name: each.score for each in ranker().rank(text)}
    found = ranker().rank(text, weight=by(weights))
    assert sorted(names(found)) == sorted(plain)
    assert all(each.score <= plain[each.tool.name] for each in found)
    places = [weighed(plain[each.tool.name], each.weight) for each in found]
    assert places == sorted(places, reverse=True)


# -- the router


def routed(text: str, reaching: Reaching | None, before: Sequence[str] = ("find_files",)) -> Plan:
    return router().route(text, now=NOW, cwd=CWD, reach=reaching, before=before)


@pytest.mark.slow
def test_without_experience_every_plan_is_as_it_was() -> None:
    for text in SAYINGS[::20]:
        assert routed(text, lambda _: None) == router().route(text, now=NOW, cwd=CWD)


@settings(max_examples=settings().max_examples // 2)
@given(st.sampled_from(SAYINGS), some_weights)
def test_what_the_words_decide_is_decided_whatever_was_done_before(text: str, weights: Mapping[str, float]) -> None:
    plain, found = routed(text, None), routed(text, lambda _: by(weights))
    guessed = any(note.startswith(("I took", "ho inteso")) for note in (*plain.notes, *found.notes))
    if not guessed and plain.kind is found.kind:
        assert (found.steps, found.missing, found.wishes) == (plain.steps, plain.missing, plain.wishes)
    if found.kind is Kind.STEPS and found.steps == plain.steps:
        assert found.certainty <= plain.certainty
    if found.kind is Kind.NOTHING and plain.kind is Kind.NOTHING:
        assert found.certainty == plain.certainty  # whether anything is meant at all is for the words to say


def test_a_follow_up_that_says_little_is_offered_what_usually_comes_next(reach: Reach) -> None:
    text, usable = "and now the essential", tuple(tools())
    before = names(routed(text, None).candidates)
    passed(reach, "extract_text_pdf", "summarise_text", times=3)
    after = names(routed(text, reach(usable), ["find_files", "extract_text_pdf"]).candidates)
    assert after.index("summarise_text") < before.index("summarise_text")
    assert names(routed(text, reach(usable), ["show_time"]).candidates) == before


def test_what_is_left_of_a_request_is_ranked_after_the_steps_that_are_planned(reach: Reach) -> None:
    text = "find the PDFs in ~/inbox and translate them into French"
    plain = routed(text, None, ())
    assert [step.executor for step in plain.steps] == ["find_files"]
    passed(reach, "find_files", "extract_text_pdf", times=3)
    plan = routed(text, reach(tuple(tools())), ())
    assert plan.steps == plain.steps
    assert names(plan.candidates).index("extract_text_pdf") <= names(plain.candidates).index("extract_text_pdf")
    assert next(each for each in plan.candidates if each.tool.name == "extract_text_pdf").weight > 1


def checkup(name: str) -> Tool:
    """One that grew: nothing but its purpose tells what it is for."""
    return Tool(name, "1.0.0", "0", "Give the plumbing of a house a checkup.", False, {}, "entries", {})


@pytest.mark.parametrize(("first", "before"), [("", ("find_files",)), ("find the PDFs in ~/inbox and ", ())])
def test_of_two_that_the_words_fit_alike_the_usual_one_is_taken(
    reach: Reach, first: str, before: tuple[str, ...]
) -> None:
    kept = (*tools().values(), checkup("boiler_checkup"), checkup("plumbing_checkup"))
    both = Router(Ranker(kept, None), kept, home=HOME, exists=lambda _: False)
    text = f"{first}give the plumbing of the house a checkup"
    plain = both.route(text, now=NOW, cwd=CWD, before=before)
    passed(reach, "find_files", "boiler_checkup", times=3)
    found = both.route(text, now=NOW, cwd=CWD, reach=reach([tool.name for tool in kept]), before=before)
    assert (plain.steps[-1].executor, found.steps[-1].executor) == ("plumbing_checkup", "boiler_checkup")
    assert found.steps[:-1] == plain.steps[:-1]
    assert found.certainty <= plain.certainty


@pytest.mark.slow
def test_no_experience_makes_sure_what_the_words_are_not() -> None:
    text = "what will the weather be tomorrow"
    plain = routed(text, None)
    assert plain.kind is Kind.NOTHING
    for name in tools():
        assert routed(text, lambda _, name=name: by({name: 1e9})).kind is Kind.NOTHING


# -- the planner


def test_the_planner_reads_from_what_succeeded_in_the_turn_before() -> None:
    asked: list[tuple[str, ...]] = []

    def reaching(context: Sequence[str]) -> Weight | None:
        asked.append(tuple(context))
        return None

    kit = Kit(dict(tools()), lambda _: None)
    before = trace(steps=(step(), step(2, "extract_text_pdf"), step(3, "delete_files", ok=False)))
    request = Request("01NEXT", "what will the weather be tomorrow", OWNER, CWD, NOW, before.conversation)
    planner = Planner(kit, HOME, "router", None, None, reach=reaching)
    list(planner.plan(Scratch(request, tools=kit.tools, last=before)))
    assert asked == [("find_files", "extract_text_pdf")]
    list(planner.plan(Scratch(request, tools=kit.tools)))
    assert len(asked) == 1  # where nothing is at hand there is nothing to ask
