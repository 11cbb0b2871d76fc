"""The pages of what Metnos can do and keeps: what they show, and that nothing from outside is more than text."""

import re

import pytest
from starlette.testclient import TestClient

from tables import try_each
from web.recorded import EXECUTORS, RECORDED, WHOLE, Records, built
from web.standin import EVIL
from web.test_site import Looked, looked

PAGES = ("/executors", "/executors?q=move", "/executors?show=trouble", "/executors?q=nothing+like+it",
         "/executors/count_words", "/executors/move_files",
         "/arena", "/arena?goal=move+files", "/arena?goal=never", "/night", "/audit",
         "/audit?before=410", "/settings", "/settings/models", "/settings/devices", "/settings/grants", "/doctor",
         "/doctor?now=1", "/doctor/checks")  # fmt: skip


@pytest.fixture(scope="module")
def served() -> tuple[Records, TestClient]:
    """Made once: what takes time is reading the templates."""
    api = Records()
    return api, TestClient(built(api))


@pytest.fixture
def api(served: tuple[Records, TestClient]) -> Records:
    served[0].forget()
    return served[0]


@pytest.fixture
def page(api: Records, served: tuple[Records, TestClient]) -> TestClient:
    assert api is served[0]
    return served[1]


def shown(html: str) -> str:
    """What a person reads."""
    texts: list[str] = []
    reader = Looked()
    reader.handle_data = texts.append  # type: ignore[method-assign]
    reader.feed(html)
    return " ".join(" ".join(texts).split())


