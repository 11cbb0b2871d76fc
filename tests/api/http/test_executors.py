"""Executors over HTTP: the catalog as at the terminal, switching them, and the panic button."""

from collections.abc import Callable
from typing import Any

from api.http.served import Client
from executors.hands import give, home, run
from metnos.app import App

READS = """
def run(args, ctx):
    return {"entries": [{"any": "read"}]}
"""


def own(app: App) -> None:
    """An executor that is not built in."""
    give(app, READS, name="read_tables")


def test_the_catalog_is_the_same_as_at_the_terminal(page: Client, terminal: Callable[..., Any]) -> None:
    own(page.app)
    found, told = page.get("/api/executors"), terminal("executor", "list")
    assert found["halted"] is None
    assert [{name: each[name] for name in told[0]} for each in found["executors"]] == told
    by_name = {each["name"]: each for each in found["executors"]}
    assert (by_name["read_tables"]["builtin"], by_name["find_files"]["builtin"]) == (False, True)
    assert all(each["signed"] for each in found["executors"])


def test_one_is_shown_whole(page: Client, terminal: Callable[..., Any]) -> None:
    page.ask("find the PDFs in ~")
    whole, told = page.get("/api/executors/find_files"), terminal("executor", "show", "find_files")
    assert (whole["declares"], whole["goals"]) == (told["manifest"], told["fitness"])
    folder = page.app.workspace.executors / "find_files"
    for name, file in (("manifest", "manifest.toml"), ("code", "executor.py"), ("tests", "tests.toml")):
        assert whole[name] == (folder / file).read_text()
    assert (whole["signature"], whole["effect"]) == (
        "every byte is as it was signed, by this agent's key",
        "changes nothing",
    )
    assert [each["ok"] for each in whole["journal"]] == [True]
    assert len(whole["versions"]) == 1
    assert whole["last_used"] is not None


def test_what_was_changed_shows_as_changed(page: Client) -> None:
    own(page.app)
    (page.app.workspace.executors / "read_tables" / "executor.py").write_bytes(b"def run(args, ctx): steal()\n\xff")
    whole = page.get("/api/executors/read_tables")
    assert (whole["signed"], whole["signature"].startswith("it is not as it was signed")) == (False, True)
    assert "steal" in whole["code"]


def test_switching_is_the_owners_and_revoking_is_for_good(page: Client) -> None:
    own(page.app)
    for other in (page.device("read_only"), page.program("full")):
        assert other.refused("POST", "/api/executors/read_tables/state", {"state": "disabled"})[0] == 403
        assert other.refused("POST", "/api/panic", {"sure": True})[0] == 403
        assert other.refused("POST", "/api/panic/lift", {"sure": True})[0] == 403
        assert page.get("/api/executors/read_tables")["state"] == "active"

    def switch(state: str) -> Any:
        return page.post("/api/executors/read_tables/state", state=state, reason=f"to {state}")

    assert switch("disabled") == {"name": "read_tables", "before": "active", "state": "disabled"}
    assert page.get("/api/executors/read_tables")["reason"] == "to disabled"
    assert switch("active")["state"] == "active"
    assert switch("quarantine")["state"] == "quarantine"
    assert switch("revoked")["state"] == "revoked"
    assert page.refused("POST", "/api/executors/read_tables/state", {"state": "active"})[0] == 400
    assert page.refused("POST", "/api/executors/nobody_there/state", {"state": "active"})[0] == 404
    assert page.refused("GET", "/api/executors/nobody_there")[0] == 404
    assert page.refused("GET", "/api/executors/..%2f..")[0] in (400, 404, 422)
    assert page.refused("POST", "/api/executors/find_files/state", {"state": "gone"})[0] == 422


def test_panic_stops_everything_until_it_is_lifted(page: Client) -> None:
    own(page.app)
    assert page.refused("POST", "/api/panic", {"reason": "smoke"})[0] == 422  # it has to be said that one is sure
    said = page.post("/api/panic", reason="smoke", sure=True)
    assert (said["halted"].endswith(": smoke"), said["disabled"]) == (True, ["read_tables"])
    assert page.get("/api/status")["halted"] == page.get("/api/executors")["halted"] == said["halted"]
    assert page.ask("find the PDFs in ~")["state"] == "refused"
    assert page.post("/api/panic/lift", sure=True) == {"lifted": True}
    assert page.post("/api/panic/lift", sure=True) == {"lifted": False}
    assert page.ask("find the PDFs in ~")["state"] == "done"
    assert page.get("/api/executors/read_tables")["state"] == "disabled"
    assert home().is_dir()
    assert run(page.app, "find_files", path="~").ok
