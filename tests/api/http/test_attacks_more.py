"""What somebody tries who was let in: to stay when they are sent away, to take all room, to take the fences down."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.http.served import HERE, OFTEN, Client, Served, entered, serving
from api.standin import until
from metnos.api.http import exchange, runs
from metnos.api.http.guard import Limits
from metnos.api.http.rate import Rate
from metnos.core.clock import MovableClock
from metnos.law.principal import Autonomy, Channel, at_terminal
from tables import try_each


def mine(client: Client) -> str:
    """The id of the device that asks."""
    if client.program_secret:
        found = client.app.pairing.by_secret(client.program_secret, Channel.API)
        assert found is not None
        return found.id
    return str(next(each["id"] for each in client.get("/api/devices")["devices"] if each["this"]))


def ended(client: Client) -> None:
    """`metnos device revoke` at the terminal."""
    client.app.pairing.revoke(mine(client), at_terminal())


def asking(folder: Path) -> str:
    """A request that comes to a question."""
    (folder / "here").mkdir()
    (folder / "here" / "a.txt").write_text("hello")
    return f"move the text files in {folder / 'here'} to {folder / 'there'}"


# -- streams


@pytest.mark.parametrize(("kind", "most"), [("program", 8), ("browser", 16)])
def test_one_device_cannot_take_all_streams(page: Client, kind: str, most: int) -> None:
    greedy = page.program("read_only") if kind == "program" else page.device("read_only")
    with contextlib.ExitStack() as held:
        for _ in range(most):
            next(held.enter_context(greedy.stream("/api/events")))
        status, what = greedy.refused("GET", "/api/events")
        assert (status, "too many things" in what) == (429, True)
        assert greedy.get("/api/runs") == []  # all else it may still do
        next(held.enter_context(page.stream("/api/events")))  # and others are not held up
    with greedy.stream("/api/events") as events:  # what was left counts no more
        assert next(events)["event"] == "changed"


def test_a_stream_ends_when_its_device_is_revoked(page: Client) -> None:
    for other in (page.program("read_only"), page.device("full")):
        with other.stream("/api/events") as events:
            assert next(events)["event"] == "changed"
            ended(other)
            for _ in events:  # what was told before may still come; then it is over
                pass
        assert other.http.get("/api/events", headers=other.headers).status_code == 401


def test_a_run_of_a_revoked_device_is_neither_seen_nor_answered_by_it(page: Client, tmp_path: Any) -> None:
    other = page.device("supervised")
    run = other.post("/api/turns", text=asking(tmp_path))["run"]
    with other.stream(f"/api/runs/{run}/events") as events:
        wanted = next(each for each in events if each["event"] == "Wanted")
        ended(other)
        said = {"question": wanted["question"], "answer": "yes"}
        answer = other.http.post(f"/api/runs/{run}/answer", json=said, headers=other.headers)
        assert answer.status_code == 401
        found = next(each for each in page.served.runs._runs.values() if each.id == run)
        page.served.runs.cancel(found)
        assert list(events) == []  # not even that it failed
    assert (tmp_path / "here" / "a.txt").exists()


def test_the_beat_of_a_stream_asks_again_too(page: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(runs, "_BEAT_S", 0.05)
    other = page.device("supervised")
    run = other.post("/api/turns", text=asking(tmp_path))["run"]
    with other.stream(f"/api/runs/{run}/events") as events:
        assert next(each for each in events if each["event"] == "Wanted")
        ended(other)
        assert list(events) == []  # nothing happens in the run, and it ends all the same
    page.served.runs.cancel(next(each for each in page.served.runs._runs.values() if each.id == run))


def test_an_answer_that_took_a_while_is_not_for_who_was_sent_away(
    page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = page.program("read_only")
    monkeypatch.setattr(exchange, "_MOMENT_S", -1.0)
    assert program.get("/api/runs") == []
    ended(program)
    monkeypatch.setattr(page.served.guard, "_is_in", lambda *_: False)
    other = page.program("read_only")
    assert other.http.get("/api/runs", headers=other.headers).status_code == 401


# -- codes


def test_a_code_does_not_outlive_who_made_it(page: Client) -> None:
    other = page.device("supervised")
    wanted = {"channel": "web", "level": "supervised", "minutes": 60, "days": 365}
    code = other.post("/api/devices/code", **wanted)["code"]
    ended(other)
    stranger = TestClient(page.served.guard, base_url=HERE, follow_redirects=False)
    assert stranger.get(f"/enter?key={code}").headers["location"] == "/locked?why=link"
    headers = {"sec-fetch-site": "same-origin", "origin": HERE}
    assert stranger.post("/api/pair", json={"code": code}, headers=headers).status_code == 403


def test_who_has_a_lower_level_ends_nobody_above(page: Client) -> None:
    other = page.device("supervised")
    status, _ = other.refused("POST", f"/api/devices/{mine(page)}/revoke")
    assert status == 403
    assert page.get("/api/runs") == []
    other.post(f"/api/devices/{mine(other)}/revoke")  # itself it may


@pytest.fixture
def guessed(equipped: Any, clock: MovableClock) -> Iterator[Served]:
    """Somebody has brought so many wrong links that no more are taken from that address."""
    equipped.close()
    limits = Limits(OFTEN.read, OFTEN.write, OFTEN.stranger, Rate(0.001, 3))
    with serving(equipped.workspace, clock, limits) as served:
        tries = [Client(served).http.get(f"/enter?key={number}").status_code for number in range(5)]
        assert tries == [303, 303, 303, 429, 429]
        yield served


def test_wrong_links_do_not_keep_a_right_one_out(guessed: Served) -> None:
    assert entered(guessed).get("/api/runs") == []


def test_right_links_do_not_count_as_tries(equipped: Any, clock: MovableClock) -> None:
    equipped.close()
    with serving(equipped.workspace, clock, Limits(*[OFTEN.read] * 3, Rate(0.001, 1))) as served:
        for _ in range(3):
            entered(served)
        assert Client(served).http.get("/enter?key=wrong").status_code == 303


def test_a_link_on_a_page_elsewhere_leads_to_a_page_of_ours_first(served: Served) -> None:
    """Else the browser keeps the new cookie back: the redirect would count as that other page's."""
    code = served.app.pairing.offer(Channel.WEB, Autonomy.FULL, 10, at_terminal())
    client = Client(served)
    answer = client.http.get(f"/enter?key={code}", headers={"sec-fetch-site": "cross-site"})
    assert (answer.status_code, 'http-equiv="refresh" content="0;url=/"' in answer.text) == (200, True)
    assert code not in answer.text
    assert "script" not in answer.text
    assert client.get("/api/runs") == []


