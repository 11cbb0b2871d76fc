"""Every page of the shell: what it shows, and that nothing from outside is more than text."""

import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from metnos.core.content_policy import digest
from metnos.web.assets import FOLDER
from tables import try_each
from web.standin import ANSWERS, EVIL, ITEMS, Api

PAGES = ("/", "/?c=01TURN", "/turns", "/turns/01TURN", "/turns/01TURN/panel", "/inbox", "/inbox?all=1", "/undo",
         *(f"/inbox/{key}" for key in ITEMS), "/inbox/none", "/nowhere", "/pair", "/locked")  # fmt: skip
_OURS = frozenset({"data-body", "data-post", "data-confirm", "data-said", "data-then"})


class Looked(HTMLParser):
    """The elements of a page, and what of them a strict policy would forbid."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.within: list[str] = []  # scripts and styles that stand in the page
        self.inside = False  # one of them

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.faults += [f"{tag} {name}" for name in given if name.startswith("on") or name == "style"]
        self.faults += [f"{tag} {value}" for name, value in attrs if name in ("href", "src") and _is_far(value)]
        if tag == "style" or (tag == "script" and not given.get("src")):
            self.within.append("")
            self.inside = True
        if tag in ("iframe", "object", "embed", "base"):
            self.faults.append(tag)
        if tag == "img":
            self.faults.append("an image that we have nowhere")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.within[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("script", "style")


def _is_far(address: str | None) -> bool:
    return bool(re.match(r"(?i)\s*([a-z]+:|//)", address or ""))


def looked(html: str) -> Looked:
    found = Looked()
    found.feed(html)
    return found


@try_each("path", PAGES)
def test_a_page_holds_nothing_that_runs_or_comes_from_elsewhere(page: TestClient, path: str) -> None:
    answer = page.get(path)
    found = looked(answer.text)
    assert found.faults == []
    files = {path.read_text() for path in FOLDER.glob("*.*s")}
    policy = answer.headers["content-security-policy"]
    for each in filter(None, found.within):
        assert each in files, "what stands in a page is a file of ours, to the byte"
        assert digest(each.encode()) in policy
    assert len(found.ids) == len(set(found.ids))
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert "<script>alert" not in answer.text
    assert "49" not in re.findall(r"onerror=alert\(1\)&gt;(\S{2})", answer.text)


@try_each("path", ["/?c=01TURN", "/turns/01TURN", "/inbox/act", "/inbox/born", "/undo", "/inbox/none"])
def test_what_comes_from_outside_is_shown_as_it_was_written(page: TestClient, path: str) -> None:
    texts: list[str] = []
    reader = Looked()
    reader.handle_data = texts.append  # type: ignore[method-assign]
    reader.feed(page.get(path).text)
    assert EVIL in "".join(texts)


@pytest.mark.slow
def test_the_frame_says_where_one_is_and_what_waits(page: TestClient) -> None:
    html = page.get("/inbox/act").text
    assert re.search(r'<a href="/inbox" aria-current="page">', html)
    assert re.search(r'data-badge="waiting"><span class="number">3</span>', html)
    assert '<meta name="metnos-token" content="the-token">' in html


def test_a_halt_is_said_on_every_page(api: Api, page: TestClient) -> None:
    api.answers["/api/status"] = ANSWERS["/api/status"] | {"halted": "the owner pressed the button"}
    assert "the owner pressed the button" in page.get("/inbox").text


def test_changed_code_is_said_on_every_page(api: Api, page: TestClient) -> None:
    api.answers["/api/status"] = ANSWERS["/api/status"] | {"stopped": "law/levels.py was changed. Type <this>"}
    assert "law/levels.py was changed. Type &lt;this&gt;" in page.get("/inbox").text


def test_a_page_is_shown_even_where_its_frame_cannot_be_had(api: Api, page: TestClient) -> None:
    del api.answers["/api/status"]
    assert page.get("/inbox").status_code == 200


def test_what_is_not_there_is_said_with_what_to_do(page: TestClient) -> None:
    answer = page.get("/inbox/none")
    assert answer.status_code == 404
    assert "look again" in answer.text
    assert page.get("/nowhere").status_code == 404
    assert "There is nothing here" in page.get("/nowhere").text


def test_a_stranger_gets_no_frame_and_the_api_is_asked_for_nothing(api: Api, stranger: TestClient) -> None:
    for path, status in (("/locked", 401), ("/locked?why=link", 401), ("/pair", 200)):
        answer = stranger.get(path)
        assert answer.status_code == status
        assert "<nav" not in answer.text
        assert "metnos-token" not in answer.text
    assert api.scopes == []


def test_an_answer_that_is_wrong_ends_on_a_page(api: Api, page: TestClient) -> None:
    api.answers["/api/undo"] = ["not", "what", "was", "promised"]
    client = TestClient(page.app, raise_server_exceptions=False)
    answer = client.get("/undo")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.text


def test_a_newcomer_is_shown_what_can_be_asked(page: TestClient) -> None:
    assert "data-example" in page.get("/").text
    assert "data-example" not in page.get("/?c=01TURN").text


def test_a_question_is_answered_for_the_number_of_yeses_that_was_seen(page: TestClient) -> None:
    assert """data-body='{"seen": 0}'""" in page.get("/inbox/act").text
    twice = page.get("/inbox/twice").text
    assert """data-body='{"seen": 1}' disabled""" in twice
    assert 'id="seen"' in twice


def test_what_was_answered_cannot_be_answered_again(page: TestClient) -> None:
    assert "data-post" not in page.get("/inbox/gone").text


def test_a_device_that_may_not_decide_is_told_so(api: Api, page: TestClient) -> None:
    api.answers["/api/status"] = ANSWERS["/api/status"] | {"may_decide": False}
    html = page.get("/inbox/act").text
    assert "and not decide" in html
    assert "/approve" not in html


def test_a_newcomer_without_a_language_model_is_told_that_it_works_without(api: Api, page: TestClient) -> None:
    assert "No language model" not in page.get("/").text
    api.answers["/api/status"] = ANSWERS["/api/status"] | {"model": {"main": None}}
    assert "No language model is set up" in page.get("/").text
