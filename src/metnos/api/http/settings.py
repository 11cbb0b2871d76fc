"""The settings over HTTP: what can be set, what is, and changing one.

What may be changed from a page, and by whom, is `metnos.app.adjusting`'s to say.
"""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt, StrictStr, StringConstraints

from metnos.api.http.inside import PROBLEMS, Body, House, Missing, Owner, Who
from metnos.app import adjusting
from metnos.core import settings as known
from metnos.core.errors import UsageError

router = APIRouter(prefix="/api/settings", tags=["settings"], responses=PROBLEMS)

Value = bool | int | float | str | list[str] | None


class Setting(BaseModel):
    """One setting as it is in force."""

    name: str
    value: Value
    default: Value
    source: str = Field(description="`default`, `file`, or `environment`, which wins over the file.")
    type: str
    choices: list[str]
    bounds: str
    description: str
    secret: bool = Field(description="It points to a key. Where that lies is told, and no more.")
    terminal: bool = Field(description="It is changed at the terminal only.")
    variable: str = Field(description="The environment variable that would win over it.")


class Settings(BaseModel):
    settings: list[Setting]


class Change(Body):
    name: str = Field(max_length=100)
    value: StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, StringConstraints(max_length=4000)]


class Changed(BaseModel):
    """The value as it was understood. ``wins``: a variable of the environment that is in force all the same."""

    name: str
    value: Value
    wins: str


@router.get("", summary="Every setting")
def settings(house: House, _who: Who) -> Settings:
    return Settings(settings=[_setting(each) for each in adjusting.sheet(house)])


@router.post("", summary="Change one setting")
def change(house: House, by: Owner, said: Change) -> Changed:
    """It holds for what is begun from then on."""
    try:
        key = known.require_key(said.name)
    except UsageError as error:
        raise Missing(error.what, fix=error.fix) from error
    value = adjusting.change(house, key.name, _text(said.value), by)
    wins = key.variable if house.loaded.origin(key.name) == "environment" else ""
    return Changed(name=key.name, value=value, wins=wins)


def _text(value: bool | int | float | str) -> str:
    """As it would be typed."""
    return value if isinstance(value, str) else str(value).lower()


def _setting(each: adjusting.Setting) -> Setting:
    shown: dict[str, Any] = {name: getattr(each, name) for name in Setting.model_fields if name != "source"}
    return Setting(**shown | {"source": each.origin, "choices": list(each.choices)})
