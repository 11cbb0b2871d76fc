"""What the real model replied, once, through the planner of today. A changed prompt is not found and fails."""

from typing import Any

from metnos.models.pins import require_pin
from metnos.models.recorded import Recorded
from metnos.turn.plan.records import Kind, Plan
from tables import try_each
from turn.benching import llm_record

SHA256 = require_pin("qwen2.5-coder-1.5b").sha256
EXCHANGES = llm_record.exchanges()


def calls(plan: Plan) -> list[dict[str, Any]]:
    return [{step.executor: dict(step.args)} for step in plan.steps]


@try_each("each", EXCHANGES, ids=[each["say"] for each in EXCHANGES])
def test_what_comes_of_the_real_models_reply(each: dict[str, Any]) -> None:
    plan = llm_record.play(each, Recorded(llm_record.RECORDING, SHA256))
    if "expect" in each:
        assert calls(plan) == each["expect"]
    if "runs" in each:
        assert [step.executor for step in plan.steps] == each["runs"]
    if "state" in each:
        assert plan.kind is Kind(each["state"])
    for number, step in enumerate(plan.steps, start=1):
        assert step.executor not in each.get("never", ()) or number in plan.tainted


def test_a_folder_is_moved_by_finding_first() -> None:
    each = next(one for one in EXCHANGES if "moves" in one)
    find, move = llm_record.play(each, Recorded(llm_record.RECORDING, SHA256)).steps
    assert (find.args["path"], move.args["to"]) == tuple(each["moves"])
    assert move.args["paths"] == ["{{step1.entries.path}}"]


def test_every_exchange_belongs_to_the_pinned_model() -> None:
    lines = llm_record.RECORDING.read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(f'"model":"{SHA256}"' in line for line in lines)
