from fastpath.pathing import START, passed
from metnos.fastpath.cover import covered, demote_covered
from metnos.fastpath.log import Log
from metnos.fastpath.records import State

COVERS = {"describe_urls": [["get_pages", "describe_entries"]], "zip_all": []}
PLAN = ({"path": "~/inbox"}, {"entries": "{{step1.entries}}"})


def test_an_executor_covers_the_sequence_that_it_names() -> None:
    assert covered(("get_pages", "describe_entries"), COVERS) == "describe_urls"
    assert covered(("describe_entries", "get_pages"), COVERS) == ""
    assert covered(("get_pages", "describe_entries", "sort_tables"), COVERS) == ""
    assert covered(("get_pages",), {"x": [["get_pages"]]}) == ""
    assert covered((), {"x": [[]]}) == ""


def test_what_is_covered_is_demoted_at_once_whatever_it_was(log2: Log) -> None:
    log2.record(passed("T1", plan=PLAN, tools=("get_pages", "describe_entries")))
    log2.record(passed("T2", plan=PLAN, tools=("get_pages", "sort_tables")))
    first, second = log2.paths()
    log2.move(first.id, State.ACTIVE, "sure", START)
    assert demote_covered(log2, COVERS, START) == [first.id]
    assert demote_covered(log2, COVERS, START) == []
    states = {path.id: (path.state, path.reason) for path in log2.paths()}
    assert states[first.id] == (State.DEMOTED, "describe_urls does all of it in one step")
    assert states[second.id][0] is State.CANDIDATE
