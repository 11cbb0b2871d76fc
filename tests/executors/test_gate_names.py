"""Which real name an expression stands for: what is followed, and what is too far to be."""

import ast

from metnos.executors.gate_code import Code
from tables import try_each


def real(source: str) -> set[str]:
    """What the expression in the last line may stand for."""
    code = Code(source)
    last = code.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return set(code.real(last.value))


@try_each(
    ("source", "expected"),
    [
        ("import os\nvars(os)['system']", {"os.system"}),
        ("import os\nos.__dict__['system']", {"os.system"}),
        ("import os\nvars(os)[name]", set()),
        ("import sys\nsys.modules['os'].path", {"os.path"}),
        ("__builtins__['eval']", {"builtins.eval"}),
        ("import builtins\nbuiltins['eval']", {"builtins.eval"}),
        ("import os\nglobals()['os'].path", {"os.path"}),
        ("import os\nf = os.path\nglobals()['f']", {"os.path"}),
        ("__import__('o' + 's').path", {"os.path"}),
        ("__import__(name).path", set()),
        ("x = {}\nx['os']", set()),
        ("import posix\nposix.kill", {"os.kill"}),
    ],
)
def test_a_name_is_followed_wherever_it_is_fetched_from(source: str, expected: set[str]) -> None:
    assert real(source) == expected


def chain(count: int) -> str:
    """As many renamings, the last one first: each round of looking gets one further."""
    renamed = (f"n{number} = n{number - 1}\n" for number in range(count, 0, -1))
    return f"import os\n{''.join(renamed)}n0 = os\nn{count}"


def test_renamings_are_followed_against_their_order_but_not_for_ever() -> None:
    assert real(chain(5)) == {"os"}
    assert real(chain(50)) == set()


def test_an_expression_that_is_nested_too_deep_stands_for_nothing() -> None:
    assert real("import os\n" + "(" * 20 + "os" + " or f)" * 20) == {"os"}
    assert real("import os\n" + "(" * 60 + "os" + " or f)" * 60) == set()
