"""An embedder of a library that is not part of Metnos: what is said when it is not there, or fails."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from metnos.core.errors import ModelError
from metnos.models.embed_fastembed import FastEmbed


def test_its_absence_is_said_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)  # as if it were not installed, also where it is
    embedder = FastEmbed("")
    for use in (lambda: embedder.embed(["x"]), lambda: embedder.space):
        with pytest.raises(ModelError, match="fastembed is not installed") as caught:
            use()
        assert caught.value.kind == "missing"
        assert "pip install fastembed" in caught.value.fix


class Library:
    """What the library looks like from here."""

    __version__ = "9.9"

    def __init__(self, fails: bool = False) -> None:
        self.TextEmbedding = self.made
        self.fails = fails
        self.names: list[str] = []

    def made(self, model_name: str, threads: int) -> Any:
        self.names.append(model_name)
        if self.fails:
            raise RuntimeError("no network")
        return SimpleNamespace(embed=lambda texts, batch_size: ([float(len(text)), 0.0] for text in texts))


def test_the_model_is_made_once_and_its_space_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setitem(sys.modules, "fastembed", library)
    embedder = FastEmbed("some/model")
    assert embedder.embed(["abc", ""]).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert embedder.embed([]).shape == (0, 2)
    assert (embedder.space.model, embedder.space.version, embedder.space.dim) == ("some/model", "fastembed 9.9", 2)
    assert library.names == ["some/model"]


def test_a_model_that_cannot_be_had_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", Library(fails=True))
    with pytest.raises(ModelError, match="cannot use some/model") as caught:
        FastEmbed("some/model").embed(["x"])
    assert caught.value.kind == "broken"
