"""Drafts for tests: one that passes every gate, ways to spoil it, and the built-ins as if somebody had drafted them."""

import copy
from typing import Any

from executors.test_builtin import FOLDER
from metnos.synt import gates
from metnos.synt.draft import Check, Draft, toml
from metnos.synt.draft import tests_toml as sheet
from metnos.synt.gates import Tools

CODE = '''\
"""Puts texts into title case."""


def run(args, ctx):
    entries = []
    for text in args["texts"]:
        if not text.strip():
            ctx.fail("invalid", "a text without a word has no title")
        words = [word[:1].upper() + word[1:].lower() for word in text.split()]
        entries.append({"text": text, "title": " ".join(words)})
    return {"entries": entries}
'''
MANIFEST: dict[str, Any] = {
    "name": "format_text",
    "version": "1.0.0",
    "purpose": "Format texts in title case.",
    "kind": "producer",
    "reversal": "nothing",
    "affinity": ["title case", "capitalise"],
    "args": {
        "required": ["texts"],
        "properties": {"texts": {"type": "array", "items": {"type": "string"}, "description": "The texts."}},
    },
    "output": {
        "type": "object",
        "required": ["text", "title"],
        "properties": {"text": {"type": "string"}, "title": {"type": "string"}},
    },
    "examples": [{"say": "title case for my headings", "args": {"texts": ["on the road"]}}],
}
TESTS: list[dict[str, Any]] = [
    {
        "name": "each word begins with a capital",
        "args": {"texts": ["on the ROAD"]},
        "expect": {"count": 1, "entries": [{"text": "on the ROAD", "title": "On The Road"}]},
    },
    {
        "name": "two texts and one word",
        "args": {"texts": ["a tale", "dUNE"]},
        "expect": {"entries": [{"title": "A Tale"}, {"title": "Dune"}]},
    },
    {"name": "no texts", "args": {"texts": []}, "expect": {"count": 0}},
    {"name": "a text without a word", "args": {"texts": ["good", "  "]}, "expect_error": "invalid"},
]


def changed(base: Any, **changes: Any) -> Any:
    """A copy with other fields; a double underscore goes into a table, and nothing removes a field."""
    made = copy.deepcopy(base)
    for path, value in changes.items():
        *tables, last = path.split("__")
        at = made
        for table in tables:
            at = at.setdefault(table, {})
        if value is None:
            del at[last]
        else:
            at[last] = value
    return made


def draft(
    code: str = CODE, tests: list[dict[str, Any]] | None = None, manifest: dict[str, Any] | None = None, **changes: Any
) -> Draft:
    made = changed(manifest or MANIFEST, **changes)
    return Draft(made["name"], toml(made), code, sheet(TESTS if tests is None else tests))


def builtin(name: str) -> Draft:
    """A built-in as a draft."""
    return Draft(name, *((FOLDER / name / file).read_text() for file in ("manifest.toml", "executor.py", "tests.toml")))


def refused(one: Draft, tools: Tools) -> Check:
    """The check that refused it; fails if none did."""
    checks = list(gates.examine(one, tools))
    assert not checks[-1].passed, f"it passed: {[check.gate for check in checks]}"
    assert checks[-1].stage
    return checks[-1]
