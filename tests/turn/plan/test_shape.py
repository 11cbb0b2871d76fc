from typing import Any

import jsonschema_rs

from metnos.turn.plan.shape import MOST_STEPS, offered, plan_shape
from tables import try_each
from turn.plan.asking import steps, tools


def shaped(*names: str, text: str = "", **more: Any) -> Any:
    shown = {name: offered(tools()[name], text) for name in names}
    return jsonschema_rs.validator_for(plan_shape(shown, tools(), **more))


@try_each("name", sorted(tools()))
def test_every_executor_has_a_shape_that_its_own_examples_fit(name: str) -> None:
    check = shaped(name)
    for _, args in tools()[name].examples:
        given = {key: "{{step1.entries}}" if value == [] else value for key, value in args.items()}
        assert check.is_valid(steps({name: given}))


def test_nothing_but_the_candidates_and_the_three_words() -> None:
    check = shaped("find_files", "group_tables")
    assert check.is_valid(steps({"find_files": {"path": "~"}}, {"answer": {"text": "x"}}))
    assert check.is_valid(steps({"missing": {"name": "x"}}))
    for wrong in (
        {"steps": []},
        steps({"delete_files": {"paths": ["~"]}}),
        steps({"find_files": {}}),
        steps({"find_files": {"path": 3}}),
        steps({"find_files": {"path": "~", "order": "sideways"}}),
        steps({"find_files": {"path": "~", "colour": "red"}}),
        steps({"group_tables": {"entries": [{"a": 1}]}}),
        steps({"group_tables": {"entries": "{{step9.entries}}"}}),
        steps(*[{"find_files": {"path": "~"}}] * (MOST_STEPS + 1)),
    ):
        assert not check.is_valid(wrong)


def test_rows_may_come_from_the_steps_that_went_before() -> None:
    assert shaped("group_tables", first=8).is_valid(steps({"group_tables": {"entries": "{{step7.entries}}"}}))


def test_only_what_is_worth_offering_is_offered() -> None:
    plain = offered(tools()["find_files"], "find the pdfs")
    assert {"path", "pattern", "min_size", "order"} <= set(plain)
    assert "hidden" not in plain
    assert "hidden" in offered(tools()["find_files"], "find hidden files")


def test_the_grammar_stays_small() -> None:
    assert "maxLength" not in str(plan_shape({name: tuple(tool.properties) for name, tool in tools().items()}, tools()))
