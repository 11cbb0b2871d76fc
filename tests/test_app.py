from datetime import UTC, datetime, timedelta

import pytest

from metnos import app
from metnos.core.clock import MovableClock
from metnos.core.errors import UsageError, WorkspaceError
from metnos.core.records import Check, Level
from metnos.core.sections import Settings
from metnos.core.settings import load
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.audit_line import Entry
from metnos.law.principal import at_terminal


def examine(workspace: Workspace, clock: MovableClock) -> dict[str, Check]:
    return {check.name: check for check in app.examine(workspace, clock)}


@pytest.mark.slow
def test_a_new_workspace_is_well(blank: Workspace, clock: MovableClock) -> None:
    founding.found(blank, Settings(), clock)
    found = examine(blank, clock)
    assert list(found) == ["python", "sqlite", "settings", "sandbox", "workspace", "databases", "code", "constitution",
                           "audit", "executors", "mnestome", "telos", "life", "disk", "model", "clock"]  # fmt: skip
    assert {name for name, check in found.items() if check.level is not Level.GREEN} == {"model"}


@pytest.mark.slow
def test_every_check_that_is_not_green_says_what_to_do(workspace: Workspace, clock: MovableClock) -> None:
    workspace.soul.write_text("nothing")
    workspace.settings.write_text("[models.main]\nurl = 'http://127.0.0.1:1/v1'\n[disk]\nneed_free_mb = 99999999\n")
    clock.move(timedelta(days=-400))
    found = examine(workspace, clock)
    for name in ("constitution", "disk", "model", "clock"):
        assert found[name].level is Level.RED
    for check in found.values():
        assert (check.level is Level.GREEN) == (not check.fix), check


@pytest.mark.slow
def test_without_a_workspace_the_doctor_says_how_to_make_one(blank: Workspace, clock: MovableClock) -> None:
    found = examine(blank, clock)
    assert (found["workspace"].level, found["workspace"].fix) == (Level.YELLOW, "metnos init")
    assert not blank.root.exists()


@pytest.mark.slow
def test_broken_settings_do_not_stop_the_doctor(workspace: Workspace, clock: MovableClock) -> None:
    workspace.settings.write_text("[store]\nbusy = 1\n")
    found = examine(workspace, clock)
    assert found["settings"].level is Level.RED
    assert "store.busy_timeout_s" in found["settings"].fix
    assert found["sandbox"].level is Level.GREEN


@pytest.mark.slow
def test_a_broken_audit_and_a_missing_key_are_red(workspace: Workspace, clock: MovableClock) -> None:
    log = workspace.audit / "2026-11.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole[:-1])
    assert examine(workspace, clock)["audit"].level is Level.RED
    log.write_bytes(whole)
    workspace.secret_key.chmod(0o644)
    assert examine(workspace, clock)["keys"].level is Level.RED


@pytest.mark.slow
def test_an_act_that_never_ended_is_shown(opened: app.App, clock: MovableClock) -> None:
    opened.audit.append(Entry("some act", {"phase": "intent"}))
    found = examine(opened.workspace, clock)["audit"]
    assert (found.level, found.fix) == (Level.YELLOW, "metnos audit show 5")
    assert "some act" in found.found


@pytest.mark.slow
def test_an_edited_constitution_is_yellow_once(workspace: Workspace, clock: MovableClock) -> None:
    workspace.soul.write_text(workspace.soul.read_text() + "\n")
    assert examine(workspace, clock)["constitution"].level is Level.YELLOW
    assert examine(workspace, clock)["constitution"].level is Level.GREEN


@pytest.mark.slow
def test_a_clock_behind_the_audit_is_yellow(workspace: Workspace) -> None:
    found = examine(workspace, MovableClock(datetime(2026, 11, 14, tzinfo=UTC)))
    assert found["clock"].level is Level.YELLOW


@pytest.mark.slow
def test_little_disk_is_yellow(workspace: Workspace, clock: MovableClock) -> None:
    workspace.settings.write_text("[disk]\nwarn_free_mb = 99999999\n")
    assert examine(workspace, clock)["disk"].level is Level.YELLOW


def test_a_workspace_that_is_not_there_says_how_to_make_one(blank: Workspace) -> None:
    with pytest.raises(WorkspaceError) as caught:
        app.App.open(blank)
    assert caught.value.fix == "Make one: metnos init"
    assert not blank.root.exists()


def test_a_setting_is_changed_and_recorded_without_its_content(opened: app.App) -> None:
    assert opened.set_setting("models.main.name", "my-secret-model", at_terminal()) == "my-secret-model"
    assert load(opened.workspace.settings).settings.models.main.name == "my-secret-model"
    lines = [line for line in opened.audit.newest() if line.kind == app.SETTING_CHANGED]
    names = [{name: line.entry.names[name] for name in ("setting", "phase", "channel")} for line in lines]
    assert names == [
        {"setting": "models.main.name", "phase": "done", "channel": "terminal"},
        {"setting": "models.main.name", "phase": "intent", "channel": "terminal"},
    ]
    for path in opened.workspace.audit.iterdir():
        assert b"my-secret-model" not in path.read_bytes()


def test_a_setting_that_does_not_fit_changes_and_records_nothing(opened: app.App) -> None:
    before = opened.workspace.settings.read_bytes()
    head = opened.audit.head()
    with pytest.raises(UsageError):
        opened.set_setting("disk.need_free_mb", "-1", at_terminal())
    assert opened.workspace.settings.read_bytes() == before
    assert opened.audit.head() == head
