"""The settings over HTTP: all of them with what they may be, and what may be changed from where."""

import tomllib
from typing import Any

import pytest

from api.http.served import Client
from api.http.typed import typed
from metnos.cli import config as at_terminal
from metnos.core.setting_guards import is_key
from metnos.law import audit_log
from metnos.law.principal import at_terminal as person_here
from tables import try_each

SECRET = "sk-do-not-show"


def named(page: Client, name: str) -> dict[str, Any]:
    (found,) = [each for each in page.get("/api/settings")["settings"] if each["name"] == name]
    return found


def test_every_setting_is_there_with_what_it_may_be(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = page.get("/api/settings")["settings"]
    told = typed(page, monkeypatch, at_terminal.config, "show")
    assert [each["name"] for each in found] == [each["key"] for each in told]
    assert {each["name"]: (each["value"], each["source"]) for each in found if not each["secret"]} == {
        each["key"]: (each["value"], each["origin"]) for each in told if not is_key(each["key"])
    }
    assert all(each["description"] for each in found)
    autonomy = named(page, "policy.autonomy")
    assert (autonomy["type"], autonomy["choices"]) == ("choice", ["read_only", "supervised", "full"])
    assert named(page, "night.backup")["type"] == "yes or no"
    assert named(page, "turn.steps") | {"description": ""} == {
        "name": "turn.steps", "value": 12, "default": 12, "source": "default", "type": "whole number", "choices": [],
        "bounds": "at least 1, at most 50", "description": "", "secret": False, "terminal": False,
        "variable": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("turn.steps", 7, 7),
        ("turn.steps", "7", 7),
        ("turn.steps", "1", 1),
        ("night.backup", False, False),
        ("fastpath.wrong_share", 0.05, 0.05),
        ("policy.autonomy", "full", "full"),
        ("models.main.url", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("models.main.name", 'tiny "quoted"\n\0', 'tiny "quoted"\n\0'),
    ],
)
def test_a_setting_is_changed_and_holds_at_once(page: Client, name: str, value: Any, stored: Any) -> None:
    assert page.post("/api/settings", name=name, value=value) == {"name": name, "value": stored, "wins": ""}
    shown = named(page, name)
    assert (shown["value"], shown["source"]) == (stored, "file")
    *sections, leaf = name.split(".")
    table = tomllib.loads(page.app.workspace.settings.read_text())
    for section in sections:
        table = table[section]
    assert table[leaf] == stored
    newest = next(line for line in audit_log.backwards(page.app.workspace.audit) if line.kind == "setting changed")
    assert newest.entry.names["setting"] == name


def test_where_a_key_lies_is_told_by_its_kind_only(page: Client) -> None:
    page.app.set_setting("models.main.key", f"file:{SECRET}", person_here())
    page.app.set_setting("telegram.token", f"env:{SECRET}", person_here())
    answer = page.http.get("/api/settings", headers=page.headers)
    assert SECRET not in answer.text
    assert named(page, "models.main.key")["value"] == "file:…"
    assert named(page, "telegram.token")["value"] == "env:…"


@try_each(
    ("name", "value"),
    [
        ("sandbox.bwrap", "/tmp/evil"),
        ("web.host", "0.0.0.0"),
        ("web.hosts", "evil.example"),
        ("web.behind_proxy", True),
        ("mcp.elicit", True),
        ("telegram.api_base", "https://evil.example"),
        ("otel.endpoint", "https://evil.example"),
        ("backup.folder", "/tmp"),
        ("models.main.key", "file:other"),
        ("models.main.url", "https://evil.example/v1"),
        ("models.main.url", "http://box/v1"),
        ("embed.url", "https://evil.example/v1"),
        ("models.wise.provider", "anthropic"),
    ],
)
def test_what_could_open_the_house_is_changed_at_the_terminal_only(page: Client, name: str, value: Any) -> None:
    before = page.app.workspace.settings.read_bytes()
    status, what = page.refused("POST", "/api/settings", {"name": name, "value": value})
    assert (status, "terminal" in what) == (403, True)
    assert page.app.workspace.settings.read_bytes() == before


def test_a_key_never_goes_to_another_address(page: Client) -> None:
    page.app.set_setting("models.main.url", "https://cloud.example/v1", person_here())
    page.app.set_setting("models.main.key", "file:cloud", person_here())
    assert (
        page.refused("POST", "/api/settings", {"name": "models.main.url", "value": "http://127.0.0.1:9/v1"})[0] == 403
    )
    assert page.refused("POST", "/api/settings", {"name": "models.main.url", "value": ""})[0] == 403


def test_nobody_allows_more_than_they_may_themselves(page: Client) -> None:
    supervised = page.device("supervised")
    assert supervised.refused("POST", "/api/settings", {"name": "policy.autonomy", "value": "full"})[0] == 403
    assert supervised.post("/api/settings", name="policy.autonomy", value="read_only")["value"] == "read_only"
    assert supervised.post("/api/settings", name="policy.autonomy", value="supervised")["value"] == "supervised"


def test_only_the_owner_changes_anything(page: Client) -> None:
    for other in (page.device("read_only"), page.program("full")):
        assert other.refused("POST", "/api/settings", {"name": "turn.steps", "value": 7})[0] == 403
    assert page.device("read_only").get("/api/settings")["settings"]


@try_each(
    ("body", "status"),
    [
        ({"name": "turn.stepz", "value": 7}, 404),
        ({"name": "__class__", "value": 7}, 404),
        ({"name": "turn", "value": 7}, 404),
        ({"name": "turn.steps", "value": 99}, 400),
        ({"name": "turn.steps", "value": "many"}, 400),
        ({"name": "turn.steps", "value": 10**400}, 400),
        ({"name": "policy.autonomy", "value": "god"}, 400),
        ({"name": "night.at", "value": "25:99"}, 400),
        ({"name": "turn.steps", "value": None}, 422),
        ({"name": "turn.steps", "value": [1]}, 422),
        ({"name": "turn.steps", "value": "x" * 10_000}, 422),
        ({"name": "turn.steps"}, 422),
        ({"name": "x" * 101, "value": 1}, 422),
        (b'{"name": "turn.planner", "value": "\\ud800"}', 422),
        (b'{"name": "fastpath.wrong_share", "value": NaN}', 400),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_changes(page: Client, body: Any, status: int) -> None:
    before = page.app.workspace.settings.read_bytes()
    assert page.refused("POST", "/api/settings", body)[0] == status
    assert page.app.workspace.settings.read_bytes() == before
