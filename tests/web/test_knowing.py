"""The pages of the mnestome, the memory and the fast paths: what they show, and that all of it is text."""

import re

import pytest
from starlette.testclient import TestClient

from metnos.web import site
from metnos.web.pages import fastpaths, memory, mnestome
from tables import try_each
from web.knowing import MNEST, Knowing
from web.standin import EVIL, signed_in
from web.test_site import Looked, looked

PAGES = (
    "/mnestome", f"/mnestome/{MNEST}", f"/mnestome/{MNEST}/panel", "/mnestome?state=proto&tag=x&days=7&min_weight=nan",
    "/mnestome?q=find&month=2026-01", "/memory", "/memory?q=key", "/memory/episodes", "/memory/episodes/01EPISODE",
    "/memory/facts", "/memory/facts?kind=anti&standing=expired", "/memory/facts/01FACT", "/memory/playbook",
    "/memory/playbook?version=2", "/memory/tiers", "/memory/reports", "/memory/reports?kind=dream", "/memory/forget",
    "/memory/forget?episode=01EPISODE", "/memory/forget?fact=01FACT&words=x", "/fastpaths",
    "/fastpaths?days=7&state=shadow", "/fastpaths/a1b2c3d4e5f6",
)  # fmt: skip
EVILS = ("/mnestome", f"/mnestome/{MNEST}", "/memory?q=key", "/memory/episodes", "/memory/episodes/01EPISODE",
         "/memory/facts", "/memory/facts/01FACT", "/memory/playbook?version=2", "/memory/tiers", "/memory/reports",
         "/memory/forget?episode=01EPISODE", "/fastpaths", "/fastpaths/a1b2c3d4e5f6")  # fmt: skip


@pytest.fixture
def api() -> Knowing:
    return Knowing()


@pytest.fixture
def page(api: Knowing) -> TestClient:
    return TestClient(signed_in(site.build(api), api))


