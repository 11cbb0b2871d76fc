"""What was allowed in advance, over HTTP: seen by everybody who may look, and taken back by the owner."""

from collections.abc import Callable
from typing import Any

from api.http.served import Client
from metnos.law.capability import Capability
from metnos.law.principal import at_terminal


def test_a_grant_is_shown_and_taken_back(page: Client, terminal: Callable[..., Any]) -> None:
    page.app.grants.grant("find_files", Capability.FS_READ, "/srv", days=3, by=at_terminal(), reason="for a while")
    (found,), (told,) = page.get("/api/grants")["grants"], terminal("policy", "grants")
    assert {name: found[name] for name in told} == told
    assert found["words"] == "find_files may fs.read /srv"
    assert page.get("/api/executors/find_files")["grants"][0]["id"] == found["id"]
    for other in (page.device("read_only"), page.program("full")):
        assert other.refused("POST", f"/api/grants/{found['id']}/revoke")[0] == 403
    assert page.post(f"/api/grants/{found['id']}/revoke")["id"] == found["id"]
    assert page.get("/api/grants")["grants"] == []
    assert page.refused("POST", f"/api/grants/{found['id']}/revoke")[0] == 404
