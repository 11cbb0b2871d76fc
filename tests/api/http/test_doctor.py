"""The doctor over HTTP."""

from pathlib import Path

import pytest

from api.http.served import Client
from api.http.typed import typed
from metnos.cli import doctor as at_terminal


def test_the_checks_are_those_of_the_terminal(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = page.get("/api/doctor")
    told = typed(page, monkeypatch, at_terminal.doctor)
    assert [each["name"] for each in found["checks"]] == [each["name"] for each in told["checks"]]
    levels = {each["name"]: each["level"] for each in found["checks"]}
    assert levels["audit"] == levels["executors"] == levels["mnestome"] == "green"
    assert all(each["fix"] for each in found["checks"] if each["level"] != "green")
    assert found["well"] is ("red" not in levels.values())


FEW = 12


def test_what_is_broken_is_red_and_nothing_stays_open(page: Client) -> None:
    page.get("/api/doctor")
    before = _open()
    (path,) = page.app.workspace.audit.glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"kind":"', b'"kind":"un', 1))
    for _ in range(FEW):
        found = page.get("/api/doctor")
    levels = {each["name"]: each["level"] for each in found["checks"]}
    assert (found["well"], levels["audit"]) == (False, "red")
    assert _open() < before + FEW, "each look leaves something open; a thread more is no such thing"


def _open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_whoever_is_let_in_may_ask(page: Client) -> None:
    assert page.device("read_only").get("/api/doctor")["checks"]
