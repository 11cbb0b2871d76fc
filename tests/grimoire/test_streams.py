"""What the order of things teaches, by rules."""

import random
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import EPISODES, observed, step, turn
from metnos.grimoire.domain import HOME
from metnos.grimoire.episode import Episode, Verdict
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.fact import Kind
from metnos.grimoire.streams import Stream, causes, corrections, extract, sequences

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def stream(episodes: list[Episode], usual: dict[str, dict[str, Baseline]] | None = None) -> Stream:
    return Stream(episodes, frozenset(each.id for each in episodes), HOME, usual or {})


@given(st.lists(EPISODES, max_size=12, unique_by=lambda each: each.id))
def test_whatever_the_payloads_hold_nothing_breaks(group: list[Episode]) -> None:
    for found in extract(stream(group)):
        assert 0 <= found.sure <= 1
        assert set(found.sources) <= {each.id for each in group}


# -- sequences


def conversations(pairs: list[tuple[str, str]], gap: timedelta = MINUTE, **changes: Any) -> list[Episode]:
    """Each pair in a conversation of its own."""
    made = []
    for place, (first, then) in enumerate(pairs):
        for late, form in ((timedelta(), first), (gap, then)):
            made.append(turn(form, at=place * timedelta(days=1) + late, session=f"S{place}", **changes))
    return made


OTHERS = [(f"first {place}", f"then {place}") for place in range(10)]


def test_what_always_follows_is_seen() -> None:
    (found,) = sequences(stream(conversations([("read mail", "list tasks")] * 4 + OTHERS)))
    assert found.kind is Kind.PATTERN
    assert (found.data["first"], found.data["then"]) == ("read mail", "list tasks")
    assert (found.data["count"], found.data["of"]) == (4, 4)
    assert found.data["lift"] > 1
    assert len(found.sources) == 8


def test_what_follows_everything_is_no_sequence() -> None:
    pairs = [(f"first {place}", "list tasks") for place in range(10)] + [("read mail", "list tasks")] * 4
    assert list(sequences(stream(conversations(pairs)))) == []


def test_after_a_long_pause_nothing_follows_from_anything() -> None:
    pairs = [("read mail", "list tasks")] * 4 + OTHERS
    assert list(sequences(stream(conversations(pairs, gap=2 * HOUR)))) == []


def test_what_was_never_verified_makes_no_sequence() -> None:
    pairs = [("read mail", "list tasks")] * 4 + OTHERS
    assert list(sequences(stream(conversations(pairs, verdict=Verdict.UNJUDGED)))) == []


def test_random_requests_make_no_sequences() -> None:
    chance = random.Random(7)
    forms = [f"form {place}" for place in range(6)]
    talk = [turn(chance.choice(forms), at=place * MINUTE) for place in range(400)]
    assert list(sequences(stream(talk))) == []


# -- causes


def falling_out(times: int) -> list[Episode]:
    """The line drops, and five minutes later the copy fails; other things happen at other times."""
    made = []
    for place in range(times):
        at = place * 12 * HOUR
        made.append(observed(at, event="the line dropped", ms=1.0))
        bad = step("copy_files", ok=False, kind="unreachable")
        made.append(turn("copy {path}", bad, at=at + 5 * MINUTE, state="failed"))
        made.append(turn("copy {path}", step("copy_files"), at=at + 5 * HOUR))
        made.append(observed(at + 8 * HOUR, event="the fan ran", ms=1.0))
    return made


def test_what_regularly_comes_before_is_called_a_cause_with_its_lag() -> None:
    found = {(each.data["cause"], each.data["effect"]): each for each in causes(stream(falling_out(8)))}
    cause = found['"the line dropped"', "copy_files fails with unreachable"]
    assert cause.kind is Kind.CAUSAL
    assert cause.data["lag"] == 300
    assert (cause.data["count"], cause.data["of"]) == (8, 8)
    assert cause.data["lift"] > 1
    assert all(effect == "copy_files fails with unreachable" for _, effect in found)


def test_a_few_coincidences_are_no_cause() -> None:
    assert list(causes(stream(falling_out(2)))) == []


def test_a_request_is_never_an_effect() -> None:
    made = []
    for place in range(8):
        made.append(observed(place * 12 * HOUR, event="the bell rang", ms=1.0))
        made.append(turn("who is there", at=place * 12 * HOUR + MINUTE))
    assert list(causes(stream(made))) == []


