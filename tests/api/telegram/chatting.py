"""A bot that runs against the double, and what tests do with it."""

import contextlib
import dataclasses
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from api.standin import until
from api.telegram.double import OWNER, Call, Double
from metnos.api.line import Bell
from metnos.api.serving import Counter, Slots
from metnos.api.telegram.channel import Pace, Telegram
from metnos.api.telegram.rules import NUMBERS
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.sections_outward import TelegramSettings
from metnos.law.principal import Autonomy, Channel, at_terminal

QUICK = Pace(first_s=0.01, longest_s=0.05, token_s=0.05, conflict_s=0.05)


@dataclass
class Home:
    """An open workspace, as the daemon leases it."""

    app: App
    prompt_s: float = 30.0


@dataclass
class Chat:
    """The bot, its double, and the workspace behind it."""

    double: Double
    home: Home
    clock: MovableClock
    db: Path
    logged: list[str] = field(default_factory=list)
    bots: list[Telegram] = field(default_factory=list)
    token: Callable[[], str] = str

    @property
    def app(self) -> App:
        return self.home.app

    def start(self) -> Telegram:
        self.logged.clear()
        lease = lambda: contextlib.nullcontext(self.home)  # noqa: E731
        counter = Counter(
            lease=lease,  # type: ignore[arg-type]
            status=dict,
            stop=lambda: None,
            after=lambda: None,
            log=self.logged.append,
            stopping=Bell(),
            hurry=threading.Event(),
            slots=Slots(),
        )
        settings = TelegramSettings(enabled=True, api_base=self.double.url, poll_s=1)
        # Every step is shown at once, so that tests need not wait.
        numbers = dataclasses.replace(NUMBERS, edit_s=0.0, patient_s=0.0)
        bot = Telegram(counter, lease, settings, self.token, self.db, self.clock, pace=QUICK, numbers=numbers)
        bot.start()
        self.bots.append(bot)
        return bot

    def pair(self, level: Autonomy = Autonomy.SUPERVISED, user: int = OWNER) -> None:
        """Pair a sender the long way round."""
        code = self.app.pairing.offer(Channel.TELEGRAM, level, 10, at_terminal())
        before = len(self.double.sent)
        self.double.say(f"/pair {code}", user)
        until(lambda: any("Paired" in text for text in self.double.texts[before:]))

    def ask(self, text: str, user: int = OWNER) -> list[str]:
        """Say something; what the bot sent until it was silent again."""
        before = len(self.double.sent)
        self.double.say(text, user)
        self.quiet(before)
        return self.double.texts[before:]

    def quiet(self, before: int) -> None:
        """Wait until something was sent and nothing goes on."""
        until(lambda: len(self.double.sent) > before and not self.bots[-1]._errands.of(f"tg:{OWNER}"))

    def asked(self, number: int = 1) -> Call:
        """The question that is the ``number``-th with buttons."""
        until(lambda: len([call for call in self.double.sent if call.buttons]) >= number)
        return [call for call in self.double.sent if call.buttons][number - 1]

    def said(self, text: str) -> None:
        """Wait until the bot said it."""
        until(lambda: any(text in each for each in self.double.texts))

    def settled(self) -> None:
        """Wait until every update was taken up: Telegram has none that was not confirmed."""
        until(lambda: not self.double.updates)
