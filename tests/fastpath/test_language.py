from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.language import language
from tables import try_each

ENGLISH = [
    "find the PDFs in my downloads",
    "what is 15% of 80?",
    "zip my thesis",
    "remind me tomorrow",
    "which programs use the most memory?",
    "list reminders",
    "",
    "42",
    "read file.txt",
    "print ~/docs/c.txt",
    "open e.pdf",
    "d.csv",
]
ITALIAN = [
    "trova i pdf nei miei download",
    "quanto fa il 15% di 80?",
    "età media per città",
    "ricordami domani",
    "firefox è in esecuzione?",
    "comprimi la tesi",
    "elenca promemoria",
    "converti clienti.csv in un foglio",
    "perché?",
    "c'è spazio",
    "foto e video",
]


@try_each("text", ENGLISH)
def test_english(text: str) -> None:
    assert language(text) == "en"


@try_each("text", ITALIAN)
def test_italian(text: str) -> None:
    assert language(text) == "it"


@given(st.text(st.characters(), max_size=300))
def test_any_text_has_a_language(text: str) -> None:
    assert language(text) in {"en", "it"}
    assert language(text) == language(text.upper().lower()) or not text.isascii()
