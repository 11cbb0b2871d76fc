"""A bot that runs against the double, on a real workspace with real turns."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx._transports.default as transports
import pytest

from api.telegram.chatting import Chat, Home
from api.telegram.double import Double
from metnos.app import App
from metnos.core.clock import MovableClock


@pytest.fixture(autouse=True, scope="session")
def _certificates_read_once() -> Iterator[None]:
    """Each client reads all certificates, also to speak with a double that has none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transports, "create_ssl_context", cache(transports.create_ssl_context))
        yield


@pytest.fixture
def chat(equipped: App, clock: MovableClock, tmp_path: Path) -> Iterator[Chat]:
    double = Double(clock.now)
    chat = Chat(double, Home(equipped), clock, tmp_path / "telegram.db", token=lambda: double.token)
    chat.start()
    yield chat
    for bot in chat.bots:
        bot.see_out(1, 5)
    double.close()


@pytest.fixture
def paired(chat: Chat) -> Chat:
    chat.pair()
    return chat


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A home with a file, and a folder to move it to."""
    home = tmp_path / "home"
    (home / "done").mkdir()
    (home / "one.txt").write_text("1")
    return home
