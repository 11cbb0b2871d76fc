"""A profile: how an agent lives, as a plain TOML file. What counts as a tick, which clocks run, what it lives on, how
often it beats, and which walk of life it is about (its pack).

Rules: two are shipped, `home` and `golem`; a file in the workspace's `profiles` folder is another one. A profile is
read and never written. It holds no address, no key and no text for a model: those are settings.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from metnos.life import toml_file

SHIPPED = Path(__file__).with_name("profiles")
Positive = Annotated[float, Field(gt=0, le=86_400)]


class Ticks(StrEnum):
    """What a tick is."""

    TURN = "turn"  # one closed turn: the agent lives when it is used
    HEARTBEAT = "heartbeat"  # one deliberation of its own: it lives by itself


@dataclass(frozen=True, slots=True)
class Clocks:
    """Which of the three clocks of vitality run."""

    economic: bool
    epistemic: bool
    stochastic: bool


@dataclass(frozen=True, slots=True)
class Budgets:
    """What a life is lived on. Zero: without a bound."""

    balance_usd: float  # for the whole life, the reserve for its end included
    ticks: int  # the greatest age
    beat_tokens: int  # that a language model may use for one deliberation
    beat_usd: float


@dataclass(frozen=True, slots=True)
class Rates:
    """How often it beats, in seconds: capture, deliberation between two bounds, consolidation between two bounds."""

    gamma: float
    theta: tuple[float, float]
    delta: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Profile:
    """How an agent lives."""

    name: str
    about: str
    ticks: Ticks
    pack: str
    clocks: Clocks
    budgets: Budgets
    rates: Rates

    @property
    def beats(self) -> bool:
        """Whether it lives by itself."""
        return self.ticks is Ticks.HEARTBEAT


class _Clocks(toml_file.Strict):
    economic: bool
    epistemic: bool
    stochastic: bool


class _Budgets(toml_file.Strict):
    balance_usd: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    ticks: Annotated[int, Field(ge=0, le=10**9)] = 0
    beat_tokens: Annotated[int, Field(ge=0, le=10**7)] = 4000
    beat_usd: Annotated[float, Field(ge=0, le=1e6)] = 0.01


class _Rates(toml_file.Strict):
    gamma_s: Positive = 10.0
    theta_s: Annotated[list[Positive], Field(min_length=2, max_length=2)] = Field(default_factory=lambda: [30.0, 120.0])
    delta_s: Annotated[list[Positive], Field(min_length=2, max_length=2)] = Field(
        default_factory=lambda: [300.0, 1200.0]
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.gamma_s <= self.theta_s[0] <= self.theta_s[1] <= self.delta_s[0] <= self.delta_s[1]:
            raise ValueError("capture must come at least as often as deliberation, and that as often as consolidation")
        return self


class _Profile(toml_file.Strict):
    about: Annotated[str, Field(max_length=300)] = ""
    ticks: Literal["turn", "heartbeat"]
    pack: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    clocks: _Clocks
    budgets: _Budgets = Field(default_factory=_Budgets)
    rates: _Rates = Field(default_factory=_Rates)


def read(name: str, own: Path | None = None) -> Profile:
    """The profile of that name. ``own`` is the folder of the owner's own profiles."""
    found = toml_file.read(toml_file.find("profile", name, SHIPPED, own), _Profile)
    rates = found.rates
    return Profile(
        name=name,
        about=found.about,
        ticks=Ticks(found.ticks),
        pack=found.pack,
        clocks=Clocks(**found.clocks.model_dump()),
        budgets=Budgets(**found.budgets.model_dump()),
        rates=Rates(rates.gamma_s, (rates.theta_s[0], rates.theta_s[1]), (rates.delta_s[0], rates.delta_s[1])),
    )
