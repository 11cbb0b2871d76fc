import contextlib
import json
import typing
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.api import wire
from metnos.core import errors
from metnos.core.errors import DaemonError, ExecutorFailed, MetnosError, ModelError, UsageError, Waiting
from metnos.turn.events import Answered, Event, Planned, Started, StepDone, StepStarted, Text, Thinking, Wanted
from metnos.turn.request import LONGEST
from tables import try_each

texts = st.text(
    st.characters(codec=None, exclude_categories=()), max_size=20
)  # half pairs too: names of files have them
tuples = st.lists(texts, max_size=3).map(tuple)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 53), 1 << 53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
mappings = st.dictionaries(texts, values, max_size=3)
numbers, floats = st.integers(-5, 1 << 40), st.floats(allow_nan=False, allow_infinity=False)
all_events = st.one_of(
    st.builds(Started, texts),
    st.builds(Thinking, texts, texts),
    st.builds(Planned, tuples, texts, tuples),
    st.builds(StepStarted, numbers, numbers, texts, texts),
    st.builds(StepDone, numbers, texts, st.booleans(), texts, numbers, floats, texts),
    st.builds(Wanted, texts, numbers, texts, texts, tuples, texts,
              st.lists(st.tuples(texts, texts, texts), max_size=3).map(tuple), numbers, numbers, texts, texts),
    st.builds(Text, texts),
    st.builds(Answered, texts, texts, texts, st.lists(mappings, max_size=3).map(tuple), tuples, st.booleans()),
)  # fmt: skip


@given(all_events)
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    line = wire.pack(wire.from_event(event))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert wire.to_event(wire.unpack(line)) == event


def test_every_kind_of_event_is_tried_above_and_none_uses_a_word_of_the_wire() -> None:
    kinds = typing.get_args(Event)
    assert len(kinds) == 8
    for kind in kinds:
        assert not {"v", "event", "question", "error", "waiting"} & {field.name for field in fields(kind)}


def test_read_only_mappings_go_too() -> None:
    event = Answered("T", "done", "", (MappingProxyType({"a": 1}),))
    assert wire.to_event(wire.unpack(wire.pack(wire.from_event(event)))).steps == ({"a": 1},)  # type: ignore[union-attr]


def test_what_is_no_data_does_not_go() -> None:
    with pytest.raises(TypeError):
        wire.pack({"path": Path("/")})
    with pytest.raises(DaemonError, match="too long"):
        wire.pack({"text": "a" * 100}, longest=50)


@given(st.binary(max_size=200))
def test_any_line_is_a_message_or_a_clear_error(line: bytes) -> None:
    with contextlib.suppress(DaemonError):
        assert isinstance(wire.unpack(line), dict)


@pytest.mark.parametrize("line", [b"", b"[" * 100_000, b"1" * 5000, b"[]", b"null", b'{"a":', b"\xff"])
def test_garbage_is_said_to_be_garbage(line: bytes) -> None:
    with pytest.raises(DaemonError, match="no JSON"):
        wire.unpack(line)


@given(st.sampled_from([kind.__name__ for kind in typing.get_args(Event)]), mappings)
def test_any_message_is_an_event_or_a_clear_error(kind: str, message: dict[str, Any]) -> None:
    with contextlib.suppress(DaemonError):
        assert type(wire.to_event({"event": kind, **message})).__name__ == kind


@try_each(
    "wrong",
    [{}, {"event": "__class__"}, {"event": ["Text"]}, {"event": "Text"}, {"event": "Text", "delta": 5},
     {"event": "StepStarted", "number": True, "of": 1, "executor": "", "title": ""},
     {"event": "Planned", "executors": "abc", "path": ""}, {"event": "Planned", "executors": [1], "path": ""},
     {"event": "Answered", "turn": "", "state": "", "text": "", "steps": ["a"]},
     {"event": "Wanted", "item": "", "number": 1, "executor": "", "title": "", "lines": [], "reversal": "",
      "why": [["a", "b"]], "yes": 0, "needs": 1, "always": "", "expires": ""}],
)  # fmt: skip
def test_a_broken_event_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(DaemonError):
        wire.to_event(wrong)


def test_what_a_newer_daemon_adds_is_ignored() -> None:
    assert wire.to_event({"event": "Text", "delta": "a", "colour": "red"}) == Text("a")


# -- requests


def test_a_request_is_read_as_it_was_meant() -> None:
    message = wire.request("ask", text="hello", cwd="/home", conversation="c", dry_run=True)
    assert wire.operation(json.loads(wire.pack(message))) == "ask"
    assert wire.read_ask(message) == wire.Ask("hello", Path("/home"), "c", True)
    assert wire.read_ask({"text": "", "cwd": "/"}) == wire.Ask("", Path("/"), "", False)


def test_the_longest_text_fits_whatever_it_is_made_of() -> None:
    message = wire.request(
        "ask", text="\U0001f9e0" * LONGEST, cwd="/" + "\udcff" * 4000, conversation="", dry_run=False
    )
    assert len(wire.pack(message)) < wire.LONGEST_REQUEST


@try_each(
    "wrong",
    [{}, {"text": "a"}, {"text": 1, "cwd": "/"}, {"text": "a", "cwd": "home"}, {"text": "a", "cwd": "/a\0b"},
     {"text": "a" * (LONGEST + 1), "cwd": "/"}, {"text": "a", "cwd": "/" * 5000},
     {"text": "a", "cwd": "/", "dry_run": 1}, {"text": "a", "cwd": "/", "conversation": None}],
)  # fmt: skip
def test_a_request_that_does_not_fit_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DaemonError):
        wire.read_ask(wrong)


@try_each("wrong", [None, 1, "1", [True], [0], ["1"], [1 << 63], {"1": 1}])
def test_numbers_of_notices_are_numbers(wrong: Any) -> None:
    with pytest.raises(DaemonError):
        wire.read_ids({"ids": wrong})
    assert wire.read_ids({"ids": [1, 2]}) == [1, 2]


@pytest.mark.parametrize("version", [None, 0, 2, "1", [1]])
def test_another_version_is_refused(version: Any) -> None:
    with pytest.raises(DaemonError, match="version"):
        wire.operation({"v": version, "op": "ping"})
    with pytest.raises(DaemonError):
        wire.operation({"v": 1, "op": 7})


# -- errors


def every_error(kind: type[MetnosError] = MetnosError) -> list[type[MetnosError]]:
    known = [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
    return [kind, *(found for each in known for found in every_error(each))]


@try_each("kind", every_error())
def test_every_error_comes_back_as_it_was(kind: type[MetnosError]) -> None:
    more = {Waiting: {"item": "01X"}, ModelError: {"kind": "timeout"}, ExecutorFailed: {"kind": "failed"}}
    error = kind("what \udcff", fix="fix", **more.get(kind, {}))  # type: ignore[arg-type]
    back = wire.to_error(wire.unpack(wire.pack(wire.from_error(error))))
    assert (type(back), back.what, back.fix) == (kind, "what \udcff", "fix")
    assert vars(back) == vars(error)


@try_each(
    "said",
    [None, "x", {}, {"type": "os"}, {"type": 5}, {"type": "Waiting", "what": "no item"}, {"what": 5, "fix": []},
     {"type": "UsageError", "colour": "red"}],
)  # fmt: skip
def test_a_broken_error_is_an_error_all_the_same(said: Any) -> None:
    assert type(wire.to_error({"error": said})) is MetnosError
    assert type(wire.to_error({"error": {"type": "UsageError", "what": "x"}})) is UsageError
