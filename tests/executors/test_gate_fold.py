"""What a constant amounts to, in whatever pieces it is written."""

import ast
from typing import Any

from metnos.executors.gate_code import Code
from metnos.executors.gate_fold import UNKNOWN
from tables import try_each


def folded(source: str) -> Any:
    """What the expression in the last line amounts to."""
    code = Code(source)
    last = code.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return code.fold.value(last.value)


@try_each(
    ("source", "expected"),
    [
        ("''.join(chr(c) for c in [111, 115])", "os"),
        ("''.join(chr(c ^ 1) for c in [110, 114])", "os"),
        ("''.join([chr(c - 3) for c in [114, 118]])", "os"),
        ("''.join(chr(f(c)) for c in [111, 115])", None),
        ("''.join(chr(c) for c in [111, 115] if c)", None),
        ("''.join(map(chr, [111, 115]))", "os"),
        ("str(b'/etc', 'utf-8')", "/etc"),
        ("str('/etc', 'utf-8')", None),
        ("from pathlib import Path\nPath('/etc').joinpath('a', 'b')", "/etc/a/b"),
        ("from pathlib import Path\nPath('/etc').joinpath(name)", f"/etc/{UNKNOWN}"),
        ("3 * 'ab'", "ababab"),
        ("'ab' * 3", "ababab"),
        ("6 ^ 3", 5),
        ("7 // 2", 3),
        ("7 | 2", None),
        ("200_000 * 'a'", None),
        ("2 ** 100_000", None),
    ],
)
def test_what_is_written_in_pieces_is_put_together(source: str, expected: object) -> None:
    assert folded(source) == expected
