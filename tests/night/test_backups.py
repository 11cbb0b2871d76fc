from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from metnos.night.backups import name_of, prune, surplus

KEY, OTHER = "ab" * 32, "cd" * 32
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def named(days: int, key: str = KEY) -> str:
    return name_of(key, NOW + timedelta(days=days))


def test_the_oldest_go_and_those_from_the_future_go_first() -> None:
    names = [named(days) for days in (-3, 400, 0, -1, -2)]
    assert surplus(names, KEY, NOW, 5) == []
    assert surplus(names, KEY, NOW, 4) == [named(400)]
    assert surplus(names, KEY, NOW, 2) == [named(400), named(-3), named(-2)]


@given(st.lists(st.integers(-900, 900), unique=True), st.integers(1, 20))
def test_what_was_made_now_stays(days: list[int], keep: int) -> None:
    names = {named(number) for number in days} | {named(0)}
    gone = surplus(names, KEY, NOW, keep)
    assert named(0) not in gone
    assert len(names) - len(gone) == min(keep, len(names))


def test_nothing_else_is_touched(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    mine = [named(-days) for days in range(5)]
    others = [named(-9, OTHER), "metnos-20200101T000000Z.tar.gz", f"{named(-9)}.partial", f"old-{named(-9)}", "letter"]
    for name in [*mine, *others]:
        (folder / name).write_text("x")
    (folder / named(-20)).mkdir()
    (folder / named(-21)).symlink_to(folder / "letter")
    assert prune(folder, KEY, NOW, 2) == 3
    left = {path.name for path in folder.iterdir()}
    assert left == {*mine[:2], *others, named(-20), named(-21)}


def test_what_a_killed_night_left_half_made_goes_too(tmp_path: Path) -> None:
    for name in (named(0), f".{named(-1)}.abc123.partial", f".{named(-1, OTHER)}.abc123.partial", ".mine.partial"):
        (tmp_path / name).write_text("x")
    assert prune(tmp_path, KEY, NOW, 7) == 0
    left = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert left == {named(0), f".{named(-1, OTHER)}.abc123.partial", ".mine.partial"}
