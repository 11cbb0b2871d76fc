"""A language model's words never say that something was done that was not."""

import pytest

from metnos.turn.claims import without_false_claims
from tables import try_each


@try_each(
    "text",
    [
        "I have deleted the three files.",
        "I've moved everything to the archive.",
        "Ho cancellato i file.",
        "I file sono stati spostati in Documenti.",
        "The report was been sent. The mail has been sent to the boss.",
        "Done: I successfully renamed it.",
        "Abbiamo inviato la mail.",
        "È stato creato un promemoria.",
    ],
)
def test_a_claim_without_its_act_is_left_out(text: str) -> None:
    kept, dropped = without_false_claims(f"The total is 42. {text}", done=())
    assert dropped
    assert "The total is 42." in kept


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("I have deleted the three files.", {"delete"}),
        ("Ho spostato i file.", {"move"}),
        ("I created the archive.", {"archive"}),
        ("The contract says that the deposit was paid.", ()),
        ("The file was last changed in May.", ()),
        ("Il contratto dice che l'affitto aumenta.", ()),
        ("You could delete the copies.", ()),
    ],
)
def test_what_is_true_or_no_claim_stays(text: str, done: set[str]) -> None:
    assert without_false_claims(text, done) == (text, 0)
