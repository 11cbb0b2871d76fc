"""Sending: the synchronous side of the bot, for threads that run turns.

Rules: plain text only, no markup, and never a preview of a link: Telegram's servers would fetch it, and an address can
carry what should not leave. What Telegram asks to wait for is waited for, within bounds; what cannot be sent is not
sent, is logged by its kind, and never ends a turn. Does not guarantee that a message whose answer was lost on the way
comes only once.
"""

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metnos.api.telegram.rules import bounded, inert, pause, split
from metnos.core.errors import DaemonError

if TYPE_CHECKING:
    from telegram import Bot

_TRIES = 4
_LONGEST_S = 60.0  # that one message is waited for
_PATIENCE_S = 120.0  # all tries together

Button = tuple[str, str]  # what it says, what it carries
Buttons = Sequence[Sequence[Button]]


class Unsent(DaemonError):
    """A message could not be sent."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The bot of the moment, and the loop that it lives in. ``first_s`` is the first pause after a failure."""

    bot: "Bot"
    loop: asyncio.AbstractEventLoop
    first_s: float = 1.0


class Post:
    """Sends for one bot. Threads may share it."""

    def __init__(self, wire: Callable[[], Wire | None], log: Callable[[str], None]) -> None:
        self._wire = wire
        self._log = log

    def send(self, chat: int, text: str, buttons: Buttons = ()) -> int:
        """One message; returns its number. Raises `Unsent`."""
        return int(self._wait(lambda bot: _send(bot, chat, bounded(inert(text)), buttons)))

    def answer(self, chat: int, text: str) -> None:
        """As many messages as it takes. Raises `Unsent`."""
        for part in split(text):
            self._wait(lambda bot, part=part: _send(bot, chat, part, ()))  # type: ignore[misc]  # a default binds it

    def edit(self, chat: int, message: int, text: str, buttons: Buttons = ()) -> None:
        """Put another text, and other buttons or none, in the place of a message; what cannot be is left."""
        try:
            self._wait(lambda bot: _edit(bot, chat, message, bounded(inert(text)), buttons))
        except Unsent:
            return  # it was logged, and the old text says nothing wrong

    def tell(self, chat: int, text: str) -> None:
        """One message, some time soon; nobody waits for it."""
        self._soon(lambda bot: _send(bot, chat, bounded(inert(text)), ()))

    def acknowledge(self, query: str, text: str = "") -> None:
        """Say that a press arrived; ``text`` comes up on the screen for a moment."""
        self._soon(lambda bot: bot.answer_callback_query(query, text or None))

    def typing(self, chat: int) -> None:
        self._soon(lambda bot: bot.send_chat_action(chat, "typing"))

    # -- inside

    def _wait(self, make: Callable[["Bot"], Coroutine[Any, Any, Any]]) -> Any:
        wire = self._wire()
        if wire is None:
            raise Unsent("Telegram is not connected")
        future = asyncio.run_coroutine_threadsafe(self._try(wire, make), wire.loop)
        try:
            return future.result(_PATIENCE_S)
        except (concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            future.cancel()
            raise Unsent("Telegram did not take a message in time") from None

    def _soon(self, make: Callable[["Bot"], Coroutine[Any, Any, Any]]) -> None:
        wire = self._wire()
        if wire is not None:
            asyncio.run_coroutine_threadsafe(self._quietly(wire, make), wire.loop)

    async def _quietly(self, wire: Wire, make: Callable[["Bot"], Coroutine[Any, Any, Any]]) -> None:
        try:
            await self._try(wire, make)
        except Unsent:
            return  # it was logged

    async def _try(self, wire: Wire, make: Callable[["Bot"], Coroutine[Any, Any, Any]]) -> Any:
        from telegram.error import TelegramError

        from metnos.api.telegram.transport import Trouble, fault

        for number in range(1, _TRIES + 1):
            try:
                return await make(wire.bot)
            except (TelegramError, OSError) as error:
                found = fault(error)
                again = found.trouble in (Trouble.LATER, Trouble.NETWORK) and number < _TRIES
                wait_s = max(found.wait_s, pause(number, wire.first_s, _LONGEST_S))
                if not again or wait_s > _LONGEST_S:
                    self._log(f"telegram: a message was not sent: {found.trouble}")
                    raise Unsent(f"Telegram did not take a message: {found.trouble}") from None
            await asyncio.sleep(wait_s)
        raise Unsent("Telegram did not take a message")


async def _send(bot: "Bot", chat: int, text: str, buttons: Buttons) -> int:
    from telegram import LinkPreviewOptions

    sent = await bot.send_message(
        chat, text, link_preview_options=LinkPreviewOptions(is_disabled=True), reply_markup=_keyboard(buttons)
    )
    return int(sent.message_id)


async def _edit(bot: "Bot", chat: int, message: int, text: str, buttons: Buttons) -> None:
    from telegram import LinkPreviewOptions

    await bot.edit_message_text(
        text,
        chat,
        message,
        link_preview_options=LinkPreviewOptions(is_disabled=True),
        reply_markup=_keyboard(buttons),
    )


def _keyboard(buttons: Buttons) -> Any:
    from telegram import InlineKeyboardButton, InlineKeyboardMarkup

    if not buttons:
        return None
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(text, callback_data=data) for text, data in row] for row in buttons]
    )
