"""An agent that was retired while faces hold it open: each says so, plainly, and where its testament is."""

from pathlib import Path

import pytest

from api.http.served import Client, entered, serving
from api.standin import running
from metnos.api.mcp import acting, memory
from metnos.api.mcp.desk import Visit, principal
from metnos.app import App, remembered, retiring
from metnos.core.clock import MovableClock
from metnos.core.errors import MetnosError, Refused, TestamentError


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "left.testament"


def retire(app: App, target: Path) -> None:
    """In another process, as far as those who hold the workspace open can know."""
    elsewhere = App.open(app.workspace, app.clock)
    elsewhere.__dict__["embedder"] = None
    retiring.retire(elsewhere, to=target)
    elsewhere.close()


def test_the_daemon(equipped: App, clock: MovableClock, target: Path) -> None:
    with running(equipped.workspace, clock, equipped.turns) as daemon:
        retire(equipped, target)
        with pytest.raises(MetnosError, match="was retired") as told:
            list(daemon.client.ask("how full are the disks?", cwd=target.parent))
        assert str(target) in told.value.what


def test_a_page(equipped: App, clock: MovableClock, target: Path) -> None:
    equipped.close()
    with serving(equipped.workspace, clock) as served:
        page: Client = entered(served)
        assert page.ask("how full are the disks?")["event"] == "Answered"
        retire(served.app, target)
        last = page.ask("how full are the disks?")
        assert last["event"] == "Failed"
        assert f"its testament: {target}" in last["error"]["what"]
        assert "is retired" in page.get("/api/status")["halted"]
        _, what = page.refused("POST", "/api/panic/lift", {"sure": True})
        assert "for good" in what
        with pytest.raises(TestamentError, match="was retired"):
            remembered.note(served.app, "The boiler was mended in May.", ())


def test_a_program(equipped: App, target: Path) -> None:
    visit = Visit(equipped, principal(None, equipped.settings.mcp), target.parent)
    assert not acting.ask(visit, "how full are the disks?", "", dry_run=False).failed
    retire(equipped, target)
    with pytest.raises(TestamentError, match="was retired") as told:
        acting.ask(visit, "how full are the disks?", "", dry_run=False)
    assert str(target) in told.value.what
    with pytest.raises(Refused, match="this agent is retired") as refused:
        acting.run(visit, "find_files", {"path": str(target.parent)}, dry_run=False)
    assert refused.value.fix == "See: metnos life status"  # and not how to lift what nobody lifts
    with pytest.raises(TestamentError, match="was retired"):
        memory.remember(visit, "The boiler was mended in May.", [])
