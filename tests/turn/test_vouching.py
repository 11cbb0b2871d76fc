"""Who vouches for a path that one step hands to another."""

from collections.abc import Mapping
from typing import Any

import pytest

from metnos.turn.plan.records import Step
from metnos.turn.vouching import is_vouched_for, steps_of
from tables import try_each
from turn.benching import llm_record

FOUND = Step("find_files", {"path": "~/inbox"})
TABLE = Step("read_tables", {"path": "~/list.csv"})
LINKS = Step("find_links", {"html": "x"})


def sorted_(source: str) -> Step:
    return Step("sort_tables", {"entries": f"{{{{{source}.entries}}}}", "by": [{"column": "size"}]})


def joined(one: str, other: str) -> Step:
    return Step("join_tables", {"entries": f"{{{{{one}.entries}}}}", "right": f"{{{{{other}.entries}}}}"})


@try_each(
    ("before", "paths", "vouched"),
    [
        ((FOUND,), ["{{step1.entries.path}}"], True),
        ((FOUND,), "{{step1.entries[0].path}}", True),
        ((FOUND,), ["~/a.txt"], True),
        ((FOUND,), ["{{step1.entries.note}}"], False),
        ((FOUND,), "{{step1}}", False),
        ((TABLE,), ["{{step1.entries.path}}"], False),
        ((TABLE,), ["{{step1.entries.column}}"], False),
        ((FOUND, TABLE), ["{{step1.entries.path}}", "{{step2.entries.path}}"], False),
        ((FOUND, sorted_("step1")), ["{{step2.entries.path}}"], True),
        ((TABLE, sorted_("step1")), ["{{step2.entries.path}}"], False),
        ((TABLE, FOUND, sorted_("step1"), sorted_("step2")), ["{{step4.entries.path}}"], True),
        ((FOUND, TABLE, joined("step1", "step2")), ["{{step3.entries.path}}"], False),
        ((FOUND, FOUND, joined("step1", "step2")), ["{{step3.entries.path}}"], True),
        ((sorted_("step1"),), ["{{step1.entries.path}}"], False),
        ((sorted_("last"),), ["{{step1.entries.path}}"], False),
        ((), ["{{step7.entries.path}}"], False),
        ((), ["{{last.entries.path}}"], False),
    ],
)
def test_a_path_is_vouched_for_by_whoever_declares_it(before: tuple[Step, ...], paths: Any, vouched: bool) -> None:
    known = {f"step{number}": before[:number] for number in range(1, len(before) + 1)}
    assert is_vouched_for(Step("delete_files", {"paths": paths}), known, llm_record.tools()) is vouched


def test_an_address_that_was_read_somewhere_is_vouched_for_by_nobody() -> None:
    step = Step("get_pages", {"urls": ["{{step1.entries.url}}"]})
    assert not is_vouched_for(step, {"step1": (LINKS,)}, llm_record.tools())
    assert is_vouched_for(Step("get_pages", {"urls": ["http://example.org"]}), {}, llm_record.tools())


@pytest.mark.parametrize(
    ("plan", "ran", "expected"),
    [
        (
            {"steps": [{"executor": "find_files", "args": {"path": "~"}}]},
            ["find_files"],
            [("find_files", {"path": "~"})],
        ),
        ({"steps": [{"executor": "find_files"}]}, ["find_files"], [("find_files", {})]),
        ({"steps": []}, ["read_tables"], [("read_tables", {})]),
        ({"steps": [{"executor": "find_files", "args": {"path": "~"}}]}, ["read_tables"], [("read_tables", {})]),
        ({}, [], []),
    ],
)
def test_the_steps_of_a_plan_that_was_kept(
    plan: Mapping[str, Any], ran: list[str], expected: list[tuple[str, Any]]
) -> None:
    assert [(step.executor, dict(step.args)) for step in steps_of(plan, ran)] == expected
