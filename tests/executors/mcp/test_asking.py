"""Speaking to servers that behave, and to all kinds that do not. Each is a real process."""

import contextlib
import os
import signal
from pathlib import Path

import pytest

from api.standin import until
from executors.mcp.strange import command
from metnos.core.errors import ExecutorFailed
from metnos.executors.capabilities import Tool
from metnos.executors.mcp import asking
from metnos.executors.mcp.asking import Dial
from metnos.executors.mcp.servers import Server

SECONDS = 60.0


def dial(mode: str, tmp_path: Path, file: Path | None = None, most: int = 8 << 20, **told: object) -> Dial:
    return Dial(Server("notes", command(mode, file)), tmp_path, {"PATH": "/usr/bin:/bin"}, most=most, **told)  # type: ignore[arg-type]


def agreed(to: Dial) -> Tool:
    """The tool as it is offered now."""
    found = asking.offers(to, SECONDS)
    return Tool(server="notes", tool=found[0].name, starts=to.server.digest, pin=found[0].pin(to.server))


@pytest.mark.slow
def test_a_tool_is_listed_and_called(tmp_path: Path) -> None:
    started: list[int] = []
    ended: list[int] = []
    to = dial("honest", tmp_path, started=started.append, ended=ended.append)
    tool = agreed(to)
    answer = asking.ask(to, tool, {"words": "milk"}, SECONDS)
    assert answer == {"failed": False, "message": "", "entries": [{"kind": "text", "text": "found: milk"}]}
    assert len(started) == 2
    assert started == ended


@pytest.mark.parametrize(("mode", "says"), [("changed", "not the one"), ("gone", "does not offer"), ("twice", "twice")])
def test_a_tool_that_is_not_what_was_agreed_to_is_not_called(tmp_path: Path, mode: str, says: str) -> None:
    mark = tmp_path / "mark"
    to = dial(mode, tmp_path, mark)
    tool = agreed(to)
    mark.touch()
    with pytest.raises(ExecutorFailed, match=says) as refused:
        asking.ask(to, tool, {"words": "milk"}, SECONDS)
    assert refused.value.kind == "not_permitted"


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "kind"), [("giant", "too_large"), ("flood", "too_large"), ("dies", "unavailable")])
def test_who_says_too_much_or_dies_is_cut_off(tmp_path: Path, mode: str, kind: str) -> None:
    to = dial(mode, tmp_path, most=1 << 20)
    with pytest.raises(ExecutorFailed) as failed:
        asking.ask(to, agreed(to), {"words": "milk"}, SECONDS)
    assert failed.value.kind == kind


@pytest.mark.parametrize("mode", ["crowd", "wordy"])
def test_who_offers_more_than_anybody_can_look_at_is_not_listed(tmp_path: Path, mode: str) -> None:
    with pytest.raises(ExecutorFailed) as failed:
        asking.offers(dial(mode, tmp_path), SECONDS)
    assert failed.value.kind == "too_large"


@pytest.mark.slow
def test_a_server_that_hangs_ends_with_the_time_of_the_call(tmp_path: Path) -> None:
    pids: list[int] = []
    to = dial("hangs", tmp_path, started=pids.append)
    tool = agreed(to)
    with pytest.raises(ExecutorFailed, match="did not answer") as failed:
        asking.ask(to, tool, {"words": "milk"}, 2.0)
    assert failed.value.kind == "unavailable"
    with pytest.raises(ProcessLookupError):
        os.kill(pids[-1], 0)


@pytest.mark.slow
def test_a_server_that_says_nothing_at_all(tmp_path: Path) -> None:
    with pytest.raises(ExecutorFailed, match="did not answer"):
        asking.offers(dial("mute", tmp_path), 1.0)


def test_a_schema_that_lies_and_takes_for_ever_is_not_checked_against(tmp_path: Path) -> None:
    to = dial("lies", tmp_path)
    answer = asking.ask(to, agreed(to), {"words": "milk"}, SECONDS)
    assert answer["entries"] == [{"kind": "data", "text": "", "data": {"a": "a" * 40 + "b", "n": [1, 2]}}]


def test_what_is_no_json_is_passed_over(tmp_path: Path) -> None:
    to = dial("nonsense", tmp_path)
    assert asking.ask(to, agreed(to), {"words": "milk"}, SECONDS)["entries"][0]["text"] == "found: milk"


@pytest.mark.slow
def test_a_server_gets_no_model_of_ours(tmp_path: Path) -> None:
    to = dial("asks", tmp_path)
    assert asking.ask(to, agreed(to), {"words": "milk"}, SECONDS)["entries"][0]["text"] == "found: refused"


def test_a_server_gets_no_more_of_the_environment_than_it_is_given(tmp_path: Path) -> None:
    to = dial("env", tmp_path)
    names = set(
        asking.ask(to, agreed(to), {"words": ""}, SECONDS)["entries"][0]["text"].removeprefix("found: ").split()
    )
    assert names <= {"PATH", "LC_CTYPE"}  # the second is Python's own


@pytest.mark.slow
def test_what_a_server_started_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    to = dial("child", tmp_path, file)
    asking.ask(to, agreed(to), {"words": "milk"}, SECONDS)
    child = int(file.read_text())
    try:
        until(lambda: _is_gone(child))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.slow
def test_what_is_longer_than_an_answer_is_cut_and_says_so(tmp_path: Path) -> None:
    to = dial("long", tmp_path)
    text = asking.ask(to, agreed(to), {"words": ""}, SECONDS)["entries"][0]["text"]
    assert len(text) < 201_000
    assert "more characters" in text


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    gone = Dial(Server("notes", ("/nowhere/at-all",)), tmp_path)
    with pytest.raises(ExecutorFailed, match="cannot be started") as failed:
        asking.offers(gone, SECONDS)
    assert failed.value.kind == "unavailable"


def test_a_failure_of_the_tool_is_told(tmp_path: Path) -> None:
    to = dial("fails", tmp_path)
    answer = asking.ask(to, agreed(to), {"words": "milk"}, SECONDS)
    assert answer["failed"]
    assert answer["message"] == "there are no notes"
