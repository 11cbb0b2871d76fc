"""What the tests of fast paths share: requests as they are heard, plans as shapes, and turns that passed."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from fastpath.reading import NOW, slots
from metnos.fastpath.heard import Heard
from metnos.fastpath.log import Log, Pass, path_id
from metnos.fastpath.records import Mark
from metnos.fastpath.shape import CONSTANT, Filled, Learnt, Seen, Unresolved, fill, learn
from metnos.fastpath.states import Judge

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def hear(text: str, now: datetime = NOW) -> Heard:
    return Heard.of(text, slots(text, now), now)


def learnt(text: str, *plan: Mapping[str, Any]) -> Learnt:
    found = learn(plan, hear(text))
    assert isinstance(found, Learnt), found
    return found


def filled(shape: Learnt, known: str, asked: str, passes: int = CONSTANT) -> Filled | Unresolved:
    """What another request is filled to, after so many passes."""
    observed = {place: Seen(value, passes) for place, value in shape.constants.items()}
    return fill(shape.shape, observed, hear(asked), hear(known).form)


def why(found: Filled | Unresolved) -> str:
    assert isinstance(found, Unresolved), found
    return found.why


def mark(name: str, version: str = "1.0.0", signature: str = "s") -> Mark:
    return Mark(name, version, signature)


def passed(
    turn: str,
    text: str = "list the files in ~/inbox",
    plan: Sequence[Mapping[str, Any]] = ({"path": "~/inbox"},),
    tools: Sequence[str] = ("list_folders",),
    **other: Any,
) -> Pass:
    found = learnt(text, *plan)
    marks = other.pop("marks", tuple(map(mark, tools)))
    return Pass(
        turn=turn,
        ts=other.pop("ts", START),
        form=hear(text).form,
        said=other.pop("said", text),
        marks=marks,
        shape=found.shape,
        constants=found.constants,
        **other,
    )


JUDGE = Judge(0.01, lambda _: (True, "sure"), lambda _: "", mark)


def key_of(one: Pass) -> str:
    return path_id([each.name for each in one.marks], one.shape)


def pass_times(log: Log, times: int, prefix: str = "T", **other: Any) -> str:
    """So many passes of one path; its id."""
    for number in range(times):
        assert log.record(passed(f"{prefix}{number}", **other))
    return key_of(passed("", **other))
