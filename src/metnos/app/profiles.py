"""Which profile and which pack a workspace lives by: the settings name them, files hold them."""

from typing import TYPE_CHECKING

from metnos.life import pack as packs
from metnos.life import profile as profiles

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.grimoire.domain import Domain
    from metnos.life.profile import Profile

FOLDER, PACKS = "profiles", "packs"  # of the workspace: the owner's own


def profile(app: "App") -> "Profile":
    """How this agent lives."""
    return profiles.read(app.settings.life.profile, app.workspace.root / FOLDER)


def pack(app: "App") -> "Domain":
    """The walk of life that it is about."""
    return packs.read(profile(app).pack, app.workspace.root / PACKS)
