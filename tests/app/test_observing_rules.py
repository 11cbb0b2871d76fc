"""What of a trace may be told: figures and names, whatever a turn was about."""

import json
from dataclasses import asdict, replace
from datetime import timedelta

from hypothesis import given

from grimoire.traces import SECRET, START, secretive, step, trace, traces
from metnos.app.observing_rules import PLAN, ROOT, line, points, spans
from metnos.grimoire.trace import ModelCall, State, Trace


def everything(turn: Trace) -> str:
    told = [asdict(each) for each in spans(turn, "openai")] + [asdict(each) for each in points(turn, "openai")]
    return json.dumps([told, line(turn)], ensure_ascii=False)


def test_a_turn_full_of_secrets_tells_none() -> None:
    turn = secretive(
        conversation=SECRET,
        sender=SECRET,
        permits=({"step": 1, "permit": "p", "because": f"{SECRET} was said: {SECRET}"},),
        calls=(ModelCall(f"tell me {SECRET}!", f"/{SECRET}/m.gguf", 1, 1, 0, 0.0, 1.0, f"it said {SECRET}"),),
        error=f"what about {SECRET}?",
        state=State.FAILED,
    )
    assert SECRET not in everything(turn)
    assert "m.gguf" in everything(turn)


@given(traces)
def test_whatever_a_turn_was_its_spans_are_a_tree_within_it(turn: Trace) -> None:
    root, *rest = spans(turn, "openai")
    known = {ROOT: root}
    assert (root.key, root.parent) == (ROOT, "")
    for span in rest:
        assert span.parent in known
        known[span.key] = span
        assert root.begin <= span.begin <= span.end <= root.end
    assert len(known) == len(rest) + 1
    assert all(point.value >= 0 for point in points(turn, "openai"))
    json.dumps(line(turn))


def test_steps_follow_the_plan_in_their_order() -> None:
    turn = trace(plan={"ms": 100.0, "steps": [1, 2]}, steps=(step(1, wall_ms=20.0), step(2, wall_ms=30.0)), calls=())
    found = {span.key: span for span in spans(turn, "openai")}
    begin = int(START.timestamp()) * 10**9
    assert [(each, found[each].begin - begin, found[each].end - begin) for each in (PLAN, "step 1", "step 2")] == [
        (PLAN, 0, 100_000_000),
        ("step 1", 100_000_000, 120_000_000),
        ("step 2", 120_000_000, 150_000_000),
    ]


def test_a_permit_is_told_by_its_rule_alone() -> None:
    permits = ({"step": 1, "permit": "01P", "because": "grants: you allowed ~/papers"},)
    told = spans(trace(permits=permits), "openai")
    rules = [span.attributes["metnos.permit"] for span in told if span.key.startswith("step")]
    assert rules == ["grants", "none"]


def test_a_line_leaves_out_what_is_nothing() -> None:
    told = line(replace(trace(), calls=(), closed=START + timedelta(seconds=2)))
    assert (told["ms"], told["executors"], told["tokens"], told["failed"]) == (
        2000,
        "find_files,move_files",
        None,
        None,
    )
