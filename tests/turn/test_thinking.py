"""A turn with a language model, scripted: what it plans is done through the same door, and what it breaks is said."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App
from metnos.models.budget import Meter, Metered
from metnos.models.chat import Chat
from metnos.models.scripted import BROKEN, DIES, EMPTY, GONE, HANGS, RAMBLES, Scripted
from metnos.turn.events import Answer, Text, Thinking
from turn.turning import take


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "inbox"
    folder.mkdir()
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text(f"this is {name}\n")
    return folder


def speak(app: App, script: Iterable[Any], planner: str = "model") -> Scripted:
    """Let a scripted model plan in this workspace."""
    chat = Scripted(script)

    def metered(_: str, meter: Meter) -> Chat:
        return Metered(chat, meter)

    app.models.metered = metered  # type: ignore[method-assign]
    app.models.tier = lambda _: chat  # type: ignore[method-assign]
    object.__setattr__(app.settings.turn, "planner", planner)
    return chat


def plan(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"steps": list(steps)}


def test_a_models_plan_is_followed(equipped: App, inbox: Path) -> None:
    speak(equipped, [plan({"find_files": {"path": "~/inbox", "pattern": "*.txt"}})])
    taken = take(equipped, "find the txt files in ~/inbox")
    assert any(isinstance(event, Thinking) for event in taken.events)
    assert taken.trace is not None
    assert taken.trace.path == "model"
    assert taken.ended.text.splitlines()[0] == "Found 2 files."
    assert [call.purpose for call in taken.trace.calls] == ["plan"]
    assert taken.trace.calls[0].input_tokens > 0
    assert not any(isinstance(event, Text) for event in taken.events)


@pytest.mark.parametrize("failure", [DIES, HANGS, RAMBLES, BROKEN, EMPTY, GONE], ids=lambda each: each.kind)
def test_a_model_that_fails_does_not_fail_the_turn(equipped: App, inbox: Path, failure: Any) -> None:
    speak(equipped, [failure])
    taken = take(equipped, "find the txt files in ~/inbox")
    assert taken.ended.state == "done"
    assert "Found 2 files." in taken.ended.text
    assert "without it" in taken.ended.text
    assert taken.trace is not None
    assert taken.trace.path == "router"
    assert taken.trace.calls[0].error == failure.kind


def test_a_certain_router_asks_no_model(equipped: App, inbox: Path) -> None:
    chat = speak(equipped, [], planner="auto")
    assert take(equipped, "find the txt files in ~/inbox").ended.state == "done"
    assert chat.asked == []


def test_a_change_that_a_model_plans_is_asked_for(equipped: App, inbox: Path) -> None:
    steps = plan({"find_files": {"path": "~/inbox"}}, {"delete_files": {"paths": "{{step1.entries.path}}"}})
    speak(equipped, [steps])
    taken = take(equipped, "delete everything in ~/inbox", [Answer.NO])
    assert len(taken.wanted) == 1
    assert taken.ended.state == "refused"
    assert len(list(inbox.iterdir())) == 2


def test_the_budget_is_checked_before_the_call(equipped: App, inbox: Path) -> None:
    chat = speak(equipped, [plan({"find_files": {"path": "~/inbox"}})])
    object.__setattr__(equipped.purses, "_budget", type(equipped.purses._budget)(10, 1.0))
    taken = take(equipped, "find the txt files in ~/inbox")
    assert chat.asked == []
    assert "tokens" in taken.ended.text
    assert taken.ended.state == "done"


def test_a_failing_step_gets_one_repair(equipped: App, inbox: Path) -> None:
    wrong = plan({"find_files": {"path": "~/inbx", "pattern": "*.txt"}})
    right = plan({"find_files": {"path": "~/inbox", "pattern": "*.txt"}})
    chat = speak(equipped, [wrong, right])
    taken = take(equipped, "find the txt files in ~/inbox")
    assert len(chat.asked) == 2
    assert "inbx" in chat.asked[1].messages[-1].text
    assert taken.ended.state in ("done", "partly")
    assert "Found 2 files." in taken.ended.text


def test_the_head_of_the_prompt_is_the_same_in_every_turn(equipped: App, inbox: Path) -> None:
    chat = speak(equipped, [plan({"find_files": {"path": "~/inbox"}})] * 2)
    take(equipped, "find the txt files in ~/inbox", conversation="c")
    take(equipped, "which files are in ~/inbox?", conversation="c")
    first, second = (prompt.system for prompt in chat.asked)
    assert first == second
    assert first.index("Law") < first.index("executor") if "executor" in first else "Law" in first
