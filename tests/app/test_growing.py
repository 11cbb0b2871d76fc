"""From the owner's words to an executor that lives, in a real workspace with a scripted model; and what stops it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App, introspecting
from metnos.core.errors import ExecutorError, ModelError, NotTrusted
from metnos.executors.run import Call
from metnos.law.inbox import State as Asked
from metnos.law.principal import at_terminal
from metnos.night.jobs import Watcher
from metnos.synt.draft import Made
from metnos.synt.need import Need, Way
from metnos.synt.proposals import Proposal, State
from turn.scripted import Said, Scripted, reopened

SIGNATURE: dict[str, Any] = {
    "each": True,
    "takes": [{"name": "texts", "type": "texts", "description": "The texts to change.", "default": ""}],
    "gives": [{"name": "title", "type": "text", "description": "The text in title case."}],
}
CASES: dict[str, Any] = {
    "cases": [
        {"arguments": {"text": "hello world"}, "result": {"title": "Hello World"}},
        {"arguments": {"text": "ONE two"}, "result": {"title": "One Two"}},
        {"arguments": {"text": "a  b"}, "result": {"title": "A  B"}},
    ],
    "refused": {"text": "   "},
}
PURPOSE = {"purpose": "Format text in title case.", "say": ["put this in title case", "title case these texts"]}
CODE = (
    "```python\ndef format_text(text):\n    if not text.strip():\n        raise ValueError('there is no word')\n"
    "    return {'title': text.title()}\n```"
)
WELL: tuple[Said, ...] = (SIGNATURE, CASES, PURPOSE, CODE, CODE)
NEED = Need("Put texts into title case", Way.OWNER, name="format_text")


@pytest.fixture
def model(equipped: App) -> Iterator[tuple[App, Scripted]]:
    opened, chat = reopened(equipped, *WELL, *WELL, policy__autonomy="full")
    yield opened, chat
    opened.close()


@pytest.fixture
def app(model: tuple[App, Scripted]) -> App:
    return model[0]


def drafted(app: App, need: Need = NEED) -> Proposal:
    return app.growing.make(app.growing.propose(need, "you asked for it"))


def titled(app: App) -> Any:
    call = Call("format_text", {"texts": ["to be or not"]}, at_terminal(), Path.cwd())
    return app.runner.run(call).reply["entries"]


class TestTheOwnersNeed:
    def test_it_becomes_an_executor_that_does_what_was_asked(self, app: App) -> None:
        proposal = drafted(app)
        assert proposal.state is State.DRAFTED, proposal.reason
        with pytest.raises(NotTrusted):
            titled(app)
        item = app.inbox.approve(proposal.activation, at_terminal())
        assert app.growing.answered(item) == "format_text 1.0.0 is signed and active."
        assert titled(app) == [{"text": "to be or not", "title": "To Be Or Not"}]

    @pytest.mark.parametrize("used", [False, True])
    def test_a_yes_that_a_killed_process_did_not_carry_out_is_carried_out_by_the_night(
        self, app: App, used: bool
    ) -> None:
        item = app.inbox.approve(drafted(app).activation, at_terminal())
        if used:
            app.inbox.take(item.digest)
        introspecting.make(app, Watcher())
        assert titled(app) == [{"text": "to be or not", "title": "To Be Or Not"}]

    def test_the_question_shows_all_that_there_is_to_decide(self, app: App) -> None:
        body = app.inbox.find(drafted(app).activation).body
        assert body["may"] == ["do nothing but compute"]
        assert body["effect"] == "changes nothing"
        assert "mutation" in body["checks"]
        assert "text.title()" in body["files"]["executor.py"]
        assert body["cost"].startswith("5 calls of a language model")
        assert any("audit" in line for line in body["never"])

    def test_a_reason_is_heeded_in_another_draft(self, model: tuple[App, Scripted]) -> None:
        app, chat = model
        proposal = drafted(app)
        refused = app.growing.refused(
            app.inbox.refuse(proposal.activation, at_terminal(), "no capitals"), "no capitals"
        )
        assert refused is not None
        assert refused.state is State.COMMISSIONED
        assert refused.need.refused == ("no capitals",)
        again = app.growing.make(refused)
        assert again.state is State.DRAFTED
        assert all("no capitals" in prompt.messages[0].text for prompt in chat.asked[5:])

    def test_the_third_refusal_ends_it(self, app: App) -> None:
        proposal = drafted(app)
        for _ in range(2):
            item = app.inbox.find(proposal.activation)
            refused = app.growing.refused(item, "not so")
            assert refused is not None
            proposal = app.growing.proposals.drafted(refused, Made(proposal.draft), item.id)
        ended = app.growing.refused(app.inbox.find(proposal.activation), "not so either")
        assert ended is not None
        assert ended.state is State.ABANDONED
        assert ended.reason == "refused 3 times; the last reason: not so either"

    def test_a_plain_no_ends_it(self, app: App) -> None:
        proposal = drafted(app)
        ended = app.growing.refused(app.inbox.refuse(proposal.activation, at_terminal()), "")
        assert ended is not None
        assert ended.state is State.REFUSED
        with pytest.raises(ExecutorError, match="nothing to make"):
            app.growing.make(ended)

    def test_what_the_owner_edits_passes_every_gate_again_and_is_another_question(self, app: App) -> None:
        proposal = drafted(app)
        item = app.inbox.find(proposal.activation)
        evil = app.growing.code_of(item).replace("text.title()", "open('/etc/passwd').read()")
        with pytest.raises(ExecutorError, match="does not pass"):
            app.growing.edited(item, evil, at_terminal())
        assert app.inbox.find(item.id).state is Asked.WAITING
        fine = app.growing.code_of(item).replace("there is no word", "no word is there")
        new = app.growing.edited(item, fine, at_terminal())
        assert new.id != item.id
        assert new.digest != item.digest
        app.growing.answered(app.inbox.approve(new.id, at_terminal()))
        assert "no word is there" in app.catalog.get("format_text").source


def test_without_a_model_the_owner_is_told_what_to_do(equipped: App) -> None:
    opened, _ = reopened(equipped, model=False)
    with pytest.raises(ModelError, match="no language model") as error:
        drafted(opened)
    assert "metnos executor new" in error.value.fix


def test_what_cannot_be_made_is_abandoned_with_a_reason(equipped: App) -> None:
    opened, _ = reopened(equipped, SIGNATURE, CASES, PURPOSE, *["no code at all"] * 9)
    proposal = drafted(opened)
    assert proposal.state is State.ABANDONED
    assert "code was refused" in proposal.reason
    assert not opened.inbox.waiting()


def test_a_dry_run_keeps_asks_and_signs_nothing(app: App) -> None:
    made = app.growing.draft(NEED)
    assert made.green
    assert app.growing.proposals.all() == []
    assert app.inbox.waiting() == []
    assert "format_text" not in app.catalog.names()
