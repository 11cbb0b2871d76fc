"""The settings of a life: which profile an agent lives by, and what it lives on."""

from typing import Annotated

from pydantic import Field

from metnos.core.section import Section


class LifeSettings(Section):
    profile: str = Field(
        "home",
        pattern=r"^[a-z][a-z0-9_-]{0,31}$",
        description="How this agent lives: `home` (a tick is a turn), `golem` (it beats by itself), or the name of a"
        " file of your own in the workspace's `profiles` folder, without its `.toml`. See docs/profiles.md.",
    )
    rpc: str = Field(
        "",
        pattern=r"^(https?://[^\s/?#@]+(/[^\s@]*)?)?$",
        description="The JSON-RPC address of a chain's server, for a pack whose events come from one, such as"
        " `http://127.0.0.1:8545`. Empty: no chain is read.",
    )
    rpc_key: str = Field(
        "",
        pattern=r"^((env|keyring|file):[A-Za-z0-9_.-]{1,64})?$",
        description="Where that server's key is, if it wants one; sent as `Authorization: Bearer`.",
    )
    rpc_timeout_s: Annotated[float, Field(gt=0, le=120)] = Field(
        10.0, description="How long that server may take for one answer, in seconds."
    )
    confirmations: Annotated[int, Field(ge=0, le=1000)] = Field(
        2, description="How many blocks to stay behind a chain's newest, which may still be taken back."
    )
    balance_usd: Annotated[float, Field(ge=0, le=1e9)] = Field(
        0.0,
        description="How many dollars this agent may spend on language models in its whole life. Of these, 2 % and at"
        " least $0.30 are kept for its end. 0: what its profile says; for `home` that is no bound.",
    )
    webhook: str = Field(
        "",
        pattern=r"^(https?://[^\s/?#@]+(/[^\s@]*)?)?$",
        description="An address of yours that is told when this agent has died: one POST with its key, the cause and"
        " the digest of its testament, and nothing that it lived or learnt. Empty: nobody is told.",
    )
