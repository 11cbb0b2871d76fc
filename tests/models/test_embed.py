"""What every embedder shares: spaces, the preparation of texts, rows of length one, and which one the settings name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ModelError
from metnos.core.sections_models import EmbedSettings
from metnos.models.embed import Embedder, Preparation, Space, make, require_same, unit_rows
from metnos.models.embed_builtin import Builtin
from metnos.models.embed_cache import Cached
from metnos.models.embed_fastembed import FastEmbed
from metnos.models.embed_onnx import Folder
from metnos.models.embed_openai import Server
from tables import try_each

ANY_TEXT = st.text(alphabet=st.characters(), max_size=300)  # lone surrogates and control characters too


def no_key(name: str) -> str:
    raise AssertionError(f"nobody needs the key {name}")


# -- spaces


def test_only_the_same_space_may_be_compared() -> None:
    space = Space("m", "1", "p", 3)
    require_same(space, Space("m", "1", "p", 3))
    for other in (Space("n", "1", "p", 3), Space("m", "2", "p", 3), Space("m", "1", "q", 3), Space("m", "1", "p", 4)):
        with pytest.raises(ModelError, match="cannot be compared") as caught:
            require_same(space, other)
        assert caught.value.kind == "broken"


# -- the preparation


@given(ANY_TEXT, st.integers(min_value=1, max_value=50))
def test_whatever_the_text_a_model_gets_a_short_line_of_valid_characters(text: str, most: int) -> None:
    prepared = Preparation(characters=most).apply(text)
    assert 1 <= len(prepared) <= most
    assert prepared.encode("utf-8").decode("utf-8") == prepared
    assert prepared.isprintable()
    assert prepared == prepared.strip()
    assert Preparation(characters=most).apply(prepared) == prepared


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x01"])
def test_a_text_of_nothing_is_still_a_text(text: str) -> None:
    assert Preparation(characters=10).apply(text) == "."


def test_forms_of_one_letter_are_the_same() -> None:
    assert Preparation(characters=10).apply("perche\u0301") == Preparation(characters=10).apply("perch\u00e9")


def test_another_preparation_is_another_hash() -> None:
    hashes = {
        Preparation(8).hash,
        Preparation(9).hash,
        Preparation(8, tokens=1).hash,
        Preparation(8, pooling="mean").hash,
    }
    assert len(hashes) == 4
    assert Preparation(8).hash == Preparation(8).hash


# -- rows


def test_rows_get_length_one_in_float32() -> None:
    made = unit_rows([[3.0, 4.0], [1e-30, 0.0], [1e30, 1e30]], 3)
    assert made.dtype == np.float32
    assert np.linalg.norm(made, axis=1) == pytest.approx([1.0, 1.0, 1.0])
    assert made[0] == pytest.approx([0.6, 0.8])


def test_a_row_of_zeros_points_nowhere_in_particular() -> None:
    assert unit_rows([[0.0, 0.0, 0.0, 0.0]], 1)[0] == pytest.approx([0.5] * 4)


@try_each(
    ("rows", "count", "dim"),
    [
        ([[1.0, 2.0]], 2, None),
        ([[1.0, 2.0]], 1, 3),
        ([[1.0], [1.0, 2.0]], 2, None),
        ([1.0, 2.0], 2, None),
        ([[]], 1, None),
        ([["a"]], 1, None),
        (None, 1, None),
        ([[float("nan"), 1.0]], 1, None),
        ([[float("inf"), 1.0]], 1, None),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(rows: object, count: int, dim: int | None) -> None:
    with pytest.raises(ModelError) as caught:
        unit_rows(rows, count, dim)
    assert caught.value.kind == "broken"
    assert caught.value.fix


# -- the settings


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        (EmbedSettings(), Builtin),
        (EmbedSettings(kind="openai", url="http://127.0.0.1:1/v1", name="m", key="env:SECRET"), Server),
        (EmbedSettings(kind="fastembed"), FastEmbed),
        (EmbedSettings(kind="onnx", folder="/nowhere"), Folder),
    ],
)
def test_the_settings_name_the_embedder_and_nothing_is_loaded_yet(
    settings: EmbedSettings, made: type[Embedder]
) -> None:
    assert isinstance(make(settings.model_copy(update={"cache": 0}), no_key), made)
    assert isinstance(make(settings, no_key), Cached)


def test_there_need_not_be_one() -> None:
    assert make(EmbedSettings(kind="none"), no_key) is None
