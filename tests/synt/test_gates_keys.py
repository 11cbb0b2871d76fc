"""The schemas of a manifest against the text of the code."""

import pytest

from metnos.executors import manifest
from metnos.executors.gate_code import Code
from metnos.synt import gates_keys
from metnos.synt.draft import toml
from synt.specimens import CODE, MANIFEST, changed

OPTIONAL = {"type": "string", "description": "Perhaps."}


def problems(code: str, **changes: object) -> list[str]:
    return gates_keys.problems(Code(code), manifest.parse(toml(changed(MANIFEST, **changes))))


def run(body: str, more: str = "") -> str:
    """Reads the argument that the specimen has, and gives what ``body`` returns."""
    return f"def run(args, ctx):\n    texts = args['texts']\n    {body}\n\n\n{more}"


def test_the_specimen_is_as_it_says() -> None:
    assert problems(CODE) == []


@pytest.mark.parametrize(
    ("body", "more"),
    [
        ("return {'entries': [{'text': t, 'title': t} for t in texts]}", ""),
        ("return {'entries': [entry(t) for t in texts][:5], 'total': 1}",
         "def entry(t):\n    return {'text': t} | {'title': t}\n"),
        ("return reply(texts)",
         "def reply(t):\n    made = {'text': t}\n    made['title'] = t\n    return {'entries': [made]}\n"),
        ("return {'entries': sorted(all_of(texts))}", "def all_of(t):\n    return [{'title': '', **{'text': t}}]\n"),
        ("a, b = [], 1\n    a.append({'text': b, 'title': b} if b else {'text': 1, 'title': 2})\n"
         "    return {'entries': a}", ""),
    ],
)  # fmt: skip
class TestEntries:
    def test_of_many_makes_are_followed(self, body: str, more: str) -> None:
        assert problems(run(body, more)) == []

    def test_that_lack_what_the_output_has(self, body: str, more: str) -> None:
        (problem,) = problems(run(body, more), output__properties__size={"type": "integer"})
        assert "`output` has 'size', but no entry" in problem

    def test_that_have_what_the_output_lacks(self, body: str, more: str) -> None:
        (problem,) = problems(run(body, more), output__properties__title=None, output__required=["text"])
        assert "a 'title' that `output` does not have" in problem


@pytest.mark.parametrize(
    "body",
    [
        "return {'entries': list(map(dict, texts))}",
        "return {'entries': [ctx.look(t) for t in texts]}",
        "made = {}\n    made[texts[0]] = 1\n    return {'entries': [made]}",
        "made = []\n    fill(made)\n    return {'entries': made}",
        "return ctx.call('find_files', {})",
    ],
)
def test_entries_that_nobody_can_foresee_are_left_to_the_birth_tests(body: str) -> None:
    assert problems(run(body), output__properties__size={"type": "integer"}) == []


def test_a_reply_of_the_wrong_kind() -> None:
    assert "a producer returns 'entries'" in problems(run("return {'results': []}"))[0]
    assert "returns 'status'" in problems(run("return {'entries': [], 'status': 1}"))[0]


class TestArguments:
    def test_that_the_schema_does_not_have(self) -> None:
        (problem,) = problems(run("return {'entries': [args['colour']]}"))
        assert 'reads args["colour"], which `args` does not have' in problem
        (problem,) = problems(
            run("return helper(args)", "def helper(given):\n    return {'entries': given.get('size')}\n")
        )
        assert 'args["size"]' in problem

    def test_that_nobody_reads(self) -> None:
        (problem,) = problems(CODE, args__properties__colour=OPTIONAL)
        assert "'colour', but the code never reads it" in problem

    def test_that_may_be_missing_and_are_read_as_if_they_were_there(self) -> None:
        code = run("return {'entries': [args['colour']]}")
        (problem,) = problems(code, args__properties__colour=OPTIONAL)
        assert "as if it were always there" in problem
        example = [{"say": "red", "args": {"texts": [], "colour": "red"}}]
        required = {"args__required": ["texts", "colour"], "examples": example}
        assert problems(code, args__properties__colour=OPTIONAL, **required) == []
        assert problems(code, args__properties__colour={**OPTIONAL, "default": "red"}) == []
        guarded = run("return {'entries': [args['colour'] if 'colour' in args else 1]}")
        assert problems(guarded, args__properties__colour=OPTIONAL) == []

    @pytest.mark.parametrize("body", ["return {'entries': [*args.items()]}", "return {'entries': [{**args}]}"])
    def test_that_are_gone_through_one_by_one(self, body: str) -> None:
        assert problems(run(body), args__properties__colour=OPTIONAL) == []

    def test_limit_is_read_through_ctx(self) -> None:
        limit = {"type": "integer", "description": "How many."}
        assert problems(run("return {'entries': texts[: ctx.limit]}"), args__properties__limit=limit) == []
        assert problems(run("return {'entries': texts}"), args__properties__limit=limit)

    def test_that_the_kit_reads(self) -> None:
        code = "from metnos_kit import table_reading\n\n" + run("return table_reading.Reader(texts, args, ctx)")
        assert problems(code, args__properties__table=OPTIONAL) == []
        assert problems(code, args__properties__colour=OPTIONAL)
