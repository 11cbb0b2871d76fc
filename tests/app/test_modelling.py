"""Language models for whoever shows and tries them."""

import pytest

from metnos.app.modelling import QUESTIONS, measured, tier_row
from metnos.core.sections_models import ModelSettings
from metnos.models.chat import OnText, Prompt, Reply, Usage


class Speaker:
    name, outside = "speaker", False

    def __init__(self) -> None:
        self.asked: list[Prompt] = []

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.asked.append(prompt)
        for word in ("Ro", "me.\n") if on_text and prompt.schema is None else ():
            on_text(word)
        return Reply("Ro  me.\n", usage=Usage(1, 20, 3))


def test_a_question_is_measured() -> None:
    chat = Speaker()
    for schema in QUESTIONS.values():
        found = measured(chat, schema)
        assert (found.said, found.tokens_in, found.tokens_out) == ("Ro me.", 20, 3)
        assert found.speaking_s > 0
    assert [each.schema is None for each in chat.asked] == [True, False]
    assert all(each.max_tokens <= 100 for each in chat.asked)


@pytest.mark.parametrize(
    ("own", "model", "where", "outside"),
    [
        (ModelSettings(), "big", "as main", False),
        (ModelSettings(provider="local", name="small"), "small", "in Metnos itself", False),
        (ModelSettings(url="http://127.0.0.1:1/v1?key=x", name="m"), "m", "http://127.0.0.1:1/v1", False),
        (ModelSettings(url="https://a.example/v1"), "the first that is listed", None, True),
        (ModelSettings(provider="anthropic", name="c"), "c", None, True),
    ],
)
def test_a_tier_says_what_serves_it_and_where(own: ModelSettings, model: str, where: str | None, outside: bool) -> None:
    main = ModelSettings(url="http://127.0.0.1:9/v1", name="big")
    row = tier_row("wise", own if own.configured else main, own)
    assert (row["model"], row["outside"]) == (model, outside)
    assert row["where"] == where if where else row["where"].endswith(" (outside the home)")


def test_no_model_is_fine() -> None:
    assert tier_row("main", None, ModelSettings())["model"] == "none"
