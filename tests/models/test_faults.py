"""Everything that can go wrong with a server, one way after the other."""

import json
import socket
import time

import pytest

from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelSettings
from metnos.models.chat import Prompt
from metnos.models.remote import Remote
from models.asking import KEY, QUESTION, failing, remote
from models.server import (
    Act,
    Talk,
    dies,
    drips,
    fails,
    garbage,
    hangs,
    hangs_up,
    says,
    serving,
)
from tables import try_each

# -- what goes wrong


def _dies_in_a_chunk(talk: Talk) -> None:
    talk.send_response(200)
    talk.send_header("Content-Type", "text/event-stream")
    talk.send_header("Transfer-Encoding", "chunked")
    talk.end_headers()
    talk.wfile.write(b"ffff\r\ndata: ")


def _fails_midway(talk: Talk) -> None:
    talk.head()
    talk.word("one ")
    talk.event({"error": {"message": f"out of memory {KEY}", "type": "server_error"}})


def _falls_silent(talk: Talk) -> None:
    talk.head()
    talk.word("one ")
    talk.wait()


def _is_silent_but_pings(talk: Talk) -> None:
    talk.head()
    talk.word("one ")
    drips(talk)


def _empty_list(talk: Talk) -> None:
    talk.head()
    talk.event("[DONE]")


def _html(talk: Talk) -> None:
    talk.head(200, "text/html")
    talk.wfile.write(b"<html>It works!</html>")


def _whole(talk: Talk) -> None:
    talk.head(200, "application/json")
    talk.wfile.write(json.dumps({"choices": [{"message": {"content": "not streamed"}}]}).encode())


def _not_json(talk: Talk) -> None:
    talk.head()
    talk.event("{broken")


def _zipped(talk: Talk) -> None:
    talk.head(200, "text/event-stream", Content_Encoding="gzip")
    talk.wfile.write(b"\x1f\x8b" + b"\0" * 100)


@try_each(
    ("act", "kind", "words"),
    [
        (fails(401), "key", "does not accept our key"),
        (fails(403), "key", "HTTP 403"),
        (fails(404), "missing", "knows no model 'tiny'"),
        (fails(429), "refused", "too many requests"),
        (fails(400, {"error": {"message": "the prompt is too long"}}), "refused", "the prompt is too long"),
        (fails(400, {"error": ["odd"]}), "refused", "HTTP 400"),
        (fails(302, Location="http://127.0.0.1:1"), "refused", "redirects are not followed"),
        (fails(500), "unreachable", "in trouble"),
        (hangs_up, "unreachable", "ended the connection"),
        (garbage, "broken", "does not answer as a model server should"),
        (_zipped, "broken", "does not answer as a model server should"),
        (dies, "broken", "broke off"),
        (_dies_in_a_chunk, "unreachable", "ended the connection"),
        (_fails_midway, "broken", "out of memory"),
        (_not_json, "broken", "does not answer as a model server should"),
        (_html, "broken", "does not answer as a model server should"),
        (_whole, "broken", "does not answer as a model server should"),
        (_empty_list, "broken", "does not answer as a model server should"),
        (says(), "empty", "empty reply"),
        (says("  ", "\n"), "empty", "empty reply"),
        (says(reason="length"), "empty", "before the first word"),
        (says(reason="content_filter"), "refused", "declines"),
    ],
)
def test_what_goes_wrong_is_named(act: Act, kind: str, words: str) -> None:
    error = failing(act, retries=0)
    assert error.kind == kind, error.what
    assert words in error.what


@pytest.mark.slow
@pytest.mark.parametrize("act", [hangs, drips])
def test_one_that_never_speaks_ends_in_time(act: Act) -> None:
    begun = time.monotonic()
    error = failing(act, timeout_s=0.4)
    assert error.kind == "timeout"
    assert "did not answer after 0.4 seconds" in error.what
    assert time.monotonic() - begun < 10


@pytest.mark.slow
@pytest.mark.parametrize("act", [_falls_silent, _is_silent_but_pings])
def test_one_that_falls_silent_ends_in_time(act: Act) -> None:
    heard: list[str] = []
    error = failing(act, silence_s=0.3, heard=heard)
    assert error.kind == "timeout"
    assert "fell silent" in error.what
    assert heard == ["one "]


