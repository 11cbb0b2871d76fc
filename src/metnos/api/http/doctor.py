"""The doctor over HTTP: is everything well?"""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from metnos.api.daemon import Household
from metnos.api.http.errands import Errand, TheErrands
from metnos.api.http.inside import PROBLEMS, Who
from metnos.app import examine
from metnos.core.errors import DaemonError
from metnos.core.records import Check, Level

router = APIRouter(prefix="/api/doctor", tags=["doctor"], responses=PROBLEMS)

_EXAMINATION = "the examination"
_PATIENCE_S = 90.0  # the sandbox is really tried


class Checked(BaseModel):
    name: str
    level: str = Field(description="`green`, `yellow` (works with a limit) or `red` (must be mended).")
    says: str
    fix: str


class Health(BaseModel):
    well: bool
    seconds: float
    checks: list[Checked]


@router.get("", summary="Check everything that Metnos needs")
async def doctor(_who: Who, errands: TheErrands) -> Health:
    """Takes some seconds; whoever asks meanwhile gets the same answer."""

    def work(household: Household, _errand: Errand) -> list[Check]:
        return list(examine(household.app.workspace, household.app.clock))

    errand = errands.join(_EXAMINATION, work)
    found: list[Check] | None = await errand.arrival(_PATIENCE_S)
    if found is None:
        raise DaemonError("the examination takes very long", fix="Ask again later, or type: metnos doctor")
    well = all(each.level is not Level.RED for each in found)
    checks = [Checked(name=each.name, level=each.level, says=each.found, fix=each.fix) for each in found]
    return Health(well=well, seconds=round(errand.seconds, 2), checks=checks)
