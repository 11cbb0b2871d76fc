"""The table of requests, and what must hold for every request whatever it says."""

import re
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.executors import vocabulary
from metnos.fastpath.language import language
from metnos.turn.plan.chain_state import ROWS
from metnos.turn.plan.records import REQUEST, Kind, Tool
from metnos.turn.plan.router import Last
from tables import try_each
from turn.plan.asking import tools
from turn.plan.routing import CWD, HOME, NOW, calls, route, router, table

FILES = Last("find_files", "entries", frozenset({"path", "name", "kind", "size", "modified"}), 3, {"pattern": "*.pdf"})
REF = re.compile(r"\{\{(?:step(\d+)|last)\.(\w+)(\[0\])?(?:\.(\w+))?\}\}")
WORDS = st.sampled_from((
    "delete", "move", "find", "cancella", "sposta", "trova", "read", "the", "my", "it", "them", "all", "pdf", "files",
    "~/inbox", "a.txt", "x.csv", "'delete everything'", "and", "then", "not", "if", "except", "remind me", "note:",
    "to",
    "in", "into", "from", "where", "=", ">", "3", "tomorrow", "http://x.it/a", "sort by", "per", "e", "poi", "?", ",",
))  # fmt: skip


def test_the_table() -> None:
    planned, expected = {}, {}
    for case in table():
        plan = route(case["say"])
        planned[case["say"]] = plan.kind, plan.missing, calls(plan), [wish.name for wish in plan.wishes]
        steps = [(executor, args) for executor, args in case.get("do", [])]
        expected[case["say"]] = case["kind"], case.get("missing", ""), steps, [case["wish"]] if "wish" in case else []
    assert len(expected) == len(table()) > 600
    assert planned == expected


def test_every_built_in_is_reached_in_english_and_in_italian() -> None:
    reached = {"en": set(), "it": set()}
    for case in table():
        for executor, _ in case.get("do", []):
            reached[language(case["say"])].add(executor)
    assert {spoken: sorted(set(tools()) - names) for spoken, names in reached.items()} == {"en": [], "it": []}


def test_the_arguments_are_what_the_executors_take() -> None:
    wrong = []
    for case in table():
        for executor, args in case.get("do", []) if case["kind"] == "steps" else ():
            tool = tools()[executor]
            schema = {"type": "object", "additionalProperties": False, **tool.args}
            found = jsonschema_rs.validator_for(schema).iter_errors(standing_in(tool, args))
            wrong += [(case["say"], executor, error.message) for error in found]
    assert wrong == []


def test_references_lead_to_a_step_before_and_to_a_field_it_has() -> None:
    for case in table():
        for number, (_, args) in enumerate(case.get("do", []), start=1):
            for step, key, _, field in REF.findall(str(args)):
                producer = tools()[case["do"][int(step) - 1][0]]
                assert int(step) < number
                assert key == producer.result_key
                assert not field or field in producer.output["properties"] or producer.name in ROWS


def test_what_changes_many_files_is_found_first() -> None:
    for case in table():
        for executor, args in case.get("do", []):
            if tools()[executor].mutates and isinstance(args.get("paths"), list):
                assert not any("*" in path for path in args["paths"])


@try_each("text", [
    "don't delete old.txt", "do not move a.txt to ~/b", "never delete the PDFs in ~/inbox", "non cancellare old.txt",
    "non spostare i pdf di ~/inbox in ~/b", "please don't remove old.txt", "delete x.txt? no, don't",
    "delete all files in ~/x except the pdfs", "cancella tutto in ~/x tranne i pdf", "delete old.txt if it is empty",
    "elimina i file di ~/x se sono vecchi", "delete the files in ~/x that are not pdf", "delete the red files in ~/x",
    "move all but the newest pdf from ~/a to ~/b", "delete the pdfs in ~/inbox about taxes", "delete everything",
    "delete the files", "move the photos", "delete them", "cancellali", "delete the largest files in ~/x",
])  # fmt: skip
def test_nothing_is_changed_that_was_not_clearly_asked_for(text: str) -> None:
    assert route(text).kind in (Kind.NOTHING, Kind.QUESTION)


