"""From the owner's words to an executor that lives, in a real workspace with a scripted model; and what stops it."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from copying import copy_folder
from executors.samples import sample_files
from metnos.app import App, introspecting, selecting
from metnos.app.growing import Stopped
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError, ModelError, NoRoom, NotTrusted
from metnos.core.workspace import Workspace
from metnos.executors.run import Call
from metnos.law.inbox import State as Asked
from metnos.law.principal import at_terminal
from metnos.night.jobs import Watcher
from metnos.synt.draft import Draft, Made
from metnos.synt.need import Need, Way
from metnos.synt.proposals import Proposal, Proposals, State
from signing import adopt, approve
from support import START
from turn.scripted import Said, Scripted, reopened

pytestmark = pytest.mark.slow

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
OTHER = CODE.replace("text.title()", "' '.join(each.capitalize() for each in text.split(' '))")
WELL: tuple[Said, ...] = (SIGNATURE, CASES, PURPOSE, CODE, CODE)
REVISED: tuple[Said, ...] = (SIGNATURE, CASES, PURPOSE, OTHER, OTHER)
NEED = Need("Put texts into title case", Way.OWNER, name="format_text")


@pytest.fixture
def model(equipped: App) -> tuple[App, Scripted]:
    """A workspace at the level `full`, with a model that does well."""
    return reopened(equipped, *WELL, policy__autonomy="full")


@pytest.fixture
def app(model: tuple[App, Scripted]) -> App:
    return model[0]


@pytest.fixture(scope="module")
def _asked(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace where an executor was made and the owner is asked about it, made once: making it takes a while."""
    made = Workspace(tmp_path_factory.mktemp("asked") / "workspace")
    copy_folder(_template.root, made.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(made.root.parent))
        first = App.open(made, MovableClock(START))
        opened, _ = reopened(first, *WELL, policy__autonomy="full")
        proposal = drafted(opened)
        assert proposal.state is State.DRAFTED, proposal.reason
        first.close()
        opened.close()
    return made


@pytest.fixture
def asked(_asked: Workspace, blank: Workspace, clock: MovableClock) -> App:
    """A copy of it, without a model."""
    copy_folder(_asked.root, blank.root)
    return reopened(App.open(blank, clock), model=False)[0]


def drafted(app: App, need: Need = NEED) -> Proposal:
    return app.growing.make(app.growing.propose(need, "you asked for it"))


def waiting(app: App) -> Proposal:
    """What the owner is asked about."""
    (proposal,) = app.growing.proposals.all()
    return proposal


def titled(app: App) -> Any:
    call = Call("format_text", {"texts": ["to be or not"]}, at_terminal(), Path.cwd())
    return app.runner.run(call).reply["entries"]


