"""Planning in tests: the built-in executors as tools, a scene, and a model that says what it is told to say."""

from collections.abc import Mapping
from typing import Any

from metnos.core.errors import ModelError
from metnos.models.chat import Message, Prompt, Reply
from metnos.turn.plan.model_scene import Done, Scene
from metnos.turn.plan.records import Candidate, Kind, Path, Plan, Step
from turn.benching import llm_record

HOME, tools = llm_record.HOME, llm_record.tools
HEAD = "Law 0, perimeter: nothing leaves the home."
FILES = ("find_files", "read_files", "move_files", "delete_files", "list_folders")
TABLES = ("read_tables", "group_tables", "describe_tables", "filter_tables", "write_tables")
WEB = ("get_pages", "extract_text_url", "find_links", "read_files", "write_files")


def candidates(*names: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(tools()[name], 1 - place / 100) for place, name in enumerate(names))


def scene(*, last: str = "", window: tuple[Message, ...] = (), cwd: str = HOME) -> Scene:
    return Scene(HEAD, window, "2026-11-15 Sunday 12:00 +0000", cwd, HOME, last)


class Model:
    """Replies with each of ``replies`` in turn. ``asked`` are the purposes and prompts so far."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, Prompt]] = []

    def __call__(self, purpose: str, prompt: Prompt) -> Reply:
        self.asked.append((purpose, prompt))
        if not self.replies:
            raise ModelError("nothing more to say", kind="missing")
        said = self.replies.pop(0)
        if isinstance(said, ModelError):
            raise said
        return Reply(said, None) if isinstance(said, str) else Reply("", said)

    @property
    def prompts(self) -> list[Prompt]:
        return [prompt for _, prompt in self.asked]


def steps(*calls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A reply by the schema."""
    return {"steps": [dict(call) for call in calls]}


def own(*given: tuple[str, Mapping[str, Any]], tainted: tuple[int, ...] = ()) -> Plan:
    return Plan(Kind.STEPS, Path.MODEL, tuple(Step(name, args) for name, args in given), tainted=tainted)


def done(number: int, executor: str, args: Mapping[str, Any], *entries: Mapping[str, Any]) -> Done:
    key = tools()[executor].result_key
    return Done(number, executor, args, True, "", "", {key: [dict(each) for each in entries], "count": len(entries)})


def failed(number: int, executor: str, args: Mapping[str, Any], kind: str, message: str) -> Done:
    return Done(number, executor, args, False, kind, message, {})


def calls(plan: Plan) -> list[tuple[str, Mapping[str, Any]]]:
    return [(step.executor, step.args) for step in plan.steps]