# -- headers


def test_two_words_of_the_browser_about_the_sender(page: Client) -> None:
    for sites in (("same-origin", "cross-site"), ("same-origin", "same-origin"), ("none", "same-origin")):
        headers = [*(each for each in page.headers.items() if each[0] != "sec-fetch-site")]
        headers += [("sec-fetch-site", each) for each in sites]
        assert page.http.get("/api/runs", headers=headers).status_code == 403
        assert page.http.post("/api/turns", json={"text": "x"}, headers=headers).status_code == 403


# -- settings

FENCES = (
    ("executors.writes", 10),
    ("executors.births", 99),
    ("disk.need_free_mb", 1),
    ("night.backup", False),
    ("policy.undo_days", 1),
    ("synt.usd", 5.0),
    ("models.turn_usd", 5.0),
    ("memory.keep_days", 1),
    ("memory.think", "on"),
)


def test_who_acts_with_a_yes_does_not_take_the_fences_down(page: Client) -> None:
    other = page.device("supervised")
    before = page.app.workspace.settings.read_bytes()
    for name, value in FENCES:
        status, what = other.refused("POST", "/api/settings", {"name": name, "value": value})
        assert (status, "level supervised" in what) == (403, True)
    assert page.app.workspace.settings.read_bytes() == before
    assert other.post("/api/settings", name="turn.show", value=30)["value"] == 30
    for name, value in FENCES:
        assert page.post("/api/settings", name=name, value=value)["value"] == value


@try_each(
    "name", ["executors.writes", "executors.write_mb", "executors.births", "executors.active", "disk.need_free_mb",
             "disk.warn_free_mb", "synt.tokens", "synt.usd", "models.turn_tokens", "models.turn_usd"],
)  # fmt: skip
def test_no_limit_is_so_high_that_it_is_none(page: Client, name: str) -> None:
    assert page.refused("POST", "/api/settings", {"name": name, "value": 10**9})[0] == 400


def test_a_secret_in_an_address_is_shown_to_nobody(page: Client) -> None:
    page.app.set_setting("models.fast.url", "http://127.0.0.1:1/v1?key=SECRET", at_terminal())
    page.app.set_setting("otel.endpoint", "http://127.0.0.1:2/otlp?key=SECRET", at_terminal())
    for other in (page, page.device("read_only")):
        answer = other.http.get("/api/settings", headers=other.headers)
        assert "SECRET" not in answer.text
        shown = {each["name"]: each["value"] for each in answer.json()["settings"]}
        assert shown["models.fast.url"] == "http://127.0.0.1:1/v1"


# -- turns


def test_questions_that_nobody_answers_hold_no_slot(page: Client, tmp_path: Any) -> None:
    slots = page.served._slots
    other = page.device("supervised")
    text = asking(tmp_path)
    waiting = [other.post("/api/turns", text=text)["run"] for _ in range(slots.most)]
    until(lambda: sum(each["question"] > 0 for each in other.get("/api/runs")) == slots.most)
    assert slots.running == 0
    assert page.ask("how full are the disks?")["state"] == "done"
    for run in waiting:
        other.post(f"/api/runs/{run}/cancel")
    until(lambda: not other.get("/api/runs"))
    until(lambda: slots.running == 0)
