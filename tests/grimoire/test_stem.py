"""Stems are those of the full text."""

import re
import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.stem import stem
from tables import try_each


def of_the_full_text(words: list[str]) -> dict[str, str]:
    """What FTS5 makes of words, each in a row of its own."""
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
        db.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", list(enumerate(words)))
        found = {words[row]: term for term, row in db.execute("SELECT term, doc FROM v")}
    db.close()
    return found


WORDS = """caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping
tanned falling hissing fizzed failing filing happy sky relational conditional rational valenci digitizer radically
differently
vilely analogously vietnamization predication operator feudalism decisiveness hopefulness callousness formality
sensitivity sensibility triplicate formative formalize electricity electrical hopeful goodness revival allowance
inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption homologous
communism activate angular effective bowdlerize probate rate cease controlling roll generalization oscillators
yesterday playing played days toys buying volunteers volunteering camped camping dancer dancing running ran classes
weekly bakery families pottery mentored mentoring studies studying cucinare cucinato ricette viaggio viaggi""".split()


@try_each("word", WORDS)
def test_a_word_has_the_stem_that_the_full_text_gives_it(word: str) -> None:
    assert stem(word) == of_the_full_text([word])[word]


@given(
    st.from_regex(
        re.compile(r"[a-z]{1,4}(ing|ed|s|ies|ation|ness|ful|ly|y|er|al|able|ment|e|ll|ion)", re.ASCII), fullmatch=True
    )
)
def test_any_word_has_the_stem_that_the_full_text_gives_it(word: str) -> None:
    assert stem(word) == of_the_full_text([word])[word]


def test_what_is_no_plain_word_stays_as_it_is() -> None:
    assert [stem(each) for each in ("perché", "2023", "é", "k8s", "")] == ["perché", "2023", "é", "k8s", ""]