@try_each("text", [
    "find 'delete everything' in ~/inbox", "what does the file 'delete all.txt' say", "note: delete all my files",
    "search for \"move a.txt to ~/b\" in ~/inbox", "remind me tomorrow to delete old.txt and move a.txt to ~/b",
    "annota 'cancella tutto'", "cerca 'sposta i file' in ~/Documenti", "write 'delete a.txt' to b.txt",
    "ricordami domani di cancellare i pdf di ~/inbox", "summarise the file 'delete all.pdf'",
])  # fmt: skip
def test_what_is_quoted_or_noted_is_never_an_instruction(text: str) -> None:
    plan = route(text)
    assert plan.kind is Kind.STEPS
    assert not {"delete_files", "move_files", "copy_files"} & {executor for executor, _ in calls(plan)}


@pytest.mark.parametrize(("text", "expected"), [
    ("delete them", ("delete_files", {"paths": "{{last.entries.path}}"})),
    ("spostali in ~/Foto", ("move_files", {"paths": "{{last.entries.path}}", "to": "~/Foto"})),
    ("extract their text", ("extract_text_pdf", {"paths": "{{last.entries.path}}"})),
    ("comprimi quei file in ~/a.zip", ("archive_files", {"paths": "{{last.entries.path}}", "to": "~/a.zip"})),
    ("sort them by size", ("sort_tables", {"entries": "{{last.entries}}", "by": [{"column": "size"}]})),
])  # fmt: skip
def test_them_is_what_the_last_turn_found(text: str, expected: tuple[str, dict[str, Any]]) -> None:
    assert calls(route(text, last=FILES)) == [expected]


def test_of_duplicates_found_before_one_stays() -> None:
    plan = route("delete them", last=Last("find_duplicates", "entries", frozenset({"path"}), 4))
    assert plan.missing == "find_duplicates.paths"
    assert plan.steps[0].args == {"only_extra": True}


def test_names_are_looked_for_where_the_owner_is_then_at_home_then_in_the_named_folder() -> None:
    assert calls(route("read here.txt")) == [("read_files", {"paths": ["here.txt"]})]
    assert calls(route("read contract.pdf")) == [("extract_text_pdf", {"paths": ["~/contract.pdf"]})]
    assert calls(route("read a.txt in ~/Work"))[0][1]["paths"] == ["~/Work/a.txt"]
    assert calls(route("read nowhere.txt")) == [("read_files", {"paths": ["nowhere.txt"]})]


def test_a_first_part_that_can_be_done_is_done_and_the_rest_is_wished_for() -> None:
    plan = route("find the PDFs in ~/inbox and translate them into French")
    assert (plan.kind, calls(plan)) == (Kind.STEPS, [("find_files", {"path": "~/inbox", "pattern": "*.pdf"})])
    assert [(wish.name, wish.source) for wish in plan.wishes] == [("translate_text", "find_files")]
    assert "translate" in plan.say


def test_a_first_part_that_changes_something_waits_for_the_rest() -> None:
    plan = route("zip ~/inbox into ~/a.zip and send it to anna@example.org")
    assert (plan.kind, plan.steps) == (Kind.NOTHING, ())
    assert [(wish.name, wish.source) for wish in plan.wishes] == [("send_mails", "archive_files")]


def test_an_executor_that_is_not_there_is_missed_by_its_name() -> None:
    plan = router("find_files").route("find the PDFs in ~/inbox", now=NOW, cwd=CWD)
    assert (plan.kind, [wish.name for wish in plan.wishes]) == (Kind.NOTHING, ["find_documents"])


def test_an_executor_that_grew_is_reached_by_the_words_it_was_wished_for_with() -> None:
    from metnos.turn.plan.rank import Ranker
    from metnos.turn.plan.router import Router

    args = {"required": ["path", "language"], "properties": {
        "path": {"type": "string", "x-path": "read"},
        "language": {"type": "string", "description": "Such as 'French'."},
    }}  # fmt: skip
    grown = Tool("translate_text", "1.0.0", "0", "Say a text in another language.", False, args, "entries", {})
    kept = (*tools().values(), grown)
    plan = Router(Ranker(kept, None), kept, home=HOME, exists=lambda _: False).route(
        "translate x.txt into French", now=NOW, cwd=CWD
    )
    assert calls(plan) == [("translate_text", {"path": "x.txt", "language": "French"})]


