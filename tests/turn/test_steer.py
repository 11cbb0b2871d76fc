from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.turn.plan.records import Kind as PlanKind
from metnos.turn.plan.records import Path, Plan, Step, Tool
from metnos.turn.steer import LEAST, Asked, Steered, steer

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
FORM = "move the {kind} to {path}"
ASKED = Asked(FORM, {"kind": "invoices", "path": "/home/owner/papers"})


def tool(name: str, *, mutates: bool, required: tuple[str, ...], **properties: Any) -> Tool:
    schema = {"type": "object", "properties": {each: {} for each in properties}, "required": list(required)}
    return Tool(name, "1.0.0", "d" * 64, name, mutates, schema, "entries", {})


TOOLS = {
    each.name: each
    for each in (
        tool("find_files", mutates=False, required=("path",), path=1, pattern=1, recursive=1),
        tool("list_files", mutates=False, required=("path",), path=1, pattern=1, recursive=1),
        tool("move_files", mutates=True, required=("paths", "to"), paths=1, to=1, overwrite=1),
        tool("delete_files", mutates=True, required=("path",), path=1, pattern=1),
    )
}
FIND = Step("find_files", {"path": "/home/owner", "pattern": "*.pdf"})
MOVE = Step("move_files", {"paths": "{{step1.entries.path}}", "to": "/home/owner/papers"})
PLAN = Plan(PlanKind.STEPS, Path.ROUTER, (FIND, MOVE), certainty=0.9)


def fact(data: dict[str, Any], **changes: Any) -> Fact:
    made = Fact(
        id="01FACT",
        kind=Kind.PROCEDURAL,
        text="For such requests: elsewhere.",
        domain="files",
        confidence=0.8,
        quality=0.8,
        provenance=Provenance.SELF,
        decay=Decay.STRATEGIC,
        created=NOW,
        reinforced=NOW,
        applied=NOW,
        data={"when": {"canonical": FORM}, **data},
    )
    return replace(made, **changes)


def prefers(executor: str, args: dict[str, Any], instead: dict[str, Any] | None = None, **changes: Any) -> Fact:
    other = {"instead_of": {"executor": executor, "args": instead}} if instead is not None else {}
    return fact({"prefer": {"executor": executor, "args": args}, **other}, **changes)


ELSEWHERE = prefers("find_files", {"path": "/srv/scans"}, {"path": "/home/owner"})


def test_what_the_owner_corrected_is_done_right_the_next_time_and_told() -> None:
    found = steer(PLAN, ASKED, [ELSEWHERE], TOOLS)
    assert found.plan.steps[0].args == {"path": "/srv/scans", "pattern": "*.pdf"}
    assert found.plan.steps[1] == MOVE
    assert found.used == (ELSEWHERE,)
    assert "path /srv/scans" in found.plan.notes[-1]


def test_what_the_owner_says_now_wins_over_what_was_learnt() -> None:
    said = Asked(FORM, {"path": "/home/owner"})
    assert steer(PLAN, said, [ELSEWHERE], TOOLS) == Steered(PLAN)


def test_a_correction_about_these_very_words_holds_although_they_are_said() -> None:
    only = replace(ELSEWHERE, data={**ELSEWHERE.data, "when": {"canonical": FORM, "slots": {"path": "/home/owner"}}})
    said, other = Asked(FORM, {"path": "/home/owner"}), Asked(FORM, {"path": "/elsewhere"})
    assert steer(PLAN, said, [only], TOOLS).plan.steps[0].args["path"] == "/srv/scans"
    assert steer(PLAN, other, [only], TOOLS).used == ()


def test_a_question_is_answered_by_what_was_always_answered() -> None:
    asks = Plan(
        PlanKind.QUESTION, Path.ROUTER, (FIND, Step("move_files", {"paths": "x"})), "Where to?", "move_files.to"
    )
    found = steer(asks, ASKED, [prefers("move_files", {"to": "/srv/archive"})], TOOLS).plan
    assert (found.kind, found.say, found.missing) == (PlanKind.STEPS, "", "")
    assert found.steps[1].args == {"paths": "x", "to": "/srv/archive"}


