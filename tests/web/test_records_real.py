"""The same pages over the real API, on a workspace in which something was done: what the API says is what they show."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from api.http.served import Served, serving
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.settings import keys
from metnos.executors.run import Call
from metnos.law.capability import Capability
from metnos.law.principal import Principal, at_terminal
from metnos.web import settling, site
from web.recorded import MINE
from web.test_records import shown
from web.test_site import looked

PAGES = ("/executors", "/executors/list_folders", "/arena", "/arena?goal=list+folders", "/night", "/audit",
         "/audit?before=3", "/settings", "/settings/models", "/settings/devices", "/settings/grants")  # fmt: skip


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("house")


@pytest.fixture
def served(equipped: App, clock: MovableClock, house: Path) -> Iterator[Served]:
    equipped.runner.run(Call("list_folders", {"path": str(house)}, at_terminal(), house, now=clock.now()))
    equipped.grants.grant("list_folders", Capability.FS_READ, str(house), days=7, by=at_terminal(), reason="tidy")
    equipped.close()
    with serving(equipped.workspace, clock) as found:
        yield found


@pytest.fixture
def page(served: Served, clock: MovableClock) -> TestClient:
    """The pages, for the owner at this machine."""
    with patch.object(site, "PAGES", tuple(dict.fromkeys((*site.PAGES, *MINE)))):
        pages = site.build(served.api, clock)

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        owner: Principal = at_terminal()
        await pages(scope | {"metnos.who": owner, "metnos.token": "t"}, receive, send)

    return TestClient(door)


def test_every_page_shows_what_the_api_says(page: TestClient, house: Path) -> None:
    for path in PAGES:
        answer = page.get(path)
        assert answer.status_code == 200, (path, shown(answer.text))
        assert looked(answer.text).faults == []
    one = shown(page.get("/executors/list_folders").text)
    assert f"list_folders may read {house}" in one
    assert "Every byte is as it was signed" in one
    assert "went well" in one
    settings = page.get("/settings").text + page.get("/settings/models").text
    assert [key.name for key in keys() if f'data-setting="{key.name}"' not in settings] == []
    assert page.get("/executors/no_such").status_code == 404


def test_settings_that_stand_together_are_never_called_the_same() -> None:
    known = [{"name": key.name, "description": key.description} for key in keys()]
    for group in settling.groups(known):
        labels = [each.label for each in group.settings]
        assert len(labels) == len(set(labels)), group.title
    assert {each.name for group in settling.groups(known) for each in group.settings} | {
        each.name for tier in settling.TIERS for each in settling.of_model(known, tier)
    } == {key.name for key in keys()}
