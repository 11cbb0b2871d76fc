"""What is switched off is said to be, and not missed; and the policy says beforehand what the hands would refuse."""

from pathlib import Path

import pytest

from metnos.app import App
from metnos.executors.call import Call
from metnos.executors.state import State
from metnos.grimoire.trace import State as Ended
from turn.turning import OWNER, take


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("delete ~/a.txt", "delete_files", "switched off"),
        ("cancella ~/a.txt", "delete_files", "disattivato"),
        ("sum the column price of ~/a.csv", "group_tables", "switched off"),
    ],
)
def test_an_executor_that_is_switched_off_is_not_missing(equipped: App, text: str, name: str, said: str) -> None:
    equipped.catalog.change(name, State.DISABLED, "")
    taken = take(equipped, text)
    assert taken.trace is not None
    assert taken.ended.state == Ended.NOTHING
    assert said in taken.ended.text
    assert f"metnos executor enable {name}" in taken.ended.text
    assert not taken.trace.desired


def test_what_is_really_missing_is_still_a_wish(equipped: App) -> None:
    equipped.catalog.change("delete_files", State.DISABLED, "")
    taken = take(equipped, "translate ~/a.txt into French")
    assert "switched off" not in taken.ended.text


@pytest.mark.parametrize("name", ["MEMORY.md", "memory/medium.db", "new.txt"])
def test_what_the_hands_refuse_the_policy_refuses_before(equipped: App, name: str) -> None:
    path = equipped.workspace.root / name
    args = {"path": str(path), "text": "x", "overwrite": True}
    *_, (step, verdict, words) = equipped.runner.explain(Call("write_files", args, OWNER, Path.home()))
    assert (step, verdict) == ("forbidden paths", "refuse")
    assert "belongs to the agent itself" in words


def test_notes_stay_the_owners(equipped: App) -> None:
    path = equipped.workspace.notes / "a.txt"
    call = Call("write_files", {"path": str(path), "text": "x"}, OWNER, Path.home())
    assert equipped.runner.explain(call)[-1][1] != "refuse"
