"""Who plans, and what they choose from."""

from metnos.turn.plan.records import Candidate, Kind, Path, Plan, Step, Tool
from metnos.turn.planning import shortlist


def candidate(name: str, score: float) -> Candidate:
    return Candidate(Tool(name, "1.0.0", "d", "", False, {}, "entries", {}), score)


def test_the_shortlist_begins_with_what_the_router_would_use() -> None:
    ranked = tuple(candidate(f"find_{letter}", 1 - place / 10) for place, letter in enumerate("abcdefgh"))
    routed = Plan(Kind.STEPS, Path.ROUTER, (Step("find_h", {}), Step("find_c", {})), candidates=ranked)
    assert [each.tool.name for each in shortlist(routed)] == [
        "find_c", "find_h", "find_a", "find_b", "find_d", "find_e",
    ]  # fmt: skip


def test_without_a_plan_it_is_the_best_ranked() -> None:
    ranked = tuple(candidate(f"find_{letter}", 1 - place / 10) for place, letter in enumerate("abcdefgh"))
    assert [each.tool.name for each in shortlist(Plan(Kind.NOTHING, Path.ROUTER, candidates=ranked))][:2] == [
        "find_a", "find_b",
    ]  # fmt: skip
