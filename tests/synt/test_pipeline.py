"""From a need to a green draft with a scripted model, the real gates and the real sandbox; and every way to fail."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from metnos.core.errors import ModelError
from metnos.core.sections import ExecutorSettings
from metnos.models.chat import Prompt, Reply
from metnos.sandbox.pool import Pool
from metnos.synt import gates, trying
from metnos.synt.agreement import Result
from metnos.synt.draft import Check, Draft
from metnos.synt.need import Example, Need, Way
from metnos.synt.pipeline import Tools, Workshop
from metnos.synt.sketch import Sketch
from synt.sketches import Scripted, near

pytestmark = pytest.mark.slow

NEED = Need("Put texts into title case", Way.OWNER, name="format_text")
SIGNATURE = {
    "each": True,
    "takes": [{"name": "texts", "type": "texts", "description": "The texts to change.", "default": ""}],
    "gives": [{"name": "title", "type": "text", "description": "The text in title case."}],
}
CASES = {
    "cases": [
        {"arguments": {"text": "hello world"}, "result": {"title": "Hello World"}},
        {"arguments": {"text": "ONE two"}, "result": {"title": "One Two"}},
        {"arguments": {"text": "a  b"}, "result": {"title": "A  B"}},
    ],
    "refused": {"text": "   "},
}
DESCRIPTION = {"purpose": "Format text in title case.", "say": ["put this in title case", "title case these texts"]}
GOOD = (
    "```python\ndef format_text(text):\n    if not text.strip():\n        raise ValueError('there is no word')\n"
    "    return {'title': text.title()}\n```"
)
LOUD = GOOD.replace("text.title()", "text.upper()")
BACKWARDS = GOOD.replace("text.title()", "text[::-1]")
ANSWERS: dict[str, Sequence[Any]] = {
    "signature": [SIGNATURE],
    "tests": [CASES],
    "description": [DESCRIPTION],
    "code": [GOOD],
}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(warm=1)
    yield made
    made.close()


Make = Callable[..., Any]


@pytest.fixture(scope="module")
def make(pool: Pool) -> Make:
    settings, known = ExecutorSettings(), dict[str, Sequence[Result]]()

    def results(sketch: Sketch) -> Sequence[Result]:
        """What a body gives; the same one with the same cases is tried once."""
        key = repr(sketch)
        if key not in known:
            known[key] = trying.results(sketch, pool, settings)
        return known[key]

    def made(answers: Mapping[str, Sequence[Any]], need: Need = NEED, **parts: Any) -> Any:
        model = Scripted({**ANSWERS, **answers})
        tools = gates.Tools(pool, settings)
        workshop = Workshop(
            Tools(
                ask=model,
                near=near,
                taken=(),
                results=results,
                examine=parts.get("examine", lambda draft: gates.examine(draft, tools)),
                tidy=gates.formatted,
            )
        )
        return workshop.make(need, parts.get("progress", lambda _stage, _what: None)), model

    return made


Well = tuple[Any, Scripted, list[str]]


@pytest.fixture(scope="module")
def well(make: Make) -> Well:
    """What is made where all goes well, with every gate there is; the model; and what was told on the way."""
    seen: list[str] = []
    made, model = make({}, progress=lambda stage, _what: seen.append(stage))
    return made, model, seen


class TestAllGoesWell:
    def test_a_need_becomes_a_draft_that_passed_every_gate(self, well: Well) -> None:
        made, model, _ = well
        assert made.green, made
        assert made.draft.name == "format_text"
        assert made.rejections == 0
        assert "text.title()" in made.draft.code
        assert {check.gate for check in made.checks} >= {"static gate", "capabilities used", "mutation", "tests"}
        # A wished name needs no model, and two bodies were written that agree.
        assert [purpose for purpose, _ in model.asked] == ["signature", "tests", "description", "code", "code"]
        assert made.usage["calls"] == 5

    def test_the_second_body_is_written_without_sight_of_the_cases(self, well: Well) -> None:
        first, second = (prompt.messages[0].text for purpose, prompt in well[1].asked if purpose == "code")
        assert "Hello World" in first
        assert "Hello World" not in second

    def test_progress_names_each_stage(self, well: Well) -> None:
        assert well[2] == ["naming", "signature", "tests", "description", "code", "gates"]


@pytest.mark.usefixtures("no_mutants")
def test_a_wrong_expectation_is_put_right_where_bodies_agree(make: Make) -> None:
    wrong = {**CASES, "cases": [*CASES["cases"][:2], {"arguments": {"text": "x y"}, "result": {"title": "XY"}}]}
    made, _ = make({"tests": [wrong]})
    assert made.green, made
    assert '"X Y"' in made.draft.tests
    assert '"XY"' not in made.draft.tests


def test_what_was_observed_cannot_be_outvoted(make: Make) -> None:
    seen = Example({"texts": ["x y"]}, ({"text": "x y", "title": "xY"},), observed=True)
    made, _ = make({}, Need("camel", Way.OWNER, name="format_text", examples=(seen,)))
    assert not made.green
    assert made.stage == "code"
    assert "xY" in made.abandoned


@pytest.mark.usefixtures("no_mutants")
def test_a_body_that_fails_is_written_again_with_the_reason(make: Make) -> None:
    made, model = make({"code": [BACKWARDS, LOUD, "no", "no", "no", GOOD]})
    assert made.green, made
    assert made.rejections == 1
    again = [prompt for purpose, prompt in model.asked if purpose == "code"][5]
    assert "refused" in again.messages[-1].text
    assert "format_text('hello world') == {'title': 'Hello World'}, but it gave" in again.messages[-1].text


@pytest.mark.usefixtures("no_mutants")
def test_cases_that_bodies_contradict_alike_are_worked_out_again(make: Make) -> None:
    made, model = make({"code": [*[LOUD] * 10, GOOD]})
    assert made.green, made
    assert made.rejections == 2  # then the function is the one to mend
    again = [prompt for purpose, prompt in model.asked if purpose == "tests"]
    assert len(again) == 2
    assert "HELLO WORLD" in again[1].messages[-1].text


@pytest.mark.usefixtures("no_mutants")
def test_functions_that_meet_the_new_cases_are_not_written_again(make: Make) -> None:
    said = {case["arguments"]["text"] for case in CASES["cases"]}
    wrong = {
        **CASES,
        "cases": [{"arguments": {"text": each}, "result": {"title": f"{each}?"}} for each in sorted(said)],
    }
    made, model = make({"tests": [wrong, CASES], "code": [*[GOOD] * 5, "no"]})
    assert made.green, made
    assert [purpose for purpose, _ in model.asked].count("code") == 5


@pytest.mark.usefixtures("no_mutants")
def test_functions_of_an_earlier_round_still_count(make: Make) -> None:
    """Four that agree against every case are believed, however many rounds it took to write them."""
    wrong = {
        **CASES,
        "cases": [{"arguments": {"text": each}, "result": {"title": each}} for each in ("bo co", "de ef", "Fu go")],
    }
    alike = [GOOD.replace("text.title()", each) for each in ("str.title(text)", "(text).title() + ''", "text.title()")]
    first = [alike[0], LOUD, alike[1], BACKWARDS, GOOD.replace("text.title()", "text[:1]")]
    fourth = GOOD.replace("return {", "words = text.title()\n    return {").replace("text.title()}", "words}")
    made, model = make({"tests": [wrong], "code": [*first, alike[2], fourth]})
    assert made.green, made
    assert [purpose for purpose, _ in model.asked].count("code") == 7
    assert '"Bo Co"' in made.draft.tests


@pytest.mark.usefixtures("no_mutants")
def test_an_answer_without_end_is_refused_like_any_other_that_is_no_good(make: Make) -> None:
    rambling = ModelError("it repeated itself without end", kind="rambling")
    made, model = make({"tests": [rambling, CASES]})
    assert made.green, made
    assert made.rejections == 1
    assert "has to be short" in [prompt for purpose, prompt in model.asked if purpose == "tests"][1].messages[-1].text


def test_after_three_refusals_it_is_abandoned_and_said(make: Make) -> None:
    made, model = make({"code": [LOUD.replace("upper", "lower"), LOUD, "no"]})
    assert not made.green
    assert made.draft is None
    assert (made.stage, made.rejections) == ("code", 3)
    assert made.abandoned.startswith("it could not be made: code was refused")
    made, model = make({"signature": [{}]})
    assert (made.stage, made.rejections) == ("signature", 3)
    assert len(model.asked) == 3


def test_a_gate_sends_a_draft_back_to_the_stage_that_has_to_mend_it(make: Make) -> None:
    said: list[Draft] = []

    def examine(draft: Draft) -> Iterator[Check]:
        said.append(draft)
        yield Check("form", "")
        yield Check("description: words", "it promises the moon" if len(said) == 1 else "", "description")

    made, model = make({}, examine=examine)
    assert made.green
    asked = [purpose for purpose, _ in model.asked]
    assert asked == ["signature", "tests", "description", "code", "code", "description"]
    assert "promises the moon" in model.asked[-1][1].messages[0].text
    assert said[0].code == said[1].code  # what was fine was not made again


@pytest.mark.parametrize(
    "evil",
    [
        "import os\ndef format_text(text):\n    os.system('true')\n    return {'title': text}",
        "def format_text(text):\n    eval('1')\n    return {'title': text}",
        "def format_text(text):\n    return {'title': open('/etc/passwd').read()}",
        "import os\ndef format_text(text):\n    return {'title': os.environ.get('HOME', '')}",
    ],
)
def test_hostile_code_never_runs_and_never_gets_green(make: Make, evil: str) -> None:
    made, _ = make({"code": [evil]})
    assert not made.green
    assert made.draft is None


def test_a_model_that_fails_is_no_refusal(make: Make) -> None:
    class Broken(Scripted):
        def __call__(self, purpose: str, prompt: Prompt) -> Reply:
            raise ModelError("the model is not there", kind="unreachable")

    workshop = Workshop(Tools(Broken({}), near, (), lambda _: (), lambda _: iter(())))
    with pytest.raises(ModelError, match="not there"):
        workshop.make(NEED)
