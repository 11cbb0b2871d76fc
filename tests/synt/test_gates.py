"""The gates: a good draft passes all of them, each has something that it refuses, and the built-ins pass but one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from executors.test_builtin import NAMES, load
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth, gate_tools
from metnos.executors.birth import Tried
from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Pool
from metnos.synt import gates, gates_words
from metnos.synt.draft import Draft
from metnos.synt.gates import Tools, examine, formatted
from synt.specimens import CODE, TESTS, builtin, changed, draft, refused

SAMPLE = ("compute_dates", "delete_reminders", "get_pages", "list_disks", "make_folders", "sort_tables")
MANY = [
    pytest.param(name, marks=() if name in SAMPLE or at % 4 == 0 else pytest.mark.soak) for at, name in enumerate(NAMES)
]
READING = (
    *("contract", "form", "lint", "static gate", "capabilities used", "capabilities declared"),
    *("description: schemas", "description: words", "candour", "tests", "likeness"),
)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(warm=1)
    yield made
    made.close()


@pytest.fixture(scope="module")
def known() -> list[Executor]:
    return [load(name) for name in NAMES]


@pytest.fixture
def tools(pool: Pool, known: list[Executor]) -> Tools:
    return Tools(pool, known=known)


class TestAGoodDraft:
    @pytest.mark.slow
    def test_passes_every_gate_in_order_and_stays_as_it_is(self, tools: Tools) -> None:
        one = draft()
        digest = one.digest
        checks = list(examine(one, tools))
        assert one.digest == digest
        assert [check for check in checks if not check.passed] == []
        assert [check.gate for check in checks] == [
            *READING, *(f"test: {test['name']}" for test in TESTS), "exercise", "mutation",
        ]  # fmt: skip

    @pytest.mark.slow
    def test_gets_the_limits_of_a_birth_whatever_the_settings_allow(
        self, tools: Tools, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[ExecutorSettings] = []

        def watched(_: Executor, __: Pool, settings: ExecutorSettings) -> Iterator[Tried]:
            seen.append(settings)
            return iter(())

        monkeypatch.setattr(birth, "attend", watched)
        generous = ExecutorSettings(wall_s=600, ram_mb=4096, cpu_s=100)
        list(examine(draft(), Tools(tools.pool, generous)))
        assert (seen[0].wall_s, seen[0].ram_mb, seen[0].cpu_s) == (30.0, 256, 5.0)
        list(examine(draft(), Tools(tools.pool, ExecutorSettings(wall_s=3, ram_mb=64, cpu_s=1))))
        assert (seen[1].wall_s, seen[1].ram_mb, seen[1].cpu_s) == (3.0, 64, 1.0)


class TestEachGateRefuses:
    @pytest.mark.parametrize(
        ("gate", "stage", "spoilt", "said"),
        [
            ("contract", "signature", draft(name="ponder_text"), "no verb 'ponder'"),
            ("contract", "signature", draft(code="def run(args:\n"), "not Python"),
            ("contract", "signature", draft(tests=TESTS[:2]), "at least 3 tests"),
            ("contract", "signature", draft(code="x = 1\n"), "no function run"),
            ("contract", "signature", Draft("format_text", "", CODE, ""), "missing"),
            ("form", "code", draft(code=CODE.replace("return {", "return  {")), "format it"),
            ("form", "code", draft(code=f"import os  # noqa: F401\n\n\n{CODE}"), "format it"),
            ("form", "code", draft(code=CODE + "\n\n"), "format it"),
            ("form", "code", draft(code=f"import os\n{CODE}"), "format it"),
            ("form", "code", draft(code=CODE.replace("entries = []", "entries = []\n    never = 1")), "does not use"),
            ("lint", "code", draft(code=CODE.replace("entries = []", "entries = []\n    never()")), "never"),
            ("lint", "code", draft(code=CODE.replace("entries = []", "entries = []\n    other()  # noqa")), "other"),
            ("static gate", "code", draft(code=CODE.replace("entries = []", 'entries = []\n    eval("1")')), "eval"),
            ("capabilities used", "code", draft(code=CODE.replace(
                "entries = []", 'entries = []\n    ctx.trash("/home/x")')), "ctx.trash, which is not declared"),
            ("capabilities declared", "signature", draft(capabilities={"fs": {"read": ["~/**"]}}), "never reads"),
            ("description: schemas", "code", draft(output__properties__colour={"type": "string"}), "'colour'"),
            ("description: words", "description", draft(purpose="Delete files."), "can change nothing"),
            ("candour", "code", draft(code=CODE.replace("entries = []", "entries = [] if ctx.dry_run else []")),
             "rehearsal"),
            ("tests", "tests", draft(tests=[*TESTS, {**TESTS[0], "name": "again"}]), "the same input"),
            ("test: two texts and one word", "code", draft(code=CODE.replace(
                "word[1:].lower()", "(word[1:].lower() if len(text) > 6 else word[1:])")), "instead of"),
        ],
    )  # fmt: skip
    def test_with_a_word_about_what_to_do(self, tools: Tools, gate: str, stage: str, spoilt: Draft, said: str) -> None:
        found = refused(spoilt, tools)
        assert (found.gate, found.stage) == (gate, stage)
        assert said in found.problem

    def test_what_it_is_like(self, tools: Tools) -> None:
        found = refused(builtin("convert_units"), tools)
        assert found.gate == "likeness"
        assert "convert_units" in found.problem

    @pytest.mark.slow
    def test_tests_that_no_body_could_fail(self, tools: Tools) -> None:
        weak = [
            {"name": "one", "args": {"texts": ["on the road"]}, "expect": {"failures": [], "failed": 0}},
            {"name": "two", "args": {"texts": ["other"]}, "expect": {"failed": 0, "entries": [{"text": "other"}]}},
            {"name": "bad", "args": {"text": "x"}, "expect_error": "invalid"},
        ]
        found = refused(draft(tests=weak), tools)
        assert (found.gate, found.stage) == ("mutation", "tests")
        assert "add tests" in found.problem

    @pytest.mark.slow
    def test_a_power_that_no_test_shows(self, tools: Tools) -> None:
        code = CODE.replace(
            "entries = []", 'entries = []\n    if len(args["texts"]) > 9:\n        ctx.write(args["to"], "x")'
        ).replace('{"entries": entries}', '{"results": entries}')
        tests = [
            changed(each, args__to="{box}/a", **({"expect__results": each["expect"]["entries"], "expect__entries": None}
            if "entries" in each.get("expect", {}) else {}))
            for each in TESTS
        ]  # fmt: skip
        spoilt = draft(
            code, tests, kind="mutator", reversal="remove_created", purpose="Write texts in title case to a file.",
            args__properties__to={"type": "string", "x-path": "write", "description": "Where."},
            args__required=["texts", "to"], capabilities={"fs": {"write": ["~/**"]}}, examples=[
                {"say": "write it", "args": {"texts": ["a"], "to": "~/a"}}
            ],
        )  # fmt: skip
        found = refused(spoilt, tools)
        assert found.gate == "exercise"
        assert "no test changes a file" in found.problem


class TestWhateverHappens:
    def test_what_a_gate_raises_is_a_refusal(self, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: Any) -> list[str]:
            raise RuntimeError("the gate itself")

        monkeypatch.setattr(gates_words, "problems", broken)
        found = refused(draft(), tools)
        assert found.gate == "description: words"
        assert "RuntimeError" in found.problem

    def test_a_sandbox_that_cannot_be_had_is_a_refusal(self, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
        def none(*_: Any) -> Iterator[Tried]:
            raise OSError("no sandbox")
            yield

        monkeypatch.setattr(birth, "attend", none)
        assert refused(draft(), tools).gate == f"test: {TESTS[0]['name']}"

    def test_tests_that_end_too_early_are_a_refusal(self, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(birth, "attend", lambda *_: iter([Tried(TESTS[0]["name"], "", None)]))
        assert "ended before" in refused(draft(), tools).problem

    def test_all_that_can_be_judged_is_judged_when_asked(self, tools: Tools) -> None:
        spoilt = draft(code=CODE + "\n\n", purpose="Delete files.", name="convert_units")
        checks = list(examine(spoilt, tools, stop=False))
        wrong = [check.gate for check in checks if not check.passed]
        assert wrong == ["form", "description: words", "likeness"]
        assert checks[-1].gate == "likeness", "what was refused must not run"

    def test_a_new_version_may_be_like_the_old(self, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gates, "_trying", lambda *_: iter(()))
        one = builtin("sort_tables")
        said = list(examine(one, replace(tools, replaces=("sort_tables",)), stop=False))
        assert [check.gate for check in said if not check.passed] == []


class TestFormatting:
    def test_makes_code_stable_and_drops_unused_imports(self) -> None:
        made = formatted(f"import os,sys\n{CODE}\n\n\n")
        assert made == formatted(made)
        assert "import" not in made
        assert formatted(CODE) == CODE

    def test_drops_variables_that_nobody_reads_and_keeps_what_is_called_for_them(self) -> None:
        tried = "    try:\n        pass\n    except OSError as error:\n        pass\n"
        made = formatted(f"def run(args, ctx):\n    count = 0\n    sizes = print(1)\n{tried}    return args\n")
        assert "count" not in made
        assert "sizes" not in made
        assert "    print(1)\n" in made
        assert "except OSError:" in made
        assert made == formatted(made)

    def test_leaves_what_is_no_python(self) -> None:
        assert formatted("def run(:\n") == "def run(:\n"

    def test_obeys_nothing_that_the_code_says_about_checks(self) -> None:
        assert formatted(f"import os  # noqa: F401\n\n\n{CODE}") == CODE


class TestBuiltins:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", MANY)
    def test_resubmitted_pass_every_gate_that_reads_but_likeness(
        self, name: str, tools: Tools, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The two linters of the static gate have a test of their own for all of them, and take half the time."""
        if name not in SAMPLE:
            monkeypatch.setattr(gate_tools, "findings", lambda _: iter(()))
        monkeypatch.setattr(gates, "_trying", lambda *_: iter(()))
        checks = list(examine(builtin(name), tools, stop=False))
        assert [check.gate for check in checks] == list(READING)
        assert [check for check in checks if not check.passed and check.gate != "likeness"] == []
        assert name in checks[-1].problem

    @pytest.mark.slow
    @pytest.mark.parametrize("name", SAMPLE)
    def test_resubmitted_pass_their_birth_tests_and_notice_mistakes(self, name: str, tools: Tools) -> None:
        checks = list(examine(builtin(name), tools, stop=False))
        assert [check.gate for check in checks if not check.passed] == ["likeness"]
        assert checks[-1].gate == "mutation"
