"""The settings of what reaches out of the house: Telegram, the daemon's log, telemetry to a collector of your own."""

from typing import Annotated, Literal

from pydantic import Field

from metnos.core.section import Section

# No `user:password@`: a secret does not belong in a file that is shown and backed up.
_ADDRESS = r"https?://[^\s/?#@]+(/[^\s@]*)?"


class WebSettings(Section):
    enabled: bool = Field(True, description="Whether the daemon serves the web page and the HTTP API.")
    host: Annotated[str, Field(min_length=1, max_length=255)] = Field(
        "127.0.0.1", description="The address to listen at. Anything but this machine needs a certificate."
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        8674,
        description="The port. While none is set, and this one is taken at the first start, another one is chosen and"
        " kept. What is set is that port or none; 0 is any that is free, another one at each start.",
    )
    hosts: tuple[str, ...] = Field(
        (), description="Other names under which a browser may reach it, such as `metnos.home:8443`."
    )
    tls_certificate: str = Field("", description="The file with the certificate, for TLS without a proxy.")
    tls_key: str = Field("", description="The file with the certificate's key.")
    behind_proxy: bool = Field(False, description="Whether a proxy with TLS stands before it and nobody gets past it.")
    accounts: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")], ...] = Field(
        (),
        description="Other accounts of this machine whose programs may connect, by name or number, such as that of a"
        " proxy. They still need a secret. Nobody else's connection comes in, not even root's.",
    )
    session_days: Annotated[float, Field(gt=0, le=365)] = Field(
        30.0, description="For how many days a browser that opened a one-time link stays signed in."
    )
    reads_per_s: Annotated[float, Field(gt=0, le=1_000_000)] = Field(
        200.0, description="How many pages and answers one device may ask for in a second."
    )
    writes_per_s: Annotated[float, Field(gt=0, le=1_000_000)] = Field(
        10.0, description="How many changes one device may ask for in a second."
    )


class TelegramSettings(Section):
    enabled: bool = Field(
        False, description="Whether `metnos serve` speaks to your Telegram bot. See docs/telegram.md."
    )
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


class McpSettings(Section):
    level: Literal["read_only", "supervised"] = Field(
        "supervised",
        description="What an MCP client may have done without asking, at most: `read_only` or `supervised`.",
    )
    elicit: bool = Field(
        False,
        description="Whether an MCP client may show questions to whoever sits before it, and their yes counts: only for"
        " what this client asked for and what can be taken back. Nobody notices a client that answers by itself.",
    )
