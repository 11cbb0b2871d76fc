"""What tools answer, bounded."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.core.canon import canonical_json
from metnos.executors.mcp.answer import read


def test_pictures_and_files_are_named_and_not_handed_on() -> None:
    blocks = [
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}},
    ]
    image, text = read({"content": blocks})["entries"]
    assert image == {"kind": "image", "text": "image/png, 4 characters, not handed on"}
    assert text == {"kind": "text", "text": "inside"}


def test_structured_answers_are_whole_or_not_there() -> None:
    assert read({"structuredContent": {"a": [1]}})["entries"] == [{"kind": "data", "text": "", "data": {"a": [1]}}]
    large = read({"structuredContent": {"a": "x" * 300_000}})["entries"][0]
    assert "data" not in large
    assert "too much" in large["text"]


def test_a_failure_without_words_says_so() -> None:
    assert read({"isError": True, "content": []})["message"] == "the tool failed and did not say why"


blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "resource", "other"])},
    optional={"text": st.text(max_size=50), "data": st.text(max_size=50), "resource": st.just({"blob": "AA"})},
)


@given(st.lists(blocks, max_size=20), st.booleans(), st.integers(1, 40))
def test_an_answer_is_bounded_whatever_comes(content: list[dict[str, Any]], failed: bool, times: int) -> None:
    long = [{**each, "text": str(each.get("text", "")) * times * 1000} for each in content]
    answer = read({"content": long, "isError": failed})
    assert answer["failed"] is failed
    assert len(canonical_json(answer["entries"])) < 1_500_000
    assert len(answer["entries"]) == len(content)
