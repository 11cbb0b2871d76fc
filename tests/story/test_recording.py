"""The recorded model of the story: it knows what it was asked before, wherever that is, and nothing else."""

from pathlib import Path

import pytest

from metnos.core.errors import ModelError
from metnos.models.chat import Message, Prompt, Reply, Usage
from metnos.models.recorded import Recorder
from metnos.models.scripted import Scripted
from story.recording import AGAIN, HOME, SHA256, Model, recording, replaying

SCHEMA = {"type": "object"}


def prompt(text: str, schema: dict[str, str] | None = None) -> Prompt:
    return Prompt("You help.", (Message("user", text),), schema)


def test_a_prompt_that_was_not_recorded_fails_and_says_what_to_do(tmp_path: Path) -> None:
    model = replaying(tmp_path)
    with pytest.raises(ModelError) as caught:
        model.ask(prompt("something new"))
    assert caught.value.fix == AGAIN
    assert "something new" in model.missing, "a night that goes on without a model must not hide it"


def test_the_home_has_the_same_name_wherever_it_is(tmp_path: Path) -> None:
    told: list[Prompt] = []

    def source(asked: Prompt) -> Reply:
        told.append(asked)
        return Reply(f"{HOME}/a", {"path": [f"{HOME}/b"]}, Usage(wall_ms=2000.0))

    model = Model(tmp_path, source)
    before = model.perf_counter()
    reply = model.ask(prompt(f"look into {tmp_path}/notes", SCHEMA))
    assert told == [prompt(f"look into {HOME}/notes", SCHEMA)]
    assert (reply.text, reply.data) == (f"{tmp_path}/a", {"path": [f"{tmp_path}/b"]})
    assert model.perf_counter() - before >= 2.0, "it takes as long as it did"


def test_what_is_known_is_not_asked_again_and_what_nobody_asks_is_left_out(tmp_path: Path) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    known = Recorder(Scripted(["one", "two"]), old, SHA256)
    for text in ("first", "second"):
        known.ask(prompt(text))
    heard: list[str] = []
    with recording(tmp_path, tmp_path / "no model.gguf", (old, tmp_path / "nothing"), new) as model:
        for _ in range(2):
            assert model.ask(prompt("second"), heard.append).text == "two"
        with pytest.raises(ModelError):
            model.ask(prompt("third"))
    assert heard == ["two", "two"]
    assert new.read_text().splitlines() == old.read_text().splitlines()[1:]
