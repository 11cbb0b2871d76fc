"""The night shift: jobs in order, each run leaving a record, and reminders between them.

Rules: `Night.tick` does everything that is due at a moment and knows no thread; jobs run in the order of their list,
one at a time; one that fails is recorded and the others still run; what it has to say is told as notices. A job is a
border: whatever it raises is its failure and nobody else's. While everything is halted nothing runs by itself, and by
hand only what checks; a long job stops. The owner is still reminded. A long job asks whoever runs it whether to stop;
one that was stopped counts as interrupted, and goes on the next time. Does not guarantee that a job is done exactly
once: one that is killed is begun again, so each must be safe to repeat.
"""

import time as stopwatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, tzinfo

from metnos.core.clock import Clock
from metnos.core.errors import DaemonError, MetnosError, Refused, UsageError
from metnos.law.halt import Halt
from metnos.night import reminders, schedule
from metnos.night.notices import News, Notice, Notices, shortened
from metnos.night.records import Run, Runs, State
from metnos.night.schedule import MOST_TRIES, Verdict

FAILED = "job"  # the kind of a notice about a job that was given up

Active = Callable[[datetime | None, datetime], bool]
Stop = Callable[[], bool]
Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, and of how much


def never() -> bool:
    """For whoever stops nothing."""
    return False


def quiet(_what: str, _done: int, _of: int) -> None:
    """For whoever does not look."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whoever runs a job: may want it to stop, and may want to see how far it is."""

    stop: Stop = never
    progress: Progress = quiet


NOBODY = Watcher()


@dataclass(frozen=True, slots=True)
class Done:
    """What a job did, in a few words and counts, and what the owner must know. ``stopped``: it was asked to stop."""

    message: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    news: tuple[News, ...] = ()
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One thing that is done every night.

    One that only ``checks`` changes nothing but what it puts out of the way, and may be run by hand while everything is
    halted. ``needs_activity`` says whether the owner was there between two moments, or ever before the second: a job
    that has it runs only if they were, between its last run and the night's hour.
    """

    name: str
    what: str
    run: Callable[[Watcher], Done]
    needs_activity: Active | None = None
    checks: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    """What a night is made of. Without a ``zone``, hours are the machine's own."""

    jobs: tuple[Job, ...]
    runs: Runs
    notices: Notices
    file: reminders.File
    clock: Clock
    at: time
    zone: tzinfo | None
    halted: Callable[[], Halt | None]
    show: Callable[[Sequence[Notice]], object]
    log: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outlook:
    """How a job stands: what comes next, when, and what was last."""

    job: Job
    verdict: Verdict
    next: datetime
    last: Run | None


