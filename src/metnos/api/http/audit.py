"""The audit over HTTP: the record of what was done, page by page, and its proof."""

import itertools
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from metnos.api.daemon import Household
from metnos.api.http.errands import Errand, TheErrands
from metnos.api.http.inside import PROBLEMS, House, Limit, Missing, Nothing, Who
from metnos.app import verify_audit
from metnos.law import audit_log
from metnos.law.audit_line import AuditLine
from metnos.law.audit_verify import Report

router = APIRouter(prefix="/api/audit", tags=["audit"], responses=PROBLEMS)

_PROOF = "the proof of the audit"
_SHORT_S = 8.0  # some hundred thousand lines
_FAULTS = 200  # that are told; the rest is counted
_LAST = 1 << 53

Seq = Annotated[int, Path(ge=1, le=_LAST)]


class Line(BaseModel):
    """One line: names, digests and counts, never content."""

    seq: int
    ts: str
    kind: str
    names: dict[str, str]
    digests: dict[str, str]
    counts: dict[str, int]
    hash: str
    prev: str
    signature: str


class Lines(BaseModel):
    lines: list[Line]
    next: int | None = Field(description="To be sent as `before` for the next page.")


class Fault(BaseModel):
    wrong: str
    place: str
    seq: int
    detail: str


class Proof(BaseModel):
    """What proving found. While it is `running`, ask again with GET."""

    state: str = Field(description="`running`, `done`, or `none`: not asked for yet.")
    seconds: float
    ok: bool | None
    lines: int
    files: int
    checkpoints: int
    problems: list[Fault]
    problems_total: int
    notes: list[str]


@router.get("", summary="The newest lines, the newest first")
def lines(
    house: House, _who: Who, before: Annotated[int | None, Query(ge=1, le=_LAST)] = None, limit: Limit = 50
) -> Lines:
    found = list(itertools.islice(audit_log.backwards(house.workspace.audit, before), limit))
    return Lines(lines=[_line(each) for each in found], next=found[-1].seq if len(found) == limit else None)


@router.get("/verify", summary="How the last proof came out")
def proof(_who: Who, errands: TheErrands) -> Proof:
    return _proof(errands.find(_PROOF))


@router.post("/verify", summary="Prove that nothing was changed, removed or cut off", responses={202: {"model": Proof}})
async def verify(_who: Who, errands: TheErrands, _nothing: Nothing, response: Response) -> Proof:
    """A short one is over when this answers; of a long one the answer is 202."""

    def work(household: Household, _errand: Errand) -> Report:
        return verify_audit(household.app.workspace)

    errand = errands.join(_PROOF, work)
    await errand.arrival(_SHORT_S)
    if errand.running:
        response.status_code = 202
    return _proof(errand)


@router.get("/{seq}", summary="One line")
def line(house: House, _who: Who, seq: Seq) -> Line:
    found = next(audit_log.backwards(house.workspace.audit, seq + 1), None)
    if found is None or found.seq != seq:
        raise Missing(f"the audit has no readable line {seq}", fix="Proving it says whether one is missing.")
    return _line(found)


def _line(each: AuditLine) -> Line:
    said: dict[str, Any] = each.as_dict()
    return Line(**{"signature": "", **said})


def _proof(errand: Errand | None) -> Proof:
    report: Report | None = None if errand is None else errand.wait(0)
    faults = report.faults if report else ()
    return Proof(
        state="none" if errand is None else "running" if errand.running else "done",
        seconds=round(errand.seconds, 3) if errand else 0.0,
        ok=report.sound if report else None,
        lines=report.lines if report else 0,
        files=report.files if report else 0,
        checkpoints=report.checkpoints if report else 0,
        problems=[
            Fault(wrong=each.wrong, place=each.place, seq=each.seq, detail=each.detail) for each in faults[:_FAULTS]
        ],
        problems_total=len(faults),
        notes=list(report.notes) if report else [],
    )
