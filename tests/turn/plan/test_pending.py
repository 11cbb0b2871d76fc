"""Questions and their answers."""

from typing import Any

import pytest

from metnos.fastpath.slots import extract
from metnos.turn.plan.chain_state import Scene
from metnos.turn.plan.fill_files import Ground
from metnos.turn.plan.pending import complete
from metnos.turn.plan.records import Kind
from tables import try_each
from turn.plan.asking import tools
from turn.plan.routing import CWD, HOME, NOW, calls, route


@try_each(("text", "missing", "answer", "expected"), [
    ("find the PDFs", "find_files.path", "~/inbox", [("find_files", {"pattern": "*.pdf", "path": "~/inbox"})]),
    ("trova i pdf", "find_files.path", "nei miei download",
     [("find_files", {"pattern": "*.pdf", "path": "~/Downloads"})]),
    ("remind me to call mum", "set_reminders.when", "tomorrow at 9",
     [("set_reminders", {"text": "call mum", "when": "2026-11-16 09:00"})]),
    ("ricordami di pagare", "set_reminders.when", "domani alle 9",
     [("set_reminders", {"text": "pagare", "when": "2026-11-16 09:00"})]),
    ("remind me to call mum", "set_reminders.when", "monday at 8",
     [("set_reminders", {"text": "call mum", "when": "2026-11-16 08:00"})]),
    ("ricordami di pagare", "set_reminders.when", "venerdì sera",
     [("set_reminders", {"text": "pagare", "when": "2026-11-20 19:00"})]),
    ("remind me to call mum", "set_reminders.when", "tonight",
     [("set_reminders", {"text": "call mum", "when": "2026-11-15 21:00"})]),
    ("delete the files", "delete_files.paths", "old.txt and b.txt",
     [("delete_files", {"paths": ["old.txt", "b.txt"]})]),
    ("move a.txt", "move_files.to", "to ~/b", [("move_files", {"paths": ["a.txt"], "to": "~/b", "make_folder": True})]),
    ("make a folder", "make_folders.paths", "Test", [("make_folders", {"paths": ["Test"]})]),
    ("make a new folder in ~/Documents", "make_folders.paths", "Tax 2026",
     [("make_folders", {"paths": ["~/Documents/Tax 2026"]})]),
    ("crea una nuova cartella in ~/Documenti", "make_folders.paths", "Tasse",
     [("make_folders", {"paths": ["~/Documenti/Tasse"]})]),
    ("crea una cartella dentro ~/inbox", "make_folders.paths", "Tasse",
     [("make_folders", {"paths": ["~/inbox/Tasse"]})]),
    ("make a new folder in Documents", "make_folders.paths", "~/Tax", [("make_folders", {"paths": ["~/Tax"]})]),
    ("search in ~/inbox", "search_text.pattern", "invoice",
     [("search_text", {"paths": ["~/inbox"], "pattern": "invoice"})]),
    ("replace in a.txt", "replace_text.pattern", "'x' with 'y'",
     [("replace_text", {"paths": ["a.txt"], "pattern": "x", "replacement": "y"})]),
    ("convert a.png", "convert_images.format", "to jpeg",
     [("convert_images", {"paths": ["a.png"], "to": ".", "format": "jpeg"})]),
    ("search in a.pdf", "search_text.pattern", "invoice",
     [("extract_text_pdf", {"paths": ["a.pdf"]}),
      ("filter_tables", {"entries": "{{step1.entries}}",
                         "conditions": [{"column": "text", "is": "contains", "value": "invoice"}]})]),
    ("delete reminders", "delete_reminders.ids", "2 and 3", [("delete_reminders", {"ids": [2, 3]})]),
])  # fmt: skip
def test_an_answer_completes_the_plan(text: str, missing: str, answer: str, expected: list[Any]) -> None:
    asked = route(text)
    assert (asked.kind, asked.missing) == (Kind.QUESTION, missing)
    assert asked.say.rstrip(".").endswith(("?", "'new'", "'nuovo'", "number"))
    plan = route(answer, pending=asked)
    assert (plan.kind, calls(plan)) == (Kind.STEPS, expected)


def test_the_steps_after_the_missing_one_stay() -> None:
    plan = route("in ~/Downloads", pending=route("move the photos to ~/Foto"))
    assert [executor for executor, _ in calls(plan)] == ["find_files", "move_files"]
    assert plan.steps[0].args["path"] == "~/Downloads"
    assert plan.steps[1].args == {"paths": "{{step1.entries.path}}", "to": "~/Foto"}


