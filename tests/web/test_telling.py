"""How an answer came about, in words."""

from metnos.web import telling
from web.standin import WHOLE


def test_a_turn_is_told_whole() -> None:
    told = telling.why(WHOLE)
    assert told["how"][0] == "Planned by fixed rules, without a language model."
    assert "How sure that this was meant: 93%" in told["how"]
    assert told["head"] == ["executor", "#score", "#words"]
    assert told["candidates"][1] == [{"text": "list_files", "href": "/executors/list_files"}, "0.500", ""]
    assert told["steps"][0]["permit"] == ["constitution, allow, no Law speaks against it"]
    assert told["cost"] == "1 call, 412 tokens, $0.0021, 1.2 s."


def test_a_turn_that_says_little_is_told_too() -> None:
    told = telling.why({"id": "x", "state": "odd", "path": "strange", "steps": None, "memories": ["plain words"]})
    assert told["how"] == ["By the way called strange."]
    assert told["memories"] == [{"kind": "memory", "text": "plain words"}]
    assert told["cost"] == "No language model was asked; it cost nothing."
