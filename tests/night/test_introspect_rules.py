"""What is found in records: gaps, sequences, failures and what broke, each with its evidence."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from metnos.grimoire.trace import State
from metnos.night import introspect_rules
from metnos.night.introspect_rules import Call, Finding, Kind, Known, Receptor, Rules, Seen
from metnos.synt.need import Way

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
RULES = Rules()


def receptor(name: str = "describe_urls", **changes: Any) -> Receptor:
    said = {"summary": "what is on the page", "inputs": ["urls"], "outputs": ["text"], "errors": ["unreadable"]}
    made: dict[str, Any] = {
        "mnest": "01M", "name": name, "uses": 3, "first": NOW - 9 * DAY, "last": NOW, "signature": said,
        "turns": ("01A", "01B", "01C"), "strength": 0.4,
    }  # fmt: skip
    return Receptor(**{**made, **changes})


def turn(number: int, *calls: Call, state: State = State.FAILED, ago: float = 1, **more: Any) -> Seen:
    return Seen(f"01T{number:03}", NOW - ago * DAY, state, ms=100.0, usd=0.01, calls=calls, **more)


def the(findings: Any) -> Finding:
    (found,) = findings
    return found  # type: ignore[no-any-return]


class TestReceptors:
    def test_a_wish_becomes_a_need_with_its_signature_and_evidence(self) -> None:
        seen = [Seen("01A", NOW, State.NOTHING, ms=40.0, usd=0.2), Seen("01Z", NOW, State.NOTHING, ms=9.0)]
        found = the(introspect_rules.receptors([receptor()], seen, ()))
        need = found.need
        assert need is not None
        assert (found.kind, found.strength, found.dropped) == (Kind.RECEPTOR, 0.4, "")
        assert (need.way, need.name, need.mnest) == (Way.DIRECT, "describe_urls", "01M")
        assert need.text == "describe urls, wished for as “what is on the page”"
        assert (need.inputs, need.outputs, need.errors) == (("urls",), ("text",), ("unreadable",))
        evidence = need.evidence
        assert (evidence.turns, evidence.uses, evidence.days) == (("01A", "01B", "01C"), 3, 9)
        assert (evidence.saved_ms, evidence.saved_usd) == (40.0, 0.2), "what those turns spent in vain"
        assert evidence.says == found.says == "You asked for this 3 times in 9 days, and nothing here does it."

    def test_the_newest_turns_are_named_and_the_first_whose_words_it_has(self) -> None:
        turns = tuple(f"01T{number:02}" for number in range(30))
        found = the(introspect_rules.receptors([receptor(turns=turns, uses=30)], [], ()))
        assert found.need is not None
        assert found.need.evidence.turns == ("01T00", *turns[-9:])

    def test_a_forgotten_summary_leaves_the_name(self) -> None:
        found = the(introspect_rules.receptors([receptor(signature={})], [], ()))
        assert found.need is not None
        assert found.need.text == "describe urls"

    @pytest.mark.parametrize(
        ("name", "dropped"), [("pizza_urls", introspect_rules.NO_NAME), ("find_files", introspect_rules.TAKEN)]
    )
    def test_a_name_that_is_unknown_or_taken_is_held_back(self, name: str, dropped: str) -> None:
        found = the(introspect_rules.receptors([receptor(name)], [], {"find_files"}))
        assert found.dropped == dropped
        assert "pizza" not in found.says

    def test_a_sequence_names_its_steps_and_nothing_else(self) -> None:
        sequence = receptor(path="p1", tools=("get_urls", "describe_entries"), uses=53, saved_ms=2000.0)
        found = the(introspect_rules.receptors([sequence], [], ()))
        assert found.need is not None
        assert (found.kind, found.need.way, found.need.path) == (Kind.PIPELINE, Way.INDIRECT, "p1")
        assert found.need.text == "describe urls in one step: get_urls, then describe_entries"
        assert (found.need.evidence.uses, found.need.evidence.saved_ms) == (53, 2000.0)


class TestFailures:
    def test_turns_that_came_to_nothing_are_counted_by_what_they_wished_for(self) -> None:
        names = ("describe_urls", "describe_urls_html", "describe_urls_pdf")
        seen = [turn(number, state=State.NOTHING, wishes=(name,)) for number, name in enumerate(names)]
        found = the(introspect_rules.failures(seen, [], (), NOW, RULES))
        assert found.need is not None
        assert found.says == "In the last 30 days I failed 3 times to describe urls."
        assert (found.kind, found.need.way, found.need.name) == (Kind.FAILURE, Way.DIRECT, "describe_urls")
        assert (found.need.evidence.uses, found.need.evidence.saved_ms) == (3, 300.0)
        assert list(introspect_rules.failures(seen, [], {"describe_urls"}, NOW, RULES)) == [], "a wish that recurs"
        assert list(introspect_rules.failures(seen[:2], [], (), NOW, RULES)) == [], "two are a whim"

    def test_what_is_long_ago_or_went_well_does_not_count(self) -> None:
        old = [turn(number, state=State.NOTHING, wishes=("describe_urls",), ago=31) for number in range(9)]
        well = [turn(number, state=State.DONE, wishes=("describe_urls",)) for number in range(9)]
        assert list(introspect_rules.failures([*old, *well], [], (), NOW, RULES)) == []

    def test_one_turn_that_wishes_often_counts_once(self) -> None:
        seen = [turn(1, state=State.NOTHING, wishes=("describe_urls", "describe_urls_pdf", "describe_urls_csv"))]
        assert list(introspect_rules.failures(seen, [], (), NOW, RULES)) == []

    def test_what_a_built_in_cannot_do_to_one_kind_of_file_has_a_name(self) -> None:
        tool = Known("read_files", own=False, usable=True, strength=0.8)
        calls = [Call("read_files", {"paths": [f"~/a{number}.docx"]}, False, "unreadable") for number in range(3)]
        found = the(introspect_rules.failures([turn(n, each) for n, each in enumerate(calls)], [tool], (), NOW, RULES))
        assert found.need is not None
        assert (found.need.name, found.strength) == ("read_files_docx", 0.8)
        assert found.need.text == "read docx files, where read_files fails"
        assert "~" not in found.need.text + found.says

    @pytest.mark.parametrize("kind", ["not_found", "not_permitted", "invalid", "exists", "unavailable"])
    def test_what_the_world_or_the_owner_hindered_is_no_gap(self, kind: str) -> None:
        tool = Known("read_files", own=False, usable=True)
        seen = [turn(number, Call("read_files", {"path": "a.docx"}, False, kind)) for number in range(9)]
        assert list(introspect_rules.failures(seen, [tool], (), NOW, RULES)) == []

    def test_what_no_word_names_is_held_back(self) -> None:
        tool = Known("read_files", own=False, usable=True)
        seen = [turn(number, Call("read_files", {"path": f"{number}.heic"}, False, "failed")) for number in range(3)]
        assert the(introspect_rules.failures(seen, [tool], (), NOW, RULES)).need is None


class TestRepairs:
    def calls(self, good: int, bad: int, kind: str = "failed") -> list[Seen]:
        ok = [turn(number, Call("find_words", {}, True), state=State.DONE) for number in range(good)]
        return [*ok, *(turn(100 + number, Call("find_words", {}, False, kind)) for number in range(bad))]

    def test_an_executor_of_ours_that_mostly_fails_by_itself_is_to_be_mended(self) -> None:
        tool = Known("find_words", own=True, usable=True, purpose='Find long words. <b>"x"</b>')
        found = the(introspect_rules.repairs(self.calls(3, 3), [tool], NOW, RULES))
        assert found.need is not None
        assert (found.kind, found.need.way, found.need.replaces) == (Kind.REPAIR, Way.REPAIR, "find_words")
        assert found.need.text == "mend find_words, which is there for this: “Find long words. b x /b”"
        assert found.says == "In the last 30 days I failed 3 times to use find_words."
        assert len(found.need.evidence.turns) == 3

    @pytest.mark.parametrize(("good", "bad", "kind"), [(4, 3, "failed"), (0, 2, "failed"), (0, 9, "not_found")])
    def test_not_one_that_mostly_works_or_could_not_help_it(self, good: int, bad: int, kind: str) -> None:
        tool = Known("find_words", own=True, usable=True)
        assert list(introspect_rules.repairs(self.calls(good, bad, kind), [tool], NOW, RULES)) == []

    def test_only_what_metnos_made_and_not_what_is_switched_off(self) -> None:
        others = [Known("find_words", own=False, usable=True), Known("find_words", own=True, usable=False)]
        for tool in others:
            assert list(introspect_rules.repairs(self.calls(0, 9), [tool], NOW, RULES)) == []

    def test_one_in_quarantine_is_to_be_mended_whatever_turns_say(self) -> None:
        tool = Known("find_words", own=True, usable=False, quarantined=True, uses=12)
        found = the(introspect_rules.repairs([], [tool], NOW, RULES))
        assert found.need is not None
        assert (found.need.replaces, found.need.evidence.uses) == ("find_words", 12)
