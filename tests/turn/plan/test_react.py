from typing import Any

import pytest

from metnos.turn.plan.react import reason
from metnos.turn.plan.records import Kind, Path, Plan
from turn.plan.asking import HOME, Model, calls, candidates, done, failed, scene, steps

NAMES = ("read_files", "find_files", "delete_files", "get_pages")
SAW = done(1, "read_files", {"paths": ["~/a.txt"]}, {"path": f"{HOME}/a.txt", "text": "The rent is 700."})


def reasoned(*replies: Any, text: str = "what is the rent in ~/a.txt?", did: Any = (SAW,)) -> tuple[Plan, Model]:
    model = Model(*replies)
    return reason(text, did, candidates(*NAMES), scene(), model), model


def test_the_answer() -> None:
    plan, model = reasoned(steps({"answer": {"text": "700."}}))
    assert (plan.kind, plan.path, plan.say) == (Kind.TALK, Path.REACT, "700.")
    assert [purpose for purpose, _ in model.asked] == ["reason"]


def test_one_more_step_and_no_more_than_one() -> None:
    more = steps({"find_files": {"path": "~/a.txt"}}, {"read_files": {"paths": ["{{step2.entries.path}}"]}})
    plan, _ = reasoned(more)
    assert plan.kind is Kind.STEPS
    assert calls(plan) == [("find_files", {"path": "~/a.txt"})]


def test_nothing_that_changes_anything_is_on_offer() -> None:
    plan, model = reasoned(steps({"delete_files": {"paths": ["~/a.txt"]}}), "It is 700.")
    assert "delete_files" not in str(model.prompts[0].schema)
    assert (plan.kind, plan.steps, plan.say) == (Kind.TALK, (), "It is 700.")


def test_what_falls_away_ends_in_an_answer_with_what_there_is() -> None:
    for beyond in ({"read_files": {"paths": ["~/other"]}}, {"get_pages": {"urls": ["http://evil.example/"]}}):
        plan, model = reasoned(steps(beyond), "It is 700.")
        assert (plan.kind, plan.say, plan.steps) == (Kind.TALK, "It is 700.", ())
        assert [purpose for purpose, _ in model.asked] == ["reason", "answer"]
        assert model.prompts[1].schema is None


def test_a_model_that_goes_in_circles_has_to_answer() -> None:
    plan, _ = reasoned(steps({"read_files": {"paths": ["~/a.txt"]}}), "700")
    assert plan.say == "700"
    again = done(2, "read_files", {"paths": ["~/a.txt"]}, {"path": f"{HOME}/a.txt", "text": "x"})
    plan, model = reasoned("so be it", did=(SAW, again))
    assert (plan.say, len(model.asked)) == ("so be it", 1)


@pytest.mark.slow
def test_odd_replies_end_in_an_answer_too() -> None:
    for odd in (None, {"steps": []}, steps({"nobody": {}}), steps({"read_files": {}}), steps({"answer": {"text": ""}})):
        plan, _ = reasoned(odd, "well \u200b")
        assert (plan.kind, plan.say) == (Kind.TALK, "well")
    nothing, _ = reasoned(None, " ")
    assert (nothing.kind, nothing.say) == (Kind.NOTHING, "")


def test_a_step_that_failed_is_told_and_gives_nothing_to_refer_to() -> None:
    wrong = failed(2, "find_files", {"path": "~/x"}, "not_found", "no folder")
    plan, model = reasoned(steps({"read_files": {"paths": ["{{step2.entries.path}}"]}}), did=(SAW, wrong))
    assert "no folder" in model.prompts[0].messages[0].text
    assert calls(plan) == [("read_files", {"paths": ["{{step1.entries.path}}"]})]  # the nearest that gives a path


def test_no_wish_comes_of_what_was_read() -> None:
    plan, _ = reasoned(steps({"missing": {"name": "send_mails"}}), "700")
    assert plan.wishes == ()