class Night:
    """The shift of one workspace."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._told: set[str] = set()

    @property
    def notices(self) -> Notices:
        return self._parts.notices

    @property
    def runs(self) -> Runs:
        return self._parts.runs

    # -- by itself

    def tick(self, now: datetime, stop: Stop = never, progress: Progress = quiet) -> list[Run]:
        """Do everything that is due at ``now``, until ``stop`` says so; returns the runs that this made."""
        self.remind(now)
        interrupted = self.runs.settle()
        if interrupted:
            self._parts.log(f"found interrupted: {interrupted} of the jobs")
        if self._parts.halted() is not None:
            return []
        made = []
        night = schedule.night_of(now, self._parts.at, self._parts.zone)
        for job in self._parts.jobs:
            if stop():
                break
            if self._judge(job, night, now) is Verdict.DUE:
                run = self._run(job, night, Watcher(stop, progress), by_hand=False)
                made += [run] if run else []
                self.remind(self._parts.clock.now())  # a long job must not keep anybody waiting
        return made

    def remind(self, now: datetime) -> list[Notice]:
        """Tell every reminder that is due and was not told yet."""
        try:
            waiting = self._parts.file.reminders()
        except MetnosError as error:
            self._parts.log(error.what)
            return []
        due = [each for each in waiting if each.due <= now and each.once not in self._told]
        if not due:
            return []
        told = self.notices.tell(reminders.news(due, now))
        self._told.update(each.once for each in due)
        if told:
            self._parts.log(f"reminders told: {len(told)}")
            self._parts.show(told)
        return told

    def wake(self, now: datetime) -> datetime:
        """When there is something to do again, as far as can be known now."""
        return min(self._moments(now))

    def _moments(self, now: datetime) -> Iterator[datetime]:
        yield schedule.next_hour(now, self._parts.at, self._parts.zone)
        night = schedule.night_of(now, self._parts.at, self._parts.zone)
        for job in self._parts.jobs:
            past = self.runs.past(job.name, night)
            until = schedule.paused_until(past)
            if until is not None and until > now and schedule.judge(past, now) is Verdict.PAUSED:
                yield until
        coming = self.next_reminder(now)
        if coming is not None:
            yield coming

    def next_reminder(self, now: datetime) -> datetime | None:
        try:
            return next((each.due for each in self._parts.file.reminders() if each.due > now), None)
        except MetnosError:
            return None  # said at the next tick

    # -- by hand

    def run_now(self, name: str, watcher: Watcher = NOBODY) -> Run:
        """Run one job now, whatever its night says."""
        return self._by_hand(self._named(name), watcher)

    def run_all(self, watcher: Watcher = NOBODY) -> list[Run]:
        """Run every job now, in order, until it is to stop; while everything is halted, those that only check."""
        return [
            self._by_hand(job, watcher)
            for job in self._parts.jobs
            if not watcher.stop() and (job.checks or self.halted() is None)
        ]

    def halted(self) -> Halt | None:
        """Why only jobs that check may be run; nothing if all may."""
        return self._parts.halted()

    def outlook(self, now: datetime) -> list[Outlook]:
        """How every job stands."""
        parts = self._parts
        night, coming = schedule.night_of(now, parts.at, parts.zone), schedule.next_hour(now, parts.at, parts.zone)
        found = []
        for job in parts.jobs:
            verdict = self._judge(job, night, now)
            until = schedule.paused_until(self.runs.past(job.name, night)) or now
            when = {Verdict.DUE: now, Verdict.PAUSED: until}.get(verdict, coming)
            found.append(Outlook(job, verdict, when, next(iter(self.runs.newest(1, job.name)), None)))
        return found

    def _named(self, name: str) -> Job:
        for job in self._parts.jobs:
            if job.name == name:
                return job
        raise UsageError(
            f"there is no job {name!r}", fix=f"There are: {', '.join(job.name for job in self._parts.jobs)}"
        )

    def _by_hand(self, job: Job, watcher: Watcher) -> Run:
        if not job.checks and (halt := self.halted()) is not None:
            raise Refused(f"the job {job.name!r} was not run: {halt.why}", fix=halt.fix)
        night = schedule.night_of(self._parts.clock.now(), self._parts.at, self._parts.zone)
        run = self._run(job, night, watcher, by_hand=True)
        if run is None:
            other = self.runs.running(job.name)
            where = f" in process {other.pid}" if other else ""
            raise DaemonError(f"the job {job.name!r} is running already{where}", fix="Wait until it has ended.")
        return run

    # -- one run

    def _judge(self, job: Job, night: date, now: datetime) -> Verdict:
        past = self.runs.past(job.name, night)
        parts = self._parts
        # Up to the night's hour and no further, so that coming back from a journey does not start the night at noon.
        hour = schedule.hour_of(night, parts.at, parts.zone)
        active = job.needs_activity is None or job.needs_activity(past.last_done, hour)
        return schedule.judge(past, now, active=active)

    def _run(self, job: Job, night: date, watcher: Watcher, *, by_hand: bool) -> Run | None:
        run = self.runs.begin(job.name, night, by_hand=by_hand)
        if run is None:
            return None
        self._parts.log(f"job {job.name}: begins, for the night of {night}")
        began = stopwatch.thread_time()
        state, done = State.INTERRUPTED, Done("it was stopped")
        try:
            done = job.run(self._until_halted(watcher))
            state = State.INTERRUPTED if done.stopped else State.DONE
        except MetnosError as error:
            state, done = State.FAILED, Done(error.what)
        except Exception as error:  # noqa: BLE001 -- the border of a job: its mistake is recorded and stays its own
            state, done = State.FAILED, Done(f"a mistake in Metnos: {type(error).__name__}: {error}")
        finally:
            cpu_ms = round((stopwatch.thread_time() - began) * 1000)
            run = self.runs.end(run, state, shortened(done.message), done.counts, cpu_ms)
        self._tell(job, run, done)
        return run

    def _until_halted(self, watcher: Watcher) -> Watcher:
        return replace(watcher, stop=lambda: watcher.stop() or self.halted() is not None)

    def _tell(self, job: Job, run: Run, done: Done) -> None:
        news = list(done.news)
        if run.state is State.FAILED and not run.by_hand and self.runs.past(job.name, run.night).tries >= MOST_TRIES:
            news.append(News(FAILED, f"{job.what} failed {MOST_TRIES} times tonight: {run.message}"))
        if news:
            self._parts.show(self.notices.tell(news))
        said = f": {run.message}" if run.message else ""
        self._parts.log(f"job {job.name}: {run.state}, {run.cpu_ms} ms of CPU{said}")
