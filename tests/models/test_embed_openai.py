"""An embedder behind a real HTTP server on loopback: what it sends, and every way in which an answer can be wrong."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from metnos.core.errors import ModelError
from metnos.core.sections_models import EmbedSettings
from metnos.models.embed import make
from metnos.models.embed_openai import Server

Answer = Callable[[dict[str, Any]], tuple[int, Any]]


def honest(body: dict[str, Any]) -> tuple[int, Any]:
    """Vectors by length of the text, in the wrong order but numbered."""
    rows = [{"index": n, "embedding": [float(len(text)), 1.0, 0.0]} for n, text in enumerate(body["input"])]
    return 200, {"model": "served-1", "data": rows[::-1]}


class Backend:
    """A server whose answer a test decides."""

    def __init__(self) -> None:
        self.answer: Answer = honest
        self.headers: dict[str, str] = {}
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                backend.seen.append((self.path, dict(self.headers), body))
                status, said = backend.answer(body)
                raw = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                for name, text in {"Content-Length": str(len(raw)), **backend.headers}.items():
                    self.send_header(name, text)
                with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has heard enough
                    self.end_headers()
                    self.wfile.write(raw)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@pytest.fixture
def backend() -> Iterator[Backend]:
    made = Backend()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def server(backend: Backend, key: str = "", **more: Any) -> Server:
    return Server(backend.url, "some-model", secret=lambda: key, **more)


def failure(embedder: Server) -> ModelError:
    with pytest.raises(ModelError) as caught:
        embedder.embed(["a secret text"])
    assert "secret text" not in str(caught.value)
    assert caught.value.fix
    return caught.value


# -- what it does


def test_vectors_come_in_the_order_of_the_texts(backend: Backend) -> None:
    rows = server(backend).embed(["", "four"])
    assert rows[0] == pytest.approx([2**-0.5, 2**-0.5, 0.0])  # an empty text is sent as one character
    assert rows[1] == pytest.approx([4 / 17**0.5, 1 / 17**0.5, 0.0])
    path, _, body = backend.seen[0]
    assert path == "/v1/embeddings"
    assert body == {"model": "some-model", "input": [".", "four"], "encoding_format": "float"}


def test_many_texts_go_in_several_batches(backend: Backend) -> None:
    rows = server(backend).embed(["x" * (1 + n % 7) for n in range(150)])
    assert rows.shape == (150, 3)
    assert [len(body["input"]) for _, _, body in backend.seen] == [64, 64, 22]
    assert rows[149] == pytest.approx(rows[2])


def test_its_space_is_what_the_server_says(backend: Backend) -> None:
    space = server(backend).space
    assert (space.model, space.version, space.dim) == ("some-model", "served-1", 3)
    assert server(backend).embed([]).shape == (0, 3)


def test_the_key_is_asked_for_when_it_is_needed_and_goes_only_into_the_header(backend: Backend) -> None:
    asked: list[str] = []
    settings = EmbedSettings(kind="openai", url=backend.url, name="m", key="env:EMBED_KEY")
    embedder = make(settings, lambda name: asked.append(name) or "s3cret")
    assert embedder is not None
    assert asked == []
    embedder.embed(["x"])
    assert set(asked) == {"env:EMBED_KEY"}
    _, headers, body = backend.seen[0]
    assert headers["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in json.dumps(body)
    assert "s3cret" not in repr(embedder)
    server(backend).embed(["x"])
    assert "Authorization" not in backend.seen[-1][1]


def test_a_proxy_of_the_environment_is_not_used(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert server(backend).embed(["x"]).shape == (1, 3)


# -- what goes wrong


@pytest.mark.parametrize(
    ("status", "kind", "word"),
    [(401, "key", "key"), (403, "key", "key"), (404, "missing", "no such model"), (500, "broken", "HTTP 500")],
)
def test_a_refusal_says_why(backend: Backend, status: int, kind: str, word: str) -> None:
    backend.answer = lambda body: (status, {"error": {"message": "secret text"}})
    error = failure(server(backend, key="k"))
    assert error.kind == kind
    assert word in error.what


def test_a_redirect_is_not_followed(backend: Backend) -> None:
    backend.answer = lambda body: (307, b"")
    backend.headers = {"Location": f"{backend.url}/elsewhere"}
    assert "points elsewhere" in failure(server(backend, key="k")).what
    assert [path for path, _, _ in backend.seen] == ["/v1/embeddings"]


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"<html>",
        b"[" * 100_000,
        [],
        {"data": None},
        {"data": [{"index": 0}]},
        {"data": [{"index": "x", "embedding": [1.0]}]},
        {"data": []},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": ["a"]}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [None]}]},
        b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999, 1.0]}]}',
    ],
)
def test_something_else_than_vectors_is_refused(backend: Backend, said: Any) -> None:
    backend.answer = lambda body: (200, said)
    assert failure(server(backend)).kind == "broken"


def test_a_server_that_changes_its_model_is_noticed(backend: Backend) -> None:
    embedder = server(backend)
    embedder.embed(["x"])
    backend.answer = lambda body: (200, {"model": "served-2", "data": [{"index": 0, "embedding": [1.0, 0.0, 0.0]}]})
    assert "changed its model" in failure(embedder).what
    backend.answer = lambda body: (200, {"model": "served-1", "data": [{"index": 0, "embedding": [1.0, 0.0]}]})
    assert "changed its model" in failure(embedder).what


@pytest.mark.slow
def test_silence_ends(backend: Backend) -> None:
    quiet = threading.Event()
    backend.answer = lambda body: (200, {"data": []} if quiet.wait(60) else {})
    assert failure(server(backend, timeout_s=0.2)).kind == "timeout"
    quiet.set()


def test_nobody_there_is_said(backend: Backend) -> None:
    gone = Server("http://127.0.0.1:9/v1", "m", secret=lambda: "")
    assert failure(gone).kind == "unreachable"


@pytest.mark.parametrize(("url", "name"), [("", "m"), ("http://127.0.0.1:9/v1", "")])
def test_what_is_not_set_is_asked_for(url: str, name: str) -> None:
    with pytest.raises(ModelError, match="not named") as caught:
        Server(url, name, secret=lambda: "").embed(["x"])
    assert caught.value.kind == "missing"
