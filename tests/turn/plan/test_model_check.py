from typing import Any

import pytest

from metnos.turn.plan.model_check import Checked, Sources, check, is_written
from metnos.turn.plan.records import Step
from tables import try_each
from turn.plan.asking import tools


def checked(executor: str, args: dict[str, Any], **sources: str) -> Checked:
    known: Sources = {name: tools()[each] if each else None for name, each in sources.items()}
    return check(Step(executor, args), tools()[executor], known)


@try_each(
    ("executor", "given", "right"),
    [
        ("find_files", {"path": "~", "limit": "3"}, {"path": "~", "limit": 3}),
        ("find_files", {"path": "~", "limit": 3.0}, {"path": "~", "limit": 3}),
        ("find_files", {"path": ["~/a"]}, {"path": "~/a"}),
        ("find_files", {"path": "~", "order": "Largest"}, {"path": "~", "order": "largest"}),
        ("find_files", {"path": "~", "hidden": "yes"}, {"path": "~", "hidden": True}),
        ("find_files", {"path": "~", "min_size": 500}, {"path": "~", "min_size": "500"}),
        ("find_files", {"path": "~", "patern": "*.txt"}, {"path": "~", "pattern": "*.txt"}),
        ("find_files", {"path": "~", "pattern": "", "limit": None}, {"path": "~"}),
        ("find_files", {"path": "~", "limit": "many"}, {"path": "~"}),
        ("find_files", {"path": "~", "limit": -4}, {"path": "~"}),
        ("find_files", {"path": "~", "order": "sideways"}, {"path": "~"}),
        ("find_files", {"path": "~", "colour": "red"}, {"path": "~"}),
        ("read_files", {"paths": "~/a"}, {"paths": ["~/a"]}),
        ("read_files", {"path": "~/a"}, {"paths": ["~/a"]}),
        (
            "convert_units",
            {"values": "26,2", "from": "miles", "to": "km"},
            {"values": [26.2], "from": "miles", "to": "km"},
        ),
        ("describe_host", {"x": 1}, {}),
    ],
)
def test_what_is_harmless_is_put_right(executor: str, given: dict[str, Any], right: dict[str, Any]) -> None:
    assert checked(executor, given) == Checked(Step(executor, right))


@pytest.mark.parametrize(
    ("executor", "given", "missing"),
    [
        ("find_files", {}, "find_files.path"),
        ("move_files", {"paths": ["~/a"]}, "move_files.to"),
        ("count_text", {"top": 3}, ""),
        ("count_text", {}, "count_text.paths"),
        ("compute_numbers", {"urls": ["x"]}, "compute_numbers.expressions"),
        ("find_files", {"newer_than_days": 2.5}, "find_files.path"),
        ("group_tables", {"aggregates": [{"column": "a", "do": "sum"}]}, "group_tables.entries"),
    ],
)
def test_what_is_required_and_missing_is_named(executor: str, given: dict[str, Any], missing: str) -> None:
    found = checked(executor, given)
    assert found.problem
    assert found.missing in (missing, "count_text.text")


@pytest.mark.parametrize("path", ["a\0b", "a\nb", "x" * 5000, "\u202etxt.exe"])
def test_no_path_that_people_do_not_write(path: str) -> None:
    assert checked("read_files", {"paths": [path]}).problem


@try_each(
    ("said", "executor", "argument", "meant"),
    [
        ("{{step1.entries.path}}", "read_files", "paths", ["{{step1.entries.path}}"]),
        ("{{step1.path}}", "read_files", "paths", ["{{step1.entries.path}}"]),
        ("{{ step1 }}", "read_files", "paths", ["{{step1.entries.path}}"]),
        ("{{step1.entries[*].paths}}", "read_files", "paths", ["{{step1.entries.path}}"]),
        ("{{step1.results.name}}", "read_files", "paths", ["{{step1.entries.path}}"]),
        ("{{step1.entries}}", "list_folders", "path", "{{step1.entries[0].path}}"),
        ("{{step1.entries.size}}", "describe_tables", "entries", "{{step1.entries}}"),
        ("{{last.entries}}", "read_files", "paths", ["{{last.entries.path}}"]),
        (["{{step1.entries}}"], "describe_tables", "entries", "{{step1.entries}}"),
        ("{{last.entries.city}}", "append_notes", "text", "{{last.entries[0].city}}"),
    ],
)
def test_a_reference_gets_the_form_that_its_argument_needs(said: Any, executor: str, argument: str, meant: Any) -> None:
    found = checked(executor, {argument: said}, step1="find_files", last="")
    assert found == Checked(Step(executor, {argument: meant}))


