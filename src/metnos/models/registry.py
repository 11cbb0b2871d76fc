"""Which language model serves which tier, as the settings say.

Rules: three tiers: ``main`` plans, ``fast`` answers short questions, ``wise`` hard ones; a tier without a model of its
own is served by ``main``, and without that there is none, which is fine. Nothing is started, looked up or sent before
the first question; tiers that say the same share one model. While everything is halted, or the audit is in doubt,
whoever opened the workspace refuses every question (``refuse``); what there is can still be shown.
"""

from functools import partial
from pathlib import Path
from typing import cast

from metnos.core.sections_models import ModelSettings, ModelsSettings
from metnos.models import keys
from metnos.models.account import Account
from metnos.models.budget import Meter, Metered, Refuse, Use
from metnos.models.chat import Chat
from metnos.models.local import Local
from metnos.models.patience import Patience
from metnos.models.remote import Remote, price_of

TIERS = ("main", "fast", "wise")


def settings_of(settings: ModelsSettings, tier: str) -> ModelSettings | None:
    """The settings that serve one of `TIERS`; none if no model does."""
    own = cast(ModelSettings, getattr(settings, tier))
    serving = own if own.configured else settings.main
    return serving if serving.configured else None


class Models:
    """The language models of a workspace, each made once."""

    def __init__(
        self,
        settings: ModelsSettings,
        keys_folder: Path,
        *,
        patience: Patience | None = None,
        account: Account | None = None,
        refuse: Refuse = lambda: None,
    ) -> None:
        self.account = account
        self._refuse = refuse
        self._settings = settings
        self._keys_folder = keys_folder
        self._patience = patience or Patience(settings.retries)
        self._made: dict[ModelSettings, Remote | Local] = {}

    def tier(self, tier: str) -> Chat | None:
        """The model that serves ``tier``, to know what it is like; to ask it, take `metered`."""
        serving = settings_of(self._settings, tier)
        if serving is None:
            return None
        if serving not in self._made:
            self._made[serving] = self._make(serving)
        return self._made[serving]

    def metered(self, tier: str, meter: Meter, use: Use = "life") -> Chat | None:
        """The same, every call checked against a turn's budget first, and against the money of the whole life.

        Only ``use="death"`` may draw on what is kept for its end, and asks while everything is halted: a death halts
        everything first.
        """
        chat, serving = self.tier(tier), settings_of(self._settings, tier)
        if chat is None or serving is None:
            return None
        fund = self.account.fund(use) if self.account else None
        return Metered(chat, meter, price_of(serving), fund, self._refuse if use == "life" else lambda: None)

    def hurried(self, settings: ModelsSettings) -> "Models":
        """The same, by other settings: as many questions, as much money, and refused as these are."""
        return Models(settings, self._keys_folder, account=self.account, refuse=self._refuse)

    def close(self) -> None:
        """End what runs in this process."""
        while self._made:
            self._made.popitem()[1].close()

    def _make(self, settings: ModelSettings) -> Remote | Local:
        if settings.provider == "local":
            return Local(settings)
        return Remote(settings, partial(keys.find, settings.key, self._keys_folder), patience=self._patience)
