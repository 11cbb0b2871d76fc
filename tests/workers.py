"""Tests in several processes that are forks of the one which read them, as a pytest plugin: ``--workers 3``.

Reading all tests takes as long as running a tenth of them. Here it is done once, and what tests import is read once.

Rules: a worker asks for more when it begins with the last test that it has, so it always knows which comes next and
keeps the fixtures that both use. Each begins at another place, and whoever is through helps the one that has most left;
slow tests come first, so that all end at nearly the same time; those that share what takes long to make are together. A
worker that dies fails the test that it was at, and another goes on with the rest. Each worker looks after the processes
that its tests started.
"""

import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import pytest

import processes
import suite

CHUNK = 8  # tests that are given out at once, all of one file

Told = dict[str, Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("metnos").addoption("--workers", type=int, default=0, metavar="N", help="run tests in N processes")


class Hooks:
    """What workers tell whoever wants to know."""

    def pytest_workers_begin(self, session: pytest.Session, folder: Path) -> None:
        """The workers are about to begin: what all of them need is made now, once, in ``folder``."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = session.config.getoption("--workers")
    if not count or session.config.option.collectonly or session.testsfailed:
        return None
    _Workers(session, count).run()
    return True


def share(items: Sequence[pytest.Item], count: int) -> list[deque[list[int]]]:
    """The tests, by their numbers, in as many parts as there are workers; each part in chunks, the slow ones first."""
    chunks = []
    for _, numbers in groupby(range(len(items)), key=lambda number: items[number].nodeid.partition("::")[0]):
        of_file = list(numbers)
        chunks += [of_file[at : at + CHUNK] for at in range(0, len(of_file), CHUNK)]
    chunks.sort(key=lambda chunk: not any(suite.DEAR.intersection(_fixtures(items[number])) for number in chunk))
    size = -(-len(chunks) // count) or 1
    parts = [chunks[at : at + size] for at in range(0, len(chunks), size)] or [[]]

    def is_fast(chunk: list[int]) -> bool:
        return not any(items[number].get_closest_marker("slow") for number in chunk)

    return [deque(sorted(part, key=is_fast)) for part in parts]


def _fixtures(item: pytest.Item) -> Sequence[str]:
    return getattr(item, "fixturenames", ())


@dataclass(slots=True)
class _Worker:
    """A process that runs tests, as the one that started it sees it."""

    pid: int
    pipe: Connection
    part: int
    held: deque[int] = field(default_factory=deque)  # tests that it was given and that are not over
    ended: bool = False


class _Workers:
    """The processes, what each of them does, and what is still to be done."""

    def __init__(self, session: pytest.Session, count: int) -> None:
        self._session = session
        self._hook = session.config.hook
        self._parts = share(session.items, count)
        self._running: dict[Connection, _Worker] = {}

    def run(self) -> None:
        config: Any = self._session.config
        config.pluginmanager.getplugin("terminalreporter").showfspath = False  # tests of several files at once
        folder = config._tmp_path_factory.getbasetemp()  # from now on the same in every worker
        self._hook.pytest_workers_begin(session=self._session, folder=folder)
        try:
            for part in range(len(self._parts)):
                self._start(part)
            while self._running:
                for pipe in wait(list(self._running)):
                    self._hear(self._running[pipe])  # type: ignore[index]  # what was waited for
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
        finally:
            for worker in self._running.values():
                os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)

    def _start(self, part: int) -> None:
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                for pipe in (ours, *self._running):
                    pipe.close()
                work(self._session, theirs)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        theirs.close()
        self._running[ours] = _Worker(pid, ours, part)

    def _hear(self, worker: _Worker) -> None:
        try:
            kind, told = worker.pipe.recv()
        except (EOFError, ConnectionError):
            self._bury(worker)
            return
        hear: dict[str, Callable[[_Worker, Any], None]] = {
            "more": self._give,
            "begun": self._begun,
            "report": self._reported,
            "over": self._over,
            "end": self._end,
        }
        hear[kind](worker, told)

    def _give(self, worker: _Worker, _: object) -> None:
        own = self._parts[worker.part]
        part = own or max(self._parts, key=len)
        chunk = (part.popleft() if part is own else part.pop()) if part else []
        worker.held.extend(chunk)
        worker.pipe.send(chunk)

    def _begun(self, _: _Worker, number: int) -> None:
        item = self._session.items[number]
        self._hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)

    def _reported(self, _: _Worker, told: Told) -> None:
        report = self._hook.pytest_report_from_serializable(config=self._session.config, data=told)
        self._hook.pytest_runtest_logreport(report=report)

    def _over(self, worker: _Worker, number: int) -> None:
        worker.held.remove(number)
        item = self._session.items[number]
        self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _end(self, worker: _Worker, told: Told) -> None:
        worker.ended = True
        suite.hear_of_worker(told)

    def _bury(self, worker: _Worker) -> None:
        """Take a worker off the list. One that died leaves a failure, and its tests to another."""
        del self._running[worker.pipe]
        worker.pipe.close()
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        if worker.ended and code == 0:
            return
        if not worker.held:
            raise RuntimeError(f"a worker ended with {code} and had no test")
        item = self._session.items[worker.held.popleft()]
        said = f"the process of this test was ended by signal {-code}" if code < 0 else f"its process ended with {code}"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", said, "call")
        self._hook.pytest_runtest_logreport(report=report)
        if worker.held:
            self._parts[worker.part].appendleft(list(worker.held))
        self._start(worker.part)


class _Reports:
    """What a worker tells of a test: all of one that went wrong, and of any other one report for the whole of it."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self._config, self._pipe = config, pipe
        self._held: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._held.append(report)

    def send(self) -> None:
        held, self._held = self._held, []
        if all(report.passed for report in held):
            whole = next(report for report in held if report.when == "call")
            whole.duration = sum(report.duration for report in held)
            held = [whole]
        for report in held:
            told = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            self._pipe.send(("report", told))


class _Terminal:
    """Stands in for pytest's reporter in a worker: shows no report, and still gives others the terminal to write to."""

    def __init__(self, writer: object) -> None:
        self._tw = writer


def work(session: pytest.Session, pipe: Connection) -> None:
    """Be a worker: run tests until there are no more, and end what they started."""
    config = session.config
    processes.adopt()  # a fork does not inherit that
    _become_quiet(config)
    told = _Reports(config, pipe)
    config.pluginmanager.register(told, "what a worker tells")
    for number, following in _given(pipe):
        pipe.send(("begun", number))
        item = session.items[number]
        upcoming = None if following is None else session.items[following]
        config.hook.pytest_runtest_protocol(item=item, nextitem=upcoming)
        told.send()
        pipe.send(("over", number))
    pipe.send(("end", suite.end_worker()))


def _become_quiet(config: pytest.Config) -> None:
    """Show nothing, and catch what tests print in files of its own: those from before the fork are shared."""
    plugins = config.pluginmanager
    reporter: Any = plugins.getplugin("terminalreporter")
    plugins.unregister(reporter)
    plugins.register(_Terminal(reporter._tw), "terminalreporter")
    capture: Any = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()


def _given(pipe: Connection) -> Iterator[tuple[int, int | None]]:
    """Every test that this worker is given, with the one that follows."""
    numbers: deque[int] = deque()
    while True:
        if len(numbers) < 2:
            pipe.send(("more", None))
            numbers.extend(pipe.recv())
        if not numbers:
            return
        number = numbers.popleft()
        yield number, numbers[0] if numbers else None
