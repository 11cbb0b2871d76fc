"""What a model sees, made in a turn: who says what is telling, and what is kept of it."""

from collections.abc import Sequence

import pytest

from metnos.context.assemble import Record
from metnos.context.blocks import Kind, outside, own
from metnos.context.budgets import Task
from metnos.context.surprisal_model import Scorer
from metnos.context.tokens import estimate
from metnos.core.errors import ModelError
from metnos.grimoire.trace import Context
from metnos.models.scoring import Token
from metnos.turn.seeing import Seeing, Sight

LONG = " ".join(f"On day {n} a visitor brought lamps to the house." for n in range(1, 120))
SHORT = own(Kind.REQUEST, "what did the visitor bring?")


class Model:
    """Finds everything equally likely; remembers what it was given."""

    def __init__(self, fails: bool = False) -> None:
        self.asked: list[str] = []
        self.fails = fails

    def __call__(self, text: str, _most: int, _seconds: float) -> Sequence[Token]:
        self.asked.append(text)
        if self.fails:
            raise ModelError("it cannot", kind="broken")
        return [Token(text.encode(), 1.0)]


def sight(model: Model) -> Sight:
    return Sight(1500, scorer=lambda: Scorer("small (local)", model, estimate, 10_000))


def seen(model: Model, *, stable: bool = False) -> Record:
    contexts: list[Context] = []
    block = outside(Kind.EPISODES, LONG, "memory", stable=stable)
    made = Seeing(sight(model), "talk", contexts)(Task.ANSWER, [block, SHORT], "the visitor", 300)
    assert made.record.entries[0].state == "shortened"
    assert Record.from_dict(contexts[0].record) == made.record
    return made.record


def test_a_model_that_is_asked_scores_what_is_too_long_and_the_record_says_so() -> None:
    model = Model()
    assert seen(model).scored == "1 tokens scored by small (local)"
    assert model.asked == [LONG]


@pytest.mark.slow
def test_a_model_that_cannot_costs_nothing_but_a_note() -> None:
    record = seen(Model(fails=True))
    assert record.scored == "scored without it: it cannot"
    assert str(record).endswith("; scored without it: it cannot")
    plain = Sight(1500).see("talk", Task.ANSWER, [outside(Kind.EPISODES, LONG, "memory"), SHORT], "the visitor", 300)
    assert plain.record.entries == record.entries
    assert plain.record.scored == ""


def test_what_is_stable_is_scored_without_it_because_it_must_not_change() -> None:
    model = Model()
    assert seen(model, stable=True).scored == ""
    assert model.asked == []


def test_what_fits_asks_nobody() -> None:
    model = Model()
    made = sight(model).see("talk", Task.ANSWER, [outside(Kind.EPISODES, "short", "memory"), SHORT], "x", 300)
    assert (made.record.scored, model.asked) == ("", [])


@pytest.mark.slow
def test_a_context_of_an_older_version_can_still_be_read() -> None:
    data = seen(Model()).as_dict()
    del data["scored"]
    assert Record.from_dict(data).scored == ""
