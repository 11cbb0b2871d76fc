"""What Telegram delivers, as a record of our own: who, where, what, when.

Rules: only what a person wrote themselves, just now, in a chat that nobody else reads, is a message; a press is a press
of a button under a message of ours in such a chat. Everything else (groups, channels, other bots, edits, forwarded
words, pictures) is named for what it is, so that whoever decides can.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from telegram import CallbackQuery, Message, Update


class Kind(StrEnum):
    """What came."""

    TEXT = "text"
    PRESS = "press"
    FORWARDED = "forwarded"  # somebody else's words
    NO_TEXT = "no text"  # a picture, a voice, a sticker
    ELSEWHERE = "elsewhere"  # not in a chat of two
    OTHER = "other"  # an edit, a bot, anything new


@dataclass(frozen=True, slots=True)
class Heard:
    """One update. ``chat`` is where to answer; ``message`` the one that was written, or whose button was pressed."""

    update: int
    kind: Kind
    user: int = 0
    chat: int = 0
    message: int = 0
    text: str = ""  # of a press: what the button carries
    at: datetime | None = None
    query: str = ""  # of a press: what to answer

    @property
    def sender(self) -> str:
        """The sender as the law knows them."""
        return f"tg:{self.user}"


def understand(update: "Update") -> Heard:
    """What an update is."""
    if update.callback_query is not None:
        return _press(update.update_id, update.callback_query)
    if update.message is not None:
        return _message(update.update_id, update.message)
    return Heard(update.update_id, Kind.OTHER)


def _press(number: int, query: "CallbackQuery") -> Heard:
    message = query.message
    if message is None or query.from_user.is_bot:
        return Heard(number, Kind.OTHER)
    user, chat = query.from_user.id, message.chat
    kind = Kind.PRESS if chat.type == "private" and chat.id == user else Kind.ELSEWHERE
    return Heard(number, kind, user, chat.id, message.message_id, query.data or "", None, query.id)


def _message(number: int, message: "Message") -> Heard:
    user, chat = message.from_user, message.chat
    if user is None or chat.type != "private" or chat.id != user.id:
        return Heard(number, Kind.ELSEWHERE)
    if user.is_bot or message.sender_chat is not None:
        return Heard(number, Kind.OTHER)
    borrowed = message.forward_origin is not None or message.via_bot is not None
    kind = Kind.FORWARDED if borrowed else Kind.TEXT if message.text else Kind.NO_TEXT
    return Heard(number, kind, user.id, chat.id, message.message_id, message.text or "", message.date)
