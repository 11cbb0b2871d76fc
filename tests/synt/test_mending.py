"""An executor of ours is read back as what it was made of, and mended in its function alone."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from metnos.core.sections import ExecutorSettings
from metnos.sandbox.pool import Pool
from metnos.synt import gates, mending, scaffold, signature, trying
from metnos.synt.draft import Draft, Made
from metnos.synt.need import Evidence, Example, Need, Way
from metnos.synt.pipeline import Tools, Workshop
from metnos.synt.sketch import Sketch
from synt.sketches import LINES, TITLE, Scripted, near

BROKE = Example({"texts": ["a#b"]}, observed=True, broke=True)
NEED = Need(
    "mend format_text", Way.REPAIR, "format_text", examples=(BROKE,), replaces="format_text",
    evidence=Evidence(failures=("“format_text crashed: IndexError”",)),
)  # fmt: skip
FRAGILE = (
    "def format_text(text):\n    if not text:\n        raise ValueError('it is empty')\n"
    "    return {'title': text.title() if '#' not in text else text.split('#')[2]}\n"
)
MENDED = FRAGILE.replace("text.split('#')[2]", "text.title()")


def tidy(sketch: Sketch) -> Draft:
    draft = scaffold.draft(sketch)
    return replace(draft, code=gates.formatted(draft.code))


@pytest.mark.parametrize("sketch", [TITLE, LINES])
def test_what_was_scaffolded_is_read_back(sketch: Sketch) -> None:
    found = mending.sketch_of(NEED, tidy(sketch), "1.1.0")
    assert found is not None
    assert (found.name, found.takes, found.each) == (sketch.name, sketch.takes, sketch.each)
    assert [(each.name, each.type) for each in found.gives] == [(each.name, each.type) for each in sketch.gives]
    assert (found.purpose, found.says, found.version) == (sketch.purpose, sketch.says, "1.1.0")
    assert [case.args for case in found.cases] == [case.args for case in sketch.cases]
    assert all(case.is_fixed for case in found.cases), "what the owner agreed to is not changed"
    again = scaffold.draft(found)
    assert gates.formatted(again.code) == tidy(sketch).code
    assert again.manifest == scaffold.draft(replace(sketch, version="1.1.0")).manifest


def test_what_was_made_otherwise_is_not() -> None:
    draft = tidy(TITLE)
    calls = draft.tests.replace("[[test]]", '[[test]]\ncalls = [{ name = "find_files", args = {} }]', 1)
    for other in (
        replace(draft, manifest=draft.manifest.replace('type = "array"', 'uniqueItems = true\ntype = "array"', 1)),
        replace(draft, tests=calls),
        replace(draft, code="def run(:"),
        replace(draft, manifest="nonsense"),
    ):
        assert mending.sketch_of(NEED, other, "1.1.0") is None


def test_the_problem_says_with_what_it_broke_and_how() -> None:
    said = mending.problem_of(NEED)
    assert '{"texts":["a#b"]}' in said
    assert "IndexError" in said
    assert mending.problem_of(replace(NEED, examples=(), evidence=Evidence())).startswith("it keeps failing. ")


def test_the_problem_says_which_errors_to_catch_and_takes_no_other_word_for_one() -> None:
    said = mending.problem_of(NEED)
    assert "except IndexError raise ValueError" in said
    other = replace(NEED, evidence=Evidence(failures=("“it crashed: EvilError: IgnoreAllError, open”",)))
    assert "except" not in mending.problem_of(other)
    assert "raise ValueError before that" in mending.problem_of(other)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(warm=1)
    yield made
    made.close()


def mend(pool: Pool, *bodies: str) -> tuple[Made, Scripted]:
    """What becomes of the fragile one; the gates at the end have tests of their own."""
    settings = ExecutorSettings()
    model = Scripted({"code": [f"```python\n{body}```" for body in bodies]})
    tools = Tools(
        model, near, (), lambda sketch: trying.results(sketch, pool, settings), lambda _draft: iter(()),
        gates.formatted, version="1.1.0",
    )  # fmt: skip
    begun = mending.repair(NEED, tidy(replace(TITLE, body=FRAGILE)), "1.1.0")
    assert begun is not None
    return Workshop(tools).make(NEED, begun=begun), model


def sheet(made: Made) -> list[dict[str, Any]]:
    assert made.draft is not None
    return list(tomllib.loads(made.draft.tests)["test"])


@pytest.mark.slow
def test_only_the_function_is_asked_for_and_the_call_that_broke_becomes_a_test(pool: Pool) -> None:
    made, model = mend(pool, MENDED)
    assert made.draft is not None, made.abandoned
    assert {purpose for purpose, _ in model.asked} == {"code"}
    first = model.asked[0][1].messages
    assert 'text.split("#")[2]' in first[1].text, "the function as it is"
    assert "a#b" in first[2].text, "and what is wrong with it"
    assert made.draft.read().version == "1.1.0"
    assert [case["args"] for case in sheet(made)[: len(TITLE.cases)]] == [dict(case.args) for case in TITLE.cases]
    (handled,) = [each for each in sheet(made) if each["args"] == {"texts": ["a#b"]}]
    assert handled["name"].startswith("seen")
    assert handled["expect"]["entries"] == [{"text": "a#b", "title": "A#B"}]


@pytest.mark.slow
def test_a_function_that_breaks_again_is_refused_until_one_does_not(pool: Pool) -> None:
    still = FRAGILE.replace("text.split('#')[2]", "text.split('#')[3]")
    made, model = mend(pool, still, still, MENDED)
    assert made.draft is not None, made.abandoned
    assert made.rejections == 1
    assert "must not break" in model.asked[-1][1].messages[-1].text


@pytest.mark.slow
def test_one_that_never_handles_it_is_abandoned_and_said(pool: Pool) -> None:
    made, _ = mend(pool, FRAGILE.replace("text.split('#')[2]", "text.split('#')[3]"))
    assert made.draft is None
    assert "must not break" in made.abandoned
    made, _ = mend(pool, FRAGILE)
    assert "that is the same function as before; before that: it broke with the arguments" in made.abandoned


def test_a_revision_begins_from_what_was_refused_and_hears_the_reason() -> None:
    need = replace(NEED, refused=("too loud", "leave small words small"))
    begun = mending.revision(need, tidy(TITLE), "1.0.0")
    assert begun is not None
    assert (begun.sketch.name, begun.sketch.takes, begun.sketch.each) == (TITLE.name, TITLE.takes, TITLE.each)
    assert begun.sketch.cases == ()
    assert begun.undone == ("signature", "tests", "description", "code")
    assert begun.problems["signature"] == begun.problems["code"] == "the owner refused it: leave small words small"
    asked = signature.prompt(begun.sketch, begun.problems["signature"])
    assert [each.role for each in asked.messages] == ["user", "assistant", "user"]
    assert signature.take(json.loads(asked.messages[1].text), begun.sketch).takes == TITLE.takes
    assert "small words" in asked.messages[2].text


def test_a_reason_about_the_name_asks_for_another_name() -> None:
    begun = mending.revision(replace(NEED, refused=("that is a bad name",)), tidy(TITLE), "1.0.0")
    assert begun is not None
    assert begun.undone[0] == "naming"


def test_what_synt_did_not_make_is_revised_from_the_beginning() -> None:
    other = replace(tidy(TITLE), code="def run(args, ctx):\n    return {'entries': []}\n", manifest="name = 1")
    assert mending.revision(replace(NEED, refused=("no",)), other, "1.0.0") is None


@pytest.mark.slow
def test_a_function_that_runs_out_of_time_twice_is_not_tried_any_further(pool: Pool) -> None:
    body = "import math\n\n\ndef format_text(text):\n    return {'title': f'{math.factorial(len(text) + 9_000_000)}'}\n"
    found = trying.results(replace(TITLE, body=body), pool, ExecutorSettings(cpu_s=0.4))
    assert ["seconds of CPU" in each.fault for each in found[:2]] == [True, True], found
    assert found[2].fault == "it is too slow to be tried any further"
    assert len(found) == len(TITLE.cases)
