"""An embedder from a folder: a real model of a few bytes, run by the real onnxruntime."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from metnos.core.errors import ModelError
from metnos.models.embed_onnx import Folder

pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")

FLOAT, INT64 = 1, 7
WORDS = {"[PAD]": 0, "[UNK]": 1, "cat": 2, "dog": 3, "sun": 4}
TABLE = [[9.0, 9.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]  # padding would spoil every mean


# -- a model file, field by field, as the format's protocol buffers want it


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def piece(field: int, content: bytes | str) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def node(kind: str, inputs: list[str], output: str, attributes: bytes = b"") -> bytes:
    return piece(1, b"".join(piece(1, each) for each in inputs) + piece(2, output) + piece(4, kind) + attributes)


def value(field: int, name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    sizes = b"".join(piece(1, number(1, each) if isinstance(each, int) else piece(2, each)) for each in shape)
    return piece(field, piece(1, name) + piece(2, piece(1, number(1, kind) + piece(2, sizes))))


def tensor(name: str, rows: list[list[float]]) -> bytes:
    raw = b"".join(struct.pack("<f", each) for row in rows for each in row)
    return piece(5, number(1, len(rows)) + number(1, len(rows[0])) + number(2, FLOAT) + piece(8, name) + piece(9, raw))


def model(*, output: str = "last_hidden_state", inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> bytes:
    """Looks each token up in a table; `sentence_embedding` is the mean over them, padding included."""
    pooled = output == "sentence_embedding"
    graph = node("Gather", ["table", "input_ids"], "looked_up")
    graph += node("ReduceMean", ["looked_up"], output, axes()) if pooled else node("Identity", ["looked_up"], output)
    graph += piece(2, "tiny") + tensor("table", TABLE)
    graph += b"".join(value(11, name, INT64, ("batch", "length")) for name in inputs)
    graph += value(12, output, FLOAT, ("batch", 2) if pooled else ("batch", "length", 2))
    return number(1, 8) + piece(8, piece(1, "") + number(2, 13)) + piece(7, graph)


def axes() -> bytes:
    """Over the second dimension, which goes away."""
    along = piece(1, "axes") + number(8, 1) + number(20, 7)
    gone = piece(1, "keepdims") + number(3, 0) + number(20, 2)
    return piece(5, along) + piece(5, gone)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny-model"
    made.mkdir()
    (made / "model.onnx").write_bytes(model())
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(made / "tokenizer.json"))
    return made


# -- what it gives


def test_the_mean_is_taken_over_the_tokens_and_not_over_the_padding(folder: Path) -> None:
    rows = Folder(str(folder)).embed(["cat dog", "cat", "cat cat cat dog sun"])
    half = 2**-0.5
    assert rows[0] == pytest.approx([half, half])
    assert rows[1] == pytest.approx([1.0, 0.0])
    assert rows[2] == pytest.approx(np.array([2.0, 1.0]) / 5**0.5)
    assert rows.dtype == np.float32


def test_many_texts_come_in_their_order(folder: Path) -> None:
    texts = ["cat", "dog", "sun"] * 40
    rows = Folder(str(folder)).embed(texts)
    assert rows.tolist() == [[1, 0], [0, 1], [-1, 0]] * 40


def test_no_text_breaks_it(folder: Path) -> None:
    rows = Folder(str(folder)).embed(["", "\x00", "\ud800", "cat " * 50_000, "nobody knows these"])
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5))
    assert rows[3] == pytest.approx([1.0, 0.0])


def test_a_vector_for_each_text_is_taken_at_its_word(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(model(output="sentence_embedding"))
    embedder = Folder(str(folder))
    assert embedder.embed(["cat dog"])[0] == pytest.approx([2**-0.5, 2**-0.5])
    assert embedder.embed(["cat cat cat", "dog"])[1] == pytest.approx(np.array([18.0, 19.0]) / (18**2 + 19**2) ** 0.5)


def test_the_space_names_the_folder_and_the_content_of_the_model(folder: Path) -> None:
    one = Folder(str(folder)).space
    assert (one.model, one.dim) == ("tiny-model", 2)
    assert one == Folder(str(folder)).space
    (folder / "model.onnx").write_bytes(model(inputs=("input_ids",)))
    assert Folder(str(folder)).space.version != one.version


def test_the_tokenizers_own_length_is_kept_to(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 8}))
    one = Folder(str(folder))
    assert one.embed(["cat " * 8 + "dog " * 8])[0] == pytest.approx([1.0, 0.0])
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 10**30}))
    two = Folder(str(folder))
    assert two.embed(["cat " * 8 + "dog " * 8])[0] == pytest.approx([2**-0.5, 2**-0.5])
    assert one.space.preprocess_hash != two.space.preprocess_hash


def test_no_texts_no_rows(folder: Path) -> None:
    assert Folder(str(folder)).embed([]).shape == (0, 2)


# -- what goes wrong


def test_an_empty_folder_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\.onnx and tokenizer\.json") as caught:
        Folder(str(tmp_path)).embed(["x"])
    assert caught.value.kind == "missing"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"not a model", b"{}"])
def test_broken_files_are_a_clear_error(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        Folder(str(folder)).embed(["x"])
    assert caught.value.kind == "broken"


def test_a_model_that_wants_something_else_is_refused(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(model(inputs=("input_ids", "pixels")))
    with pytest.raises(ModelError, match="something else than tokens"):
        Folder(str(folder)).embed(["x"])