@try_each("path", PAGES)
def test_a_page_holds_nothing_that_runs_or_comes_from_elsewhere(page: TestClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 200
    found = looked(answer.text)
    assert found.faults == []
    assert len(found.ids) == len(set(found.ids))
    assert "<script>alert" not in answer.text


@try_each(
    "path",
    ["/executors", "/executors/count_words", "/arena", "/arena?goal=move+files", "/night", "/audit", "/settings",
     "/settings/models", "/settings/devices", "/settings/grants", "/doctor?now=1"],
)  # fmt: skip
def test_what_comes_from_outside_is_shown_as_it_was_written(page: TestClient, path: str) -> None:
    assert EVIL in shown(page.get(path).text)


# -- executors


def test_executors_are_found_by_words_of_their_name_and_purpose(page: TestClient) -> None:
    html = page.get("/executors?q=move+folder").text
    assert "/executors/move_files" in html
    assert "/executors/read_notes" not in html


def test_a_tab_shows_what_it_says_and_how_many(page: TestClient) -> None:
    html = page.get("/executors?show=off").text
    assert set(re.findall(r'<h2><a href="/executors/(\w+)"', html)) == {"count_words", "get_prices"}
    assert "Off 2" in shown(html)


def test_a_search_that_finds_nothing_says_so(page: TestClient) -> None:
    assert "No executor fits" in shown(page.get("/executors?q=zzz").text)


def test_the_emergency_stop_takes_a_tick_and_a_typed_word(page: TestClient) -> None:
    html = page.get("/executors").text
    form = re.search(r'<form[^>]*id="panic".*?</form>', html, re.DOTALL)
    assert form is not None
    assert 'data-word="stop"' in form.group()
    assert re.search(r"<button[^>]* disabled>Stop everything", form.group())
    assert "panic/lift" not in html


def test_while_everything_is_halted_the_page_offers_to_lift_it_and_nothing_else(api: Records, page: TestClient) -> None:
    api.answers["/api/executors"] = {"executors": EXECUTORS, "halted": f"panic {EVIL}"}
    html = page.get("/executors").text
    assert 'data-post="/api/panic/lift"' in html
    assert 'id="panic"' not in html
    assert EVIL in shown(html)


def test_an_executor_that_was_stopped_says_why_and_can_be_switched_on(page: TestClient) -> None:
    html = page.get("/executors/count_words").text
    assert "Metnos stopped it" in shown(html)
    assert "Switch on" in html
    assert "Switch off" not in html


@pytest.mark.parametrize(("builtin", "offered"), [(True, False), (False, True)])
def test_only_what_is_not_built_in_can_be_revoked_and_only_by_typing_its_name(
    api: Records, page: TestClient, builtin: bool, offered: bool
) -> None:
    api.answers["/api/executors/count_words"] = WHOLE | {"builtin": builtin}
    html = page.get("/executors/count_words").text
    assert ('data-word="count_words"' in html) is offered


def test_what_was_revoked_can_be_switched_to_nothing(api: Records, page: TestClient) -> None:
    api.answers["/api/executors/count_words"] = WHOLE | {"state": "revoked"}
    html = page.get("/executors/count_words").text
    assert "/api/executors/count_words/state" not in html
    assert "can never run again" in html


def test_a_missing_executor_ends_on_a_page_that_says_so(page: TestClient) -> None:
    answer = page.get("/executors/nowhere")
    assert answer.status_code == 404
    assert "look again" in answer.text


# -- the others


def test_words_that_mean_no_goal_are_told_beside_the_goals_there_are(page: TestClient) -> None:
    text = shown(page.get("/arena?goal=never").text)
    assert "move files" in text
    assert "no " + EVIL in text


def test_an_empty_arena_says_what_would_stand_there(api: Records, page: TestClient) -> None:
    api.answers["/api/arena"] = {"goals": []}
    assert "how much nearer the goal came" in page.get("/arena").text


def test_what_was_not_seen_is_marked_as_seen_by_its_numbers(api: Records, page: TestClient) -> None:
    assert "{&#34;ids&#34;: [1, 2]}" in page.get("/night").text
    api.answers["/api/notices"] = {"notices": []}
    assert "/api/notices/seen" not in page.get("/night").text


def test_a_job_that_runs_cannot_be_run_again(page: TestClient) -> None:
    html = page.get("/night").text
    assert 'data-post="/api/night/ager/run"' in html
    assert "/api/night/new_one/" not in html
    assert "/api/night/curator/run" not in html
    assert 'data-post="/api/night/curator/stop"' in html  # it was begun from a page


@pytest.mark.parametrize("before", ["x", "-1", "9" * 40, "1 OR 1", "²"])
def test_a_place_in_the_audit_that_is_none_shows_the_newest(api: Records, page: TestClient, before: str) -> None:
    assert page.get("/audit", params={"before": before}).status_code == 200
    assert b"before" not in [s for s in api.scopes if s["path"] == "/api/audit"][-1]["query_string"]


def test_a_setting_that_cannot_be_changed_here_is_shown_and_locked(page: TestClient) -> None:
    html = page.get("/settings").text
    assert re.search(r'id="s-web-hosts"[^>]* disabled>', html)  # the environment sets it
    assert re.search(r'<output id="s-web-port"[^>]*>8674<', html)  # it could open the house
    assert "metnos config set web.port" in html
    assert not re.search(r'id="s-turn-show"[^>]* disabled>', html)


def test_every_setting_has_a_place_on_one_of_the_two_pages(page: TestClient) -> None:
    named = [f'data-setting="{each["name"]}"' for each in RECORDED["/api/settings"]["settings"]]
    general, models = page.get("/settings").text, page.get("/settings/models").text
    assert [name for name in named if (name in general) == (name in models)] == []


def test_a_model_outside_the_home_is_marked_and_one_that_is_not_there_cannot_be_tested(page: TestClient) -> None:
    html = page.get("/settings/models").text
    assert "outside your home" in html
    assert re.search(r'data-test="fast"[^>]* disabled>', html)
    assert not re.search(r'data-test="main"[^>]* disabled>', html)


def test_no_grants_and_no_devices_say_what_would_stand_there(api: Records, page: TestClient) -> None:
    api.answers["/api/grants"], api.answers["/api/devices"] = {"grants": []}, {"devices": []}
    assert "Nothing is allowed in advance" in page.get("/settings/grants").text
    assert "None yet" in page.get("/settings/devices").text


def test_the_doctor_says_the_worst_first_and_does_not_keep_the_page_waiting(api: Records, page: TestClient) -> None:
    page.get("/doctor")
    assert "/api/doctor" not in [scope["path"] for scope in api.scopes]
    text = shown(page.get("/doctor?now=1").text)
    assert text.index("The sandbox") < text.index("The language model") < text.index("Python")
    assert "apt install bubblewrap" in text


@pytest.mark.parametrize(
    ("level", "words"), [("green", "All is well"), ("yellow", "All works"), ("red", "must be mended")]
)
def test_the_doctors_verdict_is_that_of_the_worst_check(api: Records, page: TestClient, level: str, words: str) -> None:
    fine = {"name": "python", "level": "green", "says": "", "fix": ""}
    api.answers["/api/doctor"] = {"checks": [fine, fine | {"name": "disk", "level": level}]}
    assert words in page.get("/doctor/checks").text
