from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fastpath.pathing import DAY, START, hear, key_of, mark, pass_times, passed
from metnos.core.errors import StoreSchema
from metnos.fastpath.log import CHANGED, Log
from metnos.fastpath.records import Form, State
from metnos.fastpath.schema import L2, MIGRATIONS_L2
from metnos.fastpath.shape import Seen
from metnos.store.db import Database
from support import at_once

ASKED = "list the files in ~/inbox"
CONSTANTS = {"plan": ({"path": "~/inbox", "deep": True},)}


def test_the_first_pass_makes_a_candidate(log: Log) -> None:
    assert log.record(passed("T1", plan_ms=40.0, plan_usd=0.25))
    (path,) = log.paths()
    assert (path.tools, path.state, path.passes, path.plan_ms, path.plan_usd) == (
        ("list_folders",),
        State.CANDIDATE,
        1,
        40.0,
        0.25,
    )
    assert log.forms() == [Form(path.id, "list fil in <path>", ASKED, 1)]
    assert log.path(path.id) == path
    assert log.path("nobody") is None


def test_a_turn_counts_once(log: Log) -> None:
    assert log.record(passed("T1"))
    assert not log.record(passed("T1"))
    assert not log.record(passed("T1", "show ~/x", ({"path": "~/x"},)))
    assert log.paths()[0].passes == 1
    assert not log.skip("T1", START)
    assert log.skip("T2", START)
    assert log.unapplied(["T3", "T2", "T1"]) == ["T3"]


def test_other_particulars_are_the_same_path_and_form(log: Log) -> None:
    log.record(passed("T1", plan_ms=10.0))
    log.record(passed("T2", "list the files in my downloads", ({"path": "~/Downloads"},), plan_ms=30.0))
    (path,) = log.paths()
    assert (path.passes, path.plan_ms) == (2, 20.0)
    assert [form.canonical for form in log.forms()] == ["list fil in <path>", "list fil in <folder>"]


def test_another_shape_is_another_path(log: Log) -> None:
    log.record(passed("T1"))
    log.record(passed("T2", plan=({"folder": "~/inbox"},)))
    log.record(passed("T3", tools=("find_files",)))
    assert len(log.paths()) == 3
    assert len({form.canonical for form in log.forms()}) == 1


def test_what_failed_is_no_pass_and_teaches_nothing_new(log: Log) -> None:
    log.record(passed("T1", ok=False))
    assert log.paths() == []
    log.record(passed("T2"))
    log.record(passed("T3", ok=False))
    (path,) = log.paths()
    assert path.passes == 1
    assert [event.kind for event in log.events(path.id)] == ["pass", "fail"]
    assert log.db.query("SELECT uses, ok_count, fail_count FROM canonical_query_log") == [(2, 1, 1)]


def test_unsaid_values_are_kept_while_they_are_the_same(log: Log) -> None:
    key = pass_times(log, 2, **CONSTANTS)
    form = hear(ASKED).form
    assert log.observed() == {(key, form): {"0/deep": Seen(True, 2)}}
    log.record(passed("other", plan=({"path": "~/inbox", "deep": False},)))
    assert log.observed() == {(key, form): {}}
    log.record(passed("again", **CONSTANTS))
    assert log.observed(key) == {(key, form): {}}


def test_an_unsaid_value_that_all_forms_share_counts_for_each(log: Log) -> None:
    key = pass_times(log, 2, **CONSTANTS)
    other = "display the files in ~/inbox"
    pass_times(log, 1, "U", text=other, **CONSTANTS)
    assert log.observed(key)[key, hear(other).form] == {"0/deep": Seen(True, 3)}
    pass_times(log, 1, "V", text="hide the files in ~/inbox", plan=({"path": "~/inbox", "deep": 1},))
    assert log.observed(key)[key, hear(other).form] == {"0/deep": Seen(True, 1)}


def test_what_happened_is_counted_once_in_a_turn(log: Log) -> None:
    key = pass_times(log, 1)
    form = log.forms()[0].canonical
    for _ in range(2):
        log.note(key, "A", START, "agree", probability=0.9)
        log.note(key, "B", START, "disagree")
        log.note(key, "C", START, "hit", form=form, saved_ms=12.0, saved_usd=0.5)
        log.note(key, "C", START, "wrong", reason="undone")
    (path,) = log.paths()
    assert (path.agreed, path.disagreed, path.hits, path.wrong, path.passes) == (1, 1, 1, 1, 1)
    assert log.forms()[0].uses == 2  # a hit is a use and no pass
    hit = next(event for event in log.events(key) if event.kind == "hit")
    assert (hit.saved_ms, hit.saved_usd, hit.ts) == (12.0, 0.5, START)
    with pytest.raises(StoreSchema):
        log.note(key, "D", START, "nonsense")


def test_a_form_has_the_state_of_its_path(log: Log) -> None:
    key = pass_times(log, 1)
    assert log.move(key, State.ACTIVE, "sure", START, "T9")
    assert not log.move(key, State.ACTIVE, "still sure", START)
    pass_times(log, 1, "U", text="display the files in ~/inbox")
    assert log.db.query("SELECT state FROM canonical_query_log") == [("active",), ("active",)]
    assert log.paths(State.ACTIVE)[0].reason == "sure"
    assert log.paths(State.SHADOW) == []
    assert [event.reason for event in log.events(key) if event.kind == "state"] == ["active: sure"]
    assert log.has_been(key, State.ACTIVE)
    assert not log.has_been(key, State.DEMOTED)


