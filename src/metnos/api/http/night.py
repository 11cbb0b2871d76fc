"""The night over HTTP: what Metnos does by itself, what came of it, and doing one thing now."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from metnos.api.daemon import Household
from metnos.api.http.errands import Changed, Errand, Errands, TheErrands
from metnos.api.http.inside import PROBLEMS, House, Limit, Missing, Nothing, Owner, Who
from metnos.app import night as building
from metnos.core.clock import to_text
from metnos.night.jobs import Night, Outlook, Watcher
from metnos.night.records import Run as Record
from metnos.night.records import State

router = APIRouter(prefix="/api/night", tags=["night"], responses=PROBLEMS)

_SHORT_S = 2.0  # most jobs are over by then, and the answer says what came of them
_LAST = 10  # runs by which it is told how long a job takes

Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_]{0,39}$", description="A job, as the list names it.")]


class Run(BaseModel):
    """One run of a job."""

    id: int
    job: str
    night: str
    by_hand: bool
    state: str
    started: str
    ended: str | None
    message: str
    counts: dict[str, int]
    cpu_ms: int


class Progress(BaseModel):
    what: str
    done: int
    of: int


class Job(BaseModel):
    """One thing that is done every night."""

    name: str
    what: str
    verdict: str
    last: Run | None
    outcome: str | None = Field(description="How the last run ended.")
    next: str
    takes: float | None = Field(description="Seconds, as the last runs took; nothing if none was ever done.")
    running: bool
    progress: Progress | None = Field(description="Of a run that was begun from a page and goes on.")


class NightRead(BaseModel):
    """The jobs in their order, and the last runs, the newest first."""

    jobs: list[Job]
    runs: list[Run]
    reminder: str | None = Field(description="When the next reminder is due.")


class Begun(BaseModel):
    """A job that was begun. While its state is `running`, look at `/api/night` again."""

    job: str
    state: str
    run: Run | None


@router.get("", summary="What is done by itself")
def night(house: House, _who: Who, errands: TheErrands, limit: Limit = 50) -> NightRead:
    shift, now = building.build(house), house.clock.now()
    coming = shift.next_reminder(now)
    return NightRead(
        jobs=[_job(shift, each, errands) for each in shift.outlook(now)],
        runs=[_run(each) for each in shift.runs.newest(limit)],
        reminder=to_text(coming) if coming else None,
    )


@router.post("/{job}/run", summary="Do one of them now", responses={202: {"model": Begun}})
def run(house: House, _by: Owner, errands: TheErrands, job: Name, _nothing: Nothing, response: Response) -> Begun:
    """A short one is over when this answers; of a long one the answer is 202, and `/api/night` says how far it is."""
    shift = building.build(house)
    _refuse_unknown(shift, house, job)
    shift.runs.settle()
    if shift.runs.running(job) is not None:
        raise Changed(f"the job {job!r} is running already", fix="Wait until it has ended.")

    def work(household: Household, errand: Errand) -> Record:
        return household.night.run_now(job, Watcher(errand.stopping.is_set, errand.tell))

    done: Record | None = errands.begin(_errand(job), work).wait(_SHORT_S)
    if done is None:
        response.status_code = 202
    return Begun(job=job, state=State.RUNNING if done is None else done.state, run=None if done is None else _run(done))


@router.post("/{job}/stop", summary="Stop one that was begun here, at its next safe place")
def stop(house: House, _by: Owner, errands: TheErrands, job: Name, _nothing: Nothing) -> Begun:
    _refuse_unknown(building.build(house), house, job)
    errand = errands.find(_errand(job))
    if errand is None or not errand.running:
        raise Changed(f"the job {job!r} was not begun here, or is over", fix="See: GET /api/night")
    errand.stopping.set()
    return Begun(job=job, state=State.RUNNING, run=None)


def _errand(job: str) -> str:
    return f"the job {job}"


def _refuse_unknown(shift: Night, house: House, job: str) -> None:
    names = [each.job.name for each in shift.outlook(house.clock.now())]
    if job not in names:
        raise Missing(f"there is no job {job!r}", fix=f"There are: {', '.join(names)}")


def _job(shift: Night, each: Outlook, errands: Errands) -> Job:
    name, last = each.job.name, each.last
    errand = errands.find(_errand(name))
    goes_on = errand is not None and errand.running
    took = [
        (run.ended - run.started).total_seconds()
        for run in shift.runs.newest(_LAST, name)
        if run.ended is not None and run.state is State.DONE
    ]
    return Job(
        name=name,
        what=each.job.what,
        verdict=each.verdict,
        last=_run(last) if last else None,
        outcome=last.state if last else None,
        next=to_text(each.next),
        takes=round(sum(took) / len(took), 3) if took else None,
        running=goes_on or (last is not None and last.state is State.RUNNING),
        progress=_progress(errand) if errand is not None and goes_on else None,
    )


def _progress(errand: Errand) -> Progress:
    what, done, of = errand.progress
    return Progress(what=what, done=done, of=of)


def _run(each: Record) -> Run:
    found: dict[str, Any] = building.run_data(each)
    found.pop("pid")
    return Run(**found)
