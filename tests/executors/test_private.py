import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.executors.private import PrivateView


@pytest.fixture
def box() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield furnish(Path(folder).resolve())


def furnish(box: Path) -> Path:
    for name in ("a.txt", ".config/gh/hosts.yml", ".config/app/x", "project/.git/config", "project/.env", ".asked/.in"):
        (box / name).parent.mkdir(parents=True, exist_ok=True)
        (box / name).write_text("x")
    return box


def find(view: PrivateView, folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in view.below(folder, lambda _: True)}


def test_what_is_hidden_or_forbidden_is_private_and_what_was_asked_for_is_not(box: Path) -> None:
    assert find(PrivateView(frozenset()), box) == {".config", "project/.git", "project/.env", ".asked"}
    asked = frozenset({box / ".asked", box / "project/.env"})
    assert find(PrivateView(asked), box) == {".config", "project/.git", "project/.env"}
    assert find(PrivateView(frozenset({box})), box) == {".config/gh", "project/.env"}  # no words open these


def test_while_a_call_runs_hidden_names_come_and_go_and_forbidden_ones_do_not(box: Path) -> None:
    view = PrivateView(frozenset())
    before = find(view, box)
    view.run()
    assert find(view, box) == {"project/.env"}
    (box / ".letter.swp").write_text("x")
    (box / "project/.lock").mkdir()
    (box / ".config/app/y").write_text("x")
    assert find(view, box) == {"project/.env"}
    (box / ".netrc").write_text("x")
    assert find(view, box) == {"project/.env", ".netrc"}
    assert before >= {".config"}


def test_a_hidden_folder_that_takes_the_place_of_a_covered_one_is_searched(box: Path) -> None:
    view = PrivateView(frozenset())
    find(view, box)
    view.run()
    (box / ".config").rename(box / ".old")
    (box / ".config/gh").mkdir(parents=True)
    assert find(view, box) == {"project/.env", ".config/gh"}