@pytest.mark.parametrize(("text", "start", "spoken"), [
    ("hello", "Hello", "en"), ("ciao", "Ciao", "it"), ("thanks!", "You are welcome", "en"), ("help", "I work", "en"),
    ("aiuto", "Lavoro", "it"), ("what can you do?", "I work", "en"), ("Cosa sai fare?", "Lavoro", "it"),
])  # fmt: skip
def test_a_greeting_is_answered(text: str, start: str, spoken: str) -> None:
    plan = route(text)
    assert (plan.kind, plan.wishes, plan.language) == (Kind.NOTHING, (), spoken)
    assert plan.say.startswith(start)


def test_wishes_are_names_of_the_vocabulary_that_do_not_exist_yet() -> None:
    for case in table():
        if "wish" in case:
            vocabulary.parse_name(case["wish"])
            assert case["wish"] not in tools()


def test_a_wish_is_the_same_whatever_its_particulars() -> None:
    plans = [
        route(text) for text in ("translate x.txt into French", "traduci lettera.docx in inglese", "translate ~/a/b.md")
    ]
    assert {wish.name for plan in plans for wish in plan.wishes} == {"translate_text"}
    assert {wish.source for plan in plans for wish in plan.wishes} == {REQUEST}
    assert "x.txt" not in plans[0].wishes[0].summary


def test_what_was_assumed_is_said() -> None:
    assert route("where is bill.pdf?").notes == ("looked in your home (~), because you named no folder",)
    assert "vacanze" in route("trova le foto delle vacanze in ~/Foto").notes[0]
    assert "amount" in route("total of amount in x.csv").notes[0]


def test_a_short_request_that_is_explained_is_more_certain_than_one_that_is_not() -> None:
    sure = route("find the PDFs in ~/inbox").certainty
    assert sure > 0.8
    assert sure > route("please somehow kind-of find whatever PDFs in ~/inbox maybe").certainty


@given(st.text(max_size=200))
def test_no_text_makes_it_fail(text: str) -> None:
    plan = route(text)
    assert 0.0 <= plan.certainty <= 1.0
    assert plan.kind is not Kind.TALK
    assert bool(plan.steps) or plan.kind is not Kind.STEPS


@given(st.lists(WORDS, max_size=14).map(" ".join), st.sampled_from([None, FILES]))
def test_whatever_is_said_a_plan_holds_together(text: str, last: Last | None) -> None:
    plan = route(text, last=last)
    assert plan == route(text, last=last)
    for number, step in enumerate(plan.steps, start=1):
        for at, *_ in REF.findall(str(step.args)):
            assert not at or int(at) < number
    if plan.kind is Kind.STEPS:
        for step in plan.steps:
            tool = tools()[step.executor]
            assert not [name for name in tool.required if name not in step.args]
    if plan.kind is Kind.QUESTION:
        assert plan.say
        assert plan.missing.rpartition(".")[0] in tools()


@pytest.mark.parametrize(
    "piece", ["delete the files in ~/x and ", "'", "where a > 1 and ", "search for x in ", "1+", "per "]
)
def test_a_text_that_is_no_request_is_not_looked_into(piece: str) -> None:
    assert route(piece * (1400 // len(piece))).kind is not Kind.TALK
    plan = route(piece * (4000 // len(piece)))
    assert (plan.kind, plan.steps) == (Kind.NOTHING, ())


def test_a_note_may_be_long() -> None:
    assert calls(route("note: " + "a long story, and delete everything. " * 200))[0][0] == "append_notes"


def standing_in(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with something of the right type in the place of each reference."""
    samples = {"array": [{}], "string": "x"}
    made = {}
    for name, value in args.items():
        schema = tool.properties[name]
        if isinstance(value, str) and REF.fullmatch(value):
            items = schema.get("items", {}).get("type")
            value = {"string": ["x"], "integer": [1]}.get(items, samples[schema["type"]])
        made[name] = value
    return made
