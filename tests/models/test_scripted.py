import pytest

from metnos.core.errors import ModelError
from metnos.models import scripted
from metnos.models.chat import Chat, Message, Prompt
from metnos.models.scripted import Scripted

QUESTION = Prompt("s", (Message("user", "hello"),))
DATA = Prompt("s", (Message("user", "hello"),), {"type": "object", "required": ["a"]})


def test_it_plays_its_script_and_remembers_what_it_was_asked() -> None:
    chat: Chat = Scripted(["Hello there", {"a": 1}, lambda prompt: prompt.messages[0].text.upper()])
    heard: list[str] = []
    assert chat.ask(QUESTION, heard.append).text == "".join(heard) == "Hello there"
    assert len(heard) == 2
    assert chat.ask(DATA, heard.append).data == {"a": 1}
    assert len(heard) == 2
    assert chat.ask(QUESTION).text == "HELLO"
    assert isinstance(chat, Scripted)
    assert chat.asked == [QUESTION, DATA, QUESTION]
    with pytest.raises(ModelError, match="script has ended"):
        chat.ask(QUESTION)


@pytest.mark.parametrize(
    ("failure", "kind", "words"),
    [
        (scripted.DIES, "broken", True),
        (scripted.HANGS, "timeout", False),
        (scripted.RAMBLES, "rambling", True),
        (scripted.BROKEN, "broken", False),
        (scripted.EMPTY, "empty", False),
        (scripted.GONE, "unreachable", False),
    ],
)
def test_it_fails_as_real_ones_do(failure: ModelError, kind: str, words: bool) -> None:
    heard: list[str] = []
    with pytest.raises(ModelError) as caught:
        Scripted([failure]).ask(QUESTION, heard.append)
    assert caught.value.kind == kind
    assert bool(heard) == words
    assert caught.value is not failure  # each raising is an error of its own


def test_what_does_not_fit_the_schema_is_broken() -> None:
    with pytest.raises(ModelError) as caught:
        Scripted(['{"b": 1}']).ask(DATA)
    assert caught.value.kind == "broken"
