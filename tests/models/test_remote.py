import json
import threading

import pytest

from metnos.core.errors import ModelError
from metnos.models.chat import Message, Prompt, Reply
from models.asking import KEY, QUESTION, failing, remote
from models.server import (
    Act,
    Running,
    Talk,
    dies,
    fails,
    hangs_up,
    lists,
    says,
    serving,
)
from tables import try_each

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
DATA = Prompt("You are brief.", (Message("user", "hello"),), SCHEMA, max_tokens=64)


# -- what works


def test_a_reply_is_streamed_as_it_comes_and_counted() -> None:
    heard: list[str] = []
    with serving(says("Hel", "lo", " there")) as running:
        reply = remote(running.url, price_in=1.0, price_out=10.0).ask(QUESTION, heard.append)
    assert heard == ["Hel", "lo", " there"]
    assert (reply.text, reply.model, reply.cut) == ("Hello there", "tiny", False)
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 11, 3)
    assert reply.usage.usd == pytest.approx(41e-6)
    assert reply.usage.wall_ms > 0


def test_words_come_before_the_end() -> None:
    first = threading.Event()

    def act(talk: Talk) -> None:
        talk.head()
        talk.word("one")
        assert first.wait(60)  # the second word waits until the first was heard
        talk.word("two")
        talk.done()

    with serving(act) as running:
        assert remote(running.url).ask(QUESTION, lambda _: first.set()).text == "onetwo"


def test_what_is_sent() -> None:
    with serving(says("ok")) as running:
        chat = remote(running.url)
        chat.ask(Prompt("S", (Message("user", "u1"), Message("assistant", "a1"), Message("user", "u2")), max_tokens=7))
    (seen,) = running.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.body["messages"] == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "u1"},
        {"role": "assistant", "content": "a1"},
        {"role": "user", "content": "u2"},
    ]
    assert (seen.body["max_tokens"], seen.body["temperature"], seen.body["stream"]) == (7, 0.0, True)
    assert seen.headers["authorization"] == f"Bearer {KEY}"


def test_nothing_of_the_environment_or_the_machine_travels_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "other-key")
    monkeypatch.setenv("OPENAI_ORG_ID", "other-org")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with serving(says("ok")) as running:
        assert remote(running.url, key="").ask(QUESTION).text == "ok"
    (seen,) = running.seen
    known = {"host", "user-agent", "accept-encoding", "connection", "accept", "content-type", "content-length"}
    assert set(seen.headers) == known
    assert "other" not in json.dumps(seen.headers)
    assert seen.headers["user-agent"] == "metnos"


def test_without_a_name_the_first_listed_is_used() -> None:
    with serving(lists("first", "second"), says("ok")) as running:
        chat = remote(running.url, name="")
        assert chat.ask(QUESTION).text == "ok"
        assert chat.ask(QUESTION).text == "ok"
    assert [each.path for each in running.seen] == ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]
    assert running.seen[1].body["model"] == "first"


def test_a_server_that_lists_nothing_is_no_model() -> None:
    assert "lists no model" in failing(lists(), name="").what
    assert "HTTP 500" in failing(fails(500), name="").what


def test_a_server_that_gives_no_counts_is_counted_by_us() -> None:
    def act(talk: Talk) -> None:
        talk.head()
        talk.word("word " * 30)
        talk.done()

    with serving(act) as running:
        usage = remote(running.url).ask(QUESTION).usage
    assert usage.output_tokens == 50
    assert usage.input_tokens > 4


def test_a_reply_that_had_to_stop_says_so() -> None:
    with serving(says("half a sent", reason="length")) as running:
        assert remote(running.url).ask(QUESTION).cut


def test_half_characters_neither_leave_nor_come_in() -> None:
    heard: list[str] = []
    with serving(says("\ud800odd", " 😀 é")) as running:
        reply = remote(running.url).ask(Prompt("s", (Message("user", "na\udcefme 😀"),)), heard.append)
    assert reply.text == "".join(heard) == "?odd 😀 é"
    assert running.seen[0].body["messages"][1]["content"] == "na?me 😀"


def test_what_a_terminal_would_obey_is_handed_on_as_it_is() -> None:
    with serving(says("\x1b]0;owned\x07", "\x1b[2J\x00")) as running:
        assert remote(running.url).ask(QUESTION).text == "\x1b]0;owned\x07\x1b[2J\x00"  # faces make it inert


