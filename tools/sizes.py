"""Fails when a file is longer than 600 lines or a function longer than 60.

Exceptions stand in ``tools/sizes.toml`` with the length they may have. The list may only shrink: an exception that is
no longer needed, or that allows more than is used, fails too.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "bench", "tools")
FILE_LIMIT = 600
FUNCTION_LIMIT = 60


def measure(root: Path) -> Iterator[tuple[str, int, int]]:
    """Name, length and limit of every file and function."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            name = path.relative_to(root).as_posix()
            yield name, len(text.splitlines()), FILE_LIMIT
            for node in _functions(ast.parse(text).body):
                yield f"{name}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1, FUNCTION_LIMIT


def _functions(body: Sequence[ast.AST]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function within these statements. Expressions hold none, and are most of a file: they are passed over."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            if isinstance(inner := getattr(node, part, None), list):
                yield from _functions(inner)


def complaints(root: Path, allowed: dict[str, int]) -> Iterator[str]:
    """What is too long, and which exceptions are out of date."""
    unused = dict(allowed)
    for name, length, limit in measure(root):
        exception = unused.pop(name, None)
        if exception is None:
            if length > limit:
                yield f"{name} has {length} lines; the limit is {limit}"
        elif length <= limit:
            yield f"{name} has {length} lines and needs no exception any more: remove it"
        elif length != exception:
            yield f"{name} has {length} lines; its exception says {exception}, and may only shrink"
    yield from (f"{name} is excepted but does not exist: remove it" for name in unused)


def main() -> int:
    listed = ROOT / "tools" / "sizes.toml"
    allowed = tomllib.loads(listed.read_text(encoding="utf-8"))["exceptions"]
    found = list(complaints(ROOT, allowed))
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
