"""Vectors kept in a file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from metnos.models.embed import Space
from metnos.models.embed_kept import Kept


class Counting:
    """An embedder that counts what it is asked for."""

    def __init__(self, version: str = "1") -> None:
        self.space = Space("counting", version, "-", 3)
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> "np.typing.NDArray[np.float32]":
        self.seen += texts
        return np.array([[len(text), 1, 0] for text in texts], dtype=np.float32).reshape(-1, 3)


def test_what_was_kept_is_not_embedded_again(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    first = Kept(Counting(), path)
    before = first.embed(["a", "bb", "a"])
    first.finish()
    inner = Counting()
    second = Kept(inner, path)
    assert (second.embed(["a", "bb", "a"]) == before).all()
    assert inner.seen == []
    assert path.stat().st_mode & 0o077 == 0


def test_nothing_said_afterwards_gets_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    kept = Kept(Counting(), path)
    kept.embed(["tool"])
    kept.finish()
    written = path.read_bytes()
    kept.embed(["my secret wish"])
    kept.finish()
    assert path.read_bytes() == written


def test_what_is_no_longer_used_leaves(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    for texts in (["old", "same"], ["same", "new"]):
        kept = Kept(Counting(), path)
        kept.embed(texts)
        kept.finish()
    inner = Counting()
    Kept(inner, path).embed(["old", "same", "new"])
    assert inner.seen == ["old"]


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04 broken"])
def test_a_broken_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vectors.npz"
    path.write_bytes(content)
    kept = Kept(Counting(), path)
    assert kept.embed(["a"]).shape == (1, 3)
    kept.finish()
    assert Kept(Counting(), path).embed([]).shape == (0, 3)


def test_another_space_is_never_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    kept = Kept(Counting("1"), path)
    kept.embed(["a"])
    kept.finish()
    inner = Counting("2")
    Kept(inner, path).embed(["a"])
    assert inner.seen == ["a"]