def test_several_threads_may_ask_at_once() -> None:
    replies: list[Reply] = []
    with serving(says("ok")) as running:
        chat = remote(running.url)
        threads = [threading.Thread(target=lambda: replies.append(chat.ask(QUESTION))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [reply.text for reply in replies] == ["ok"] * 4


def test_what_a_listener_raises_comes_through() -> None:
    class Enough(Exception):
        pass

    def stop(_: str) -> None:
        raise Enough

    for raised in (Enough, KeyboardInterrupt):
        with serving(says("one", "two")) as running, pytest.raises(raised):
            remote(running.url).ask(QUESTION, stop if raised is Enough else _interrupt)


def _interrupt(_: str) -> None:
    raise KeyboardInterrupt


# -- retries


@pytest.mark.parametrize("first", [fails(429), fails(500), fails(503), fails(529), hangs_up])
def test_what_may_succeed_is_tried_again(first: Act) -> None:
    pauses: list[float] = []
    with serving(first, first, says("fine")) as running:
        assert remote(running.url, pauses=pauses).ask(QUESTION).text == "fine"
    assert len(running.seen) == 3
    assert 0 < pauses[0] <= pauses[1]


def test_a_server_that_asks_for_time_gets_it() -> None:
    pauses: list[float] = []
    with serving(fails(429, Retry_After="7"), fails(503, Retry_After="soon"), says("fine")) as running:
        assert remote(running.url, pauses=pauses).ask(QUESTION).text == "fine"
    assert pauses[0] == 7
    assert pauses[1] < 2


@pytest.mark.slow
def test_it_is_tried_as_often_as_the_settings_say() -> None:
    for retries in (0, 1, 3):
        with serving(fails(503)) as running, pytest.raises(ModelError) as caught:
            remote(running.url, retries=retries).ask(QUESTION)
        assert len(running.seen) == retries + 1
        assert (f"{retries + 1} times" in caught.value.what) == (retries > 0)


def test_no_wait_goes_beyond_the_time_limit() -> None:
    error = failing(fails(429, Retry_After="50"), timeout_s=5.0)
    assert "times" not in error.what


@try_each("code", [301, 302, 307, 400, 401, 403, 404, 405, 413, 422, 501])
def test_what_cannot_succeed_is_not_tried_again(code: int) -> None:
    with serving(fails(code, Location="http://127.0.0.1:1/v1")) as running, pytest.raises(ModelError):
        remote(running.url).ask(QUESTION)
    assert len(running.seen) == 1


def test_nothing_is_tried_again_after_the_first_word() -> None:
    heard: list[str] = []
    with serving(dies, says("second")) as running, pytest.raises(ModelError) as caught:
        remote(running.url).ask(QUESTION, heard.append)
    assert caught.value.kind == "broken"
    assert heard == ["one ", "two"]
    assert len(running.seen) == 1


# -- data by schema


def ask_for_data(*acts: Act) -> tuple[Reply, Running]:
    heard: list[str] = []
    with serving(*acts) as running:
        reply = remote(running.url).ask(DATA, heard.append)
    assert heard == []  # half an object is of no use, and a second try would say it twice
    return reply, running


def test_data_is_asked_for_by_grammar() -> None:
    reply, running = ask_for_data(says('{"a"', ": 1}"))
    assert reply.data == {"a": 1}
    wanted = running.seen[0].body["response_format"]
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize("code", [400, 422, 501])
def test_a_server_without_a_grammar_is_asked_in_words_from_then_on(code: int) -> None:
    with serving(fails(code), says('Sure:\n```json\n{"a": 2}\n```'), says('{"a": 3}')) as running:
        chat = remote(running.url)
        assert chat.ask(DATA).data == {"a": 2}
        assert chat.ask(DATA).data == {"a": 3}
    assert ["response_format" in each.body for each in running.seen] == [True, False, False]
    assert json.dumps(SCHEMA["properties"], separators=(",", ":")) in running.seen[1].body["messages"][-1]["content"]
    assert running.seen[1].body["messages"][0] == running.seen[0].body["messages"][0]  # the prefix stays as it was


def test_a_refusal_that_is_not_about_the_grammar_is_told_as_it_is() -> None:
    with serving(fails(400, {"error": {"message": "too long"}})) as running:
        chat = remote(running.url)
        for _ in range(2):
            with pytest.raises(ModelError, match="too long"):
                chat.ask(DATA)
    assert ["response_format" in each.body for each in running.seen] == [True, False, True, False]


def test_what_does_not_fit_is_asked_for_once_more_with_what_was_wrong() -> None:
    reply, running = ask_for_data(says('{"a": "x"}'), says('{"a": 2}'))
    assert reply.data == {"a": 2}
    assert (reply.usage.calls, reply.usage.input_tokens) == (2, 22)
    told = [message["content"] for message in running.seen[1].body["messages"]]
    assert told[:3] == ["You are brief.", "hello", '{"a": "x"}']
    assert 'at $.a: "x" is not of type "integer"' in told[3]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "x"}',
        "no",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"a": 1e999}',
        "[" * 900,
        '{"b": ' * 200 + "1" + "}" * 200,
    ],
)
def test_what_never_fits_is_given_up_after_two(text: str) -> None:
    with serving(says(text)) as running, pytest.raises(ModelError, match="twice gave something else") as caught:
        remote(running.url).ask(Prompt("s", QUESTION.messages, SCHEMA, max_tokens=5000))
    assert caught.value.kind == "broken"
    assert len(caught.value.what) < 500
    assert len(running.seen) == 2


def test_data_that_was_cut_off_is_not_asked_for_again() -> None:
    with serving(says('{"a": 1', reason="length")) as running, pytest.raises(ModelError) as caught:
        remote(running.url).ask(DATA)
    assert caught.value.kind == "rambling"
    assert len(running.seen) == 1
