"""Passings are facts about data."""

from typing import Any

from metnos.executors.outcome import Outcome
from metnos.turn.passing import passings


def outcome(name: str, reply: dict[str, Any], args: dict[str, Any] | None = None, **more: Any) -> Outcome:
    return Outcome(name, "d", "t", more.pop("ok", True), reply, version="1.0.0", args=args or {}, **more)


FOUND = outcome("find_files", {"entries": [{"path": "/in/a.pdf"}, {"path": "/in/b.pdf"}]}, {"path": "/in"})


def test_a_reference_is_a_passing() -> None:
    read = outcome("read_files", {"entries": []}, {"paths": ["/in/a.pdf"]})
    made = passings([(1, {}, FOUND), (2, {"paths": "{{step1.entries.path}}"}, read)], "read them")
    assert [(each.src, each.dst, each.how, each.src_step, each.dst_step) for each in made] == [
        ("find_files", "read_files", "reference", 1, 2)
    ]


def test_the_same_content_is_a_passing() -> None:
    read = outcome("read_files", {"entries": []}, {"paths": ["/in/a.pdf"]})
    made = passings([(1, {}, FOUND), (2, {"paths": ["/in/a.pdf"]}, read)], "do it")
    assert [each.how for each in made] == ["content"]


def test_following_one_another_is_none() -> None:
    told = outcome("show_time", {"entries": [{"says": "it is noon"}]}, {})
    assert passings([(1, {}, FOUND), (2, {}, told)], "and the time") == ()


def test_what_the_owner_named_did_not_come_from_a_step() -> None:
    read = outcome("read_files", {"entries": []}, {"paths": ["/in/a.pdf"]})
    assert passings([(1, {}, FOUND), (2, {"paths": ["/in/a.pdf"]}, read)], "look at /in/a.pdf") == ()


def test_what_both_were_given_was_not_passed() -> None:
    counted = outcome("count_text", {"entries": [{"path": "/in/a.txt"}]}, {"paths": ["/in/a.txt"]})
    read = outcome("read_files", {"entries": []}, {"paths": ["/in/a.txt"]})
    assert passings([(1, {}, counted), (2, {}, read)], "count and read ~/a.txt") == ()


def test_whoever_failed_received_nothing() -> None:
    read = outcome("read_files", {}, {"paths": ["/in/a.pdf"]}, ok=False)
    assert passings([(1, {}, FOUND), (2, {"paths": "{{step1.entries.path}}"}, read)], "") == ()


def test_numbers_are_no_evidence() -> None:
    one = outcome("count_text", {"entries": [{"words": 12345}]})
    two = outcome("compute_numbers", {"entries": []}, {"expressions": [12345]})
    assert passings([(1, {}, one), (2, {}, two)], "") == ()


def test_calls_inside_the_sandbox_count() -> None:
    inner_one = outcome("find_files", {"entries": [{"path": "/in/a.pdf"}]})
    inner_two = outcome("hash_files", {"entries": []}, {"paths": ["/in/a.pdf"]})
    outer = outcome("check_files", {"entries": []}, inner=(inner_one, inner_two))
    made = {(each.src, each.dst, each.how) for each in passings([(1, {}, outer)], "")}
    assert made == {
        ("check_files", "find_files", "call"),
        ("check_files", "hash_files", "call"),
        ("find_files", "hash_files", "content"),
    }