def test_random_events_cause_nothing() -> None:
    chance = random.Random(11)
    for round_ in range(5):
        moments = sorted(chance.uniform(0, 600) for _ in range(300))
        made = [observed(moment * HOUR, event=f"event {chance.randrange(5)}", ms=1.0) for moment in moments]
        assert list(causes(stream(made))) == [], f"round {round_}"


def test_what_happens_together_by_day_is_not_cause_and_effect() -> None:
    chance = random.Random(3)
    made = []
    for day in range(12):
        for _ in range(12):  # everything happens within one busy hour of the day
            at = day * timedelta(days=1) + chance.uniform(0, 1) * HOUR
            made.append(observed(at, event=f"event {chance.randrange(4)}", ms=1.0))
    assert list(causes(stream(made))) == []


def test_a_measure_far_from_usual_is_an_event() -> None:
    made = []
    for place in range(8):
        made.append(observed(place * 12 * HOUR, event="the door opened", ms=1.0))
        made.append(observed(place * 12 * HOUR + MINUTE, temperature=5.0))
        made.append(observed(place * 12 * HOUR + 6 * HOUR, temperature=20.0))
    found = list(causes(stream(made, {"machine": {"temperature": Baseline(20.0, 1.0, 50)}})))
    assert [each.data["effect"] for each in found] == ['"machine": temperature is low']


# -- corrections


def corrected(place: int, bad: str = "/tmp", good: str = "/papers", **changes: Any) -> list[Episode]:
    """Asked, disliked, asked again with another target."""
    at, form = place * HOUR, "move the {glob}"
    common = {"session": f"S{place}", **changes}
    return [
        turn(form, step("move_files", to=bad), at=at, verdict=Verdict.REJECTED, **common),
        turn(form, step("move_files", to=good), at=at + MINUTE, **common),
    ]


def test_a_correction_that_repeats_says_what_to_do_the_first_time() -> None:
    pairs = [*corrected(1), *corrected(2)]
    (found,) = corrections(stream(pairs))
    assert found.kind is Kind.PROCEDURAL
    assert found.data["when"] == {"canonical": "move the {glob}"}
    assert found.data["prefer"] == {"executor": "move_files", "args": {"to": "/papers"}}
    assert found.data["instead_of"] == {"executor": "move_files", "args": {"to": "/tmp"}}
    assert set(found.sources) == {each.id for each in pairs}


def test_one_correction_is_an_accident() -> None:
    assert list(corrections(stream(corrected(1)))) == []


def test_corrections_that_differ_teach_nothing() -> None:
    assert list(corrections(stream([*corrected(1, good="/a"), *corrected(2, good="/b")]))) == []


def test_what_was_not_rejected_was_not_corrected() -> None:
    pairs = [*corrected(1), *corrected(2)]
    fine = [turn("move the {glob}", step("move_files", to="/tmp"), session=each.session) for each in pairs[::2]]
    assert list(corrections(stream([*fine, *pairs[1::2]]))) == []


def test_where_the_old_way_is_fine_for_other_particulars_they_are_part_of_when() -> None:
    pairs = [
        *corrected(1, payload={"slots": {"glob": "*.pdf"}}),
        *corrected(2, payload={"slots": {"glob": "*.pdf"}}),
    ]
    fine = turn("move the {glob}", step("move_files", to="/tmp"), session="T", payload={"slots": {"glob": "*.log"}})
    (found,) = corrections(stream([*pairs, fine]))
    assert found.data["when"] == {"canonical": "move the {glob}", "slots": {"glob": "*.pdf"}}


def test_where_the_old_way_is_let_stand_as_often_nothing_is_learnt() -> None:
    fine = [turn("move the {glob}", step("move_files", to="/tmp"), session=f"F{place}") for place in range(3)]
    assert list(corrections(stream([*corrected(1), *corrected(2), *fine]))) == []


def test_another_executor_is_a_correction_too() -> None:
    made = []
    for place in range(2):
        common: dict[str, Any] = {"session": f"S{place}"}
        made.append(
            turn("open {url}", step("fetch"), at=place * HOUR, verdict=Verdict.REJECTED, **common),
        )
        made.append(turn("open {url}", step("browse"), at=place * HOUR + MINUTE, **common))
    (found,) = corrections(stream(made))
    assert found.data["prefer"]["executor"] == "browse"
    assert found.data["instead_of"]["executor"] == "fetch"
