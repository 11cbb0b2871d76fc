import socket
from pathlib import Path

import pytest

from metnos.core.records import Level
from metnos.core.sections_models import ModelSettings
from metnos.models import keys, pins
from metnos.models.reach import check
from models.server import Act, Talk, drips, fails, hangs, lists, serving


def raw(content: bytes) -> Act:
    def act(talk: Talk) -> None:
        talk.head(200, "application/json")
        talk.wfile.write(content)

    return act


def test_none_configured_is_yellow_with_what_to_type() -> None:
    for nothing in (ModelSettings(), ModelSettings(provider="local"), ModelSettings(provider="anthropic")):
        found = check(nothing)
        assert found.level is Level.YELLOW
        assert found.fix == "metnos model list"


def test_one_that_answers_is_green() -> None:
    with serving(lists("small", "large")) as running:
        assert check(ModelSettings(url=running.url)).found.endswith("answers with small")
        assert check(ModelSettings(url=f"{running.url}/", name="large")).level is Level.GREEN


def test_one_that_lacks_the_named_model_is_red() -> None:
    with serving(lists("small", "large")) as running:
        found = check(ModelSettings(url=running.url, name="huge"))
    assert found.level is Level.RED
    assert "it lists small, large" in found.found


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"data": 3}', b"\xff", b"[" * 200_000])
def test_one_that_speaks_another_language_is_red(content: bytes) -> None:
    with serving(raw(content)) as running:
        found = check(ModelSettings(url=running.url))
    assert found.level is Level.RED
    assert "does not answer" in found.found


def test_one_that_refuses_is_red() -> None:
    with serving(fails(401)) as running:
        assert "HTTP 401" in check(ModelSettings(url=running.url)).found


def test_a_redirect_is_not_followed() -> None:
    with serving(lists("small")) as target, serving(fails(302, Location=f"{target.url}/models")) as running:
        assert check(ModelSettings(url=running.url)).level is Level.RED
    assert target.seen == []


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with serving(lists("small")) as running:
        assert check(ModelSettings(url=running.url)).level is Level.GREEN


@pytest.mark.slow
def test_one_that_is_not_there_or_never_answers_is_red_in_its_own_time() -> None:
    for act in (hangs, drips):
        with serving(act) as running:
            found = check(ModelSettings(url=running.url, timeout_s=3600), timeout_s=0.3)
        assert found.level is Level.RED
        assert "timed out" in found.found
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    assert "refused" in check(ModelSettings(url=url)).found


def test_the_key_is_sent_where_it_belongs_and_one_that_is_missing_is_said(tmp_path: Path) -> None:
    with serving(lists("small")) as running:
        settings = ModelSettings(url=running.url, key="file:cloud")
        assert "no key at file:cloud" in check(settings, tmp_path).found
        keys.store_in_file("cloud", "sk-0123456789", tmp_path)
        assert check(settings, tmp_path).level is Level.GREEN
        assert check(settings).level is Level.GREEN
    assert [each.headers.get("authorization") for each in running.seen] == ["Bearer sk-0123456789", None]


def test_anthropic_is_asked_in_its_own_way(tmp_path: Path) -> None:
    keys.store_in_file("claude", "sk-ant-0123456789", tmp_path)
    with serving(lists("claude-haiku-4-5-20260101")) as running:
        settings = ModelSettings(provider="anthropic", url=running.url[:-3], name="claude-haiku-4-5", key="file:claude")
        assert check(settings, tmp_path).level is Level.GREEN
    (seen,) = running.seen
    assert (seen.path, seen.headers["x-api-key"]) == ("/v1/models", "sk-ant-0123456789")


def test_of_a_local_one_the_file_is_looked_at(tmp_path: Path) -> None:
    found = check(ModelSettings(provider="local", name="smollm2-135m"))
    assert found.level is Level.RED
    assert found.fix == "metnos model get smollm2-135m"
    model = tmp_path / "my.gguf"
    model.write_bytes(b"GGUF" + b"\0" * 2_000_000)
    assert check(ModelSettings(provider="local", name=str(model))).found.endswith("(local), 2 MB")
    assert check(ModelSettings(provider="local", name="unheard-of")).level is Level.RED
    assert pins.folder().is_relative_to(tmp_path)
