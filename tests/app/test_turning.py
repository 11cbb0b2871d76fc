"""What turns leave behind, and what is made of it later."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from metnos.app import App, keeping, turning
from metnos.core.clock import MovableClock
from metnos.core.errors import InboxError
from metnos.grimoire import tiers
from metnos.grimoire.retention import Summarise
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.models.budget import Meter, Metered
from metnos.models.scripted import DIES, Scripted
from metnos.night.notices import Notices
from signing import approve
from turn.turning import take

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


def test_an_interrupted_turn_is_named_and_offered_for_undo(equipped: App, tmp_path: Path) -> None:
    (tmp_path / "home" / "a.txt").write_text("a")
    equipped.set_setting("policy.autonomy", "full", at_terminal())
    child = os.fork()
    if child == 0:
        app = App.open(equipped.workspace)
        app.medium.close = lambda _: os._exit(9)  # type: ignore[method-assign,assignment]
        take(app, "move ~/a.txt to ~/b.txt")
    os.waitpid(child, 0)
    assert (tmp_path / "home" / "b.txt").exists()
    turning.settle(equipped)
    (notice,) = Notices(equipped.night_db, equipped.clock).unseen()
    assert "interrupted" in notice.text
    action = notice.text.rpartition(" ")[2]
    equipped.undo.undo(action, by=at_terminal())
    assert (tmp_path / "home" / "a.txt").exists()
    turning.settle(equipped)
    assert len(Notices(equipped.night_db, equipped.clock).unseen()) == 1


def scripted(app: App, *script: object) -> Summarise:
    chat = Scripted(list(script))  # type: ignore[arg-type]
    app.models.tier = lambda _: chat  # type: ignore[method-assign]

    def metered(_: str, meter: Meter) -> Metered:
        return Metered(chat, meter)

    app.models.metered = metered  # type: ignore[method-assign,assignment]
    found = turning._summariser(app)
    assert found is not None
    return found


def test_old_conversations_are_summarised_by_a_model_or_by_rules(equipped: App, clock: MovableClock) -> None:
    first = take(equipped, "what time is it?", conversation="a").ended.turn
    clock.move(timedelta(days=200))
    scripted(equipped, "The owner asked for the time.")
    done = turning.retain(equipped)
    assert (done.turns, done.by_model) == (1, 1)
    line = next(each for each in equipped.audit.newest() if each.kind == turning.SUMMARISED)
    assert line.entry.counts["turns"] == 1
    assert equipped.medium.summaries("a")[0].text == "The owner asked for the time."
    assert equipped.medium.load(first).text == ""
    take(equipped, "what time is it?", conversation="b")
    clock.move(timedelta(days=200))
    scripted(equipped, DIES)
    assert turning.retain(equipped).model_failed == 1
    assert "show_time" in equipped.medium.summaries("b")[0].text


def test_what_is_stable_is_proposed_and_kept_only_with_a_yes(equipped: App, clock: MovableClock) -> None:
    for _ in range(6):
        take(equipped, "how full are the disks?")
        clock.move(timedelta(days=1))
    clock.move(timedelta(days=200))
    turning.retain(equipped)
    (item,) = [each for each in equipped.inbox.waiting() if each.kind == tiers.KIND]
    memory = equipped.workspace.root / "MEMORY.md"
    before = memory.read_text()
    approved = approve(equipped.inbox, item.id, OWNER)
    keeping.apply(equipped, approved, at_terminal())
    assert memory.read_text() == f"{before}- {item.body['text']}\n"
    with pytest.raises(InboxError):
        keeping.apply(equipped, approved, at_terminal())
    turning.retain(equipped)
    assert equipped.inbox.waiting() == []


@pytest.mark.parametrize("broken", ["grimoire_db", "episodes"])
def test_a_broken_memory_keeps_nobody_from_asking(equipped: App, clock: MovableClock, broken: str) -> None:
    take(equipped, "how full are the disks?")
    equipped.close()
    path = getattr(equipped.workspace, broken)
    file = path / "episodes.db" if path.is_dir() else path
    file.write_bytes(b"no database at all, " * 100)
    opened = App.open(equipped.workspace, clock)
    taken = take(opened, "how full are the disks?")
    assert taken.ended.state == "done"
    told = [each.text for each in Notices(opened.night_db, clock).unseen()]
    assert any("nothing is remembered" in text for text in told)
    assert file.read_bytes().startswith(b"no database at all")
    opened.close()
