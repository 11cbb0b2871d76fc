"""The audit over HTTP: pages of lines, and its proof."""

import pytest

from api.http.served import Client
from api.http.typed import typed
from metnos.cli import audit as at_terminal
from metnos.law.audit_line import Entry
from tables import try_each


def test_pages_hold_every_line_once_the_newest_first(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(25):
        page.app.audit.append(Entry("something done", {}, {}, {"seq": 10**6 + number}))
    seen, before = [], {}
    while True:
        some = page.get("/api/audit", limit=7, **before)
        seen += some["lines"]
        if some["next"] is None:
            break
        before = {"before": some["next"]}
    told = typed(page, monkeypatch, at_terminal.audit, "tail", "-n", "1000")
    assert [{"signature": ""} | each for each in told[::-1]] == seen
    assert page.get(f"/api/audit/{seen[3]['seq']}") == seen[3]


def test_a_sound_audit_is_proved_and_the_proof_can_be_asked_for_again(
    page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page.get("/api/audit/verify")["state"] == "none"
    found = page.post("/api/audit/verify")
    told = typed(page, monkeypatch, at_terminal.audit, "verify")
    assert (found["state"], found["ok"], found["problems"]) == ("done", True, [])
    assert [found[name] for name in ("lines", "files", "checkpoints")] == [
        told[name] for name in ("lines", "files", "checkpoints")
    ]
    assert page.get("/api/audit/verify") == found


def test_a_line_that_was_changed_is_named(page: Client) -> None:
    (path,) = page.app.workspace.audit.glob("*.jsonl")
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"kind":"', b'"kind":"un', 1))
    found = page.post("/api/audit/verify")
    assert (found["ok"], found["problems"][0]["wrong"]) == (False, "changed")
    assert found["problems_total"] == len(found["problems"])
    path.write_bytes(content)
    assert page.post("/api/audit/verify")["ok"] is True


def test_whoever_may_only_look_may_prove_it(page: Client) -> None:
    for other in (page.device("read_only"),):
        assert other.post("/api/audit/verify")["ok"] is True
        assert other.get("/api/audit")["lines"]


@try_each(("path", "status"), [("0", 422), ("999999", 404), ("x", 422), ("9" * 40, 422), ("-1", 422)])
def test_a_line_that_is_not_there_is_not_found(page: Client, path: str, status: int) -> None:
    assert page.refused("GET", f"/api/audit/{path}")[0] == status
    assert page.refused("GET", "/api/audit", before="0")[0] == 422
    assert page.refused("GET", "/api/audit", limit="501")[0] == 422