def test_a_path_is_no_other_field_and_never_patched_together() -> None:
    pages = checked("read_files", {"paths": ["{{step1.entries.text}}"]}, step1="get_pages")
    assert pages.missing == "read_files.paths"
    rows = checked("read_files", {"paths": ["{{step1.entries.file}}"]}, step1="read_tables")
    assert rows.missing == "read_files.paths"
    glued = checked("list_folders", {"path": "~/{{step1.entries.name}}"}, step1="list_notes")
    assert glued.step.args == {"path": "{{step1.entries[0].path}}"}  # the nearest path that a step gives


def test_what_was_moved_is_where_it_went() -> None:
    found = checked("read_files", {"paths": ["{{step1.results}}"]}, step1="move_files")
    assert found.step.args == {"paths": ["{{step1.results.to}}"]}


def test_a_reference_inside_words() -> None:
    good = checked("append_notes", {"text": "it says {{step1.entries.text}}"}, step1="read_files")
    assert good.step.args == {"text": "it says {{step1.entries[0].text}}"}
    assert checked("append_notes", {"text": "it says {{step7.entries.text}}"}, step1="read_files").missing
    assert checked("append_notes", {"text": "it says {{nothing}}"}, step1="read_files").missing


@try_each(
    ("path", "text", "written"),
    [
        ("~/a", "read ~/a now", True),
        ("~/a", "read ~/ab now", False),
        ("~/a", "read ~/a/b now", False),
        ("a", "read ~/a now", False),
        ("~/Tasse 2026", "crea ~/Tasse 2026.", True),
        ("~/a.txt", "what says ~/a.txt?", True),
        ("~/a", "what says ~/a.txt?", False),
        (".", "read . now", False),
        ("~", "look in ~ please", False),
    ],
)
def test_whether_a_path_is_written_in_a_text(path: str, text: str, written: bool) -> None:
    assert is_written(path, text) is written


@try_each(
    ("executor", "given", "right"),
    [
        ("find_files", {"path": "~", "kind": "{{step1.entries.kind}}"}, {"kind": "{{step1.entries[0].kind}}"}),
        ("find_files", {"path": "~", "limit": "{{step1.count}}"}, {"limit": "{{step1.count}}"}),
        (
            "filter_tables",
            {"entries": "{{step1}}", "conditions": [{"column": "a", "is": "Equals", "value": "{{step1.name}}"}]},
            {"conditions": [{"column": "a", "is": "equals", "value": "{{step1.entries[0].name}}"}]},
        ),
    ],
)
def test_a_reference_stands_for_a_choice_a_number_or_a_part(
    executor: str, given: dict[str, Any], right: dict[str, Any]
) -> None:
    found = checked(executor, given, step1="find_files")
    assert (found.problem, found.missing) == ("", "")
    assert right.items() <= found.step.args.items()


@try_each(
    ("said", "source", "meant"),
    [
        ("{{step1.entries.txt}}", "read_files", {"text": "{{step1.entries[0].text}}"}),
        ("{{step1.entries.colour}}", "read_files", {}),
        ("{{step1.entries.city}}", "read_tables", {"text": "{{step1.entries[0].city}}"}),
        ("{{step1.entries}}", "read_tables", {}),
    ],
)
def test_a_field_is_one_that_the_step_gives(said: str, source: str, meant: dict[str, str]) -> None:
    found = checked("append_notes", {"text": said}, step1=source)
    assert found.step.args == meant
    assert found.missing == ("" if meant else "append_notes.text")
