"""Mutants: what is broken, in which order, and what the tests of a draft must make of it."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.test_builtin import NAMES, load
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth
from metnos.sandbox.pool import Pool
from metnos.synt import gates
from metnos.synt.mutants import Mutant, Proof, _End, _end, emptied, mutants, prove
from metnos.synt.rules import MutationRules, SyntRules
from synt.specimens import CODE, TESTS, draft
from tables import try_each

RULES = MutationRules(most=6, least=2)
ONE = Mutant("constant", 1, "1 is 2", "")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(warm=1)
    yield made
    made.close()


def proven(pool: Pool, tests: list[dict[str, Any]], code: str = CODE, rules: MutationRules = RULES) -> Proof:
    one = gates.executor(draft(code, tests))
    limits = SyntRules().bounded(ExecutorSettings())
    return prove(one, birth.parse(one.tests_text), list(birth.attend(one, pool, limits)), pool, limits, rules)


class TestMaking:
    @pytest.mark.slow
    def test_the_same_code_has_the_same_mutants(self) -> None:
        assert mutants(CODE, 12) == mutants(CODE, 12)
        assert mutants(CODE, 12)[:5] == mutants(CODE, 5)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", NAMES[::10])
    def test_every_mutant_is_python_that_differs_and_there_are_not_too_many(self, name: str) -> None:
        source = load(name).source
        made = mutants(source, 12)
        assert 4 <= len(made) <= 12
        assert len({each.source for each in made}) == len(made)
        plain = ast.unparse(ast.parse(source))
        for each in made:
            assert ast.unparse(ast.parse(each.source)) != plain
            assert "def run(args, ctx)" in each.source

    @try_each(
        ("statement", "kind", "mutated"),
        [
            ("if args['a'] == 1:\n        return 2", "comparison", "if args['a'] != 1:"),
            ("if args['a'] and args['b']:\n        return x", "condition", "if args['a'] or args['b']:"),
            ("return [x for x in args if x]", "condition", "if not x"),
            ("x = args['a'] + args['b']", "operator", "args['a'] - args['b']"),
            ("x = args[7]", "constant", "args[8]"),
            ("x = args['name']", "constant", "args['name~']"),
            ("x = True", "constant", "x = False"),
            ("x.append(args)", "dropped", "pass"),
            ("ctx.fail('invalid', 'no')", "dropped", "pass"),
            ("ctx.fail('invalid', 'no')", "constant", "ctx.fail('invalid~', 'no')"),
        ],
    )
    def test_each_kind_of_mistake(self, statement: str, kind: str, mutated: str) -> None:
        made = mutants(f"def run(args, ctx):\n    {statement}\n", 50)
        assert any(each.kind == kind and mutated in each.source for each in made)

    @try_each(
        "statement",
        [
            '"""Only words."""',
            "raise ValueError('sorry')",
            "ctx.fail(kind, f'{x} is wrong')",
            "x = open(p, encoding='utf-8')",
            "try:\n        x = y\n    except OSError:\n        x.append(1)",
            "x = 100000",
            "x = a if time.monotonic() > 3 else b",
            "if time.monotonic() > 3:\n        x = args['a']",
            "x = 'this cannot be read'",
        ],
    )
    def test_what_no_small_test_could_notice_is_left_alone(self, statement: str) -> None:
        made = mutants(f"import time\n\n\ndef run(args, ctx):\n    {statement}\n", 50)
        assert [each.what for each in made if each.kind != "dropped"] == []

    def test_a_member_of_a_table_and_a_limit_are_left_alone(self) -> None:
        code = "MOST = 7\nNAMES = {'a': 1, 'b': 2, 'c': 3, 'd': 4}\n\n\ndef run(args, ctx):\n    return NAMES\n"
        assert mutants(code, 50) == []

    @settings(max_examples=settings().max_examples // 5)
    @given(st.integers(0, 40))
    def test_never_more_than_asked_for(self, most: int) -> None:
        assert len(mutants(CODE, most)) <= most

    def test_the_emptied_body_gives_nothing(self) -> None:
        assert "'results': []" in ast.unparse(ast.parse(emptied("results")))


class TestProving:
    @pytest.mark.slow
    def test_good_tests_notice(self, pool: Pool) -> None:
        proof = proven(pool, TESTS)
        assert proof.problem(RULES) == ""
        assert not proof.empty_lives
        assert proof.noticed

    def test_tests_that_pass_whatever_the_code_does(self, pool: Pool) -> None:
        nothing = [{"name": name, "args": {"texts": []}, "expect": {"count": 0}} for name in "ab"]
        proof = proven(pool, [*nothing, {"name": "bad", "args": {}, "expect_error": "invalid"}])
        assert proof.empty_lives
        assert "every test passes on a body that gives nothing" in proof.problem(RULES)

    @pytest.mark.slow
    def test_a_test_that_expects_entries_and_passes_without_is_named(
        self, pool: Pool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        really = birth.attempt
        monkeypatch.setattr(
            birth,
            "attempt",
            lambda one, test, *rest: replace(really(one, test, *rest), problem="" if test.name == "blind" else "x"),
        )
        blind = {"name": "blind", "args": {"texts": ["x"]}, "expect": {"count": 1}}
        proof = proven(pool, [*TESTS, blind])
        assert proof.hollow == ("blind",)
        assert "'blind'" in proof.problem(RULES)

    @pytest.mark.slow
    def test_tests_that_look_at_little_notice_little(self, pool: Pool) -> None:
        """They see that something came, and never what: what breaks down by itself is no merit of theirs."""
        weak = [
            {"name": "one", "args": {"texts": ["on the road"]}, "expect": {"count": 1}},
            {"name": "two", "args": {"texts": ["other"]}, "expect": {"entries": [{"text": "other"}]}},
            {"name": "bad", "args": {"text": "x"}, "expect_error": "invalid"},
        ]  # fmt: skip
        proof = proven(pool, weak, rules=MutationRules())
        assert "add tests whose result is another" in proof.problem(MutationRules())

    @pytest.mark.slow
    def test_a_mutant_that_never_ends_is_dead_soon(self, pool: Pool) -> None:
        one = gates.executor(draft("def run(args, ctx):\n    while True:\n        pass\n"))
        limits = SyntRules().bounded(ExecutorSettings()).model_copy(update={"cpu_s": 0.2, "wall_s": 2.0})
        assert _end(one, birth.parse(one.tests_text)[:1], pool, limits) is _End.BROKEN

    @pytest.mark.slow
    def test_a_slow_draft_has_fewer_mutants_but_never_too_few(self, pool: Pool) -> None:
        """Those that break down by themselves say nothing, and others are tried for them."""
        hurried = proven(pool, TESTS, rules=MutationRules(most=12, least=3, budget_s=0.0))
        assert hurried.noticed + len(hurried.survivors) == 3
        assert hurried.broken > 0


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_more_that_is_noticed_never_makes_it_worse(noticed: int, alive: int, broken: int) -> None:
    rules = MutationRules()
    before = Proof(noticed, (ONE,) * alive, broken, (), False).problem(rules)
    after = Proof(noticed + 1, (ONE,) * alive, broken, (), False).problem(rules)
    assert not (after and not before)
    if not alive:
        assert before == ""
    if not noticed and alive:
        assert before