def test_another_version_takes_an_active_path_back_to_shadow(log: Log) -> None:
    key = pass_times(log, 1)
    log.move(key, State.ACTIVE, "sure", START)
    log.record(passed("T2", marks=(mark("list_folders", "2.0.0"),)))
    path = log.path(key)
    assert path is not None
    assert (path.state, path.reason, path.marks[0].version) == (State.SHADOW, CHANGED, "2.0.0")


def test_events_are_only_ever_added(log: Log) -> None:
    pass_times(log, 1)
    for statement in ("DELETE FROM path_events", "UPDATE path_events SET kind = 'fail'"):
        with pytest.raises(StoreSchema), log.db.write() as tx:
            tx.execute(statement)


def test_passes_since_something_spoke_against_it(log: Log) -> None:
    key = pass_times(log, 2)
    assert log.clean_passes(key) == 2
    log.note(key, "X", START, "disagree")
    assert log.clean_passes(key) == 0
    log.record(passed("U1"))
    assert log.clean_passes(key) == 1
    assert log.since_state(key) == {"pass": 3, "disagree": 1}
    log.move(key, State.SHADOW, "enough", START)
    assert (log.clean_passes(key), log.since_state(key)) == (0, {})


# -- vectors


def test_vectors_belong_to_a_space_and_to_what_is_said(log: Log) -> None:
    pass_times(log, 1)
    log.keep_vectors("a", {ASKED: np.array([1.0, 0.5], dtype=np.float32), "nobody said this": np.ones(2, np.float32)})
    assert {said: list(vector) for said, vector in log.vectors("a").items()} == {ASKED: [1.0, 0.5]}
    assert log.vectors("b") == {}


# -- forgetting


def test_what_only_a_forgotten_turn_said_is_gone(log: Log) -> None:
    secret = "list the files about zanzibarsecret in ~/inbox"
    log.record(passed("T1", secret, ({"path": "~/inbox", "about": "zanzibarsecret"},)))
    log.record(passed("T2"))
    log.keep_vectors("a", {secret: np.ones(2, np.float32)})
    log.forget_turn("T1", START)
    assert [path.passes for path in log.paths()] == [1]
    assert len(log.forms()) == 1
    assert log.vectors("a") == {}
    for name in (log.db.path, log.db.path.with_name(log.db.path.name + "-wal")):
        assert not name.exists() or b"zanzibarsecret" not in name.read_bytes()
    assert not log.record(passed("T1", secret, ({"path": "~/inbox", "about": "zanzibarsecret"},)))


def test_what_others_said_too_stays_without_the_forgotten_wording(log: Log) -> None:
    log.record(passed("T1", said="LIST the files, dear friend, in <path>"))
    log.record(passed("T2"))
    log.forget_turn("T1", START)
    assert log.forms()[0].said == "list fil in <path>"
    assert len(log.paths()) == 1
    log.forget_turn("T2", START)
    assert (log.forms(), log.paths()) == ([], [])


# -- several, and many


def test_processes_that_record_at_once_lose_nothing(log: Log) -> None:
    def work(number: int) -> Callable[[], int]:
        return lambda: sum(log.record(passed(f"T{(number * 5 + each) % 15}")) for each in range(10))

    assert sum(at_once([work(number) for number in range(3)])) == 15
    (path,) = log.paths()
    assert path.passes == 15
    assert len(log.events(path.id)) == 15


@pytest.mark.slow
def test_ten_thousand_paths_are_read_whole(log: Log) -> None:
    one = passed("T0")
    log.record(one)
    with log.db.write() as tx:
        for table, columns in (
            ("fast_paths", "path, marks, shape, state, reason, origin, ts_first, ts_last"),
            (
                "canonical_query_log",
                "path, canonical_query, plain_query, said, tool_name, args_shape, args_observed, ts_first, ts_last",
            ),
        ):
            renamed = columns.replace("canonical_query,", "canonical_query || n,").replace("path,", "path || n,", 1)
            tx.execute(
                f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9999)"
                f" INSERT INTO {table} ({columns}) SELECT {renamed} FROM {table}, c"
            )
    assert len(log.paths()) == len(log.forms()) == len(log.observed()) == 10_000
    assert log.path(key_of(one)) is not None


def test_sequences_have_a_file_of_their_own(tmp_path: Path) -> None:
    db = Database(tmp_path / "own.sqlite", MIGRATIONS_L2)
    log2 = Log(db, L2)
    both = passed(
        "T1", plan=({"path": "~/inbox"}, {"entries": "{{step1.entries}}"}), tools=("find_files", "sort_tables")
    )
    assert log2.record(replace(both, ts=START + DAY))
    assert log2.paths()[0].tools == ("find_files", "sort_tables")
    assert db.query("SELECT tool_name FROM multi_tool_paths") == [("find_files sort_tables",)]
    db.close()
    with pytest.raises(ValueError):
        Log(db, "fast_paths")