class TestTheOwnersNeed:
    def test_it_becomes_an_executor_that_does_what_was_asked(self, asked: App) -> None:
        proposal = waiting(asked)
        assert proposal.state is State.DRAFTED
        with pytest.raises(NotTrusted):
            titled(asked)
        item = approve(asked.inbox, proposal.activation, at_terminal())
        assert asked.growing.answered(item) == "format_text 1.0.0 is signed and active."
        assert titled(asked) == [{"text": "to be or not", "title": "To Be Or Not"}]

    @pytest.mark.parametrize("used", [False, True])
    def test_a_yes_that_a_killed_process_did_not_carry_out_is_carried_out_by_the_night(
        self, asked: App, used: bool
    ) -> None:
        item = approve(asked.inbox, waiting(asked).activation, at_terminal())
        if used:
            asked.inbox.take(item.digest)
        introspecting.make(asked, Watcher())
        assert titled(asked) == [{"text": "to be or not", "title": "To Be Or Not"}]

    def test_the_question_shows_all_that_there_is_to_decide(self, asked: App) -> None:
        body = asked.inbox.find(waiting(asked).activation).body
        assert body["may"] == ["do nothing but compute"]
        assert body["effect"] == "changes nothing"
        assert "mutation" in body["checks"]
        assert "text.title()" in body["files"]["executor.py"]
        assert body["cost"].startswith("5 calls of a language model")
        assert any("audit" in line for line in body["never"])

    @pytest.mark.usefixtures("no_mutants")
    def test_a_reason_is_heeded_in_another_draft(self, asked: App) -> None:
        app, chat = reopened(asked, *REVISED)
        proposal = waiting(app)
        refused = app.growing.refused(
            app.inbox.refuse(proposal.activation, at_terminal(), "no capitals"), "no capitals"
        )
        assert refused is not None
        assert refused.state is State.COMMISSIONED
        assert refused.need.refused == ("no capitals",)
        again = app.growing.make(refused)
        assert again.state is State.DRAFTED
        assert len(chat.asked) == 5
        assert all("no capitals" in prompt.messages[0].text for prompt in chat.asked)

    def test_the_third_refusal_ends_it(self, asked: App) -> None:
        proposal = waiting(asked)
        for _ in range(2):
            item = asked.inbox.find(proposal.activation)
            refused = asked.growing.refused(item, "not so")
            assert refused is not None
            proposal = asked.growing.proposals.drafted(refused, Made(proposal.draft), item.id)
        ended = asked.growing.refused(asked.inbox.find(proposal.activation), "not so either")
        assert ended is not None
        assert ended.state is State.ABANDONED
        assert ended.reason == "refused 3 times; the last reason: not so either"

    def test_a_plain_no_ends_it(self, asked: App) -> None:
        proposal = waiting(asked)
        ended = asked.growing.refused(asked.inbox.refuse(proposal.activation, at_terminal()), "")
        assert ended is not None
        assert ended.state is State.REFUSED
        with pytest.raises(ExecutorError, match="nothing to make"):
            asked.growing.make(ended)

    def test_what_the_owner_edits_passes_every_gate_again_and_is_another_question(self, asked: App) -> None:
        proposal = waiting(asked)
        item = asked.inbox.find(proposal.activation)
        evil = asked.growing.code_of(item).replace("text.title()", "open('/etc/passwd').read()")
        with pytest.raises(ExecutorError, match="does not pass"):
            asked.growing.edited(item, evil, at_terminal())
        assert asked.inbox.find(item.id).state is Asked.WAITING
        fine = asked.growing.code_of(item).replace("there is no word", "no word is there")
        new = asked.growing.edited(item, fine, at_terminal())
        assert new.id != item.id
        assert new.digest != item.digest
        asked.growing.answered(approve(asked.inbox, new.id, at_terminal()))
        assert "no word is there" in asked.catalog.get("format_text").source


def test_without_a_model_the_owner_is_told_what_to_do(equipped: App) -> None:
    opened, _ = reopened(equipped, model=False)
    with pytest.raises(ModelError, match="no language model") as error:
        drafted(opened)
    assert "metnos executor new" in error.value.fix


def test_what_cannot_be_made_is_abandoned_with_a_reason(equipped: App) -> None:
    opened, _ = reopened(equipped, SIGNATURE, CASES, PURPOSE, *["no code at all"] * 15)
    proposal = drafted(opened)
    assert proposal.state is State.ABANDONED
    assert "code was refused" in proposal.reason
    assert not opened.inbox.waiting()


@pytest.mark.usefixtures("no_mutants")
def test_a_dry_run_keeps_asks_and_signs_nothing(app: App) -> None:
    made = app.growing.draft(NEED)
    assert made.green
    assert app.growing.proposals.all() == []
    assert app.inbox.waiting() == []
    assert "format_text" not in app.catalog.names()


@pytest.mark.usefixtures("no_mutants")
class TestStopping:
    def test_it_ends_between_two_stages_and_is_still_to_be_made(self, model: tuple[App, Scripted]) -> None:
        app, chat = model
        proposal = app.growing.propose(NEED, "you asked for it")
        seen: list[str] = []
        stopped = app.growing.make(proposal, lambda stage, _what: seen.append(stage), lambda: "tests" in seen)
        assert stopped.state is State.COMMISSIONED
        assert seen == ["naming", "signature", "tests"]
        assert len(chat.asked) == 1, "nothing more was asked of the model"
        assert app.inbox.waiting() == []
        chat.replies[:] = WELL
        assert app.growing.make(stopped).state is State.DRAFTED

    def test_also_between_two_gates(self, app: App) -> None:
        gates: list[str] = []
        with pytest.raises(Stopped):
            app.growing.draft(NEED, lambda stage, _what: gates.append(stage), stop=lambda: "gates" in gates)

    def test_a_night_that_is_stopped_leaves_it_commissioned(self, app: App) -> None:
        app.growing.propose(NEED, "you asked for it")
        asked: list[str] = []
        done = introspecting.make(app, Watcher(lambda: bool(asked), lambda what, _done, _of: asked.append(what)))
        assert (done.stopped, done.counts) == (True, {"left": 1})
        assert [each.state for each in app.growing.proposals.all()] == [State.COMMISSIONED]


