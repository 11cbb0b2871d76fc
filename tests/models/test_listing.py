import json

import pytest

from metnos.models.listing import NoList, list_models
from models.server import Talk, lists, serving


def test_names_are_few_and_short_and_text() -> None:
    def act(talk: Talk) -> None:
        talk.head(200, "application/json")
        entries = [{"id": "good"}, {"id": 3}, {"id": ""}, {"id": "x" * 1000}, {}, "odd", None]
        talk.wfile.write(json.dumps({"data": entries + [{"id": f"m{n}"} for n in range(2000)]}).encode())

    with serving(act) as running:
        names = list_models(running.url, timeout_s=60)
    assert names[:2] == ("good", "m0")
    assert len(names) == 500


def test_an_answer_without_end_is_not_gathered() -> None:
    def act(talk: Talk) -> None:
        talk.head(200, "application/json")
        while not talk.running.over.is_set():
            talk.wfile.write(b" " * (1 << 20))

    with serving(act) as running, pytest.raises(NoList, match="not an OpenAI-compatible server"):
        list_models(running.url, timeout_s=60)


def test_the_key_is_not_in_the_error() -> None:
    with serving(lists("small")) as running, pytest.raises(NoList) as caught:
        list_models(running.url + "\r\nX: y", "sk-0123456789", timeout_s=60)
    assert "sk-0123456789" not in f"{caught.value!r} {caught.value.__context__!r}"
    assert running.seen == []