def test_how_many_is_asked_before_anything_is_changed() -> None:
    asked = route("delete the largest files in ~/inbox")
    assert asked.missing == "find_files.limit"
    assert route("3", pending=asked).steps[0].args["limit"] == 3


def test_two_questions_come_one_after_the_other() -> None:
    first = route("set a reminder")
    second = route("call the dentist", pending=first)
    assert (first.missing, second.missing) == ("set_reminders.text", "set_reminders.when")
    assert route("in 2 hours", pending=second).steps[0].args == {"text": "call the dentist", "when": "2026-11-15 14:00"}


@pytest.mark.parametrize(("text", "answer", "column"), [
    ("sort x.csv", "price", {"by": [{"column": "price"}]}), ("group x.csv", "by city", {"by": ["city"]}),
    ("filter x.csv", "amount > 3", {"conditions": [{"column": "amount", "is": "greater", "value": 3}]}),
    ("join a.csv and b.csv", "on id", {"on": [{"column": "id"}]}),
    ("how much did I spend per category in x.csv?", "amount", {"aggregates": [{"column": "amount", "do": "sum"}]}),
])  # fmt: skip
def test_what_to_do_with_a_table_is_asked(text: str, answer: str, column: dict[str, Any]) -> None:
    plan = route(answer, pending=route(text))
    assert plan.kind is Kind.STEPS
    assert column.items() <= plan.steps[-1].args.items()


@pytest.mark.parametrize("text", ["what time is it", "delete old.txt", "trova le foto in ~/Foto", "sum of a in x.csv"])
def test_a_new_request_is_no_answer(text: str) -> None:
    asked = route("find the PDFs")
    assert calls(route(text, pending=asked)) == calls(route(text))


@pytest.mark.parametrize("text", ["never mind", "No.", "lascia stare", "annulla"])
def test_a_question_can_be_dropped(text: str) -> None:
    plan = route(text, pending=route("delete the files"))
    assert (plan.kind, plan.steps, plan.missing) == (Kind.NOTHING, (), "")


def test_an_answer_that_asks_for_repetition_is_refused() -> None:
    plan = route("every monday at 8", pending=route("remind me to call mum"))
    assert (plan.kind, plan.steps, plan.missing) == (Kind.NOTHING, (), "")
    assert "every monday" in plan.say


def test_words_of_an_answer_are_data() -> None:
    plan = route("'delete everything'", pending=route("search in ~/inbox"))
    assert calls(plan) == [("search_text", {"paths": ["~/inbox"], "pattern": "delete everything"})]


def test_words_to_look_for_in_a_text_are_asked_for_after_the_place() -> None:
    first = route("search in the PDFs")
    second = route("in ~/inbox", pending=first)
    assert (first.missing, second.missing) == ("find_files.path", "search_text.pattern")
    plan = route("'rent of May'", pending=second)
    assert plan.kind is Kind.STEPS
    assert plan.steps[0].args["path"] == "~/inbox"
    assert plan.steps[-1].args["conditions"] == [{"column": "text", "is": "contains", "value": "rent of May"}]


@try_each(("asking", "text"), [
    ("search in ~/inbox", "delete old.txt"),
    ("search in ~/inbox", "I am not sure what it was any more but never mind that"),
    ("search in a.pdf", "I am not sure what it was any more but never mind that"),
    ("find the PDFs", " "),
    ("find the PDFs", "?"),
    ("search in ~/inbox", "..."),
])  # fmt: skip
def test_what_does_not_name_what_was_asked_for_is_no_answer(asking: str, text: str) -> None:
    asked, alone = route(asking), route(text)
    assert asked.kind is Kind.QUESTION
    after = route(text, pending=asked)
    assert (after.kind, calls(after), after.missing) == (alone.kind, calls(alone), alone.missing)


def test_a_question_about_an_executor_that_is_gone_is_forgotten() -> None:
    asked, ground = route("find the PDFs"), Ground(CWD, HOME, lambda _: True)
    slots = extract("~/inbox", now=NOW, home=HOME, cwd=CWD)
    left = {name: tool for name, tool in tools().items() if name != "find_files"}
    assert complete(asked, "~/inbox", slots, Scene(tools(), ground, NOW, "en")) is not None
    assert complete(asked, "~/inbox", slots, Scene(left, ground, NOW, "en")) is None
