"""How an answer came about, in words: what a turn recorded, and nothing that it did not."""

from grimoire.traces import step, trace
from metnos.app import App, reasons
from metnos.grimoire.trace import State


def test_every_state_and_way_has_words(equipped: App) -> None:
    assert set(reasons.STATES) == set(State)
    for path, words in reasons.PATHS.items():
        assert next(iter(reasons.how(equipped, trace("01T", path=path, plan={})))) == words
    assert next(iter(reasons.how(equipped, trace("01T", path="new", plan={})))) == "By the way called new."


def test_what_was_assumed_missing_and_made_is_told(equipped: App) -> None:
    plan = {"certainty": 0.9, "missing": "a folder", "notes": ["took it as ~"], "explored": "read_tables"}
    lines = list(reasons.how(equipped, trace("01T", path="router", plan=plan)))
    assert "How sure that this was meant: 90%" in lines
    assert "What was missing: a folder" in lines
    assert "Assumed: took it as ~" in lines
    assert any(line.startswith("read_tables is hidden from planners") for line in lines)
    made = {"name": "format_text", "offer": "yes", "answer": "yes", "lives": True}
    told = list(reasons.made(trace("01T", plan={"made": made}, steps=(step(1, "format_text"),))))
    assert told[-1] == "format_text was signed and is active. It was used for this request."
    assert list(reasons.made(trace("01T", plan={"made": "nonsense"}))) == []


def test_as_data_it_holds_nothing_that_was_said_or_found() -> None:
    told = reasons.explained(trace("01T", text="a secret", answer="a secret"), None)
    assert "a secret" not in str(told)
    assert {"text", "answer", "slots"}.isdisjoint(told)
    assert all("reply" not in each and "args" not in each for each in told["steps"])
    assert reasons.data(trace("01T", text="a secret"), None)["text"] == "a secret"
