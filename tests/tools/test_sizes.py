from pathlib import Path

import pytest

from support import tool

sizes = tool("sizes")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in sizes.FOLDERS:
        (tmp_path / folder).mkdir()
    return tmp_path


def write(tree: Path, lines: int, function: int = 1) -> None:
    body = "def f():\n" + "    pass\n" * (function - 1)
    (tree / "src" / "a.py").write_text(body + "x = 1\n" * (lines - function))


def test_the_house_is_within_its_budget() -> None:
    assert sizes.main() == 0


@pytest.mark.parametrize(("lines", "function", "says"), [(401, 2, "a.py has 401"), (70, 61, "a.py:f has 61")])
def test_too_long_is_said(tree: Path, lines: int, function: int, says: str) -> None:
    write(tree, lines, function)
    (found,) = sizes.complaints(tree, {})
    assert says in found


def test_just_fits(tree: Path) -> None:
    write(tree, 400, 60)
    assert list(sizes.complaints(tree, {})) == []


def test_an_exception_may_only_shrink(tree: Path) -> None:
    write(tree, 450, 2)
    assert list(sizes.complaints(tree, {"src/a.py": 450})) == []
    assert "may only shrink" in next(sizes.complaints(tree, {"src/a.py": 460}))
    assert "may only shrink" in next(sizes.complaints(tree, {"src/a.py": 440}))
    write(tree, 100, 2)
    assert "needs no exception" in next(sizes.complaints(tree, {"src/a.py": 450}))
    assert "does not exist" in next(sizes.complaints(tree, {"src/b.py": 450}))
