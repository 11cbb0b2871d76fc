"""The library that speaks to Telegram, kept in one place: its client, and what its errors mean.

Loaded only where the channel runs: the library is heavy.

Rules: the token is in every address that is asked for, so nothing that the library says of its own accord is logged,
and no text of its errors leaves this module. The environment is not asked for proxies: the settings say it.
"""

import asyncio
import json
import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from telegram import Bot
from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, TelegramError
from telegram.request import HTTPXRequest

from metnos.core.errors import DaemonError
from metnos.core.sections_outward import TelegramSettings

_TOO_MANY = 429
_CONNECT_S, _ANSWER_S = 10.0, 20.0
_LATER_S = 30.0  # if Telegram does not say how long
_LONGEST_S = 3600.0


class Trouble(StrEnum):
    """What went wrong, as far as it matters for what to do next."""

    TOKEN = "token"  # noqa: S105 -- a name, no token
    CONFLICT = "conflict"  # another program uses the same bot
    LATER = "later"  # too much at once
    NETWORK = "network"
    REFUSED = "refused"  # this very request; the next one may be fine
    MISTAKE = "mistake"


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in our words; ``wait_s`` is what Telegram asked for."""

    trouble: Trouble
    wait_s: float = 0.0


class TooMuch(TelegramError):
    """Telegram wants to be left alone for a while."""

    def __init__(self, wait_s: float) -> None:
        super().__init__("too many requests")
        self.wait_s = wait_s


class _Request(HTTPXRequest):
    """Asks, and tells a flood limit by its number alone: the library's own error changes its shape with its version."""

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        code, payload = await super().do_request(*args, **kwargs)
        if code == _TOO_MANY:
            raise TooMuch(_wanted(payload))
        return code, payload


def open_bot(token: str, settings: TelegramSettings) -> Bot:
    """A client for one bot. Nothing is asked yet."""
    _hush()
    base = settings.api_base.rstrip("/")
    return Bot(
        token,
        base_url=f"{base}/bot",
        base_file_url=f"{base}/file/bot",
        request=_request(settings, 16, _ANSWER_S),
        get_updates_request=_request(settings, 1, settings.poll_s + _ANSWER_S),
    )


def meet(token: str, settings: TelegramSettings) -> str:
    """The name under which Telegram knows the bot. Raises `DaemonError`, without anything of the token."""

    async def ask() -> str:
        async with open_bot(token, settings) as bot:
            return bot.username

    try:
        return asyncio.run(ask())
    except (TelegramError, OSError) as error:
        trouble = fault(error).trouble
    said = {Trouble.TOKEN: "Telegram does not accept the token"}.get(trouble, "Telegram cannot be asked now")
    fix = "Store the right one: metnos telegram token" if trouble is Trouble.TOKEN else "Try again in a while."
    raise DaemonError(f"{said} ({trouble})", fix=fix)


def fault(error: BaseException) -> Fault:
    """What an error means. A refusal counts as a network error in the library, so that it comes first here."""
    if isinstance(error, TooMuch):
        return Fault(Trouble.LATER, error.wait_s)
    kinds: tuple[tuple[Any, Trouble], ...] = (
        (InvalidToken, Trouble.TOKEN),
        (Conflict, Trouble.CONFLICT),
        ((BadRequest, Forbidden), Trouble.REFUSED),
        ((NetworkError, OSError, asyncio.TimeoutError), Trouble.NETWORK),
        (TelegramError, Trouble.NETWORK),
    )
    return Fault(next((trouble for kind, trouble in kinds if isinstance(error, kind)), Trouble.MISTAKE))


def _request(settings: TelegramSettings, connections: int, answer_s: float) -> _Request:
    return _Request(
        connection_pool_size=connections,
        connect_timeout=_CONNECT_S,
        read_timeout=answer_s,
        write_timeout=_ANSWER_S,
        pool_timeout=_ANSWER_S,
        proxy=settings.proxy or None,
        httpx_kwargs={"trust_env": False},
    )


def _wanted(payload: bytes) -> float:
    try:
        return min(max(float(json.loads(payload)["parameters"]["retry_after"]), 0.0), _LONGEST_S)
    except (ValueError, KeyError, TypeError):
        return _LATER_S


def _hush() -> None:
    """These name addresses, which hold the token, and what was said."""
    for name in ("telegram", "httpx", "httpcore"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False
