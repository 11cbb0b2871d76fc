"""A request that nothing fits: the executor that it lacks is offered, made, shown, signed and used, in the same turn.

The model is scripted; the inbox, the sandbox and the signatures are real. Where the making itself is what a test is
about, the gates are too; elsewhere a draft lies ready, for the gates take longer than all the rest.
"""

import os
from typing import Any

import pytest

from app.extended import (
    DRAFT,
    LATER,
    MAKING,
    MISSING,
    NO,
    REQUEST,
    USING,
    YES,
    Open,
    about,
    lives,
    proposal,
    story,
    wished,
)
from app.test_growing import CASES, PURPOSE, SIGNATURE
from metnos.app import App, extending, turning
from metnos.core.errors import InboxError, ModelError
from metnos.law.inbox import State as Question
from metnos.models.chat import Prompt, Reply, Usage
from metnos.synt.need import Way
from metnos.synt.proposals import State
from metnos.turn.events import BIRTH, OFFER, Answer, Planned, Thinking, Wanted
from signing import approve
from turn.scripted import reopened
from turn.turning import OWNER, follow, spoken, take


@pytest.mark.slow
class TestMade:
    def test_it_is_offered_made_shown_signed_and_used(self, equipped: App) -> None:
        app, chat = reopened(equipped, MISSING, *MAKING, USING, policy__autonomy="full")
        taken = take(app, REQUEST, [YES, YES])
        assert about(taken) == [OFFER, BIRTH]
        offer, question = taken.wanted
        assert REQUEST in offer.title
        assert offer.item == ""
        assert any("text.title()" in line for line in question.lines)
        assert any(line.startswith("It may never touch the audit") for line in question.lines)
        assert any(line.startswith("It took: 5 calls") for line in question.lines)
        assert ("mutation", "passed", "") in question.why
        told = [event.what for event in taken.events if isinstance(event, Thinking)]
        assert [each.rpartition(": ")[2] for each in told[1:-1]] == [
            "its name", "what it takes and gives", "cases that must hold", "what it is for", "the code",
            "trying it in the sandbox",
        ]  # fmt: skip
        assert taken.ended.state == "done"
        assert "To Be Or Not" in taken.ended.text
        assert "format_text is new" in taken.ended.text
        found = proposal(app)
        assert (found.state, found.need.way, found.need.text) == (State.ACTIVE, Way.EXTERNAL, REQUEST)
        assert found.need.evidence.turns == (taken.ended.turn,)
        assert taken.trace is not None
        assert [step.executor for step in taken.trace.steps] == ["format_text"]
        assert [call.purpose for call in taken.trace.calls] == ["plan", *["making an executor"] * 5, "plan"]
        assert story(taken) | {"proposal": "", "item": ""} == {
            "offer": "yes", "proposal": "", "name": "format_text", "item": "", "answer": "yes",
            "lives": True,
        }  # fmt: skip
        assert wished(app) == []
        assert not app.inbox.waiting()
        # The request is data: no stage got it as an instruction.
        assert all(REQUEST not in prompt.system for prompt in chat.asked)
        again = take(app, "format 'hello you' in title case")
        assert again.wanted == []
        assert "Hello You" in again.ended.text

    def test_what_cannot_be_made_is_said_with_the_stage_and_the_wish_is_kept(self, equipped: App) -> None:
        app, _ = reopened(equipped, MISSING, SIGNATURE, CASES, PURPOSE, *["no code at all"] * 15)
        taken = take(app, REQUEST, [YES, YES])
        assert about(taken) == [OFFER]
        assert taken.ended.state == "nothing"
        assert "The executor was not made: it could not be made: code was refused" in taken.ended.text
        assert proposal(app).state is State.ABANDONED
        assert wished(app) == ["format_text"]
        assert not app.inbox.waiting()
        assert not lives(app)

    @pytest.mark.parametrize(("setting", "tokens"), [("models__turn_tokens", 12_000), ("synt__tokens", 1500)])
    def test_neither_budget_is_overdrawn(self, equipped: App, setting: str, tokens: int) -> None:
        def dear(_: Prompt) -> Reply:
            return Reply("", MISSING, Usage(1, 10**6, 10**6), "scripted")

        app, chat = reopened(equipped, dear, *MAKING, **{setting: str(tokens)})
        taken = take(app, REQUEST, [YES, YES])
        assert about(taken) == [OFFER]
        assert taken.ended.state == "nothing"
        assert "The executor was not made: asking the language model could use" in taken.ended.text
        assert proposal(app).state is State.ABANDONED
        assert len(chat.asked) < 1 + len(MAKING)
        assert taken.trace is not None
        assert taken.trace.calls[-1].error == "budget"


