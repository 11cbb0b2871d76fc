"""Profiles of an owner's own, for tests of lives that end."""

from metnos.app import App
from metnos.law.principal import at_terminal

_PROFILE = """
ticks = "{ticks}"
pack = "home"

[clocks]
economic = true
epistemic = true
stochastic = {stochastic}

[budgets]
balance_usd = {balance}
ticks = {limit}
"""


def mortal(app: App, *, ticks: str = "turn", balance: float = 0.0, limit: int = 0) -> App:
    """The same workspace, with a profile by which it can end."""
    folder = app.workspace.root / "profiles"
    folder.mkdir(exist_ok=True)
    text = _PROFILE.format(ticks=ticks, stochastic=str(limit > 0).lower(), balance=balance, limit=limit)
    (folder / "mortal.toml").write_text(text, encoding="utf-8")
    app.set_setting("life.profile", "mortal", at_terminal())
    opened = App.open(app.workspace, app.clock)
    opened.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return opened
