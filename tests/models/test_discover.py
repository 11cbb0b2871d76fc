import socket
from urllib.parse import urlsplit

import pytest

from metnos.models.discover import PORTS, Found, discover
from models.server import fails, garbage, hangs, lists, serving


def port(url: str) -> int:
    return urlsplit(url).port or 0


@pytest.mark.slow
def test_servers_are_found_in_order_and_others_passed_over() -> None:
    with (
        serving(lists("llama", "qwen")) as good,
        serving(fails(404)) as other,
        serving(garbage) as odd,
        serving(hangs) as slow,
        serving(lists()) as empty,
        socket.create_server(("127.0.0.1", 0)) as closed,
    ):
        gone = closed.getsockname()[1]
        closed.close()
        found = discover({
            gone: "gone", port(slow.url): "slow", port(good.url): "Ollama", port(odd.url): "odd",
            port(other.url): "other", port(empty.url): "empty",
        })  # fmt: skip
    assert found == (Found("Ollama", good.url, ("llama", "qwen")), Found("empty", empty.url, ()))


def test_it_only_asks_for_a_list_and_sends_no_key() -> None:
    with serving(lists("llama")) as running:
        discover({port(running.url): "Ollama"})
    (seen,) = running.seen
    assert (seen.path, seen.body) == ("/v1/models", None)
    assert "authorization" not in seen.headers


def test_no_ports_no_servers() -> None:
    assert discover({}) == ()
    assert set(PORTS) == {11434, 8080, 8000, 1234}
