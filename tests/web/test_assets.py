"""Files for the browser: kept for good under their digest, and nothing but them."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from metnos.core.content_policy import digest
from metnos.web.assets import FOLDER, Assets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "static"
    (inner / "vendor").mkdir(parents=True)
    (tmp_path / "secret.js").write_text("no")
    (inner / "a.js").write_text("export const a = 1;")
    (inner / "a.py").write_text("no")
    (inner / "vendor" / "b.css").write_text("p {}")
    return inner


def client(folder: Path) -> tuple[TestClient, Assets]:
    assets = Assets(folder)
    return TestClient(Starlette(routes=assets.routes())), assets


@pytest.mark.parametrize(("name", "kind"), [("a.js", "text/javascript"), ("vendor/b.css", "text/css")])
def test_a_file_is_kept_for_good_under_its_digest_only(folder: Path, name: str, kind: str) -> None:
    browser, assets = client(folder)
    answer = browser.get(assets.address(name))
    assert answer.content == (folder / name).read_bytes()
    assert answer.headers["content-type"].startswith(kind)
    assert "immutable" in answer.headers["cache-control"]
    for other in (f"/static/{name}", f"/static/000000000000/{name}"):
        again = browser.get(other)
        assert again.content == answer.content
        assert again.headers["cache-control"] == "no-cache"


def test_what_the_browser_has_is_not_sent_again(folder: Path) -> None:
    browser, assets = client(folder)
    tag = browser.get(assets.address("a.js")).headers["etag"]
    again = browser.get("/static/a.js", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/static/../secret.js", "/static/%2e%2e/secret.js", "/static/x/..%2fsecret.js", "/static/a.py", "/static/",
     "/static//etc/passwd", "/static/vendor", "/static/a.js%00.css", "/static/..%5csecret.js"],
)  # fmt: skip
def test_nothing_else_is_served(folder: Path, path: str) -> None:
    browser, _ = client(folder)
    answer = browser.get(path)
    assert answer.status_code == 404
    assert answer.content != b"no"


def test_another_content_has_another_address(folder: Path) -> None:
    before = Assets(folder).address("vendor/b.css")
    (folder / "a.js").write_text("export const a = 2;")
    assert Assets(folder).address("vendor/b.css") != before


def test_a_file_that_is_not_there_has_no_address(folder: Path) -> None:
    with pytest.raises(KeyError):
        Assets(folder).address("b.js")


def test_the_frame_of_a_page_weighs_little() -> None:
    frame = ("metnos.css", "metnos.js", "theme.js", "favicon.svg", "chat.js", "answer.js", "asking.js")
    assert sum((FOLDER / name).stat().st_size for name in frame) < 100_000


def test_what_stands_in_a_page_is_allowed_by_its_digest_and_nothing_else_is(folder: Path) -> None:
    (folder / "theme.js").write_text("document.title = 'a';")
    (folder / "a.css").write_text("a { color: red }")
    assets = Assets(folder)
    assert str(assets.within("theme.js")) == "document.title = 'a';"
    for body in (b"document.title = 'a';", b"a { color: red }"):
        assert digest(body) in assets.policy
    assert "unsafe" not in assets.policy
    with pytest.raises(KeyError):
        assets.within("a.js")  # a script that the policy does not name
    with pytest.raises(KeyError):
        assets.within("none.css")
    (folder / "a.css").write_text("a { content: '</style><script>' }")
    with pytest.raises(ValueError, match="cannot stand in a page"):
        Assets(folder).within("a.css")


def test_every_style_of_ours_can_stand_in_a_page() -> None:
    assets = Assets()
    for path in FOLDER.glob("*.css"):
        assert assets.within(path.name)