@pytest.mark.slow
@try_each("path", PAGES)
def test_a_page_holds_nothing_that_runs_or_comes_from_elsewhere(page: TestClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 200
    found = looked(answer.text)
    assert found.faults == []
    assert len(found.ids) == len(set(found.ids))
    assert "<script>alert" not in answer.text


@pytest.mark.slow
@try_each("path", EVILS)
def test_what_comes_from_outside_is_shown_as_it_was_written(page: TestClient, path: str) -> None:
    texts: list[str] = []
    reader = Looked()
    reader.handle_data = texts.append  # type: ignore[method-assign]
    reader.feed(page.get(path).text)
    assert EVIL in "".join(texts)


def _asked(api: Knowing, path: str) -> dict[str, list[str]]:
    from urllib.parse import parse_qs

    return parse_qs(next(scope["query_string"].decode() for scope in api.scopes if scope["path"] == path))


# -- mnestome


def test_filters_go_to_the_api_as_they_were_chosen(api: Knowing, page: TestClient) -> None:
    page.get("/mnestome?state=proto&state=decaying&state=bogus&tag=invoice&min_weight=0.4&days=30&month=2026-01")
    asked = _asked(api, "/api/mnestome")
    assert asked["state"] == ["proto", "decaying"]
    assert asked["tag"] == ["invoice"]
    assert asked["min_weight"] == ["0.4"]
    assert asked["month"] == ["2026-01"]
    assert asked["since"][0].endswith("Z")


def test_filters_that_make_no_sense_are_as_if_they_were_not_there(api: Knowing, page: TestClient) -> None:
    page.get("/mnestome?state=bogus&min_weight=inf&days=-3&days=1e99")
    asked = _asked(api, "/api/mnestome")
    assert "since" not in asked
    assert "min_weight" not in asked
    assert set(asked["state"]) == {"active", "decaying", "proto", "seed"}


def test_the_list_says_what_the_picture_shows(page: TestClient) -> None:
    html = page.get("/mnestome").text
    assert "find_files → read_text" in html
    assert "wished for" in html
    assert f'href="/mnestome/{MNEST}"' in html
    assert 'max="3"' in html  # three months, and now


def test_an_empty_mnestome_says_how_it_fills(api: Knowing, page: TestClient) -> None:
    api.answers["/api/mnestome"] = {"nodes": [], "mnests": [], "tags": [], "months": [], "total": 0}
    html = page.get("/mnestome").text
    assert "It fills by itself" in html
    assert "graph.js" not in html


def test_one_mnest_has_its_weight_over_time_and_what_happened_the_newest_first(page: TestClient) -> None:
    html = page.get(f"/mnestome/{MNEST}").text
    assert html.count('class="curve accent"') >= 2
    assert "Used 2 times" in html or "used 2 times" in html
    assert "faded, 6 times" in html
    assert html.index("became fading") < html.index("faded, 6 times") < html.index("born active")


def test_a_mnest_that_is_not_there_is_said(page: TestClient) -> None:
    assert page.get("/mnestome/none").status_code == 404


@pytest.mark.parametrize(("kinds", "lines"), [("dddrdd", 3), ("", 0), ("r", 1), ("ddd", 1), ("rdr", 3)])
def test_nights_of_fading_that_follow_one_another_are_one_line(kinds: str, lines: int) -> None:
    names = {"d": "decay", "r": "reinforce"}
    events = [{"ts": str(number), "kind": names[kind], "weight_after": 0.1} for number, kind in enumerate(kinds)]
    found = mnestome.happened(events)
    assert len(found) == lines
    assert sum(each["times"] for each in found) == len(kinds)


# -- memory


def test_search_shows_the_four_factors_of_each(api: Knowing, page: TestClient) -> None:
    html = page.get("/memory?q=key").text
    assert _asked(api, "/api/memory/search")["q"] == ["key"]
    for word, figure in (("relevance", "0.91"), ("importance", "0.55"), ("recency", "0.40"), ("affect", "0.50")):
        assert re.search(rf'aria-label="{word} {figure}"', html)


@pytest.mark.slow
def test_nothing_is_searched_for_where_nothing_was_asked(api: Knowing, page: TestClient) -> None:
    html = page.get("/memory?q=+").text
    assert "/api/memory/search" not in {scope["path"] for scope in api.scopes}
    assert "5,210" in html
    assert "content, relaxed" in html


def test_a_fact_shows_how_it_fades_and_where_it_comes_from(page: TestClient) -> None:
    html = page.get("/memory/facts/01FACT").text
    assert "How far it is believed" in html
    assert "into the playbook from 70%" in html
    assert 'href="/memory/episodes/01EPISODE"' in html


def test_the_share_at_this_moment_stands_on_the_curve() -> None:
    fact = {"confidence": 0.9, "curve": [["2026-01-01T00:00:00Z", 0.8], ["2026-03-01T00:00:00Z", 0.4]]}
    assert "40% now" in memory.belief(fact, 1.8e9)
    assert "80% now" in memory.belief(fact, 1.0e9)
    assert "nothing to draw" in memory.belief({"confidence": 0.9, "curve": []}, 1.8e9)


def test_forgetting_names_what_is_meant_and_can_do_nothing_by_itself(api: Knowing, page: TestClient) -> None:
    html = page.get("/memory/forget?episode=01EPISODE").text
    assert "[&#34;01EPISODE&#34;]" in html or "[&quot;01EPISODE&quot;]" in html
    assert "data-post" not in html
    assert api.posts == []


def test_more_facts_are_asked_for_with_the_same_filters(page: TestClient) -> None:
    html = page.get("/memory/facts?standing=expired&kind=anti&category=a%26b").text
    assert "standing=expired&amp;kind=anti&amp;category=a%26b&amp;after=01DOUBT" in html


# -- fast paths


@pytest.mark.slow
def test_savings_are_shown_over_time_and_against_the_bound(api: Knowing, page: TestClient) -> None:
    html = page.get("/fastpaths?days=90").text
    assert _asked(api, "/api/savings")["days"] == ["90"]
    assert "your bound 1.0%" in html
    assert '<div class="tile bad"><p class="value">1.6%</p>' in html
    assert html.count('class="column accent"') >= 16


@pytest.mark.slow
def test_a_span_that_is_not_offered_is_thirty_days(api: Knowing, page: TestClient) -> None:
    page.get("/fastpaths?days=99999999999999999999")
    assert _asked(api, "/api/savings")["days"] == ["30"]


@pytest.mark.slow
def test_paths_are_filtered_by_state_and_counted_in_all(page: TestClient) -> None:
    html = page.get("/fastpaths?state=shadow").text
    assert "what do the PDFs say" in html
    assert "tidy up" not in html
    assert "off 1" in html


def test_a_path_that_is_off_can_be_restored_and_one_that_is_not_switched_off(api: Knowing, page: TestClient) -> None:
    assert "/api/fastpaths/a1b2c3d4e5f6/demote" in page.get("/fastpaths/a1b2c3d4e5f6").text
    api.answers["/api/fastpaths/a1b2c3d4e5f6"] |= {"state": "demoted"}
    assert "/api/fastpaths/a1b2c3d4e5f6/restore" in page.get("/fastpaths/a1b2c3d4e5f6").text


def test_nothing_saved_yet_divides_by_nothing(api: Knowing, page: TestClient) -> None:
    nothing = {
        "turns": 0,
        "hits": 0,
        "wrong": 0,
        "saved_ms": 0.0,
        "saved_usd": 0.0,
        "bound": 0.01,
        "ways": [],
        "days": [],
    }
    api.answers |= {"/api/savings": nothing, "/api/fastpaths": {"paths": [], "bound": 0.01}}
    html = page.get("/fastpaths").text
    assert "A path begins when a request is made" in html
    assert "nothing to draw" not in html


def test_the_share_of_wrong_answers_counts_from_the_first_answer_on() -> None:
    days = [{"day": "2026-04-01", "hits": 0, "wrong": 0, "ms": 0, "usd": 0},
            {"day": "2026-04-02", "hits": 4, "wrong": 1, "ms": 9, "usd": 0},
            {"day": "2026-04-03", "hits": 6, "wrong": 0, "ms": 9, "usd": 0}]  # fmt: skip
    saved = {"days": days, "hits": 10, "wrong": 1, "saved_usd": 0, "bound": 0.01}
    assert "10.0% wrong, against a bound of 1.0%" in fastpaths.plots(saved)["wrong"]