class TestAnswers:
    def test_no_to_the_offer_makes_nothing(self, ready: Open) -> None:
        app, chat = ready()
        taken = take(app, REQUEST, [NO])
        assert about(taken) == [OFFER]
        assert taken.ended.state == "nothing"
        assert taken.trace is not None
        assert taken.ended.text == taken.trace.plan["say"]
        assert len(chat.asked) == 1
        assert app.growing.proposals.all() == []
        assert wished(app) == ["format_text"]
        assert story(taken) == {"offer": "no"}

    @pytest.mark.parametrize("answer", [None, LATER, Answer.ALWAYS])
    def test_only_a_plain_yes_to_the_offer_is_one(self, ready: Open, answer: Answer | None) -> None:
        app, _ = ready()
        taken = take(app, REQUEST, [answer])
        assert about(taken) == [OFFER]
        assert taken.ended.state == "nothing"
        assert "metnos synt draft" in taken.ended.text
        assert app.growing.proposals.all() == []
        assert app.inbox.waiting() == []

    def test_no_to_the_files_leaves_nothing_behind(self, ready: Open) -> None:
        app, _ = ready()
        taken = take(app, REQUEST, [YES, NO])
        assert taken.ended.state == "nothing"
        assert "You said no to format_text" in taken.ended.text
        assert proposal(app).state is State.REFUSED
        assert app.inbox.find(proposal(app).activation).state is Question.REFUSED
        assert app.inbox.waiting() == []
        assert not lives(app)
        assert wished(app) == ["format_text"]

    @pytest.mark.parametrize("answer", [None, LATER, Answer.ALWAYS])
    def test_unanswered_the_files_wait_in_the_inbox_and_the_turn_goes_on_later(
        self, ready: Open, answer: Answer | None
    ) -> None:
        app, _ = ready(MISSING, USING)
        first = take(app, REQUEST, [YES, answer])
        assert first.ended.state == "waiting"
        assert not lives(app)
        (item,) = app.inbox.waiting()
        with pytest.raises(InboxError, match="no yes"):
            app.growing.answered(item)
        assert app.turns.go_on(item, OWNER) is None, "that is for steps that wait"
        assert extending.go_on(app, item, OWNER) is None, "it does not live yet"
        app.growing.answered(approve(app.inbox, item.id, OWNER))
        turn = extending.go_on(app, item, OWNER)
        assert turn is not None
        second = follow(app, turn)
        assert second.wanted == []
        assert second.ended.state == "done"
        assert "To Be Or Not" in second.ended.text
        assert second.trace is not None
        assert second.trace.continues == first.ended.turn
        assert extending.go_on(app, item, OWNER) is None, "once is enough"

    def test_asked_again_what_waits_is_shown_and_not_made_again(self, ready: Open) -> None:
        app, _ = ready(MISSING, MISSING)
        take(app, REQUEST, [YES, LATER])
        taken = take(app, REQUEST, [YES])
        assert about(taken) == [BIRTH]
        assert taken.ended.state == "done"
        assert proposal(app).state is State.ACTIVE

    def test_what_was_edited_later_still_finishes_the_turn(self, ready: Open) -> None:
        app, _ = ready()
        first = take(app, REQUEST, [YES, LATER])
        (item,) = app.inbox.waiting()
        code = app.growing.code_of(item).replace("it is empty", "there is nothing in it")
        new = app.growing.edited(item, code, OWNER)
        app.growing.answered(approve(app.inbox, new.id, OWNER))
        turn = extending.go_on(app, new, OWNER)
        assert turn is not None
        ended = follow(app, turn)
        assert ended.trace is not None
        assert ended.trace.continues == first.ended.turn

    def test_a_reason_given_in_the_inbox_is_kept_for_another_draft(self, ready: Open) -> None:
        app, _ = ready()
        take(app, REQUEST, [YES, LATER])
        (item,) = app.inbox.waiting()
        refused = app.growing.refused(app.inbox.refuse(item.id, OWNER, "no capitals"), "no capitals")
        assert refused is not None
        assert (refused.state, refused.need.refused) == (State.COMMISSIONED, ("no capitals",))
        assert extending.go_on(app, item, OWNER) is None

    def test_italian(self, ready: Open) -> None:
        app, _ = ready()
        taken = take(app, "metti 'essere o non essere' con le maiuscole", [NO])
        assert taken.wanted[0].title.startswith("Nessun esecutore lo fa.")
        assert taken.wanted[0].language == "it"


