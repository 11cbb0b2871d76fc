from pathlib import Path
from typing import Any

import pytest

from metnos.sandbox.kit import targets
from sandbox.kit.kit_context import Failure, context

ITSELF = {"onto_itself": "onto", "into_itself": "into"}


def places(to: Path, *paths: Path, **more: Any) -> targets.Targets:
    args = {"paths": [str(path) for path in paths], "to": str(to), "make_folder": False, "keep_both": False, **more}
    return targets.Targets(args, context())


@pytest.fixture
def box(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "to").mkdir()
    return tmp_path


def test_into_a_folder_or_to_a_new_name(box: Path) -> None:
    found = places(box / "to", box / "a.txt", box / "a.txt")
    assert found.sources == [str(box / "a.txt")]
    assert not found.missing
    assert found.free(str(box / "a.txt"), **ITSELF) == str(box / "to" / "a.txt")
    assert places(box / "new", box / "a.txt").free(str(box / "a.txt"), **ITSELF) == str(box / "new")


def test_a_missing_folder_is_made_only_when_asked_for(box: Path) -> None:
    found = places(box / "new", box / "a.txt", make_folder=True)
    assert found.missing
    assert not (box / "new").exists(), "nothing is made here"
    assert found.free(str(box / "a.txt"), **ITSELF) == str(box / "new" / "a.txt")
    with pytest.raises(Failure, match="`make_folder`"):
        places(box / "new", box / "a.txt", box / "b.txt")
    with pytest.raises(Failure, match="would be in is missing"):
        places(box / "no" / "new", box / "a.txt")
    with pytest.raises(Failure, match="`to` is a file"):
        places(box / "b.txt", box / "a.txt")


def test_nothing_goes_onto_or_into_itself(box: Path) -> None:
    with pytest.raises(Failure, match="onto"):
        places(box, box / "a.txt").free(str(box / "a.txt"), **ITSELF)
    with pytest.raises(Failure, match="into"):
        places(box / "to", box / "to").free(str(box / "to"), **ITSELF)
    with pytest.raises(Failure, match="not there"):
        places(box / "to", box / "gone").free(str(box / "gone"), **ITSELF)


def test_a_taken_name_is_refused_or_numbered(box: Path) -> None:
    (box / "to" / "a.txt").write_text("old")
    with pytest.raises(Failure, match="`keep_both`"):
        places(box / "to", box / "a.txt").free(str(box / "a.txt"), **ITSELF)
    found = places(box / "to", box / "a.txt", keep_both=True)
    assert found.free(str(box / "a.txt"), **ITSELF) == str(box / "to" / "a (2).txt")
    found.taken.add(str(box / "to" / "a (2).txt"))
    assert found.free(str(box / "a.txt"), **ITSELF) == str(box / "to" / "a (3).txt")


def test_numbers_end_somewhere(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "MOST_NUMBERS", 3)
    for name in ("a.txt", "a (2).txt"):
        (box / "to" / name).write_text("old")
    with pytest.raises(Failure, match="too many"):
        places(box / "to", box / "a.txt", keep_both=True).free(str(box / "a.txt"), **ITSELF)


def test_out_of_reach_is_not_there(tmp_path: Path) -> None:
    assert targets.is_folder(tmp_path)
    assert not targets.is_folder(tmp_path / ("x" * 300))
