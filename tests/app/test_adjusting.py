"""The settings for whoever shows and changes them."""

import pytest

from metnos.app import App, adjusting
from metnos.core import setting_guards as guards
from metnos.core import settings
from metnos.core.errors import Refused, UsageError
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal

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
    ],
)
def test_no_script_opens_a_door_or_moves_a_fence(opened: App, name: str, value: str) -> None:
    assert adjusting.needs_person(opened, name, value)


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


def test_no_key_goes_to_an_address_that_a_script_chose(opened: App) -> None:
    adjusting.change(opened, "models.main.key", "file:cloud", at_terminal())
    assert adjusting.needs_person(opened, "models.main.url", "http://127.0.0.1:9/v1")


def test_every_door_and_every_fence_needs_a_person(opened: App) -> None:
    guarded = [each.name for each in adjusting.sheet(opened) if each.terminal or guards.is_limit(each.name)]
    free = [name for name in guarded if not adjusting.needs_person(opened, name, "1")]
    assert free == ["store.busy_timeout_s", "disk.warn_free_mb", "disk.need_free_mb"]
