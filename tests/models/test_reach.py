import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from metnos.core.records import Level
from metnos.core.sections_models import ModelSettings
from metnos.models.reach import check

MODELS = json.dumps({"object": "list", "data": [{"id": "small"}, {"id": "large"}]}).encode()


@contextmanager
def server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A real HTTP server on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_port}/v1"
        finally:
            running.shutdown()


def say(content: bytes, code: int = 200, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def test_none_configured_is_yellow_with_what_to_type() -> None:
    found = check(ModelSettings())
    assert found.level is Level.YELLOW
    assert found.fix.startswith("metnos config set models.main.url ")


def test_one_that_answers_is_green() -> None:
    with server(say(MODELS)) as url:
        assert check(ModelSettings(url=url)).found.endswith("answers with small")
        assert check(ModelSettings(url=f"{url}/", name="large")).level is Level.GREEN


def test_one_that_lacks_the_named_model_is_red() -> None:
    with server(say(MODELS)) as url:
        found = check(ModelSettings(url=url, name="huge"))
    assert found.level is Level.RED
    assert "it lists small, large" in found.found


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"data": 3}', b"\xff", b"[" * 200_000])
def test_one_that_speaks_another_language_is_red(content: bytes) -> None:
    with server(say(content)) as url:
        found = check(ModelSettings(url=url))
    assert found.level is Level.RED
    assert "does not answer" in found.found


def test_one_that_refuses_is_red() -> None:
    with server(say(b"", 401)) as url:
        assert "HTTP 401" in check(ModelSettings(url=url)).found


def test_a_redirect_is_not_followed() -> None:
    asked: list[str] = []

    def elsewhere(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        say(MODELS)(handler)

    with server(elsewhere) as target, server(say(b"", 302, Location=f"{target}/models")) as url:
        assert check(ModelSettings(url=url)).level is Level.RED
    assert asked == []


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with server(say(MODELS)) as url:
        assert check(ModelSettings(url=url)).level is Level.GREEN


def test_one_that_is_not_there_or_never_answers_is_red_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        assert "timed out" in check(ModelSettings(url=url, timeout_s=0.2)).found
    found = check(ModelSettings(url=url, timeout_s=0.2))
    assert found.level is Level.RED
    assert "refused" in found.found
