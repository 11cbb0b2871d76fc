from datetime import timedelta

from fastpath.pathing import DAY, START, pass_times
from metnos.fastpath.log import Log
from metnos.fastpath.promote import Saved, offered, ready, savings, wished_name
from metnos.fastpath.records import State

PLAN = ({"urls": ["https://example.org"]}, {"entries": "{{step1.entries}}"})
PIPELINE = {"text": "get https://example.org and describe it", "plan": PLAN, "tools": ("get_urls", "describe_entries")}


def any_name(_: str) -> bool:
    return True


def used(log2: Log, passes: int, hits: int) -> str:
    key = pass_times(log2, passes, **PIPELINE)
    log2.move(key, State.SHADOW, "enough", START)
    for number in range(hits):
        log2.note(key, f"H{number}", START + DAY, "hit", saved_ms=100.0, saved_usd=0.01)
    return key


def test_a_name_is_the_last_verb_and_the_first_object() -> None:
    assert wished_name(("get_urls", "describe_entries")) == "describe_urls"
    assert wished_name(("find_files_deep", "sort_tables", "write_tables")) == "write_files_deep"


def test_fifty_uses_make_a_pipeline_ready_once(log2: Log) -> None:
    key = used(log2, 3, 46)
    assert ready(log2, any_name) == []
    log2.note(key, "H99", START, "hit")
    (found,) = ready(log2, any_name)
    assert (found.path, found.name, found.source, found.uses) == (key, "describe_urls", "get_urls", 50)
    assert found.signature["inputs"] == ["url"]
    assert found.signature["pipeline"] == ["get_urls", "describe_entries"]
    assert found.signature["summary"] == "describe urls in one step: get_urls, then describe_entries"
    assert found.turns[-1] == "H99"
    assert round(found.saved_ms) == 4600
    assert offered(log2, found, START)
    assert not offered(log2, found, START)
    assert ready(log2, any_name) == []


def test_what_the_vocabulary_refuses_is_not_offered(log2: Log) -> None:
    used(log2, 50, 0)
    assert ready(log2, lambda name: name != "describe_urls") == []
    assert len(ready(log2, lambda name: name == "describe_urls")) == 1


def test_what_was_demoted_or_is_no_sequence_is_not_offered(log: Log, log2: Log) -> None:
    log2.move(used(log2, 50, 0), State.DEMOTED, "covered", START)
    assert ready(log2, any_name) == []
    log.move(pass_times(log, 50), State.ACTIVE, "sure", START)
    assert ready(log, any_name) == []


def test_savings_are_summed_by_day_and_path(log: Log, log2: Log) -> None:
    one, two = pass_times(log, 1), used(log2, 1, 2)
    log.note(one, "A", START, "hit", saved_ms=10.0, saved_usd=1.0)
    log.note(one, "B", START + timedelta(hours=1), "hit", saved_ms=20.0)
    log.note(one, "B", START + timedelta(hours=2), "wrong")
    assert savings((log, log2)) == [
        Saved(START.date(), one, 2, 1, 30.0, 1.0),
        Saved((START + DAY).date(), two, 2, 0, 200.0, 0.02),
    ]
    assert [each.path for each in savings((log, log2), START + DAY)] == [two]
    assert savings(()) == []
