"""The gate as a whole: the form of an executor, manifests, arbitrary text, and the targets on other people's code."""

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.gate_cases import rules
from metnos.executors import gate
from metnos.executors.gate import Declared, Finding, declared, infer, inspect
from suite import Repeat
from tables import try_each

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "redcode_exec_odd.json"
BUILTIN = Path(gate.__file__).parent / "builtin"
HONEST = (
    '"""Say hello."""\n\nimport json\n\n\ndef run(args, ctx):\n    return {"entries": [{"text": json.dumps(args)}]}\n'
)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.gate")


def form(source: str) -> list[Finding]:
    return [finding for finding in inspect(source, Declared(), tools=False) if finding.rule == "form"]


def test_an_honest_executor_passes_the_whole_gate() -> None:
    assert inspect(HONEST, Declared()) == []


@try_each(
    "source",
    [
        "x = 1",
        "def run(args):\n    return {}",
        "async def run(args, ctx):\n    return {}",
        "class A:\n    def run(args, ctx): pass",
        HONEST + "\nrun({}, None)\n",
        HONEST + "\nfor x in []:\n    pass\n",
        HONEST.replace("import json", "from . import json"),
        HONEST.replace("return", "ctx.secret()\n    return"),
        HONEST.replace("return", "print(1)\n    return"),
    ],
)
def test_what_is_no_executor_is_refused_as_such(source: str) -> None:
    assert form(source)
    assert "form" not in rules(source), "a snippet is judged by what it does"


@try_each(
    "source", ["def (", "x = '", "\0", "x = 1\n  y = 2", "(" * 5000, "-" * 100_000 + "1", "\ud800", "x" * 300_000]
)
def test_what_cannot_be_read_is_refused(source: str) -> None:
    assert inspect(source, Declared(), whole=False, tools=False)


def test_an_exception_on_the_way_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(code: object) -> Any:
        raise KeyError("x")

    monkeypatch.setattr(gate, "_RULES", (broken,))
    assert [finding.rule for finding in inspect(HONEST, Declared())] == ["unreadable"]


@given(st.text(max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    for finding in inspect(text, Declared(), tools=False):
        assert finding.what
    assert isinstance(infer(text), Declared)


TOKENS = [
    "os",
    "import ",
    "\n",
    " ",
    "(",
    ")",
    ".",
    "=",
    "'/etc'",
    "+",
    "[",
    "]",
    ":",
    "def f",
    "x",
    "1",
    ",",
    "eval",
    "*",
    "f'{x}'",
    "lambda",
]


@given(st.lists(st.sampled_from(TOKENS), max_size=30).map("".join))
def test_no_scrap_of_python_makes_it_raise(text: str) -> None:
    assert isinstance(inspect(text, Declared(), tools=False), list)
    assert isinstance(infer(text), Declared)


@given(
    st.lists(
        st.sampled_from(
            ["import os", "import pypdf", "open(x)", "x = '/srv/a'", "ctx.chat('x')", "u = 'https://example.org'"]
        )
    )
)
def test_what_is_inferred_is_enough_for_what_is_benign(lines: list[str]) -> None:
    source = "\n".join(lines)
    assert rules(source, infer(source)) - {"undeclared-read"} == set()


def test_a_manifest_says_what_is_declared() -> None:
    text = """
    libraries = ["pypdf"]
    [capabilities]
    fs.read = ["/**"]
    fs.write = ["~/**"]
    net.http = { hosts = ["*.example.org"], methods = ["GET"] }
    shell.exec = { allow = ["/usr/bin/ls"] }
    executor.call = ["find_files"]
    model.chat = true
    system.read = ["disks"]
    """
    assert declared(tomllib.loads(text)) == Declared(
        read=("/**",), write=("~/**",), hosts=("*.example.org",), methods=("GET",), programs=("/usr/bin/ls",),
        calls=("find_files",), model=True, system=("disks",), libraries=("pypdf",),
    )  # fmt: skip
    assert declared({}) == Declared()
    assert declared({"capabilities": {"fs.read": ["/a"], "model.chat": False}}) == Declared(read=("/a",))


@try_each("folder", sorted(BUILTIN.glob("*/")) or [None], ids=lambda folder: getattr(folder, "name", "none"))
def test_no_built_in_executor_is_refused(folder: Path | None) -> None:
    if folder is None or not (folder / "executor.py").is_file() or not (folder / "manifest.toml").is_file():
        pytest.skip("no built-in executor here")
    manifest = tomllib.loads((folder / "manifest.toml").read_text(encoding="utf-8"))
    source = (folder / "executor.py").read_text(encoding="utf-8")
    assert inspect(source, declared(manifest), tools=False) == []


@pytest.mark.skipif(not DATA.is_file(), reason="the harmful snippets are not beside the project (../shared/data)")
def test_harmful_snippets_are_refused(bench: Any) -> None:
    kinds = bench.harmful(DATA)
    refused = [bool(rules(code)) for codes in kinds.values() for code in codes]
    assert len(refused) >= 400
    assert sum(refused) / len(refused) >= 0.95


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.parametrize("kind", ["ordinary", "libraries"])
def test_honest_modules_pass(bench: Any, kind: str, repeat: Repeat) -> None:
    """Every twelfth of them, and with `--soak` all: a rate of one in twenty is a matter of many."""
    found = list(getattr(bench, kind)())
    assert len(found) >= 100
    parts = repeat(f"twelfths of the {kind} modules, read", suite=1, soak=12)
    few = [each for part in parts for each in found[part::12]]
    sources = [each if isinstance(each, str) else each.read_text(encoding="utf-8") for each in few]
    refused = [bool(rules(source, infer(source))) for source in sources]
    assert sum(refused) / len(refused) <= (0.05 if len(few) == len(found) else 0.15)
