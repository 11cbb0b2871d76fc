"""The settings for whoever shows and changes them."""

import pytest

from metnos.app import App, adjusting
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
    assert all(adjusting.at_terminal_only(name) for name in secret)
    pointing = {each.name for each in adjusting.sheet(opened) if "`env:VARIABLE`" in each.description}
    assert pointing <= secret
