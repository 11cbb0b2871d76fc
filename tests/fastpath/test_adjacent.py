from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastpath.pathing import JUDGE, START, hear, mark
from metnos.fastpath.adjacent import LONGEST, Turned, chain, join, record
from metnos.fastpath.log import Log, Pass
from metnos.fastpath.records import State
from metnos.fastpath.saying import plain
from metnos.fastpath.shape import Unresolved, fill
from metnos.fastpath.states import settle

SAYS = {"paths": "{{last.entries.path}}"}


def turned(turn: str, text: str, tool: str, *plan: Mapping[str, Any], last: str = "", **other: Any) -> Turned:
    return Turned(turn, START, "c", hear(text), text, (mark(tool),), plan, True, last, **other)


def pair(number: int, url: str = "https://example.org/a") -> list[Turned]:
    return [
        turned(f"A{number}", f"download {url}", "get_pages", {"urls": [url]}, plan_ms=5.0),
        turned(f"B{number}", "tell me what it says", "read_files", SAYS, last=f"A{number}", plan_ms=7.0),
    ]


def test_two_requests_become_one_plan() -> None:
    joined = join(pair(1))
    assert isinstance(joined, Pass)
    assert plain(joined.form) == plain(hear("download https://example.org/b and then tell me what it says").form)
    assert [each.name for each in joined.marks] == ["get_pages", "read_files"]
    assert (joined.turn, joined.origin, joined.plan_ms) == ("B1", "adjacent", 12.0)
    asked = hear("download https://example.org/b, then tell me what it says")
    assert fill(joined.shape, {}, asked, joined.form) == (
        {"urls": ["https://example.org/b"]},
        {"paths": "{{step1.entries.path}}"},
    )


def test_three_times_make_a_path(log2: Log) -> None:
    for number in range(3):
        assert record(log2, pair(number, f"https://example.org/{number}"))
        assert not record(log2, pair(number))
    (path,) = log2.paths()
    assert (path.tools, path.passes) == (("get_pages", "read_files"), 3)
    assert log2.db.query("SELECT origin FROM fast_paths") == [("adjacent",)]
    assert [change.state for change in settle(log2, [path.id], JUDGE, START)] == [State.SHADOW]


def test_it_answers_only_who_says_both() -> None:
    joined = join(pair(1))
    assert isinstance(joined, Pass)
    for asked in (
        "download https://example.org/b",
        "tell me what https://example.org/b says",
        "download https://example.org/b and tell me what it says and delete it",
        "download https://example.org/b but don't tell me what it says",
    ):
        assert isinstance(fill(joined.shape, {}, hear(asked), joined.form), Unresolved), asked


def test_steps_inside_a_turn_keep_their_order() -> None:
    first = turned("A", "find the PDFs in ~/x", "find_files", {"path": "~/x", "pattern": "*.pdf"})
    both = ({"entries": "{{last.entries}}", "by": "{{step2.results}}"}, {"entries": "{{step1.entries}}"})
    second = replace(turned("B", "sort them", "sort_tables", *both, last="A"), marks=(mark("sort_tables"), mark("x_y")))
    joined = join([first, second])
    assert isinstance(joined, Pass)
    made = fill(joined.shape, {}, hear("find the PDFs in ~/x and sort them"), joined.form)
    assert not isinstance(made, Unresolved)
    assert made[1] == {"entries": "{{step1.entries}}", "by": "{{step3.results}}"}
    assert made[2] == {"entries": "{{step2.entries}}"}


def test_longer_chains_are_chains_too() -> None:
    third = turned("C1", "save that", "write_files", {"text": "{{last.entries}}"}, last="B1")
    links = chain([*pair(1), third])
    assert [link.turn for link in links] == ["A1", "B1", "C1"]
    joined = join(links)
    assert isinstance(joined, Pass)
    assert len(joined.shape) == 3


def test_what_is_no_chain() -> None:
    first, second = pair(1)
    assert chain([]) == ()
    assert chain([first]) == ()
    assert chain([second]) == ()  # what it takes from is not there
    assert chain([replace(first, ok=False), second]) == ()
    assert chain([replace(first, conversation="other"), second]) == ()
    assert chain([first, replace(second, last="somebody else")]) == ()
    assert chain([first, replace(second, plan=({"paths": ["a.txt"]},))]) == ()
    assert chain([first, replace(second, plan=())]) == ()


def test_a_whole_conversation_is_no_chain() -> None:
    links = [pair(0)[0]]
    for number in range(LONGEST):
        links.append(turned(f"L{number}", "go on", "read_files", SAYS, last=links[-1].turn))
    assert chain(links) == ()


def test_what_cannot_be_learnt_is_marked_as_seen(log2: Log) -> None:
    first = turned("A", "compare a.txt and a.txt", "compare_files", {"first": "a.txt", "second": "a.txt"})
    second = turned("B", "read it", "read_files", SAYS, last="A")
    assert not record(log2, [first, second])
    assert log2.unapplied(["B"], "adjacent") == []
    assert log2.paths() == []
    assert not record(log2, [])


def test_what_a_forgotten_link_said_is_gone(log2: Log) -> None:
    record(log2, pair(1))
    log2.forget_turn("A1", START)
    assert (log2.forms(), log2.paths()) == ([], [])


def test_what_other_chains_said_too_stays_until_they_are_forgotten(log2: Log) -> None:
    for number in (1, 2):
        record(log2, pair(number))
    log2.forget_turn("A1", START)
    (form,) = log2.forms()
    assert form.said == form.canonical
    log2.forget_turn("B2", START)
    assert (log2.forms(), log2.paths()) == ([], [])
