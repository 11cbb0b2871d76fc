"""Language models over HTTP: which serves what, and a test that never takes long and never shows a key."""

import pytest

from api.http.served import Client
from api.http.typed import typed
from metnos.cli import model as at_terminal
from metnos.law.principal import at_terminal as person_here
from metnos.models import keys
from models.server import fails, says, serving
from tables import try_each

KEY = "sk-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_servers_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_terminal, "discover", list)


def use(page: Client, url: str, key: str = "", tier: str = "main") -> None:
    for name, value in (("url", url), ("name", "tiny"), ("key", key)):
        page.app.set_setting(f"models.{tier}.{name}", value, person_here())


def test_without_a_model_every_tier_says_so(page: Client) -> None:
    found = page.get("/api/models")
    assert set(found["tiers"]) == {"main", "fast", "wise"}
    assert [each["ready"] for each in found["tiers"].values()] == [False] * 3
    tested = page.post("/api/models/main/test")
    assert (tested["ok"], tested["error"]) == (False, "no language model is in use")


def test_the_tiers_are_those_of_the_terminal(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    use(page, "http://127.0.0.1:9/v1")
    use(page, "https://cloud.example/v1?secret=1", "file:cloud", tier="wise")
    found = page.get("/api/models")
    told = typed(page, monkeypatch, at_terminal.model, "list")
    assert {name: (each["name"], each["where"]) for name, each in found["tiers"].items()} == {
        each["tier"]: (each["model"], each["where"]) for each in told["tiers"]
    }
    main, fast, wise = (found["tiers"][name] for name in ("main", "fast", "wise"))
    assert (main["outside"], main["own"], fast["own"], fast["ready"]) == (False, True, False, True)
    assert (wise["outside"], wise["key"], wise["url"]) == (True, True, "https://cloud.example/v1")
    assert [each["name"] for each in found["files"]] == [each["name"] for each in told["files"]]


def test_a_model_that_answers(page: Client) -> None:
    with serving(says("Ro", "me.")) as running:
        use(page, running.url)
        tested = page.post("/api/models/fast/test")
    assert (tested["ok"], tested["said"], tested["error"]) == (True, "Rome.", "")
    assert tested["tokens"] > 0
    assert len(running.seen) == 1


def test_a_model_that_does_not_is_tried_once_and_its_key_is_never_shown(page: Client) -> None:
    keys.store_in_file("cloud", KEY, page.app.workspace.keys)
    with serving(fails(503), fails(503), fails(503)) as running:
        use(page, running.url, "file:cloud")
        answer = page.http.post("/api/models/main/test", json={}, headers=page.headers)
    assert answer.json()["ok"] is False
    assert answer.json()["error"]
    assert len(running.seen) == 1
    shown = answer.text + page.http.get("/api/models", headers=page.headers).text
    assert KEY not in shown
    assert "file:cloud" not in shown


def test_nobody_but_the_owner_spends_anything(page: Client) -> None:
    with serving(says("Rome.")) as running:
        use(page, running.url)
        for other in (page.device("read_only"), page.program("full")):
            assert other.refused("POST", "/api/models/main/test")[0] == 403
        assert page.device("read_only").get("/api/models")["tiers"]["main"]["ready"]
    assert running.seen == []


@try_each("tier", ["huge", "..%2f", "MAIN", "%00"])
def test_there_is_no_other_tier(page: Client, tier: str) -> None:
    assert page.refused("POST", f"/api/models/{tier}/test")[0] in (400, 404, 422)
