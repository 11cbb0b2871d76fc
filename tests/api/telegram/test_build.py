"""The bot as a face of the real daemon: wanted or not, started, told of, and seen out."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from api.standin import until
from api.telegram.double import OWNER, TOKEN, Double
from metnos.api.daemon import Daemon, Household
from metnos.api.serving import Counter
from metnos.api.telegram import build
from metnos.app import App
from metnos.app.observing import Observer
from metnos.core.clock import MovableClock
from metnos.core.errors import SettingsError
from metnos.core.log import Log
from metnos.core.sections_outward import TelegramSettings
from metnos.law.principal import Autonomy, Channel, at_terminal
from metnos.models import keys


@pytest.fixture
def double(clock: MovableClock) -> Iterator[Double]:
    made = Double(clock.now)
    yield made
    made.close()


def household(counter: Counter) -> "contextlib.AbstractContextManager[Household]":
    return counter.lease()  # type: ignore[return-value]  # the daemon below opens households


def test_the_daemon_serves_the_bot_and_logs_what_ended(
    equipped: App, clock: MovableClock, double: Double, tmp_path: Path
) -> None:
    keys.store_in_file("telegram", TOKEN, equipped.workspace.keys)
    (tmp_path / "home" / "one.txt").write_text("1")
    settings = TelegramSettings(enabled=True, api_base=double.url, poll_s=1)
    lines: list[str] = []
    log = Log(lines.append, "json", clock)

    def faces(counter: Counter) -> list[object]:
        bot = build.channel(counter, lambda: household(counter), settings, equipped.workspace, clock)
        assert bot is not None
        return [bot, Observer(lambda: household(counter), log)]

    daemon = Daemon(
        equipped.workspace,
        lambda: Household(App.open(equipped.workspace, clock), log),
        clock,
        log,
        faces=faces,  # type: ignore[arg-type]
    )
    thread = Thread(target=daemon.run)
    thread.start()
    try:
        code = equipped.pairing.offer(Channel.TELEGRAM, Autonomy.SUPERVISED, 5, at_terminal())
        double.say(f"/pair {code}")
        until(lambda: any("Paired" in text for text in double.texts))
        assert daemon._status()["telegram"] == "connected"
        double.say("find the txt files in ~")
        until(lambda: any("one.txt" in text for text in double.texts))
    finally:
        daemon.stop()
        thread.join(60)
    assert not thread.is_alive()
    (ended,) = [line for line in lines if '"turn ended"' in line]
    assert '"channel": "telegram"' in ended
    assert not any(TOKEN in line or code in line or "one.txt" in line for line in lines)
    assert equipped.medium.newest(1)[0].state == "done"
    assert not any(call.params.get("chat_id") not in (None, str(OWNER)) for call in double.calls)


def test_an_owner_who_wants_none_has_none(equipped: App, clock: MovableClock) -> None:
    settings = equipped.settings.telegram
    counter = Counter.__new__(Counter)
    assert build.channel(counter, contextlib.nullcontext, settings, equipped.workspace, clock) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("base", ["http://telegram.example.org", "http://198.51.100.7:8081"])
def test_the_token_goes_nowhere_in_the_clear(base: str) -> None:
    with pytest.raises(SettingsError, match="not encrypted"):
        build.refuse_open_address(TelegramSettings(api_base=base))


@pytest.mark.parametrize("base", ["https://api.telegram.org", "http://127.0.0.1:8081", "http://192.168.1.5:8081"])
def test_home_and_https_are_fine(base: str) -> None:
    build.refuse_open_address(TelegramSettings(api_base=base))


def test_a_missing_token_says_how_to_store_one(equipped: App) -> None:
    with pytest.raises(SettingsError) as caught:
        build.find_token(TelegramSettings(), equipped.workspace.keys)
    assert "metnos telegram token" in caught.value.fix
