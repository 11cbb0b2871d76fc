"""The settings of a life: which profile an agent lives by, and what it lives on."""

from pydantic import Field

from metnos.core.section import Section


class LifeSettings(Section):
    profile: str = Field(
        "home",
        pattern=r"^[a-z][a-z0-9_-]{0,31}$",
        description="How this agent lives: `home` (a tick is a turn), `golem` (it beats by itself), or the name of a"
        " file of your own in the workspace's `profiles` folder, without its `.toml`. See docs/profiles.md.",
    )
