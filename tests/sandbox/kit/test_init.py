"""The rules of the kit: standard library and the sandbox's libraries alone, and no module imports another."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from metnos.executors.gate import Declared, inspect
from metnos.executors.manifest import LIBRARIES
from metnos.sandbox import kit
from tables import try_each

FILES = sorted(Path(kit.__file__).parent.glob("*.py"))
SOURCE = '''"""Uses the kit."""

from metnos_kit import texts


def run(args, ctx):
    return {"entries": [{"text": texts.read_text(args["path"], 1000, ctx)}]}
'''


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node


@try_each("path", FILES, ids=lambda path: path.stem)
def test_a_module_stands_alone(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name, node in imports(tree):
        head = name.partition(".")[0]
        assert head in sys.stdlib_module_names or head in set(LIBRARIES) - {"metnos_kit"}, name
        if head not in sys.stdlib_module_names:
            assert node not in tree.body, f"{name} is heavy: it is imported where it is needed"


def test_the_gate_knows_it_as_a_library_and_as_nothing_else() -> None:
    reads = ("/**",)
    assert inspect(SOURCE, Declared(read=reads, libraries=("metnos_kit",))) == []
    assert [each.rule for each in inspect(SOURCE, Declared(read=reads))] == ["undeclared-library"]
    from_metnos = SOURCE.replace("metnos_kit", "metnos.sandbox.kit")
    assert "self" in {each.rule for each in inspect(from_metnos, Declared(read=reads, libraries=("metnos_kit",)))}
