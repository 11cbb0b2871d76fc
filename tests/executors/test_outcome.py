"""How a call ended: what counts as a reply, whose fault it was, and what reaching too far means."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from executors.calls import manifest, mutating
from metnos.core.errors import ExecutorFailed
from metnos.executors.manifest import Manifest
from metnos.executors.outcome import KINDS, Breach, Judged, check_reply, judge, judge_reach
from metnos.executors.scope import Scope
from metnos.sandbox.pool import Ended
from tables import try_each

PATHS = {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}}
PRODUCER = manifest(output=PATHS)
MUTATOR = mutating(capabilities={"fs": {"write": ["~/**"]}}, output=PATHS)
ENTRY = {"path": "/a"}
FAILURE = {"item": "/b", "kind": "not_found", "message": "it is not there"}
DECLARED = (Scope(Path("/home/owner"), recursive=True), Scope(Path("/srv/list.txt"), recursive=False))


def said(read: Manifest = PRODUCER, **message: Any) -> Judged:
    return judge(read, Ended(message=message), wall_s=30, cpu_s=5)


class TestReplies:
    def test_counts_are_added(self) -> None:
        assert check_reply(PRODUCER, {"entries": [ENTRY, ENTRY]}) == {
            "entries": [ENTRY, ENTRY], "count": 2, "total": 2, "truncated": False, "failures": [], "failed": 0,
        }  # fmt: skip
        assert check_reply(MUTATOR, {"results": []})["count"] == 0

    def test_more_than_was_returned(self) -> None:
        reply = check_reply(PRODUCER, {"entries": [ENTRY], "total": 7, "failures": [FAILURE]})
        assert (reply["total"], reply["truncated"], reply["failed"]) == (7, True, 1)

    def test_of_many_failures_the_first_are_kept_and_all_are_counted(self) -> None:
        reply = check_reply(PRODUCER, {"entries": [], "failures": [FAILURE] * 1500})
        assert (len(reply["failures"]), reply["failed"]) == (1000, 1500)

    @pytest.mark.parametrize("reply", [None, [], "entries", 5, True])
    def test_what_is_no_object(self, reply: Any) -> None:
        with pytest.raises(ExecutorFailed, match="must return an object with `entries`"):
            check_reply(PRODUCER, reply)

    @pytest.mark.parametrize(
        "reply",
        [{}, {"results": []}, {"entries": None}, {"entries": {}}, {"entries": [], "count": 0}, {"entries": [], "x": 1}],
    )
    def test_other_keys_or_none(self, reply: Any) -> None:
        with pytest.raises(ExecutorFailed, match="`entries` as a list"):
            check_reply(PRODUCER, reply)

    @try_each("total", [0, -1, 1.0, 2.5, "1", None, True, [1]])
    def test_a_dishonest_total(self, total: Any) -> None:
        with pytest.raises(ExecutorFailed, match="but returned 1"):
            check_reply(PRODUCER, {"entries": [ENTRY], "total": total})

    @try_each(
        "failures",
        [
            None,
            {},
            "x",
            [5],
            [{}],
            [FAILURE | {"kind": "bad_luck"}],
            [FAILURE | {"kind": ""}],
            [FAILURE | {"message": 5}],
            [FAILURE | {"more": 1}],
            [{"kind": "failed", "message": "x"}],
        ],
    )
    def test_failures_that_are_none(self, failures: Any) -> None:
        with pytest.raises(ExecutorFailed, match=r"use ctx\.failure"):
            check_reply(PRODUCER, {"entries": [], "failures": failures})

    @pytest.mark.parametrize("entry", [{}, {"path": 5}, None, [], "path"])
    def test_an_entry_that_the_manifest_does_not_describe(self, entry: Any) -> None:
        with pytest.raises(ExecutorFailed, match="in entry 2"):
            check_reply(PRODUCER, {"entries": [ENTRY, entry]})

    @pytest.mark.parametrize("kind", [[], {}, ["failed"]])
    def test_a_class_that_cannot_even_be_compared(self, kind: Any) -> None:
        assert said(op="failed", kind=kind, message="x").kind == "failed"
        with pytest.raises(ExecutorFailed, match=r"use ctx\.failure"):
            check_reply(PRODUCER, {"entries": [], "failures": [FAILURE | {"kind": kind}]})


class TestLastWords:
    @try_each("kind", sorted(KINDS))
    def test_a_failure_that_the_executor_tells_is_no_fault(self, kind: str) -> None:
        assert said(op="failed", kind=kind, message="no") == Judged(kind=kind, message="no")

    @pytest.mark.parametrize("kind", ["bad_luck", "", None, 5, "FAILED"])
    def test_the_classes_are_closed(self, kind: Any) -> None:
        assert said(op="failed", kind=kind, message="no").kind == "failed"

    def test_a_crash_is_its_own_fault_and_says_where(self) -> None:
        found = said(op="crashed", error="ZeroDivisionError", message="division by zero", where=["line 3 in run", 7])
        assert (found.ok, found.kind, found.fault) == (False, "failed", True)
        assert found.message == "read_files crashed: ZeroDivisionError: division by zero"
        assert found.where == ("line 3 in run", "")

    def test_too_little_memory_is_too_large(self) -> None:
        assert said(op="crashed", error="MemoryError", message="x").kind == "too_large"

    def test_a_dishonest_reply_is_its_own_fault(self) -> None:
        found = said(op="result", reply={"entries": [], "total": -1})
        assert (found.ok, found.fault, found.reply) == (False, True, {})

    def test_long_words_are_cut(self) -> None:
        assert len(said(op="failed", kind="failed", message="x" * 10**6).message) == 2000
        assert len(said(op="crashed", error="E", message="x", where=["line"] * 100).where) == 8

    @pytest.mark.parametrize(
        ("ended", "words"),
        [
            (Ended(timed_out=True), "did not end within 30 seconds"),
            (Ended(too_much=True), "returned more than it may"),
            (Ended(too_much_memory=True, signal=9), "used more memory than they may"),
            (Ended(signal=31), "attacked the sandbox"),
            (Ended(signal=9, cpu_ms=4900), "more than 5 seconds of CPU"),
            (Ended(signal=9, cpu_ms=100), "signal 9"),
            (Ended(signal=11), "signal 11"),
            (Ended(exit_code=3), "exit code 3"),
        ],
    )
    def test_an_end_without_a_word_is_its_own_fault(self, ended: Ended, words: str) -> None:
        found = judge(PRODUCER, ended, wall_s=30, cpu_s=5)
        assert (found.ok, found.fault) == (False, True)
        assert words in found.message


class TestReach:
    @pytest.mark.parametrize(
        "paths",
        [
            [],
            ["/home/owner/a", "/home/owner", "/srv/list.txt"],
            ["/home", "/srv", "/"],  # the way there
            ["/proc/cpuinfo", "/proc/self/status", "/sys/devices/system/cpu", "/proc"],
        ],
    )
    def test_what_is_declared_or_what_honest_libraries_look_for(self, paths: list[str]) -> None:
        assert judge_reach(paths, DECLARED, signal_is_hostile=False) == (Breach.NONE, "")

    @pytest.mark.parametrize(
        "path", ["/etc/passwd", "/home/somebody", "/home/ownerless", "/srv/list.txt/x", "/network", "relative", ""]
    )
    def test_what_is_not_declared(self, path: str) -> None:
        breach, words = judge_reach(["/home/owner/a", path, "/home/owner/b"], DECLARED, signal_is_hostile=False)
        assert breach is Breach.QUARANTINE
        assert words.startswith("it reached for")

    @try_each(
        "path",
        ["/home/owner/.local/share/metnos/.keys/agent.key", "/elsewhere/.audit/2026-11.jsonl", "/w/.law/law.db",
         "/proc/self/root/etc/shadow", "/proc/1/environ", "/proc/self/mem", "/proc/12/task/13/fd/5", "/proc/self/ns"],
    )  # fmt: skip
    def test_the_agents_own_records_and_the_ways_out_of_the_sandbox(self, path: str) -> None:
        """Also where a scope would cover them, and whatever else was reached for."""
        everything = (Scope(Path("/"), recursive=True),)
        assert judge_reach([path], everything, signal_is_hostile=False)[0] is Breach.REVOKE
        assert judge_reach(["/etc/passwd", path, "/network"], DECLARED, signal_is_hostile=False)[0] is Breach.REVOKE

    def test_a_kernel_call_that_only_an_attack_makes(self) -> None:
        assert judge_reach([], DECLARED, signal_is_hostile=True)[0] is Breach.REVOKE

    @example(["\x00"])
    @given(st.lists(st.text(), max_size=4))
    def test_whatever_a_child_reports(self, paths: list[str]) -> None:
        breach, words = judge_reach(paths, DECLARED, signal_is_hostile=False)
        assert (breach is Breach.NONE) == (words == "")


# -- whatever a child says

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
ENTRIES = st.lists(st.fixed_dictionaries({"path": st.text()}), max_size=4) | st.lists(VALUES, max_size=3) | VALUES
FAILURES = st.lists(
    st.fixed_dictionaries(
        {"item": VALUES, "kind": st.sampled_from([*sorted(KINDS), "x", 5, None]), "message": SCALARS}
    ),
    max_size=3,
)
REPLIES = st.fixed_dictionaries(
    {},
    optional={
        "entries": ENTRIES,
        "results": ENTRIES,
        "total": st.integers(-2, 9) | SCALARS,
        "failures": FAILURES | VALUES,
        "count": st.integers(0, 4),
    },
)


@given(REPLIES | VALUES, st.sampled_from([PRODUCER, MUTATOR]))
@example({"entries": [{"path": "\ud800"}]}, PRODUCER)
@example({"entries": [{"path": "x", "deep": [[[[{"a": 10**400}]]]]}]}, PRODUCER)
def test_no_reply_breaks_the_judge_and_what_it_accepts_is_honest(reply: Any, read: Manifest) -> None:
    found = said(read, op="result", reply=reply)
    if not found.ok:
        assert (found.fault, found.kind, found.reply) == (True, "failed", {})
        assert found.message
        return
    accepted, key = found.reply, read.result_key
    assert set(accepted) == {key, "count", "total", "truncated", "failures", "failed"}
    assert accepted["count"] == len(accepted[key]) <= accepted["total"]
    assert accepted["truncated"] == (accepted["total"] > accepted["count"])
    assert accepted["failed"] == len(accepted["failures"])
    assert all(isinstance(each["path"], str) for each in accepted[key])
    assert {each["kind"] for each in accepted["failures"]} <= KINDS


WORDS = st.fixed_dictionaries(
    {"op": st.sampled_from(["result", "failed", "crashed"])},
    optional={"kind": SCALARS, "message": VALUES, "error": VALUES, "where": VALUES, "reply": VALUES, "log": VALUES},
)


@given(WORDS)
def test_no_last_word_breaks_the_judge(message: dict[str, Any]) -> None:
    found = judge(PRODUCER, Ended(message=message), wall_s=30, cpu_s=5)
    assert found.ok or found.kind in KINDS
    assert all(isinstance(line, str) for line in (found.message, *found.where))