@pytest.mark.slow
def test_one_that_speaks_too_long_ends_in_time() -> None:
    def act(talk: Talk) -> None:
        talk.head()
        while not talk.running.over.wait(0.05):
            talk.word("word ")

    assert "was not finished after 3 seconds" in failing(act, timeout_s=3.0).what


def test_one_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    pauses: list[float] = []
    with pytest.raises(ModelError, match="is not there, 3 times") as caught:
        remote(url, pauses=pauses).ask(QUESTION)
    assert caught.value.kind == "unreachable"
    assert len(pauses) == 2


def test_a_certificate_that_cannot_be_verified_is_refused() -> None:
    with serving(says("ok")) as running:
        error_of = remote(running.url.replace("http:", "https:"), retries=0)
        with pytest.raises(ModelError) as caught:
            error_of.ask(QUESTION)
    assert caught.value.kind == "unreachable"
    assert running.seen == []


# -- too much


@pytest.mark.slow
def test_one_that_repeats_itself_is_stopped() -> None:
    def act(talk: Talk) -> None:
        talk.head()
        while not talk.running.over.is_set():
            talk.word("and so on ")

    heard: list[str] = []
    error = failing(act, prompt=Prompt("s", QUESTION.messages, max_tokens=10_000), heard=heard)
    assert error.kind == "rambling"
    assert "repeated itself" in error.what
    assert len("".join(heard)) < 5000


@pytest.mark.slow
def test_one_that_ignores_the_limit_of_tokens_is_stopped() -> None:
    def act(talk: Talk) -> None:
        talk.head()
        number = 0
        while not talk.running.over.is_set():
            number += 1
            talk.word(f"{number * 7919} ")

    heard: list[str] = []
    error = failing(act, heard=heard)
    assert error.kind == "rambling"
    assert len("".join(heard)) <= 4096 + 16 * 64


@pytest.mark.slow
def test_thoughts_without_end_are_stopped_too() -> None:
    def act(talk: Talk) -> None:
        talk.head()
        number = 0
        while not talk.running.over.is_set():
            number += 1
            talk.word("", reasoning_content=f"{number * 7919} ")

    assert failing(act).kind == "rambling"


def test_fifty_megabytes_in_one_word_are_not_gathered() -> None:
    sent: list[int] = []

    def act(talk: Talk) -> None:
        talk.head()
        talk.wfile.write(b'data: {"id": "1", "choices": [{"index": 0, "delta": {"content": "')
        for _ in range(50):
            talk.wfile.write(b"x" * (1 << 20))
            sent.append(1)

    assert failing(act).kind == "rambling"
    assert len(sent) < 40  # what was sent lies in the buffers of the connection at most


def test_a_long_error_is_not_gathered_either() -> None:
    def act(talk: Talk) -> None:
        talk.head(400, "application/json")
        for _ in range(50):
            talk.wfile.write(b"x" * (1 << 20))

    assert failing(act).kind == "refused"


# -- the key


def test_a_server_that_repeats_our_key_does_not_get_it_into_an_answer() -> None:
    heard: list[str] = []
    with serving(says("Your key: ", KEY[:7], KEY[7:], ".")) as running:
        reply = remote(running.url).ask(QUESTION, heard.append)
    assert reply.text == "".join(heard) == "Your key: [key]."
    for code in (400, 404, 500):
        assert "[key]" in failing(fails(code, {"error": {"message": f"bad {KEY}"}}), retries=0).what


def test_the_key_is_in_no_repr() -> None:
    with serving(says("ok")) as running:
        chat = remote(running.url)
        chat.ask(QUESTION)
        assert KEY not in f"{chat!r} {chat._target!r}"


def test_the_key_is_looked_up_once_and_only_when_asked() -> None:
    asked: list[int] = []

    def find() -> str:
        asked.append(1)
        return KEY

    with serving(says("ok")) as running:
        chat = Remote(ModelSettings(url=running.url, name="tiny"), find)
        assert (chat.name, chat.outside, asked) == (f"tiny at {running.url[7:-3]}", False, [])
        chat.ask(QUESTION)
        chat.ask(QUESTION)
    assert asked == [1]
