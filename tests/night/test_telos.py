"""The owner's ends are read as they were written, and nothing in the file stops anybody."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.records import Level
from metnos.law import founding
from metnos.night import telos
from metnos.night.telos import End


def test_the_file_that_a_workspace_starts_with_has_ends() -> None:
    shipped = Path(founding.__file__).parent / "templates" / "TELOS.md"
    found = telos.read(shipped)
    assert [end.weight for end in found.ends] == [1.0, 0.7]
    assert found.notes == ()
    assert all("Italian" not in end.text for end in found.ends), "what stands in a comment is not there"
    assert telos.check(shipped).level is Level.GREEN


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("- 0.7 Save me time", End(0.7, "Save me time")),
        ("* 1 Tidy", End(1.0, "Tidy")),
        ("  + 0,5 Imparare  l'italiano", End(0.5, "Imparare l'italiano")),
        ("- 0 Nothing of this", End(0.0, "Nothing of this")),
    ],
)
def test_an_end_is_a_weight_and_words(line: str, end: End) -> None:
    assert telos.parse(line) == telos.Telos((end,))


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("- Save me time", "begins with its weight"),
        ("- 1.2 Save me time", "between 0 and 1"),
        ("- -0.5 Save me time", "between 0 and 1"),
        ("- nan Save me time", "between 0 and 1"),
        ("- 0.5", "has words"),
        ("- 0.5 ...", "has words"),
        ("<!-- open\n- 1.0 Save me time", "never closed"),
    ],
)
def test_a_line_that_is_no_end_is_named_and_the_others_count(line: str, note: str) -> None:
    found = telos.parse(f"# Telos\n\n- 0.4 Learn Italian\n{line}\n")
    assert found.ends == (End(0.4, "Learn Italian"),)
    (said,) = found.notes
    assert said.startswith("TELOS.md, line 4: ")
    assert note in said


def test_comments_do_not_shift_the_lines() -> None:
    assert telos.parse("<!--\n- 1 a\n-->\n- x b\n").notes[0].startswith("TELOS.md, line 4: ")


def test_no_file_no_end_and_no_weight_are_said_by_the_doctor(tmp_path: Path) -> None:
    path = tmp_path / "TELOS.md"
    assert "there is no TELOS.md" in telos.check(path).found
    for text in ("", "# Telos\n\nprose only\n", "- 0 Save me time\n"):
        path.write_text(text)
        check = telos.check(path)
        assert telos.read(path).is_empty
        assert (check.level, "nothing is proposed" in check.found) == (Level.YELLOW, True)
    path.write_text("- 1 Save me time\n- x\n")
    assert (telos.check(path).level, telos.read(path).is_empty) == (Level.YELLOW, False)
    path.unlink()
    path.mkdir()
    assert "cannot be read" in telos.check(path).found


def test_a_file_without_end_is_read_only_as_far_as_anybody_would(tmp_path: Path) -> None:
    path = tmp_path / "TELOS.md"
    path.write_bytes(b"- 0.5 Save me time\n" * 20_000 + b"\xff\xfe")
    found = telos.read(path)
    assert len(found.ends) == 50
    assert any("too long" in note for note in found.notes)


@given(st.text())
def test_whatever_is_in_it_weights_lie_between_nought_and_one(text: str) -> None:
    found = telos.parse(text)
    assert all(0 <= end.weight <= 1 and end.text for end in found.ends)
    assert telos.parse(f"{text}") == found
