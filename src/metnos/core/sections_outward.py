"""The settings of what reaches out of the house: Telegram, the daemon's log, telemetry to a collector of your own."""

from typing import Annotated, Literal

from pydantic import Field

from metnos.core.section import Section

# No `user:password@`: a secret does not belong in a file that is shown and backed up.
_ADDRESS = r"https?://[^\s/?#@]+(/[^\s@]*)?"


class TelegramSettings(Section):
    enabled: bool = Field(False, description="Whether `metnos serve` speaks to your Telegram bot. See docs/telegram.md.")
    token: str = Field(
        "file:telegram",
        pattern=r"^(env|keyring|file):[A-Za-z0-9_.-]{1,64}$",
        description="Where the bot's token is: `env:VARIABLE`, `keyring:NAME` or `file:NAME` (in the workspace's"
        " `.keys`). `metnos telegram token` stores one.",
    )
    api_base: str = Field(
        "https://api.telegram.org",
        pattern=f"^{_ADDRESS}$",
        description="The server of the Bot API. Another one than Telegram's must be at home or speak https.",
    )
    proxy: str = Field(
        "", pattern=f"^({_ADDRESS})?$", description="An HTTP proxy on the way there. Empty: none is used."
    )
    poll_s: Annotated[int, Field(ge=0, le=50)] = Field(
        25, description="How long one question for news may stay open, in seconds."
    )


class LogSettings(Section):
    format: Literal["text", "json"] = Field(
        "text", description="How `metnos serve` logs: `text` (a sentence and its fields) or `json` (one object a line)."
    )


class OtelSettings(Section):
    endpoint: str = Field(
        "",
        pattern=f"^({_ADDRESS})?$",
        description="The OTLP/HTTP address of a collector of your own, such as `http://127.0.0.1:4318`. Empty: nothing"
        " is sent anywhere. See docs/observability.md.",
    )
    key: str = Field(
        "",
        pattern=r"^((env|keyring|file):[A-Za-z0-9_.-]{1,64})?$",
        description="Where the collector's key is, if it wants one; sent as `Authorization: Bearer`.",
    )
    timeout_s: Annotated[float, Field(gt=0, le=60)] = Field(
        5.0, description="How long the collector may take, in seconds. Turns never wait for it."
    )
