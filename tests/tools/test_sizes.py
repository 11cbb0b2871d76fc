import sys
from pathlib import Path

import pytest

from support import tool

sizes, suite = tool("sizes"), tool("suite")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in sizes.FOLDERS:
        (tmp_path / folder).mkdir()
    return tmp_path


def write(tree: Path, lines: int, function: int = 1) -> None:
    body = "def f():\n" + "    pass\n" * (function - 1)
    (tree / "src" / "a.py").write_text(body + "x = 1\n" * (lines - function))


def test_every_run_looks_at_the_sizes_of_this_house() -> None:
    line = ("sizes", [sys.executable, "tools/sizes.py"])
    assert all(line in suite.KINDS[kind] for kind in ("lint", "check", "test"))


def test_it_ends_with_1_if_anything_is_too_long(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "tools" / "sizes.toml").write_text("[exceptions]\n")
    monkeypatch.setattr(sizes, "ROOT", tree)
    write(tree, 600, 60)
    assert (sizes.main(), capsys.readouterr().out) == (0, "")
    write(tree, 601, 2)
    assert (sizes.main(), capsys.readouterr().out) == (1, "src/a.py has 601 lines; the limit is 600\n")


@pytest.mark.parametrize(("lines", "function", "says"), [(601, 2, "a.py has 601"), (70, 61, "a.py:f has 61")])
def test_too_long_is_said(tree: Path, lines: int, function: int, says: str) -> None:
    write(tree, lines, function)
    (found,) = sizes.complaints(tree, {})
    assert says in found


@pytest.mark.parametrize(
    "around",
    ["class C:", "if x:\n    pass\nelse:", "for a in b:", "while x:", "try:\n    pass\nexcept E:",
     "try:\n    pass\nfinally:", "with a:", "match x:\n  case 1:", "async def g():"],
)  # fmt: skip
def test_functions_are_found_wherever_they_are(tree: Path, around: str) -> None:
    body = "    def f():\n" + "        pass\n" * 60
    (tree / "src" / "a.py").write_text(f"{around}\n{body}")
    assert any("a.py:f has 61" in found for found in sizes.complaints(tree, {}))


def test_just_fits(tree: Path) -> None:
    write(tree, 600, 60)
    assert list(sizes.complaints(tree, {})) == []


def test_an_exception_may_only_shrink(tree: Path) -> None:
    write(tree, 650, 2)
    assert list(sizes.complaints(tree, {"src/a.py": 650})) == []
    assert "may only shrink" in next(sizes.complaints(tree, {"src/a.py": 660}))
    assert "may only shrink" in next(sizes.complaints(tree, {"src/a.py": 640}))
    write(tree, 100, 2)
    assert "needs no exception" in next(sizes.complaints(tree, {"src/a.py": 650}))
    assert "does not exist" in next(sizes.complaints(tree, {"src/b.py": 650}))
