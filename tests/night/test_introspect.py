"""Introspection as a whole: what records of traces, mnests and executors come to, and that it says each thing once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from grimoire.traces import step, trace
from metnos.grimoire.trace import Desired, ModelCall
from metnos.night import introspect
from metnos.night.introspect import Records
from metnos.night.introspect_rules import Kind, Known, Receptor, Rules, Seen
from metnos.synt.likeness import Profile

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
RULES = Rules()
WISH = Receptor("01M", "describe_urls", 3, NOW - timedelta(days=2), NOW, {"summary": "what is on the page"})
BODY = "def run(args, ctx):\n    return {'entries': [{'n': len(x)} for x in sorted(args['names']) if x.strip()]}\n"


def test_nothing_comes_of_nothing() -> None:
    assert introspect.look(Records(NOW), RULES) == []


def test_the_same_name_is_proposed_once_and_a_sequence_comes_before_a_wish() -> None:
    sequence = replace(WISH, mnest="01N", path="p1", tools=("get_urls", "describe_entries"), uses=50)
    first, second = introspect.look(Records(NOW, (WISH, sequence)), RULES)
    assert (first.kind, first.dropped) == (Kind.PIPELINE, "")
    assert (second.kind, second.dropped) == (Kind.RECEPTOR, "another finding is about the same")


def test_what_an_executor_does_already_is_not_proposed() -> None:
    there = Profile("get_pages", "Describe urls: what is on the page that was wished for.", source=BODY)
    (found,) = introspect.look(Records(NOW, (WISH,), profiles=(there,)), RULES)
    assert found.dropped == "get_pages does that"


def test_of_two_alike_ours_goes_and_never_what_is_shipped() -> None:
    ours = Known("list_words", own=True, usable=True, source=BODY, uses=500)
    shipped = Known("find_words", own=False, usable=True, source=BODY, uses=1)
    profiles = tuple(Profile(each.name, "Words.", source=BODY) for each in (ours, shipped))
    (found,) = introspect.look(Records(NOW, known=(ours, shipped), profiles=profiles), RULES)
    assert (found.kind, found.archive, found.need) == (Kind.DUPLICATE, "list_words", None)
    both = Records(NOW, known=(replace(ours, own=False), shipped), profiles=profiles)
    assert introspect.look(both, RULES) == []


def test_a_turn_is_seen_by_its_plan_and_without_its_words() -> None:
    planned = {
        "steps": [{"executor": "find_files", "args": {"pattern": "*.pdf"}}, {"executor": "read_files", "args": []}],
        "ms": 12.0,
    }
    made = trace(
        plan=planned,
        steps=(step(), step(2, "read_files", ok=False, kind="unreadable"), step(3, "find_files")),
        desired=(Desired("a_b", "request", "", {}), Desired("a_b", "find_files", "1", {})),
        calls=(ModelCall("plan", "m", 1, 1, 0, 0.5, 1.0),),
    )
    seen = introspect.seen_of(made)
    assert isinstance(seen, Seen)
    assert (seen.turn, seen.ms, seen.usd, seen.wishes) == (made.id, 12.0, 0.5, ("a_b",))
    assert [(each.executor, dict(each.args), each.ok) for each in seen.calls] == [
        ("find_files", {"pattern": "*.pdf"}, True),
        ("read_files", {}, False),
        ("find_files", {}, True),  # the plan went another way
    ]
    assert made.text not in repr(seen)
