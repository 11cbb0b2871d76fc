"""Language models over HTTP: which serves which tier, and whether one answers.

Rules: keys are neither read nor written here. A test is bounded: one small question, one try, and some seconds; a model
that does not answer by then is told to be slow, and its test goes on by itself until it ends.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from metnos.api.daemon import Household
from metnos.api.http.errands import Errand, TheErrands
from metnos.api.http.inside import PROBLEMS, House, Nothing, Owner, Who
from metnos.app import App
from metnos.app.modelling import Measured, measured, tier_row
from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelsSettings
from metnos.core.settings import load
from metnos.models import address, pins
from metnos.models.budget import Budget, Meter
from metnos.models.registry import TIERS, settings_of

router = APIRouter(prefix="/api/models", tags=["models"], responses=PROBLEMS)

_REMOTE_S = 30.0
_LOCAL_S = 60.0  # it may have to be read from the disk first
_SAID = 500

Tier = Annotated[Literal["main", "fast", "wise"], Path()]


class Serving(BaseModel):
    """What serves a tier."""

    provider: str | None
    name: str | None
    url: str | None
    where: str
    outside: bool = Field(description="Whether what it is told leaves the home.")
    own: bool = Field(description="Whether the tier has one of its own; else `main` serves it.")
    key: bool = Field(description="Whether a key is set for it.")
    ready: bool = Field(description="Whether a question could be put to it; whether it answers, a test says.")


class File(BaseModel):
    """A model that Metnos can run itself."""

    name: str
    size: int
    license: str
    about: str
    here: bool


class InUse(BaseModel):
    tiers: dict[str, Serving]
    files: list[File]


class Tested(BaseModel):
    """How a small question came out."""

    ok: bool
    seconds: float
    said: str
    tokens: int
    error: str
    fix: str


@router.get("", summary="Which model serves which tier")
def models(house: House, _who: Who) -> InUse:
    settings = load(house.workspace.settings).settings.models
    files = [
        File(name=pin.name, size=pin.size, license=pin.license, about=pin.about, here=pins.is_here(pin))
        for pin in pins.pins().values()
    ]
    return InUse(tiers={tier: _serving(settings, tier) for tier in TIERS}, files=files)


@router.post("/{tier}/test", summary="Put a small question to a model")
async def test(house: House, _by: Owner, errands: TheErrands, tier: Tier, _nothing: Nothing) -> Tested:
    """What it costs is what the question costs; it is not counted to any turn."""
    serving = settings_of(house.settings.models, tier)
    if serving is None:
        return _failed(ModelError("no language model is in use", kind="none", fix="See: metnos model list"), 0.0)
    local = serving.provider == "local"

    def work(household: Household, _errand: Errand) -> Measured:
        return _measured(household.app, tier, local=local)

    errand = errands.begin(f"the test of {tier}", work)
    try:
        found: Measured | None = await errand.arrival(_LOCAL_S if local else _REMOTE_S + 5)
    except ModelError as error:
        return _failed(error, errand.seconds)
    if found is None:
        return _failed(ModelError(f"no answer within {errand.seconds:.0f} s", kind="timeout"), errand.seconds)
    tokens = found.tokens_in + found.tokens_out
    return Tested(ok=True, seconds=round(found.seconds, 2), said=found.said[:_SAID], tokens=tokens, error="", fix="")


def _measured(app: App, tier: str, *, local: bool) -> Measured:
    """A server is asked with less patience than in a turn; a local model is the one that turns use."""
    budget = Budget(app.settings.models.turn_tokens, app.settings.models.turn_usd)
    if local:
        chat = app.models.metered(tier, Meter(budget))
        if chat is None:
            raise ModelError("no language model is in use any more", kind="none")
        return measured(chat, None)
    settings = app.settings.models
    hasty = {
        name: (own := getattr(settings, name)).model_copy(update={"timeout_s": min(own.timeout_s, _REMOTE_S)})
        for name in TIERS
    }
    hurried = settings.model_copy(update={**hasty, "retries": 0})
    impatient = app.models.hurried(hurried)
    try:
        asked = impatient.metered(tier, Meter(budget))
        if asked is None:
            raise ModelError("no language model is in use any more", kind="none")
        return measured(asked, None)
    finally:
        impatient.close()


def _serving(settings: ModelsSettings, tier: str) -> Serving:
    serving, own = settings_of(settings, tier), getattr(settings, tier)
    row = tier_row(tier, serving, own)
    return Serving(
        provider=serving.provider if serving else None,
        name=row["model"] if serving else None,
        url=address.shown(row["url"]) if row["url"] else None,
        where=row["where"],
        outside=serving is not None and not _at_home(serving.provider, serving.url),
        own=own.configured,
        key=bool(serving and serving.key),
        ready=serving is not None,
    )


def _at_home(provider: str, url: str) -> bool:
    return provider == "local" or address.at_home(url or address.ANTHROPIC)


def _failed(error: ModelError, seconds: float) -> Tested:
    return Tested(ok=False, seconds=round(seconds, 2), said="", tokens=0, error=error.what, fix=error.fix)