def test_a_question_about_something_else_is_still_asked() -> None:
    asks = Plan(PlanKind.QUESTION, Path.ROUTER, (Step("move_files", {}),), "Which files?", "move_files.paths")
    found = steer(asks, ASKED, [prefers("move_files", {"to": "/srv/archive"})], TOOLS).plan
    assert found.kind is PlanKind.QUESTION
    assert found.missing == "move_files.paths"


def test_an_argument_is_never_changed_without_a_correction() -> None:
    assert steer(PLAN, ASKED, [prefers("move_files", {"to": "/srv/archive"})], TOOLS) == Steered(PLAN)


def test_what_the_owner_wrote_down_holds_for_whatever_they_do_not_say_now() -> None:
    rule = prefers("find_files", {"path": "/srv/scans"}, provenance=Provenance.OWNER)
    assert steer(PLAN, ASKED, [rule], TOOLS).plan.steps[0].args["path"] == "/srv/scans"
    assert steer(PLAN, Asked(FORM, {"path": "/home/owner"}), [rule], TOOLS) == Steered(PLAN)


@pytest.mark.parametrize(
    ("instead", "prefer", "happens"),
    [
        ("find_files", "list_files", True),
        ("find_files", "delete_files", False),  # it would change something where nothing was to be changed
        ("find_files", "move_files", False),  # it does not take these arguments
        ("find_files", "steal_files", False),  # there is none
    ],
)
def test_an_executor_is_replaced_only_by_one_that_fits_and_changes_no_more(
    instead: str, prefer: str, happens: bool
) -> None:
    told = fact({"prefer": {"executor": prefer, "args": {}}, "instead_of": {"executor": instead, "args": {}}})
    found = steer(PLAN, ASKED, [told], TOOLS)
    assert (found.plan.steps[0].executor == prefer) is happens
    assert bool(found.used) is happens


def test_what_is_known_to_fail_is_said_and_nothing_else_changes() -> None:
    fails = fact(
        {"executor": "find_files", "error": "not_found", "when": {"args": {"path": "/home/owner"}}}, kind=Kind.ANTI
    )
    found = steer(PLAN, ASKED, [fails], TOOLS)
    assert found.plan.steps == PLAN.steps
    assert fails.text in found.plan.notes[-1]
    assert steer(replace(PLAN, steps=(MOVE,)), ASKED, [fails], TOOLS).used == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"confidence": LEAST - 0.01},
        {"standing": Standing.QUARANTINED},
        {"provenance": Provenance.DREAM},
        {"provenance": Provenance.LETHE},
        {"provenance": Provenance.TESTAMENT},
        {"kind": Kind.INSIGHT},
        {"kind": Kind.WARNING},
    ],
)
def test_what_is_not_believed_or_not_our_own_has_no_say(changes: dict[str, Any]) -> None:
    assert steer(PLAN, ASKED, [replace(ELSEWHERE, **changes)], TOOLS) == Steered(PLAN)


def test_another_form_of_request_is_not_concerned() -> None:
    assert steer(PLAN, Asked("find the {kind}", {}), [ELSEWHERE], TOOLS) == Steered(PLAN)
    assert steer(PLAN, Asked("", {}), [ELSEWHERE], TOOLS) == Steered(PLAN)


def test_a_fast_path_is_not_steered_since_it_learnt_from_what_was_let_stand() -> None:
    fast = replace(PLAN, path=Path.FAST)
    assert steer(fast, ASKED, [ELSEWHERE], TOOLS) == Steered(fast)


def test_the_most_believed_speaks_and_no_other_over_it() -> None:
    weaker = prefers("find_files", {"path": "/tmp/other"}, {"path": "/home/owner"}, id="01OTHER", confidence=0.7)
    for facts in ([weaker, ELSEWHERE], [ELSEWHERE, weaker]):
        found = steer(PLAN, ASKED, facts, TOOLS)
        assert found.plan.steps[0].args["path"] == "/srv/scans"
        assert found.used == (ELSEWHERE,)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("when", "prefer", "instead_of", "executor", "error"), JSON)),
    st.sampled_from([Kind.PROCEDURAL, Kind.ANTI]),
)
def test_whatever_a_fact_holds_a_plan_comes_out_with_the_same_executors(data: dict[str, Any], kind: Kind) -> None:
    found = steer(PLAN, ASKED, [fact(data, kind=kind)], TOOLS).plan
    assert len(found.steps) == len(PLAN.steps)
    assert all(step.executor in TOOLS for step in found.steps)
