"""What Metnos would propose, shown without asking anything."""

import json
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.turned import close
from metnos.app import App, learning
from metnos.cli import Choice, synt_thinking
from metnos.cli.synt import synt
from metnos.grimoire.trace import Desired, State


@pytest.fixture
def house(equipped: App, monkeypatch: pytest.MonkeyPatch) -> App:
    equipped.__dict__["embedder"] = None
    monkeypatch.setattr(synt_thinking, "open_app", lambda _: equipped)
    return equipped


def type_in(*line: str) -> Result:
    return CliRunner().invoke(synt, ["introspect", *line], obj=Choice(None), standalone_mode=False)


def data() -> Any:
    return json.loads(type_in("--json").stdout)


def wish(app: App, count: int, summary: str = "what the pages say") -> None:
    for number in range(count):
        wished = Desired("describe_urls", "request", "", {"summary": summary})
        close(app, number, "what is there?", [], desired=(wished,), state=State.NOTHING, plan={"kind": "nothing"})
        app.clock.move(timedelta(hours=1))  # type: ignore[attr-defined]
    learning.catch_up(app)


def test_nothing_is_missing_at_first(house: App) -> None:
    assert type_in().stdout == "Nothing was found that is missing, broken or one too many.\n"
    found = data()
    assert (found["findings"], found["notes"]) == ([], [])
    assert [end["weight"] for end in found["ends"]] == [1.0, 0.7]


def test_it_shows_scores_and_reasons_and_asks_nothing(house: App) -> None:
    wish(house, 3, "say \x1b[2Jwhat \u202ethe pages <b>say</b>")
    (found,) = data()["findings"]
    assert (found["kind"], found["verdict"], found["name"], found["uses"]) == ("receptor", "ask", "describe_urls", 3)
    assert found["score"] == pytest.approx(found["worth"] * found["support"] * (1 - found["bother"]), abs=0.001)
    assert len(found["turns"]) == 3
    shown = type_in().stdout
    assert "describe urls, wished for as “say 2Jwhat the pages b say /b”" in shown
    assert "ask: it serves your ends well enough to ask" in shown
    assert "\x1b[2J" not in shown
    assert house.inbox.waiting() == []
    assert house.growing.proposals.all() == []


def test_a_broken_end_is_named(house: App) -> None:
    (house.workspace.root / "TELOS.md").write_text("- lots Save me time\n")
    wish(house, 3)
    shown = type_in()
    assert "line 1: an end begins with its weight" in shown.stderr
    assert "names no end" in shown.stdout
