"""What executors have fixed and what they are called with: found only with enough uses and in nobody's own words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from metnos.grimoire.trace import State
from metnos.night import introspect_calls
from metnos.night.introspect_rules import TAKEN, Call, Finding, Kind, Known, Rules, Seen

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
RULES = Rules()
FIND = Known("find_files", own=False, usable=True, defaults={"limit": 100}, strength=0.3)
CODE = '"""Words."""\ndef run(args, ctx):\n    return [w for w in args if len(w) > {n}]\n'


def called(*args: dict[str, Any], ok: bool = True) -> list[Seen]:
    return [
        Seen(f"01T{number:03}", NOW + timedelta(days=number), State.DONE, calls=(Call("find_files", each, ok),))
        for number, each in enumerate(args)
    ]


def special(seen: list[Seen], *known: Known) -> list[Finding]:
    return list(introspect_calls.specialisations(seen, known or (FIND,), RULES))


def pdfs(count: int) -> list[dict[str, Any]]:
    return [{"path": f"~/secret{number}", "pattern": "*.pdf"} for number in range(count)]


class TestSpecialisations:
    def test_an_argument_that_is_always_the_same_is_a_need_with_its_own_name(self) -> None:
        (found,) = special(called(*pdfs(10)))
        assert found.need is not None
        assert (found.kind, found.need.name, found.strength) == (Kind.SPECIALISATION, "find_files_pdf", 0.3)
        assert found.need.text == "find pdf files: what find_files does where pattern is pdf"
        assert found.says == "In 10 of 10 calls of find_files pattern is pdf."
        assert (found.need.evidence.uses, found.need.evidence.days) == (10, 9)
        assert "secret" not in found.need.text + found.says

    def test_nine_are_not_enough_and_neither_are_ten_that_failed(self) -> None:
        assert special(called(*pdfs(9))) == []
        assert special(called(*pdfs(10), ok=False)) == []

    def test_the_same_call_again_and_again_among_others(self) -> None:
        others = [{"path": f"~/{number}", "pattern": "*.csv"} for number in range(5)]
        (found,) = special(called(*[{"pattern": "*.pdf", "limit": 100}] * 10, *others))
        assert found.says == "In 10 of 15 calls of find_files pattern is pdf."

    @pytest.mark.parametrize(
        "args",
        [
            {"entries": "pdf"},  # flow
            {"pattern": "{{step1.pdf}}"},  # a reference
            {"deep": True},  # a boolean
            {"limit": 100},  # the default
            {},
        ],
    )
    def test_what_says_nothing_is_no_finding(self, args: dict[str, Any]) -> None:
        assert special(called(*[args] * 12)) == []

    def test_the_owners_own_words_are_held_back_and_not_said(self) -> None:
        (found,) = special(called(*[{"path": "~/secret", "pattern": "*.pdf"}] * 12))
        assert (found.need, found.dropped) == (None, "what is fixed in it is your own words")
        assert "secret" not in found.says

    def test_a_name_that_is_taken_or_unknown_is_held_back(self) -> None:
        taken = Known("find_files_pdf", own=False, usable=True)
        assert special(called(*pdfs(10)), FIND, taken)[0].dropped == TAKEN
        assert special(called(*[{"depth": 3}] * 10))[0].dropped == "no word of the vocabulary names it"

    def test_what_is_the_same_in_a_sequence_belongs_to_the_sequence(self) -> None:
        call = Call("find_files", {"pattern": "*.pdf"}, True)
        seen = [Seen(f"01T{number}", NOW, State.DONE, calls=(call, call)) for number in range(12)]
        assert special(seen) == []


class TestGeneralisations:
    def two(self, one: str, other: str, uses: int = 5, **more: Any) -> list[Finding]:
        known = [
            Known("find_words_size", own=True, usable=True, source=one, uses=uses),
            Known("find_words_name", own=True, usable=True, source=other, uses=5, **more),
        ]
        return list(introspect_calls.generalisations(known, RULES))

    def test_two_that_differ_in_one_constant_are_one_need_for_both(self) -> None:
        (found,) = self.two(CODE.replace("> {n}", "> 3"), CODE.replace("> {n}", "> 7"))
        assert found.need is not None
        assert (found.need.name, found.need.evidence.uses) == ("find_words", 10)
        assert found.need.text == "find words with an argument for what find_words_size and find_words_name have fixed"

    def test_with_few_uses_it_is_held_back(self) -> None:
        (found,) = self.two(CODE.replace("> {n}", "> 3"), CODE.replace("> {n}", "> 7"), uses=4)
        assert (found.need, found.dropped) == (None, "fewer than 10 uses")

    @pytest.mark.parametrize(
        ("one", "other", "count"),
        [
            ("x = 1\ny = 2\n", "x = 1\ny = 3\n", 1),
            ('"""A."""\nx = 1\n', '"""B."""\nx = 1\n', 0),
            ("x = 1\ny = 2\n", "x = 7\ny = 3\n", 2),
            ("x = 1\n", "x = y\n", -1),
            ("x = 1\n", "x = (\n", -1),
            ("x = 1\n", "\0", -1),
        ],
    )
    def test_in_how_many_constants_programs_differ(self, one: str, other: str, count: int) -> None:
        assert introspect_calls.differing(one, other) == introspect_calls.differing(other, one) == count
