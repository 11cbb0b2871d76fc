"""Traces to test with: one that has something of everything, small variations of it, and arbitrary ones."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from metnos.grimoire.trace import Desired, ModelCall, Passing, State, StepTrace, Trace

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SECRET = "Z7-heliotrope-secret"  # what must be gone when a turn is forgotten


def step(number: int = 1, executor: str = "find_files", **changes: Any) -> StepTrace:
    made = StepTrace(
        number=number,
        executor=executor,
        version="1.0.0",
        digest="d" * 64,
        args={"path": "/home/owner/inbox", "pattern": "*.pdf"},
        ok=True,
        kind="",
        message="",
        reply={"entries": [{"path": "/home/owner/inbox/a.pdf"}], "count": 1, "total": 1, "failed": 0,
               "truncated": False, "failures": []},
        wall_ms=12.5,
        cpu_ms=3.25,
        action="",
        audit=7,
        item="",
        gap_before=2,
        gap_after=1,
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def trace(turn: str = "01TURN", **changes: Any) -> Trace:
    """A turn that found something and moved it."""
    made = Trace(
        id=turn,
        conversation="talk",
        channel="terminal",
        sender="owner",
        cwd="/home/owner",
        asked=START,
        closed=START + timedelta(seconds=1),
        text="move the PDFs in ~/inbox to ~/papers",
        language="en",
        path="router",
        state=State.DONE,
        answer="Moved 1 file to /home/owner/papers.",
        plan={"kind": "steps", "certainty": 0.9, "notes": ["inbox is ~/inbox"], "missing": "", "say": "",
              "steps": [{"executor": "find_files", "args": {"path": "/home/owner/inbox"}}]},
        canonical="move the {glob} in {path} to {path}",
        slots=({"kind": "path", "text": "~/inbox", "role": "in"},),
        candidates=({"executor": "find_files", "score": 0.8, "lexical": 0.5, "cosine": 0.3},),
        steps=(step(), step(2, "move_files", args={"to": "/home/owner/papers"}, action="01ACTION", audit=9)),
        passings=(Passing("find_files", "1.0.0", "move_files", "1.0.0", "reference", 1, 2),),
        desired=(Desired("sign_files", "move_files", "1.0.0", {"summary": "sign what was moved"}),),
        calls=(ModelCall("plan", "small", 100, 20, 50, 0.01, 250.0),),
        memories=({"kind": "note", "text": "papers are in ~/papers"},),
        permits=({"step": 1, "executor": "find_files", "because": "reading is allowed", "permit": "", "item": ""},),
        cpu_ms=4.5,
        tags=("papers",),
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def secretive(turn: str = "01SECRET", **changes: Any) -> Trace:
    """A turn with the secret in every place that holds content."""
    found = {"entries": [{"path": f"/{SECRET}", "text": SECRET}], "count": 1, "total": 1, "failed": 0}
    made = trace(
        turn,
        cwd=f"/home/{SECRET}",
        text=f"find {SECRET}",
        answer=f"Found {SECRET}.",
        plan={"kind": "steps", "say": SECRET, "notes": [SECRET], "missing": SECRET,
              "steps": [{"executor": "find_files", "args": {"text": SECRET}}]},
        canonical=f"find {SECRET}",
        slots=({"kind": "text", "text": SECRET},),
        candidates=({"executor": "find_files", "score": 0.5, "reason": SECRET},),
        steps=(step(args={"text": SECRET}, message=SECRET, reply=found),),
        desired=(Desired("sign_files", "request", "", {"summary": SECRET}),),
        calls=(ModelCall("plan", "small", 1, 1, 0, 0.0, 1.0, error=SECRET),),
        memories=({"kind": "note", "text": SECRET},),
        permits=({"step": 1, "executor": "find_files", "because": SECRET, "why": [["forbidden", "allow", SECRET]]},),
        error=SECRET,
        tags=(SECRET,),
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


# -- arbitrary ones: everything that a program, a model or a file name may bring

_CHARS = st.characters(codec="utf-8")
texts = st.text(_CHARS, max_size=20)
numbers = st.integers(-(2**40), 2**40)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
tables = st.dictionaries(texts, json_values, max_size=4)
moments = st.integers(-(2**39), 2**39).map(lambda millis: START + timedelta(milliseconds=millis))
_size = st.floats(0, 1e9, allow_nan=False)
steps = st.builds(
    StepTrace,
    *(st.integers(1, 50), texts, texts, texts, tables, st.booleans(), texts, texts, tables, _size, _size, texts),
    *(st.integers(0, 2**40), texts, st.integers(0, 50), st.integers(0, 50)),
)
passings = st.builds(Passing, texts, texts, texts, texts, texts, st.integers(0, 50), st.integers(0, 50))
wishes = st.builds(Desired, texts, texts, texts, tables)
calls = st.builds(ModelCall, texts, texts, numbers, numbers, numbers, _size, _size, texts)


def several(part: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(part, max_size=3).map(tuple)


traces = st.builds(
    Trace,
    id=st.text("0123456789ABCDEF", min_size=6, max_size=26),
    conversation=texts,
    channel=texts,
    sender=texts,
    cwd=texts,
    asked=moments,
    closed=moments,
    text=texts,
    language=texts,
    path=texts,
    state=st.sampled_from(State),
    answer=texts,
    plan=tables,
    canonical=texts,
    slots=several(tables),
    candidates=several(tables),
    steps=several(steps),
    passings=several(passings),
    desired=several(wishes),
    calls=several(calls),
    memories=several(tables),
    permits=several(tables),
    continues=texts,
    item=texts,
    cpu_ms=_size,
    error=texts,
    tags=several(texts),
)
