"""Whom a face speaks to, and which conversation was the last."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from metnos.app import App
from metnos.cli import Choice, speaking
from metnos.cli.speaking import last_conversation, speaker
from metnos.core.clock import MovableClock
from metnos.core.errors import UsageError, WorkspaceError
from metnos.core.workspace import Workspace
from metnos.grimoire.trace import State, Trace
from metnos.law.principal import Channel
from metnos.turn.events import Answered, Started


def spoken(app: App, clock: MovableClock, turn: str, conversation: str, channel: Channel) -> None:
    """A turn that is over."""
    clock.move(timedelta(minutes=1))
    now = clock.now()
    app.medium.close(
        Trace(
            turn, conversation, channel, "owner", "/", now, now, "hello", "en", "router", State.DONE, "Hello.", {}, "",
            (), (),
        )
    )  # fmt: skip


def test_the_last_conversation_is_the_last_at_a_terminal(opened: App, clock: MovableClock) -> None:
    choice = Choice(str(opened.workspace.root))
    with pytest.raises(UsageError, match="no conversation to go on with"):
        last_conversation(choice)
    spoken(opened, clock, "01A", "old", Channel.TERMINAL)
    spoken(opened, clock, "01B", "new", Channel.TERMINAL)
    spoken(opened, clock, "01C", "elsewhere", Channel.TELEGRAM)
    assert last_conversation(choice) == "new"


def test_what_is_wrong_with_the_workspace_is_said_before_anybody_types(blank: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="there is no workspace"), speaker(Choice(str(blank.root)), "one"):
        raise AssertionError


@pytest.mark.slow
def test_alone_it_works_in_this_process(equipped: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speaking, "open_app", lambda _: equipped)
    with speaker(Choice(str(equipped.workspace.root)), "mine") as speak:
        events = list(speak("how full are the disks?", False))
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Answered)
    assert last_conversation(Choice(str(equipped.workspace.root))) == "mine"


def test_the_daemon_is_looked_for_each_time(opened: App, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, bool]] = []

    def ask(text: str, *, conversation: str, dry_run: bool, **_: object) -> object:
        asked.append((text, conversation, dry_run))
        return iter(())

    daemons = iter((None, SimpleNamespace(ask=ask), SimpleNamespace(ask=ask)))
    monkeypatch.setattr(speaking, "connect", lambda _: next(daemons))
    with speaker(Choice(str(opened.workspace.root)), "mine") as speak:
        speak("one", False)
        speak("two", True)
    assert asked == [("one", "mine", False), ("two", "mine", True)]
