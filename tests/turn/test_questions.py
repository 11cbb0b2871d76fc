"""Whether somebody wants to know something, or wants something done."""

import pytest

from metnos.turn.questions import asks, is_statement, wants_to_know
from tables import try_each

KNOW = [
    "where is the spare key?",
    "Where's the spare key",
    "who painted the ceiling?",
    "when did I service the boiler?",
    "do I have a spare key?",
    "Do you remember where the spare key is?",
    "can you tell me where the spare key is?",
    "please tell me where the spare key is",
    "how do I reset the boiler?",
    "is the spare key under the mat?",
    "where are the key and the lamp?",
    "what did I say about the boiler and the cellar?",
    "dove è la chiave di riserva?",
    "dov'è la chiave di riserva?",
    "Dov\N{RIGHT SINGLE QUOTATION MARK}è la chiave?",
    "dimmi dove è la chiave di riserva",
    "mi ricordi dov'è la chiave?",
    "chi ha dipinto il soffitto?",
    "c'è una chiave di riserva?",
]
DO = [
    "order a spare key",
    "Can you order a spare key?",
    "Could you hide the spare key somewhere else?",
    "Delete the spare key?",
    "how about ordering a spare key?",
    "why don't you order a spare key?",
    "what if you moved the spare key?",
    "is it possible to delete the spare key?",
    "is there a way to order a spare key?",
    "will you water the plants?",
    "have the lamp in the kitchen switched off",
    "can you remind me to call the plumber?",
    "remind me to call the plumber tomorrow",
    "when the shop closes, remind me to call",
    "Where is the spare key, and can you order another one?",
    "where is the spare key and delete it",
    "who is the plumber; call him",
    "puoi ordinare una chiave di riserva?",
    "mi ordini una chiave di riserva?",
    "perché non ordini una chiave di riserva?",
    "è possibile ordinare una chiave?",
    "che ne dici di ordinare una chiave?",
    "ricordami di chiamare l'idraulico",
    "what can you do?",
    "",
    "?",
]


@try_each("text", KNOW)
def test_who_wants_to_know_something_asks(text: str) -> None:
    assert wants_to_know(text)
    assert asks(text)
    assert not is_statement(text)


@try_each("text", DO)
def test_who_wants_something_done_wants_to_know_nothing(text: str) -> None:
    assert not wants_to_know(text)
    assert not is_statement(text)


@pytest.mark.parametrize("text", ["The spare key is in the barn.", "we have two lamps", "la chiave è in cantina"])
def test_a_statement_is_neither(text: str) -> None:
    assert is_statement(text)
    assert not asks(text)
    assert not wants_to_know(text)
