"""How an answer came about, laid out."""

from metnos.web import telling
from web.standin import EVIL, WHOLE


def test_a_turn_is_told_whole() -> None:
    told = telling.why(WHOLE)
    assert told["how"] == [("Planned by fixed rules.", []), (f"A fast path knows {EVIL}", ["It only watches."])]
    assert told["head"] == ["executor", "#score", "#words"]
    assert told["candidates"][1] == [{"text": "list_files", "href": "/executors/list_files"}, "0.500", ""]
    assert told["steps"][0]["permit"] == ["constitution, allow, no Law against it"]
    assert told["steps"][0]["calls"] == ["It called b: named in its manifest"]
    assert told["flows"] == ["a → b (step 1 to step 2, the plan said so)"]
    assert told["cost"] == "1 call, 412 tokens, $0.0021, 1.2 s."


def test_a_turn_in_which_nothing_happened_is_told_too() -> None:
    told = telling.why({"state": "nothing", "how": [" odd"]})
    assert told["how"] == [(" odd", [])]
    assert (told["steps"], told["candidates"], told["flows"], told["calls"]) == ([], [], [], [])
    assert told["cost"] == "No language model was asked; it cost nothing."
