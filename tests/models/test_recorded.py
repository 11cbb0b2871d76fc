from dataclasses import replace
from pathlib import Path

import pytest

from metnos.core.errors import ModelError
from metnos.models.chat import Message, Prompt
from metnos.models.recorded import Recorded, Recorder
from metnos.models.scripted import GONE, Scripted

SHA = "ab" * 32
QUESTION = Prompt("s", (Message("user", "hello"),))
DATA = Prompt("s", (Message("user", "hello"),), {"type": "object"})


def record(path: Path) -> None:
    recorder = Recorder(Scripted(["Hi", {"a": [1]}, GONE], name="tiny"), path, SHA)
    assert (recorder.name, recorder.outside) == ("tiny", False)
    recorder.ask(QUESTION)
    recorder.ask(DATA)
    with pytest.raises(ModelError):
        recorder.ask(QUESTION)  # a failure is not recorded


def test_what_was_recorded_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "tour.jsonl"
    record(path)
    chat = Recorded(path, SHA)
    assert (chat.name, chat.outside) == ("tour (recorded)", False)
    heard: list[str] = []
    for _ in range(2):
        assert chat.ask(QUESTION, heard.append) == replace(Scripted(["Hi"], name="tiny").ask(QUESTION))
    assert chat.ask(DATA, heard.append).data == {"a": [1]}
    assert heard == ["Hi", "Hi"]
    assert str(tmp_path) not in path.read_text()


@pytest.mark.parametrize(
    "changed",
    [
        replace(QUESTION, system="t"),
        replace(QUESTION, messages=(Message("user", "hello!"),)),
        replace(QUESTION, messages=(Message("assistant", "hello"),)),
        replace(QUESTION, max_tokens=3),
        replace(QUESTION, temperature=0.1),
        replace(DATA, schema={"type": "array"}),
    ],
)
def test_a_changed_prompt_fails_until_it_is_recorded_again(tmp_path: Path, changed: Prompt) -> None:
    path = tmp_path / "tour.jsonl"
    record(path)
    with pytest.raises(ModelError) as caught:
        Recorded(path).ask(changed)
    assert caught.value.kind == "missing"
    assert caught.value.fix.startswith("Record again: make bench NAME=llm")
    with pytest.raises(ModelError) as caught:
        Recorded(path, again="Play it again.").ask(changed)
    assert caught.value.fix == "Play it again."
    Recorder(Scripted([{"a": "new"}]), path, SHA).ask(replace(changed, schema=None))
    assert Recorded(path).ask(replace(changed, schema=None)).text == '{"a": "new"}'


def test_another_model_than_expected_fails(tmp_path: Path) -> None:
    path = tmp_path / "tour.jsonl"
    record(path)
    with pytest.raises(ModelError, match="another model"):
        Recorded(path, "cd" * 32).ask(QUESTION)


@pytest.mark.parametrize("content", ["not json\n", "[1]\n", "{}\n", '"x"\n'])
def test_what_is_no_recording_is_said(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tour.jsonl"
    path.write_text(content)
    with pytest.raises(ModelError, match="is no recording"):
        Recorded(path)
    with pytest.raises(ModelError, match="is no recording"):
        Recorded(tmp_path / "none.jsonl")
