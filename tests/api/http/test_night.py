"""The night over HTTP: what is done by itself, and doing one thing now, short or long."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from api.http.served import Client
from api.http.typed import typed
from metnos.app import ageing
from metnos.app import night as building
from metnos.cli import jobs as at_terminal
from metnos.night.jobs import Done, Job, Watcher
from metnos.night.notices import News, Notices
from metnos.night.records import Runs
from tables import try_each


class Slow:
    """A job that takes as long as the test wants."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.seen: list[str] = []

    def work(self, watcher: Watcher) -> Done:
        watcher.progress("counting sheep", 3, 10)
        while not self.go_on.wait(0.01):
            if watcher.stop():
                return Done("asked to stop", stopped=True)
        return Done("ten sheep", {"sheep": 10})


@pytest.fixture
def slow(page: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Beside all others there is a slow one; the page's night is put together anew with it."""
    made = Slow()
    really = building.jobs
    monkeypatch.setattr(building, "jobs", lambda app: (*really(app), Job("sheep", "counting sheep", made.work)))
    monkeypatch.setattr("metnos.api.http.night._SHORT_S", 0.05)
    with page.served.keeper.lease() as household:
        household.night = building.build(household.app)
    yield made
    made.go_on.set()
    assert page.served.api.state.errands.stop(60)


def the_job(page: Client, name: str) -> dict[str, Any]:
    (found,) = [each for each in page.get("/api/night")["jobs"] if each["name"] == name]
    return found


def test_the_jobs_are_those_of_the_terminal(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = page.get("/api/night")
    told = typed(page, monkeypatch, at_terminal.jobs, "list")
    shared = ("what", "verdict", "next")
    assert [[each["name"], *(each[name] for name in shared)] for each in found["jobs"]] == [
        [each["job"], *(each[name] for name in shared)] for each in told
    ]
    assert {each["takes"] for each in found["jobs"]} == {None}
    assert found["runs"] == []


def test_a_short_job_is_over_when_it_answers(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    done = page.post("/api/night/ager/run")
    assert (done["job"], done["state"], done["run"]["by_hand"]) == ("ager", "done", True)
    assert "weighed" in done["run"]["counts"]
    assert ageing.snapshots(page.app).all()
    found = page.get("/api/night")
    (told,) = typed(page, monkeypatch, at_terminal.jobs, "log")
    told.pop("pid")
    assert found["runs"] == [done["run"]] == [told]
    ager = the_job(page, "ager")
    assert (ager["outcome"], ager["running"], ager["takes"]) == ("done", False, 0.0)


def test_a_long_job_is_followed_by_looking_again(page: Client, slow: Slow) -> None:
    answer = page.http.post("/api/night/sheep/run", json={}, headers=page.headers)
    assert (answer.status_code, answer.json()["state"]) == (202, "running")
    job = the_job(page, "sheep")
    assert (job["running"], job["progress"]) == (True, {"what": "counting sheep", "done": 3, "of": 10})
    status, what = page.refused("POST", "/api/night/sheep/run")
    assert (status, "already" in what) == (409, True)
    slow.go_on.set()
    page.served.api.state.errands.find("the job sheep").over.wait(60)
    job = the_job(page, "sheep")
    assert (job["running"], job["progress"], job["outcome"]) == (False, None, "done")
    assert job["last"]["counts"] == {"sheep": 10}


def test_a_long_job_is_stopped(page: Client, slow: Slow) -> None:
    page.post("/api/night/sheep/run")
    page.post("/api/night/sheep/stop")
    page.served.api.state.errands.find("the job sheep").over.wait(60)
    assert the_job(page, "sheep")["outcome"] == "interrupted"
    assert page.refused("POST", "/api/night/sheep/stop")[0] == 409


def test_what_runs_elsewhere_is_not_run_a_second_time(page: Client) -> None:
    runs = Runs(page.app.night_db, page.app.clock)
    assert runs.begin("ager", page.app.clock.now().date(), by_hand=True)
    assert page.refused("POST", "/api/night/ager/run") == (409, "the job 'ager' is running already")


def test_notices_wait_until_they_are_seen(page: Client) -> None:
    notices = Notices(page.app.night_db, page.app.clock)
    told = notices.tell([News("job", "<i>the ager</i> failed"), News("audit", "it is broken")])
    found = page.get("/api/notices")["notices"]
    assert [(each["id"], each["kind"], each["text"]) for each in found] == [
        (each.id, each.kind, each.text) for each in told
    ]
    assert page.post("/api/notices/seen", ids=[told[0].id, 4711]) == {"seen": 1}
    assert [each["id"] for each in page.get("/api/notices")["notices"]] == [told[1].id]


def test_only_the_owner_begins_ends_and_dismisses(page: Client) -> None:
    for other in (page.device("read_only"), page.program("full")):
        for path, body in (("night/ager/run", {}), ("night/ager/stop", {}), ("notices/seen", {"ids": [1]})):
            assert other.refused("POST", f"/api/{path}", body)[0] == 403
    assert page.device("read_only").get("/api/night")["runs"] == []


@try_each(
    ("path", "body", "status"),
    [
        ("night/nothing/run", {}, 404),
        ("night/nothing/stop", {}, 404),
        ("night/ager/stop", {}, 409),
        ("night/AGER/run", {}, 422),
        ("night/ager/run", {"sudo": True}, 422),
        ("night/%00/run", {}, 400),
        ("notices/seen", {"ids": ["x"]}, 422),
        ("notices/seen", {"ids": [0]}, 422),
        ("notices/seen", {"ids": [10**30]}, 422),
        ("notices/seen", {"ids": [1] * 501}, 422),
        ("notices/seen", {}, 422),
    ],
)
def test_what_is_not_there_or_makes_no_sense_is_refused(
    page: Client, path: str, body: dict[str, Any], status: int
) -> None:
    assert page.refused("POST", f"/api/{path}", body)[0] == status
