"""What the owner allowed in advance, over HTTP: see it, and take it back."""

from fastapi import APIRouter
from pydantic import BaseModel

from metnos.api.http.inside import KEPT, PROBLEMS, House, Id, Missing, Nothing, Owner
from metnos.api.http.plain import Said
from metnos.app import cataloguing
from metnos.core.errors import UsageError
from metnos.law.grants import Grant

router = APIRouter(prefix="/api/grants", tags=["grants"], responses=PROBLEMS)


class Allowed(BaseModel):
    """One grant."""

    id: str
    words: Said
    executor: str
    capability: str
    target: Said
    sending: bool
    reason: Said
    granted_by: Said
    created: str
    expires: str


class Grants(BaseModel):
    grants: list[Allowed]


@router.get("", summary="What is allowed in advance", openapi_extra=KEPT)
def grants(house: House) -> Grants:
    return Grants(grants=[_allowed(each) for each in house.grants.active()])


@router.post("/{id}/revoke", summary="Take a grant back")
def revoke(house: House, by: Owner, id: Id, _nothing: Nothing) -> Allowed:  # noqa: A002 -- the name in the path
    try:
        return _allowed(house.grants.revoke(id, by))
    except UsageError as error:
        raise Missing(error.what, fix=error.fix) from error


def _allowed(given: Grant) -> Allowed:
    return Allowed.model_validate({**cataloguing.grant_data(given), "words": cataloguing.grant_words(given)})
