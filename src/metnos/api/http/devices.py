"""Who may come in from elsewhere: devices, codes to pair them with, and ending them."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from metnos.api.http import guard_rules
from metnos.api.http.inside import PROBLEMS, Body, House, Id, Nothing, Owner, Who
from metnos.core.clock import to_text
from metnos.law.pairing import Device
from metnos.law.principal import Autonomy, Channel

router = APIRouter(prefix="/api", tags=["devices"], responses=PROBLEMS)


class Known(BaseModel):
    """A device that may come in."""

    id: str
    channel: str
    sender: str
    name: str
    level: str
    created: str
    expires: str
    seen: str
    this: bool = Field(description="Whether it is the one that asks.")


class Devices(BaseModel):
    devices: list[Known]


class Wanted(Body):
    """A code that lets one device in."""

    channel: Literal["web", "api", "telegram"] = "web"
    level: Literal["read_only", "supervised", "full"] = "supervised"
    minutes: Annotated[float, Field(gt=0, le=60)] = 10
    days: Annotated[float, Field(gt=0, le=365)] = 90
    name: str = Field("", max_length=60)


class Code(BaseModel):
    """It is shown this once."""

    code: str


class Brought(Body):
    """A code, brought by the device that wants to come in."""

    code: str = Field(min_length=1, max_length=400)
    name: str = Field("", max_length=60)


class Paired(BaseModel):
    """It may come in. A program gets its secret, this once; a browser gets a cookie."""

    id: str
    level: str
    secret: str = ""


@router.get("/devices", summary="Devices that may come in")
def devices(house: House, who: Who) -> Devices:
    return Devices(devices=[_known(each, who.sender) for each in house.pairing.devices()])


@router.post("/devices/code", summary="Make a code for another device")
def code(house: House, by: Owner, wanted: Wanted) -> Code:
    made = house.pairing.offer(
        Channel(wanted.channel), Autonomy(wanted.level), wanted.minutes, by, name=wanted.name, days=wanted.days
    )
    return Code(code=made)


@router.post("/devices/{id}/revoke", summary="End a device")
def revoke(house: House, by: Owner, id: Id, _nothing: Nothing) -> Known:  # noqa: A002 -- the name in the path
    return _known(house.pairing.revoke(id, by), by.sender)


@router.post("/pair", summary="Come in with a code")
def pair(house: House, request: Request, response: Response, brought: Brought) -> Paired:
    """A browser shows itself by ``Sec-Fetch-Site``, which no page can forge, and gets a cookie; else a program."""
    browser = "sec-fetch-site" in request.headers
    device, secret = house.pairing.redeem(
        brought.code.strip(), Channel.WEB if browser else Channel.API, "", brought.name
    )
    if browser:
        seconds = int((device.expires - device.created).total_seconds())
        response.headers["set-cookie"] = guard_rules.set_cookie(secret, request.app.state.place(), seconds)
    return Paired(id=device.id, level=device.level, secret="" if browser else secret)


def _known(device: Device, sender: str) -> Known:
    return Known(
        id=device.id,
        channel=device.channel,
        sender=device.sender,
        name=device.name,
        level=device.level,
        created=to_text(device.created),
        expires=to_text(device.expires),
        seen=to_text(device.seen),
        this=device.sender == sender,
    )
