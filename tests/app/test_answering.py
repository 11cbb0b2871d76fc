"""What follows an answer, whichever face gave it."""

from pathlib import Path

import pytest

from app.extended import DRAFT
from app.test_growing import NEED
from metnos.app import App, ageing, answering, keeping
from metnos.core.errors import UsageError, Waiting
from metnos.executors.run import Call
from metnos.law.inbox import Item, State
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.synt.proposals import State as Stand

PHONE = Principal(Channel.WEB, "phone", Autonomy.SUPERVISED)
NIGHT = Principal(Channel.NIGHT, "ager", Autonomy.READ_ONLY)


def act(app: App) -> Item:
    with pytest.raises(Waiting) as caught:
        app.runner.run(Call("make_folders", {"paths": ["~/garden"]}, PHONE, Path.home()))
    return app.inbox.find(caught.value.item)


def yes(app: App, item: Item) -> answering.Carried:
    return answering.carry_out(app, app.inbox.approve(item.id, PHONE, seen=item.yes_count), PHONE)


def test_a_call_by_itself_is_made(equipped: App) -> None:
    item = act(equipped)
    rules, reversal = answering.standing(equipped, item)
    assert ("ask" in [verdict for _, verdict, _ in rules], reversal) == (True, "makes new files; undo removes them")
    carried = yes(equipped, item)
    assert carried.outcome is not None
    assert (carried.outcome.ok, carried.turn) == (True, None)
    assert (Path.home() / "garden").is_dir()
    assert answering.standing(equipped, equipped.inbox.find(item.id)) == ([], "")  # it is answered
    assert answering.editable(equipped.inbox.find(item.id)) == ""


def test_what_an_act_needs_may_be_gone_and_then_nothing_is_said_of_it(equipped: App) -> None:
    item = act(equipped)
    (equipped.workspace.executors / "make_folders" / "executor.py").write_text("something else")
    assert answering.standing(equipped, item) == ([], "")


def test_a_draft_lives_or_is_made_again_or_is_given_up(equipped: App) -> None:
    def drafted() -> Item:
        proposal = equipped.growing.propose(NEED, "you asked for it")
        return equipped.inbox.find(equipped.growing.put(proposal, DRAFT).activation)

    for number in (1, 2):
        closed, proposal = answering.refuse(equipped, drafted(), PHONE, f"reason {number}")
        assert (closed.state, proposal and proposal.state) == (State.REFUSED, Stand.COMMISSIONED)
    _, proposal = answering.refuse(equipped, drafted(), PHONE, "reason 3")
    assert proposal is not None
    assert proposal.state is Stand.ABANDONED


def test_a_line_is_kept_and_what_fades_is_let_go_or_stays(equipped: App) -> None:
    line = keeping.tiers(equipped).propose("You like tea.", "USER.md", "you said so", ("01T",), asked_by=NIGHT)
    assert line is not None
    assert answering.require_editable(line) == answering.TEXT
    assert yes(equipped, line) == answering.Carried()
    assert "You like tea." in (equipped.workspace.root / "USER.md").read_text()
    asked = equipped.inbox.ask(ageing.ARCHIVAL, "Let go", {"mnest": "none"}, "1" * 64, asked_by=NIGHT, hours=1)
    with pytest.raises(UsageError, match="archival"):
        answering.require_editable(asked)
    assert yes(equipped, asked).said.endswith("so it stays.")
