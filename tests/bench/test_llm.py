"""The judge of the scenarios, which must not let anything pass that is not as it should be; and the scenarios."""

import importlib
import tomllib
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from metnos.fastpath.language import language
from metnos.grimoire.trace import State, StepTrace, Trace

ROOT = Path(__file__).resolve().parents[2]
ASKED = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
TRACE = Trace("t", "c", "terminal", "o", "/", ASKED, ASKED, "x", "en", "model", State.DONE, "", {}, "", (), ())


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT))
    return {name: importlib.import_module(f"bench.{name}") for name in ("llm_judge", "llm_home", "llm")}


def step(reply: dict[str, Any]) -> StepTrace:
    return StepTrace(1, "find_files", "1", "d", {}, True, "", "", reply, 1.0, 1.0, "", 1, "", 1, 0)


def judged(
    bench: dict[str, ModuleType], turn: dict[str, Any], home: Path, change: dict[str, Any], trace: Trace = TRACE
) -> list[str]:
    bench["llm_home"].furnish(home, turn.get("files", {}))
    before = bench["llm_judge"].look(home)
    for name, content in change.items():
        (home / name).unlink() if content is None else bench["llm_home"].furnish(home, {name: content})
    (home.parent / "notes").mkdir(exist_ok=True)
    return list(bench["llm_judge"].complaints(turn, trace, before, home, home.parent / "notes"))


MOVE = {"files": {"a/x.txt": "x", "b": {"folder": True}}, "after": {"b/x.txt": "x", "a/x.txt": {"absent": True}}}


@pytest.mark.parametrize(
    ("turn", "change", "wrong"),
    [
        (MOVE, {"b/x.txt": "x", "a/x.txt": None}, []),
        (MOVE, {}, ["b/x.txt is not there", "a/x.txt is still there"]),
        (MOVE, {"b/x.txt": "y", "a/x.txt": None}, ["b/x.txt holds b'y'"]),
        (MOVE, {"b/x.txt": "x", "a/x.txt": None, "c.txt": "more"}, ["c.txt has changed"]),
        ({"files": {"k": "k"}}, {"k": None}, ["k has changed"]),
        ({"after": {"n": {"folder": True}}}, {"n": "file"}, ["n is no folder"]),
        ({"after": {"z.zip": {"zip": ["a"]}}}, {"z.zip": {"zip": {"a": "1"}}}, []),
        ({"after": {"r.csv": {"rows": [["a"], ["1"]]}}}, {"r.csv": "a\r\n1\r\n"}, []),
        ({"after": {"r.csv": {"rows": [["a"], ["1"]]}}}, {"r.csv": "a\n2\n"}, ["r.csv holds b'a\\n2\\n'"]),
        ({"notes": "milk"}, {}, ["no note holds 'milk'"]),
        ({"state": "nothing"}, {}, ["it ended as done, not nothing"]),
        ({"reminder": {"text": "x", "day": 1, "hour": 9}}, {}, ["0 reminders were made"]),
    ],
)
def test_what_is_left_behind(
    bench: dict[str, ModuleType], tmp_path: Path, turn: Any, change: Any, wrong: list[str]
) -> None:
    (tmp_path / "here").mkdir()
    assert judged(bench, turn, tmp_path / "here", change) == wrong


def test_facts_are_looked_for_in_replies_and_not_in_words(bench: dict[str, ModuleType], tmp_path: Path) -> None:
    turn = {"last": ["a.pdf"], "without": ["c.txt"]}
    good = replace(TRACE, steps=(step({"entries": [{"path": "/h/a.pdf"}]}),), answer="c.txt")
    bad = replace(TRACE, steps=(step({"entries": [{"path": "/h/c.txt"}]}),), answer="a.pdf")
    assert judged(bench, turn, tmp_path, {}, good) == []
    assert len(judged(bench, turn, tmp_path, {}, bad)) == 2


def test_a_reminder_is_for_the_right_day_and_hour(bench: dict[str, ModuleType], tmp_path: Path) -> None:
    turn = {"reminder": {"text": "wine", "day": 1, "hour": 18}}
    for due, fine in (
        ("2026-11-16T18:00:00+00:00", True),
        ("2026-11-16T19:00:00+00:00", False),
        ("2026-11-15T18:00:00+00:00", False),
    ):
        made = replace(TRACE, steps=(step({"results": [{"text": "buy wine", "due": due}]}),))
        assert (judged(bench, turn, tmp_path, {}, made) == []) is fine


def test_the_scenarios_are_many_varied_and_half_italian(bench: dict[str, ModuleType]) -> None:
    turns = tomllib.loads(bench["llm"].SCENARIOS.read_text(encoding="utf-8"))["turn"]
    assert len(turns) >= 34
    assert len({turn["name"] for turn in turns}) == len(turns)
    spoken = Counter(language(turn["say"]) for turn in turns)
    assert spoken["it"] >= 0.45 * len(turns)
    judged_by = {"last", "facts", "after", "notes", "reminder", "state"}
    assert all(judged_by & set(turn) for turn in turns)
