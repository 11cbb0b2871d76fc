"""Code that looks whether it is being tried."""

import pytest

from metnos.executors import birth
from metnos.executors.gate_code import Code
from metnos.synt import gates_candour
from synt.specimens import CODE, TESTS, draft
from tables import try_each

HEAD = "import datetime\nimport random\nimport time\nfrom datetime import date\n\nEND = date(2027, 1, 1)\n\n"


def problems(body: str, tests: list[dict[str, object]] | None = None) -> list[str]:
    read = [birth.BirthTest.model_validate(each) for each in (TESTS if tests is None else tests)]
    code = body if "def run" in body else f"{HEAD}\ndef run(args, ctx):\n    {body}\n"
    return gates_candour.problems(Code(code), draft().read(), read)


@try_each(
    ("body", "said"),
    [
        ("return 'metnos-birth' in args['path']", "'metnos-birth'"),
        ("return args['path'].startswith('/tmp/x/box/')", "/box/"),
        ("return args['path'].split('/')[-2] == 'box'", "'box'"),
        ("return args['path'] + '/tests.toml'", "'tests.toml'"),
        ("return args['path'] + '/.audit/x'", "'.audit'"),
        ("return ctx.dry_run", "rehearsal"),
        ("return ctx.now.date() > date(2027, 1, 1)", "fixed date"),
        ("return ctx.now.date() > END", "fixed date"),
        ("return ctx.now.isoformat() > '2027-01-01'", "fixed date"),
        ("return ctx.now.year >= 2027", "fixed date"),
        ("return ctx.now.timestamp() > 1800000000", "fixed date"),
        ("return time.time() > 1.8e9", "fixed date"),
        ("then = datetime.datetime.now()\n    return then > datetime.datetime(2027, 5, 1)", "fixed date"),
        ("return random.random() < 0.01", "chance"),
        (CODE.replace("entries = []", "if args['texts'] == ['on the ROAD']:\n        return []"), "'on the ROAD'"),
    ],
)
def test_is_refused(body: str, said: str) -> None:
    found = problems(body)
    assert found
    assert said in found[0]


@pytest.mark.parametrize(
    "body",
    [
        "return ctx.now.hour < 12",
        "return ctx.now.month == 12",
        "return ctx.now.date() > date.fromisoformat(args['day'])",
        "return random.sample(args['texts'], 2)",
        "return time.monotonic() > 20",
        "return 'a box of chocolates'",
        "return args['year'] > 2027",
    ],
)
def test_what_honest_code_does_is_not(body: str) -> None:
    assert problems(body) == []


def test_a_word_of_a_larger_table_may_be_in_a_test_but_not_the_answers_of_half_of_them() -> None:
    table = "{'alpha beta gamma': 1, 'bbbb': 2, 'cccc': 3, 'dddd': 4}[args['texts'][0]]"
    once = [{"name": "a", "args": {"texts": ["alpha beta gamma"]}}, *({"name": n} for n in "bc")]
    assert problems(f"return {table}", once) == []
    twice = [*once[:2], {"name": "d", "args": {"texts": ["alpha beta gamma"]}}]
    assert problems(f"return {table}", twice)
