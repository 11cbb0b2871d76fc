"""Who is listened to, and what becomes of each message and each press.

Rules: decided in this order: where it was said, who said it, how old it is, what it is. Strangers can pair and nothing
else. One thing at a time goes on for each sender.
"""

from datetime import timedelta

from metnos.api.telegram import words
from metnos.api.telegram.doing import Hands
from metnos.api.telegram.errands import Errand, Errands
from metnos.api.telegram.heard import Heard, Kind
from metnos.api.telegram.questions import Pressed
from metnos.api.telegram.rules import Limiter, command
from metnos.app import App
from metnos.core.clock import Clock
from metnos.core.errors import LawError, UsageError
from metnos.core.log import Bounded
from metnos.law.principal import Channel, Principal

_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)
_EVERYBODY = "*"
PAIR = "pair"


class Dispatch:
    """Decides. Called by one thread."""

    def __init__(self, hands: Hands, errands: Errands, clock: Clock) -> None:
        self._hands = hands
        self._errands = errands
        self._clock = clock
        self._limits = Limiter()
        self._post = hands.desk.post
        self._log = hands.counter.log
        self._of_strangers = Bounded(hands.counter.log)

    def take(self, app: App, heard: Heard, bot: str) -> None:
        """Do what an update wants, or begin it."""
        if heard.kind in (Kind.ELSEWHERE, Kind.OTHER):
            self._of_strangers(f"telegram: ignored what came: {heard.kind}")
            return
        device = app.pairing.device(Channel.TELEGRAM, heard.sender)
        if heard.kind is Kind.PRESS:
            self._pressed(heard, None if device is None else device.principal)
            return
        told = command(heard.text, bot) if heard.kind is Kind.TEXT else None
        if told is not None and told[0] == PAIR and not self._is_stale(heard):
            self._pair(app, heard, told[1], known=device is not None)
        elif device is None:
            self._hint(heard)
        else:
            self._known(app, heard, device.principal, told)

    # -- strangers

    def _hint(self, heard: Heard) -> None:
        numbers = self._hands.desk.numbers
        if self._may(f"hint {heard.sender}", numbers.hints, f"hint {_EVERYBODY}", numbers.all_hints):
            self._of_strangers("telegram: a stranger wrote")
            self._post.tell(heard.chat, words.STRANGER)

    def _pair(self, app: App, heard: Heard, code: str, *, known: bool) -> None:
        numbers = self._hands.desk.numbers
        if not known and not self._may(f"pair {heard.sender}", numbers.tries, f"pair {_EVERYBODY}", numbers.all_tries):
            return
        try:
            device, _ = app.pairing.redeem(code, Channel.TELEGRAM, heard.sender)
        except (LawError, UsageError) as error:
            self._of_strangers("telegram: a code was refused")
            self._post.tell(heard.chat, f"Not paired: {error.what}.")
            return
        self._log(f"telegram: device {device.id} paired, {device.level}")
        self._post.tell(heard.chat, f"Paired, with the level {device.level}.\n\n{words.HELP}")

    def _may(self, own: str, most: int, common: str, all_most: int) -> bool:
        now = self._clock.now()
        return self._limits.allow(own, now, most, _HOUR) and self._limits.allow(common, now, all_most, _HOUR)

    # -- those who are let in

    def _pressed(self, heard: Heard, principal: Principal | None) -> None:
        if principal is None:
            return
        if not principal.may_answer:
            self._post.acknowledge(heard.query, words.NOT_YOURS)
            return
        became = self._hands.desk.questions.press(heard.sender, heard.message, heard.text)
        self._post.acknowledge(heard.query, "" if became is Pressed.TAKEN else words.OVER)

    def _known(self, app: App, heard: Heard, principal: Principal, told: tuple[str, str] | None) -> None:
        refusal = self._refusal(heard)
        if refusal:
            self._post.tell(heard.chat, refusal)
        elif told is None and not heard.text.startswith("/"):
            self._begin(Errand(heard.chat, principal), "request", heard.text)
        else:
            self._command(app, heard, principal, told[0] if told else "")

    def _refusal(self, heard: Heard) -> str:
        if heard.kind is Kind.FORWARDED:
            return words.FORWARDED
        if heard.kind is Kind.NO_TEXT:
            return words.NO_TEXT
        return words.STALE if self._is_stale(heard) else ""

    def _is_stale(self, heard: Heard) -> bool:
        return heard.at is None or self._clock.now() - heard.at > self._hands.desk.numbers.stale

    def _command(self, app: App, heard: Heard, principal: Principal, name: str) -> None:
        if name == "stop":
            self._stop(heard)
        elif name == "status":
            self._post.tell(heard.chat, _status(app, self._errands.of(heard.sender) is not None))
        elif name in ("undo", "inbox"):
            self._begin(Errand(heard.chat, principal), name)
        else:
            self._post.tell(heard.chat, words.HELP)

    def _begin(self, errand: Errand, what: str, text: str = "") -> None:
        makers = {"undo": self._hands.undo, "inbox": self._hands.inbox}
        work = makers[what]() if what in makers else self._hands.request(text)
        if self._errands.begin(errand, work):
            return
        if self._limits.allow(f"busy {errand.sender}", self._clock.now(), self._hands.desk.numbers.busy, _MINUTE):
            asked = self._hands.desk.questions.is_open(errand.sender)
            self._post.tell(errand.chat, words.ANSWER_FIRST if asked else words.BUSY)

    def _stop(self, heard: Heard) -> None:
        errand = self._errands.of(heard.sender)
        if errand is None:
            self._post.tell(heard.chat, "Nothing goes on.")
            return
        errand.stop.set()
        self._hands.desk.questions.give_up(heard.sender)
        self._post.tell(heard.chat, "It ends at its next step.")


def _status(app: App, busy: bool) -> str:
    waiting = len(app.inbox.waiting())
    model = app.models.tier("main")
    return "\n".join(
        (
            app.halts.why() or ("At what you asked for." if busy else "Nothing goes on."),
            f"Waiting for an answer: {waiting}{' (/inbox)' if waiting else ''}",
            f"Level of this house: {app.settings.policy.autonomy}",
            f"Language model: {model.name if model else 'none'}",
        )
    )
