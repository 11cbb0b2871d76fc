"""What Metnos has to tell the owner, until they have seen it."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from metnos.api.http.inside import KEPT, PROBLEMS, Body, House, Owner, Who
from metnos.core.clock import to_text
from metnos.night.notices import Notices

router = APIRouter(prefix="/api/notices", tags=["night"], responses=PROBLEMS)


class Notice(BaseModel):
    id: int
    ts: str
    kind: str
    text: str


class Unseen(BaseModel):
    """What nobody has seen yet, the oldest first."""

    notices: list[Notice]


class Seen(Body):
    ids: list[Annotated[int, Field(ge=1, le=1 << 53)]] = Field(max_length=500)


class Counted(BaseModel):
    seen: int = Field(description="How many of them nobody had seen.")


@router.get("", summary="What there is to tell", openapi_extra=KEPT)
def unseen(house: House, _who: Who) -> Unseen:
    found = Notices(house.night_db, house.clock).unseen()
    return Unseen(notices=[Notice(id=each.id, ts=to_text(each.ts), kind=each.kind, text=each.text) for each in found])


@router.post("/seen", summary="The owner has seen these")
def seen(house: House, _by: Owner, said: Seen) -> Counted:
    return Counted(seen=Notices(house.night_db, house.clock).seen(said.ids))
