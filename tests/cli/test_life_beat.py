"""``metnos life beat``."""

import json

import pytest

from cli.warm import metnos
from life.local_chain import ETH, Account, chain
from metnos.core.settings_file import write_value
from metnos.core.workspace import Workspace


@pytest.fixture(autouse=True)
def _here(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METNOS_HOME", str(workspace.root))


@pytest.mark.slow
def test_a_golem_by_hand(workspace: Workspace) -> None:
    with chain() as url:
        account = Account(url)
        account.send(account.other, value=ETH)
        for name, value in (("profile", "golem"), ("rpc", url), ("confirmations", 0)):
            write_value(workspace.settings, f"life.{name}", value)
        settings = {"METNOS_EMBED__KIND": "none"}
        first = metnos("life", "beat", **settings)
        assert first.code == 0, first.err
        assert "gamma 1 (captured): blocks read 1, events 1, remembered 1" in first.out
        assert "theta 1 (deliberated): events 1, thought about 1" in first.out
        account.send(account.other, value=ETH)
        more = metnos("life", "beat", "-n", "2", "--every", "0", "--now", "gamma", "--json", **settings)
        beats = [each for each in json.loads(more.out) if each["beat"] == "gamma"]  # a slow machine may do more
        assert [each["number"] for each in beats] == [2, 3]
        assert beats[0]["counts"] == {"blocks": 1, "events": 1, "remembered": 1}
    away = metnos("life", "beat", "--now", "gamma", **settings)
    assert away.code == 1
    assert "gamma 4 (captured): failed: the chain's server did not say" in away.out


def test_an_agent_that_lives_by_turns_has_no_heart() -> None:
    found = metnos("life", "beat")
    assert found.code == 2
    assert "has no heart" in found.err
    assert "life.profile golem" in found.err
