"""The settings for whoever shows and changes them."""

import pytest

from metnos.app import App, adjusting
from metnos.core import setting_guards as guards
from metnos.core import settings
from metnos.core.errors import Refused, UsageError
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal, of_account
from support import ROOT, kinds

PAGE = Principal(Channel.WEB, "phone", Autonomy.FULL)


def test_every_setting_has_a_type_that_its_default_fits(opened: App) -> None:
    kinds = {"yes or no": bool, "whole number": int, "number": float, "text": str, "list": list, "choice": str}
    found = adjusting.sheet(opened)
    assert [each.name for each in found] == [key.name for key in settings.keys()]  # noqa: SIM118 -- a function
    for each in found:
        assert isinstance(each.default, kinds[each.type]), each
        assert bool(each.choices) == (each.type == "choice")
        assert not each.choices or each.default in each.choices


def test_at_the_terminal_everything_can_be_set(opened: App) -> None:
    for name, value in (("sandbox.bwrap", "/usr/bin/bwrap"), ("models.main.url", "https://cloud.example/v1")):
        with pytest.raises(Refused, match="at the terminal only"):
            adjusting.change(opened, name, value, PAGE)
        assert adjusting.change(opened, name, value, at_terminal()) == value
    assert adjusting.change(opened, "models.main.key", "file:cloud", at_terminal()) == "file:…"


@pytest.mark.parametrize("name", [".bwrap", "sandbox", "policy.autonomy ", "", "settings.keys"])
def test_there_is_no_other_setting(opened: App, name: str) -> None:
    with pytest.raises(UsageError):
        adjusting.change(opened, name, "1", PAGE)


def test_whatever_points_to_a_key_is_a_secret(opened: App) -> None:
    secret = {each.name for each in adjusting.sheet(opened) if each.secret}
    assert {"models.main.key", "models.fast.key", "models.wise.key", "embed.key", "telegram.token"} <= secret
    assert all(guards.at_terminal_only(name) for name in secret)
    pointing = {each.name for each in adjusting.sheet(opened) if "`env:VARIABLE`" in each.description}
    assert pointing <= secret


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("web.host", "0.0.0.0"),
        ("web.hosts", "evil.example"),
        ("web.accounts", "nobody"),
        ("web.behind_proxy", "true"),
        ("telegram.api_base", "http://127.0.0.1:9"),
        ("telegram.enabled", "true"),
        ("otel.endpoint", "http://127.0.0.1:9/v1"),
        ("life.webhook", "http://127.0.0.1:9/"),
        ("life.rpc", "http://127.0.0.1:9/"),
        ("life.balance_usd", "100"),
        ("models.main.url", "https://cloud.example/v1"),
        ("models.wise.provider", "anthropic"),
        ("embed.url", "https://cloud.example/v1"),
        ("backup.folder", "/tmp/elsewhere"),
        ("policy.autonomy", "full"),
        ("policy.undo_days", "1"),
        ("policy.approval_hours", "720"),
        ("executors.births", "50"),
        ("sandbox.bwrap", "/tmp/bwrap"),
        ("sandbox.timeout_s", "100"),
        ("night.backup", "false"),
        ("mcp.elicit", "true"),
        ("memory.engine", "lance"),
        ("models.main.price_in", "0"),
        ("models.wise.price_out", "0"),
    ],
)
def test_no_script_opens_a_door_or_moves_a_fence(opened: App, name: str, value: str) -> None:
    assert adjusting.needs_person(opened, name, value)
    before = opened.workspace.settings.read_bytes()
    for channel in (Channel.SCRIPT, Channel.LIBRARY, Channel.NIGHT, Channel.MCP):
        with pytest.raises(Refused):
            opened.set_setting(name, value, Principal(channel, "owner", Autonomy.FULL))
    assert opened.workspace.settings.read_bytes() == before
    assert "setting changed" not in kinds(opened.workspace)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("disk.need_free_mb", "200"),
        ("policy.autonomy", "read_only"),
        ("turn.show", "7"),
        ("models.main.name", "m"),
        ("models.main.url", "http://127.0.0.1:11434/v1"),
        ("log.format", "json"),
    ],
)
def test_a_script_sets_what_can_do_no_harm(opened: App, name: str, value: str) -> None:
    assert not adjusting.needs_person(opened, name, value)
    opened.set_setting(name, value, of_account(Channel.SCRIPT))


def test_no_key_goes_to_an_address_that_a_script_chose(opened: App) -> None:
    adjusting.change(opened, "models.main.key", "file:cloud", at_terminal())
    for name, value in (("url", "http://127.0.0.1:9/v1"), ("name", "dearer"), ("key", "")):
        assert adjusting.needs_person(opened, f"models.main.{name}", value)


def test_who_changed_a_setting_is_in_the_audit(opened: App) -> None:
    opened.set_setting("turn.show", "7", PAGE)
    line = next(opened.audit.newest())
    assert {"setting": "turn.show", "channel": "web", "sender": "phone"}.items() <= line.entry.names.items()


def test_only_a_person_at_the_terminal_stores_a_key(opened: App) -> None:
    for by in (PAGE, of_account(Channel.SCRIPT), of_account(Channel.LIBRARY)):
        with pytest.raises(Refused, match="only a person may store a key"):
            adjusting.store_secret(opened, "model key stored", "cloud", "sk-0123456789", by, keyring=False)
    assert not (opened.workspace.keys / "cloud.token").exists()


def test_every_change_of_a_setting_comes_by_the_one_gate() -> None:
    """Nothing but `App.set_setting` writes metnos.toml, and nothing but `store_secret` stores a key."""
    source = ROOT / "src/metnos"
    users = {"settings_file.write_value": "app/house.py", "keys.store_in": "app/adjusting.py"}
    for call, place in users.items():
        found = {str(path.relative_to(source)) for path in source.rglob("*.py") if f"{call}" in path.read_text()}
        assert found == {place}


def test_every_door_and_every_fence_needs_a_person(opened: App) -> None:
    guarded = [each.name for each in adjusting.sheet(opened) if each.terminal or guards.is_limit(each.name)]
    free = [name for name in guarded if not adjusting.needs_person(opened, name, "1")]
    assert free == ["store.busy_timeout_s", "disk.warn_free_mb", "disk.need_free_mb"]
