"""The channel as the settings want it, and where its token is. The daemon and the command both come here."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.core.errors import ModelError, SettingsError
from metnos.core.sections_outward import TelegramSettings
from metnos.core.workspace import Workspace
from metnos.models import keys
from metnos.models.address import at_home

if TYPE_CHECKING:
    from metnos.api.serving import Counter
    from metnos.api.telegram.channel import Telegram
    from metnos.api.telegram.doing import Lease
    from metnos.core.clock import Clock


def channel(
    counter: "Counter", lease: "Lease", settings: TelegramSettings, workspace: Workspace, clock: "Clock"
) -> "Telegram | None":
    """The channel, not started; nothing if the owner wants none."""
    if not settings.enabled:
        return None
    from metnos.api.telegram.channel import Telegram  # nothing of it is loaded where it is not wanted

    return Telegram(counter, lease, settings, token_of(settings, workspace.keys), workspace.telegram_db, clock)


def token_of(settings: TelegramSettings, keys_folder: Path) -> Callable[[], str]:
    """How to find the bot's token."""
    return partial(find_token, settings, keys_folder)


def find_token(settings: TelegramSettings, keys_folder: Path) -> str:
    """The bot's token, from where the settings say it is."""
    try:
        return keys.find(settings.token, keys_folder)
    except ModelError as error:
        raise SettingsError(error.what, fix="Store the token that @BotFather gave you: metnos telegram token") from None


def refuse_open_address(settings: TelegramSettings) -> None:
    """The token is part of every address: it goes nowhere unencrypted outside the home."""
    if not settings.api_base.startswith("https:") and not at_home(settings.api_base):
        raise SettingsError(
            "`telegram.api_base` is outside the home and not encrypted: everybody on the way could read the token",
            fix="Use https.",
        )
