"""The embedder that comes with Metnos: two languages, one space, and no text that breaks it."""

import threading

import numpy as np
import pytest

from metnos.models.embed_builtin import Builtin

ODD = ["", " ", "\x00", "\ud800", "🎉", "a" * 50_000, "word " * 20_000, "\u202e\u0007x", "漢字" * 50]


@pytest.fixture(scope="module")
def builtin() -> Builtin:
    return Builtin()


def test_its_space_is_known_before_it_is_loaded() -> None:
    space = Builtin().space
    assert space.model == "use-multilingual"
    assert space.dim == 512
    assert space.version
    assert space == Builtin().space


def test_no_texts_no_rows() -> None:
    assert Builtin().embed([]).shape == (0, 512)


@pytest.mark.slow
def test_the_same_in_italian_is_nearer_than_something_else_in_english(builtin: Builtin) -> None:
    rows = builtin.embed(
        ["delete the old pictures", "cancella le foto vecchie", "what time is it in Tokyo?", "che ore sono a Tokyo?"]
    )
    alike = rows @ rows.T
    assert alike[0, 1] > 0.6 > alike[0, 2]
    assert alike[2, 3] > 0.6 > alike[1, 3]


@pytest.mark.slow
def test_no_text_breaks_it(builtin: Builtin) -> None:
    rows = builtin.embed(ODD)
    assert rows.shape == (len(ODD), 512)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(ODD)), abs=1e-5)


@pytest.mark.slow
def test_threads_get_what_one_would_get_alone(builtin: Builtin) -> None:
    texts = [f"find the file number {number}" for number in range(12)]
    alone = builtin.embed(texts)
    fresh = Builtin()  # loaded by whichever comes first
    found: dict[int, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda number=number: found.update({number: fresh.embed([texts[number]])[0]}))
        for number in range(len(texts))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.stack([found[number] for number in range(len(texts))]) == pytest.approx(alone, abs=1e-5)
