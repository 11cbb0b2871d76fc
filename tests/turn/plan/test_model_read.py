from metnos.turn.plan.model_read import MOST_SAID, read, references, renumbered
from metnos.turn.plan.records import Step

A, B = {"read_files": {"paths": ["~/a"]}}, {"read_files": {"paths": ["~/b"]}}


def test_calls_and_words_are_told_apart() -> None:
    draft = read({"steps": [A, {"answer": {"text": " so \u200b"}}, {"missing": {"name": "send_mails"}}]})
    assert draft.steps == (Step("read_files", {"paths": ["~/a"]}),)
    assert (draft.answer, draft.missing, draft.ask) == ("so", "send_mails", "")


def test_what_is_repeated_counts_once_and_references_follow() -> None:
    last = {"read_files": {"paths": ["{{step4.entries.path}}"]}}
    draft = read({"steps": [A, A, B, B, last]}, first=2)
    assert [step.args["paths"] for step in draft.steps] == [["~/a"], ["~/b"], ["{{step3.entries.path}}"]]
    assert draft.notes


def test_a_long_answer_is_cut() -> None:
    answer = read({"steps": [{"answer": {"text": "x" * 100_000}}]}).answer
    assert answer is not None
    assert len(answer) == MOST_SAID


def test_what_is_no_reply_by_the_schema_is_not_readable() -> None:
    assert not read({"steps": [{"a": {}, "b": {}}]}).readable
    assert not read(None).readable
    assert not read({"steps": [{"read_files": {"paths": [str(number)]}} for number in range(7)]}).readable


def test_references_are_seen_however_deep() -> None:
    assert references({"a": [{"b": "x {{step1.entries}}"}]})
    assert not references({"a": [{"b": "x"}, 3, None]})


def test_numbers_follow_their_steps() -> None:
    value = {"a": ["{{step2.entries.path}}", "{{ step12.entries }}", "step2"]}
    assert renumbered(value, {2: 5}) == {"a": ["{{step5.entries.path}}", "{{ step12.entries }}", "step2"]}
