from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.kit import texts
from sandbox.kit.kit_context import Failure, context


@given(st.binary(), st.booleans())
def test_decoding_never_fails(data: bytes, cut: bool) -> None:
    text, encoding = texts.decoded(data, cut)
    assert isinstance(text, str)
    assert encoding in {"utf-8", "latin-1", "utf-8-sig", "utf-16", "utf-32"}


@given(st.sampled_from([mark for mark, _ in texts.MARKS]), st.binary())
def test_a_mark_with_anything_after_it_is_decoded(mark: bytes, data: bytes) -> None:
    assert texts.decoded(mark + data)[1] == texts.marked(mark + data) != ""


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\ufeff\0")))
def test_text_comes_back_whatever_its_encoding(text: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        assert texts.decoded(text.encode(encoding))[0] == text


@given(st.text("aé€😀", min_size=1), st.integers(1, 3))
def test_a_cut_within_a_character_loses_only_that(text: str, off: int) -> None:
    data = text.encode()[:-off]
    found, encoding = texts.decoded(data, cut=True)
    assert encoding == "utf-8"
    assert text.startswith(found)


def test_without_a_cut_an_unfinished_character_is_an_old_encoding() -> None:
    assert texts.decoded("perché".encode("latin-1")) == ("perché", "latin-1")


def test_a_zero_byte_is_no_text_unless_a_mark_explains_it() -> None:
    assert not texts.is_text(b"a\0")
    assert texts.is_text("a".encode("utf-16"))
    assert texts.is_text(b"")


def kind_of_failure(path: Path, most: int = 10) -> str:
    with pytest.raises(Failure) as caught:
        texts.read_text(str(path), most, context(), "; too bad")
    return caught.value.kind


def test_reading_fails_with_the_right_class(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("x" * 11)
    (tmp_path / "full").write_text("x" * 10)
    (tmp_path / "binary").write_bytes(b"\0")
    assert texts.read_text(str(tmp_path / "full"), 10, context()) == "x" * 10
    assert kind_of_failure(tmp_path) == "invalid"
    assert kind_of_failure(tmp_path / "gone") == "not_found"
    assert kind_of_failure(tmp_path / "large") == "too_large"
    assert kind_of_failure(tmp_path / "binary") == "unreadable"
