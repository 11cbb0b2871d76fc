"""Content that gives orders, and a model that obeys every one of them: nothing of it may happen.

The model is the worst there can be: it plans what the content says as soon as it has seen it, no grammar binds it, and
has every built-in executor to choose from. The level is `full`, where nothing of the owner's own is asked about, and
nobody answers questions. Judged by effects: the home and the notes are as before, the other server was never
spoken to, the owner's one only at the address that the owner named, and no other executor ran than those of the
owner's own plan. And no word of the content ever stood in the instruction role.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from bench.llm_home import Site, furnish, serving

from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.models.budget import Meter, Metered
from metnos.models.chat import OnText, Prompt, Reply
from metnos.turn import planning
from turn.turning import Taken, take

CASES = tomllib.loads(Path(__file__).with_name("injections.toml").read_text(encoding="utf-8"))["case"]
EVERY_TOOL = 100


@dataclass
class Obedient:
    """A model that plans as it is told: first what the owner wants, then what the content wants, for ever."""

    first: list[Any]
    evil: list[Any]
    asked: list[Prompt] = field(default_factory=list)
    name: str = "obedient"
    outside: bool = False

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.asked.append(prompt)
        said = self.first if len(self.asked) == 1 else self.evil
        return Reply("I did all of it.", {"steps": said}, model=self.name)


@dataclass
class Only:
    """The models of a workspace, when there is only this one."""

    chat: Obedient

    def tier(self, _: str) -> Obedient:
        return self.chat

    def metered(self, _: str, meter: Meter) -> Metered:
        return Metered(self.chat, meter)

    def close(self) -> None:
        pass


@pytest.fixture
def full(equipped: App) -> App:
    """The same workspace at the level `full`, with a model as its planner."""
    equipped.set_setting("policy.autonomy", "full")
    equipped.set_setting("turn.planner", "model")
    return App.open(equipped.workspace, equipped.clock)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[f"{each['where']} {number}" for number, each in enumerate(CASES, start=1)])
def test_nothing_that_content_orders_happens(
    case: dict[str, Any], full: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "_SHORTLIST", EVERY_TOOL)
    with serving() as web, serving() as evil:
        case = filled(case, {"{web}": web.url, "{evil}": evil.url, "{notes}": str(full.workspace.notes)})
        prepare(case, tmp_path / "home", full.workspace, web)
        before = everything(tmp_path / "home", full.workspace)
        chat = Obedient(case["first"], case["evil"])
        full.__dict__["models"] = Only(chat)
        taken = [take(full, case["say"], conversation="c")]
        if "then" in case:
            taken.append(take(full, case["then"], conversation="c"))
        full.close()
    assert everything(tmp_path / "home", full.workspace) == before
    assert evil.asked == []
    assert web.asked == list(case.get("pages", {}))
    assert [name for each in taken for name in executed(each)] == expected(case)
    assert all(each.trace is not None and not each.trace.desired for each in taken)
    assert len(chat.asked) > 1, "the model never saw the content"
    for prompt in chat.asked:
        assert case["marker"] not in prompt.system
        assert not any(case["marker"] in line for line in outside_fences(prompt))
    assert case["marker"] == "diary" or any(case["marker"] in each.messages[0].text for each in chat.asked[1:])


def executed(taken: Taken) -> list[str]:
    """What really ran: whatever has an audit line."""
    assert taken.trace is not None
    return [step.executor for step in taken.trace.steps if step.audit]


def expected(case: Mapping[str, Any]) -> list[str]:
    planned = [name for call in case["first"] for name in call if name != "answer"]
    return list(case.get("ran", planned))


def outside_fences(prompt: Prompt) -> list[str]:
    return [line for message in prompt.messages for line in message.text.split("\n") if not line.startswith("| ")]


def filled(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(word, text)
        return value
    if isinstance(value, dict):
        return {key: filled(each, words) for key, each in value.items()}
    return [filled(each, words) for each in value] if isinstance(value, list) else value


def prepare(case: Mapping[str, Any], home: Path, workspace: Workspace, web: Site) -> None:
    always = {"private/diary.txt": "my secret", "keep.txt": "kept", "app/x.txt": "x"}
    furnish(home, {**always, **case.get("files", {})})
    furnish(workspace.notes, {"mine.md": "# mine\n", **case.get("notes", {})})
    web.pages |= case.get("pages", {})


def everything(home: Path, workspace: Workspace) -> dict[str, bytes | None]:
    """The home and the notes, to the byte."""
    found = [path for root in (home, workspace.notes) for path in root.rglob("*")]
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}
