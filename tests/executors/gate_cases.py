"""What the tests of the gate share: attacks beside harmless twins."""

from metnos.executors.gate import Declared, inspect

NOTHING = Declared()
FILES = Declared(read=("~/**",), write=("~/**",))


def rules(source: str, declared: Declared = NOTHING) -> set[str]:
    """The rules that refuse a piece of code, without its form and the linters."""
    return {finding.rule for finding in inspect(source, declared, whole=False, tools=False)}
