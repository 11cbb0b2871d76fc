from dataclasses import replace
from datetime import timedelta

import pytest

from grimoire.traces import START, step, trace
from metnos.grimoire import capture
from metnos.grimoire.appraisal import REMEMBER
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.trace import Kept, State


def test_a_turn_is_kept_word_for_word_and_known_by_its_own_id() -> None:
    made = capture.episode_of(trace())
    assert made is not None
    assert made.text.startswith("move the PDFs in ~/inbox to ~/papers\n")
    assert (made.id, made.source, made.session, made.ts) == ("01TURN", "01TURN", "talk", START)
    assert made.payload["canonical"] == "move the {glob} in {path} to {path}"
    assert [each["executor"] for each in made.payload["steps"]] == ["find_files", "move_files"]
    assert made.domain == "files"


@pytest.mark.parametrize(
    "changes", [{"state": State.REHEARSED}, {"kept": Kept.FORGOTTEN}, {"kept": Kept.SUMMARISED}, {"text": "  "}]
)
def test_what_was_only_rehearsed_or_has_no_words_left_makes_no_episode(changes: dict[str, object]) -> None:
    assert capture.episode_of(trace(**changes)) is None


def test_what_was_recalled_is_never_taken_in_again_as_news() -> None:
    told = trace(
        answer="But this is remembered: the key is under the mat", memories=({"kind": "episode", "told": True},)
    )
    made = capture.episode_of(told)
    assert made is not None
    assert made.text == told.text


def test_only_the_owner_is_reminded_of_what_the_owner_said() -> None:
    own, strange = capture.episode_of(trace()), capture.episode_of(trace(channel="telegram", sender="somebody"))
    assert own is not None
    assert strange is not None
    assert own.scope is Scope.OWNER
    assert (strange.scope, strange.sender) == (Scope.SENDER, "telegram:somebody")


def test_a_long_argument_is_content_and_stays_in_the_trace() -> None:
    args = {"text": "x" * 301, "to": "/a", "paths": ["/b"] * 4, "deep": {}}
    made = capture.episode_of(trace(steps=(step(args=args),)))
    assert made is not None
    assert made.payload["steps"][0]["args"] == {"to": "/a"}


def test_what_a_step_got_from_another_is_marked() -> None:
    plan = {"steps": [{"executor": "move_files", "args": {"paths": ["{{step1.path}}"], "to": "/a"}}, "cut"]}
    made = capture.episode_of(
        trace(plan=plan, steps=(step(executor="move_files", args={"paths": ["/x"], "to": "/a"}),))
    )
    assert made is not None
    assert made.payload["steps"][0]["flowed"] == ["paths"]


def test_what_cannot_be_taken_back_is_marked() -> None:
    made = capture.episode_of(trace(), lambda name: name == "move_files")
    assert made is not None
    assert [each["irreversible"] for each in made.payload["steps"]] == [False, True]


def test_a_question_and_its_answer_are_one_request() -> None:
    question = trace(
        "01ASKED", text="move the PDFs", canonical="move the {glob}", state=State.QUESTION, steps=(),
        plan={"missing": "move_files.to"}, slots=({"kind": "glob", "value": "*.pdf"},),
    )  # fmt: skip
    answer = trace("01ANSWER", text="~/papers", canonical="{path}", slots=({"kind": "path", "value": "/home/papers"},))
    assert capture.answers(answer, question)
    made = capture.episode_of(answer, question=question)
    assert made is not None
    assert made.payload["canonical"] == "move the {glob}"
    assert made.payload["slots"] == {"glob": "*.pdf", "path": "/home/papers"}
    assert made.text.startswith("move the PDFs\n~/papers")


def test_what_follows_a_question_about_something_else_is_no_answer() -> None:
    question = trace("01ASKED", state=State.QUESTION, plan={"missing": "delete_files.path"})
    assert not capture.answers(trace(), question)
    assert not capture.answers(trace(), None)
    assert not capture.answers(trace(), replace(question, state=State.DONE))
    assert not capture.answers(trace(steps=()), question)


def test_particulars_of_one_kind_are_numbered() -> None:
    slots = [{"kind": "path", "value": "/a"}, {"kind": "path", "value": "/b"}, {"kind": "date", "value": ["x"]}]
    assert capture.particulars(slots) == {"path": "/a", "path 2": "/b"}


def test_the_object_of_the_last_executor_says_what_a_turn_was_about() -> None:
    assert capture.domain_of(["find_files", "extract_text_pdf"]) == "text"
    assert capture.domain_of([]) == "talk"


def test_a_note_is_the_owners_own_word() -> None:
    made = capture.note("the key is under the mat", "01NOTE", START + timedelta(days=1), ("house",))
    assert (made.provenance, made.tags, made.kind) == (Provenance.OWNER, (REMEMBER, "house"), "note")