@pytest.mark.usefixtures("no_mutants")
def test_a_process_killed_right_after_asking_leaves_no_dead_question(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    proposal = app.growing.propose(NEED, "you asked for it")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Proposals, "drafted", killed)
        app.growing.make(proposal)
    assert app.growing.proposals.get(proposal.id).state is State.COMMISSIONED
    introspecting.make(app, Watcher())
    (item,) = app.inbox.waiting()
    noted = app.growing.proposals.get(proposal.id)
    assert (noted.state, noted.activation) == (State.DRAFTED, item.id), "it was found, and not made a second time"
    app.growing.answered(approve(app.inbox, item.id, at_terminal()))
    assert titled(app)


def sign(app: App, name: str) -> None:
    """An executor of the owner's own."""
    adopt(app, name, sample_files(name))


@pytest.mark.usefixtures("no_mutants")
class TestNoRoom:
    def test_the_yes_is_kept_dormants_are_offered_and_it_lives_when_there_is_room(self, asked: App) -> None:
        app, _ = reopened(asked, executors__active="1")
        sign(app, "sample_lines")
        proposal = waiting(app)
        with pytest.raises(NoRoom, match="your yes to format_text is kept, but there is no room for it yet") as error:
            app.growing.answered(approve(app.inbox, proposal.activation, at_terminal()))
        assert error.value.fix == "Put one away that you need less (sample_lines): metnos inbox list."
        assert app.growing.proposals.get(proposal.id).state is State.DRAFTED
        assert "format_text" not in app.catalog.names()
        introspecting.make(app, Watcher())
        assert "format_text" not in app.catalog.names(), "the night does not find room either"
        (item,) = app.inbox.waiting()
        assert item.kind == selecting.DORMANCY
        said = selecting.answered(app, approve(app.inbox, item.id, at_terminal()))
        assert said.endswith("format_text 1.0.0 is signed and active.")
        assert titled(app)

    def test_of_too_many_births_in_a_day_the_owner_is_told_and_nothing_is_put_away(
        self, asked: App, clock: MovableClock
    ) -> None:
        app, _ = reopened(asked, executors__births="1")
        sign(app, "sample_lines")
        proposal = waiting(app)
        with pytest.raises(NoRoom, match="1 executors were born within a day") as error:
            app.growing.answered(approve(app.inbox, proposal.activation, at_terminal()))
        assert "tomorrow" in error.value.fix
        assert app.inbox.waiting() == [], "putting one away would not help"
        clock.move(timedelta(days=1, minutes=1))
        assert app.growing.make(app.growing.proposals.get(proposal.id)).state is State.ACTIVE
        assert titled(app)


def test_what_it_does_the_work_of_may_be_like_it_and_is_offered_never_removed(asked: App) -> None:
    app = asked
    app.growing.answered(approve(app.inbox, waiting(app).activation, at_terminal()))
    twin = replace(NEED, text="Put many texts into title case", name="format_lines")
    refused = app.growing.examined(twin_of(app, "format_lines"))
    assert refused.abandoned.startswith("likeness: it exists")
    proposal = app.growing.propose(replace(twin, instead=("format_text", "gone_files")), "one is enough")
    made = app.growing.examined(twin_of(app, "format_lines"), ("format_text",))
    assert made.green, made.abandoned
    put = app.growing.put(proposal, made)
    assert app.inbox.find(put.activation).body["instead"] == ["format_text", "gone_files"]
    app.growing.answered(approve(app.inbox, put.activation, at_terminal()))
    assert titled(app), "it is still there"
    (item,) = app.inbox.waiting()
    assert item.title == "Archive format_text: format_lines does its work"
    assert (selecting.offer_replaced(app), selecting.job(app).counts.get("questions")) == (0, None), "once"
    selecting.answered(app, approve(app.inbox, item.id, at_terminal()))
    with pytest.raises(NotTrusted, match="archived"):
        titled(app)


def twin_of(app: App, name: str) -> Draft:
    """The same under another name."""
    found = app.catalog.get("format_text")
    manifest = (app.workspace.executors / "format_text" / "manifest.toml").read_text()
    return Draft(
        name,
        manifest.replace('"format_text"', f'"{name}"').replace("Format text in", "Format lines in"),
        found.source.replace("format_text", name).replace("Format text in", "Format lines in"),
        found.tests_text,
    )
