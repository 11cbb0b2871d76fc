"""The broker: whatever a child says, it is answered, refused or a breach, and reaches no further."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executors.boxes import Box
from executors.desk import PATTERNS, Desk
from metnos.executors.broker import Breached
from metnos.executors.outcome import KINDS


@pytest.fixture(scope="module")
def box(ordinary: Path) -> Iterator[Box]:
    made = Box(ordinary)
    yield made
    made.close()


@pytest.fixture
def desk(box: Box) -> Desk:
    return Desk(box)


class TestContent:
    @pytest.mark.parametrize(
        ("fields", "content"),
        [
            ({"text": "é\0\n"}, "é\0\n".encode()),
            ({"text": ""}, b""),
            ({"base64": "AAH/"}, b"\0\1\xff"),
            ({"base64": ""}, b""),
            ({"text": "\udcff"}, b"\xff"),  # a byte that was no text, on its way back
        ],
    )
    def test_text_or_bytes(self, desk: Desk, fields: dict[str, str], content: bytes) -> None:
        assert "value" in desk.ask({"op": "write", "path": "in/new", **fields})
        assert (desk.home / "in/new").read_bytes() == content

    @pytest.mark.parametrize(
        "fields",
        [{}, {"base64": "!"}, {"base64": "AA"}, {"base64": "AA==\n"}, {"base64": 5}, {"text": "\ud800"}, {"text": 5}],
    )
    def test_what_is_neither(self, desk: Desk, fields: dict[str, Any]) -> None:
        assert desk.ask({"op": "write", "path": "in/new", **fields})["kind"] == "invalid"
        assert not (desk.home / "in/new").exists()

    def test_a_put_needs_a_plain_file(self, desk: Desk) -> None:
        message = {"op": "put", "path": "in/new"}
        assert desk.ask(message)["kind"] == "invalid"
        reader, writer = os.pipe()
        folder = os.open(desk.home, os.O_RDONLY)
        for descriptor in (reader, folder):
            assert desk.ask(message, descriptor)["kind"] in ("invalid", "not_permitted")
        for descriptor in (reader, writer, folder):
            os.close(descriptor)
        assert not (desk.home / "in/new").exists()

    def test_only_true_is_true(self, desk: Desk) -> None:
        for flag in (1, "true", [1], {"x": 1}):
            answer = desk.ask({"op": "write", "path": "in/a.txt", "text": "x", "overwrite": flag, "append": flag})
            assert answer["kind"] == "exists"


@pytest.mark.parametrize("op", ["shutdown", "", "__call__", "Write", "begun", "result"])
def test_speaking_out_of_turn_is_a_breach(desk: Desk, op: str) -> None:
    with pytest.raises(Breached, match="out of turn"):
        desk.ask({"op": op})
    with pytest.raises(Breached, match="out of turn"):
        desk.ask({})


@pytest.mark.parametrize(
    "message",
    [
        {"op": "write", "path": "in/new", "base64": "é"},
        {"op": "write", "path": "in/\ud800", "text": "x"},
        {"op": "write", "path": "in/\ud800/x", "text": "x"},
        {"op": "look", "path": "in/\ud800"},
        {"op": "trash", "path": "in/\ud800"},
        {"op": "make_folder", "path": "in/\ud800"},
        {"op": "make_folder", "path": f"in/{'a' * 300}"},
    ],
)
def test_what_cannot_be_written_down_is_answered_too(desk: Desk, message: dict[str, Any]) -> None:
    assert desk.ask(message).get("failed") is True


# -- whatever a child says

PARTS = st.sampled_from(
    ["in", "a.txt", "sub", "..", ".", "", "link", "out", "loop", "alias", "door", "far", "box", "new"]
)
ODD = st.sampled_from(["\ud800", "\udcff", "a" * 300, "x/" * 3000, "é", "\n", "~", "*"])
PATHS = st.lists(PARTS | ODD, max_size=5).map("/".join)
PLACES = st.one_of(
    PATHS, PATHS.map("in/{}".format), PATHS.map("/{}".format), st.sampled_from(["/etc/passwd", "", None, 1])
)
FLAGS = st.sampled_from([True, False, 1, "true", None])
CONTENTS = st.sampled_from(["", "text", "AAAA", "AA", "é", "\0", "\udcff", "\ud800", None, 7, []])
MESSAGES = st.fixed_dictionaries(
    {"op": st.sampled_from("write put make_folder move copy trash look http call chat system other".split())},
    optional={
        "path": PLACES, "source": PLACES, "target": PLACES, "overwrite": FLAGS, "append": FLAGS, "text": CONTENTS,
        "base64": CONTENTS, "name": CONTENTS, "args": st.sampled_from([{}, [], None]), "what": CONTENTS,
        "method": CONTENTS, "url": CONTENTS, "headers": st.sampled_from([{}, {"a": 1}, {"a": "b"}, [], None]),
    },
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    messages=st.lists(MESSAGES, min_size=3, max_size=12), reversal=st.sampled_from(list(PATTERNS)), dry=st.booleans()
)
def test_nothing_a_child_says_reaches_further_or_breaks_the_broker(
    box: Box, messages: list[dict[str, Any]], reversal: str, dry: bool
) -> None:
    desk = Desk(box)
    whole = desk.picture()
    untouched = {name: facts for name, facts in whole.items() if name != "in" and not name.startswith("in/")}
    with (desk.home / "in/a.txt").open("rb") as file:
        for message in messages:
            if not (desk.home / "in").is_dir():
                break  # it was given another name, which it may be
            try:
                answer = desk.ask(message, file.fileno(), reversal=reversal, dry=dry)
            except Breached:
                continue
            assert set(answer) == {"value"} or answer["kind"] in KINDS
    after = desk.picture()
    assert {name: after.get(name) for name in untouched} == untouched
    assert not dry or after == whole
