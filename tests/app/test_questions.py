"""A question in parts: everything that it holds is told, in the order in which somebody decides."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.app import questions
from metnos.law.inbox import ACT, ACTIVATION, DIRECTION, Item, State

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
BORN: dict[str, Any] = {
    "way": "owner",
    "why": "It was missing.",
    "may": ["read files"],
    "effect": "changes nothing",
    "never": ["reach the network"],
    "tests": [{"name": "one", "given": "a", "expected": "b", "passed": True}, {"name": "two", "passed": False}],
    "checks": ["static gate", "style"],
    "cost": "2 calls",
    "files": {"executor.py": "def run(): ...", "manifest.toml": "name = 1"},
    "signed with": "a key",
}


def item(kind: str, body: dict[str, Any]) -> Item:
    return Item("01Q", kind, "a title", body, "0" * 64, 1, 0, State.WAITING, "night:synt", NOW, NOW, None, None, "")


def titles(kind: str, body: dict[str, Any]) -> list[str]:
    return [part.title for part in questions.parts(item(kind, body))]


def test_a_new_executor_is_told_in_the_order_in_which_somebody_decides() -> None:
    assert titles(ACTIVATION, BORN) == [
        "Why",
        "What it may do",
        "What it may never do",
        "How it was tried: 1 of 2 tests passed, in a sandbox",
        "What making it took",
        "executor.py",
        "manifest.toml",
        "Also",
    ]
    parts = {part.title: part for part in questions.parts(item(ACTIVATION, BORN))}
    assert parts["Why"].lines == ("You asked for it.", "It was missing.")
    assert parts["What it may do"].lines == ("read files", "It changes nothing.")
    assert parts["How it was tried: 1 of 2 tests passed, in a sandbox"].lines == (
        (True, "one: a → b"),
        (False, "two:  → "),
        (True, "nothing in its code that no executor may do"),
    )
    assert (parts["executor.py"].folded, parts["manifest.toml"].folded) == (False, True)
    assert parts["Also"].lines == (("signed with", "a key"),)


def test_a_new_version_is_compared_and_its_code_folded() -> None:
    body = BORN | {"version before": "1.0.0", "state before": "active", "changes": ["more"], "difference": "-a\n+b"}
    parts = {part.title: part for part in questions.parts(item(ACTIVATION, body))}
    assert parts["Compared with 1.0.0, which is active"].lines == ("more",)
    assert parts["What changed of its code"].lines == ("-a", "+b")
    assert parts["executor.py"].folded


def test_an_act_shows_what_it_would_do_and_which_rule_asks() -> None:
    body = {"purpose": "Make folders.", "args": {"paths": ["a", "b"]}, "preview": ["make a", "make b"], "turn": "01T"}
    found = questions.parts(item(ACT, body), [("autonomy", "ask", "it changes something")], "makes new files")
    assert [(part.title, part.lines) for part in found] == [
        ("", ("Make folders.",)),
        ("What it would do", ("make a", "make b")),
        ("And afterwards", ("It makes new files.",)),
        ("What it is given", (("paths", "a, b"),)),
        ("Which rule asks", (("autonomy", "ask", "it changes something"),)),
    ]


def test_what_rests_on_foreign_content_says_so_and_all_else_does_not() -> None:
    told = [questions.parts(item(ACT, {"purpose": "Send it.", "tainted": tainted})) for tainted in (True, False)]
    assert [[part.title for part in each] for each in told] == [["", "Why"], [""]]


_VALUES = st.text(min_size=1) | st.integers() | st.lists(st.text(min_size=1), min_size=1, max_size=3)


@given(
    st.sampled_from([ACT, DIRECTION, "memory", "archival"]), st.dictionaries(st.text(min_size=1), _VALUES, max_size=4)
)
def test_what_nobody_foresaw_is_told_too(kind: str, body: dict[str, Any]) -> None:
    strange = {f"strange {name}": value for name, value in body.items()}
    told = [part for part in questions.parts(item(kind, strange)) if part.title == "Also"]
    assert [name for part in told for name, _ in part.lines] == list(strange)