class TestStopped:
    def test_a_model_that_is_gone_ends_it_in_words(self, ready: Open) -> None:
        app, _ = ready(made=ModelError("the server is gone", kind="unreachable", fix="Start it."))
        taken = take(app, REQUEST, [YES])
        assert taken.ended.state == "nothing"
        assert "The executor was not made: the server is gone\n→ Start it." in taken.ended.text
        assert (proposal(app).state, proposal(app).reason) == (State.ABANDONED, "the server is gone")
        assert story(taken)["failed"] == "the server is gone"
        again = ready(MISSING, made=DRAFT)[0]
        offer = take(again, REQUEST, [NO]).wanted[0]
        assert any("tried before" in line and "the server is gone" in line for line in offer.lines)

    @pytest.mark.parametrize(("at", "left"), [(OFFER, 0), (Thinking, 0), (BIRTH, 1)])
    def test_whoever_leaves_leaves_nothing_half_done(self, ready: Open, at: Any, left: int) -> None:
        app, _ = ready()
        turn = app.turns.run(app.turns.request(REQUEST, principal=OWNER, cwd=app.workspace.root))
        sent, offered = None, False
        while True:
            event = turn.send(sent)
            sent = None
            if isinstance(event, Wanted):
                if event.about == at:
                    break
                sent, offered = YES, True
            elif at is Thinking and isinstance(event, Thinking) and offered:
                break
        turn.close()
        assert app.medium.newest(1)[0].state == "cancelled"
        assert len(app.inbox.waiting()) == left
        states = [each.state for each in app.growing.proposals.all()]
        assert states == {OFFER: [], Thinking: [State.ABANDONED], BIRTH: [State.DRAFTED]}[at]
        assert not lives(app)

    def test_killed_between_the_signature_and_the_new_plan(self, ready: Open) -> None:
        app, _ = ready(MISSING, MISSING)
        app.close()
        child = os.fork()
        if child == 0:
            planned, sent = 0, None
            turn = app.turns.run(app.turns.request(REQUEST, principal=OWNER, cwd=app.workspace.root))
            try:
                while True:
                    event = turn.send(sent)
                    planned += isinstance(event, Planned)
                    if planned == 2:
                        os._exit(9)
                    sent = spoken(event, YES) if isinstance(event, Wanted) else None
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        later, _ = ready(MISSING, USING)
        turning.settle(later)
        assert later.medium.newest(1)[0].state == "interrupted"
        assert lives(later)
        assert proposal(later).state is State.ACTIVE
        taken = take(later, REQUEST, [YES, YES])
        assert taken.wanted == [], "also if a model overlooks it"
        assert "To Be Or Not" in taken.ended.text
        assert "is new" not in taken.ended.text
        assert story(taken) == {"name": "format_text", "before": True}

    def test_a_yes_that_a_killed_process_did_not_carry_out_is_not_asked_for_again(self, ready: Open) -> None:
        app, _ = ready(MISSING, MISSING)
        take(app, REQUEST, [YES, LATER])
        approve(app.inbox, app.inbox.waiting()[0].id, OWNER)
        taken = take(app, REQUEST)
        assert taken.wanted == []
        assert taken.ended.state == "done"
