"""The lexicon: phrases, pronouns that verbs carry, and data that names only what exists."""

from metnos.turn.plan.intents import lines
from metnos.turn.plan.lexicon import load, words
from tables import try_each


def meanings(text: str) -> list[set[str]]:
    return [set(word.meanings) - {""} for word in words(text, ())]


@try_each(("text", "concept"), [
    ("spostali", "move"), ("cancellarle", "delete"), ("mettili", "move"), ("leggimi", "read"), ("estraine", "extract"),
    ("PIÙ VOLTE", "duplicates"), ("get rid of", "delete"), ("quanti", "count"), ("dov'è", "find"),
    ("l'impronta", "hash"),
])  # fmt: skip
def test_a_word_means_its_concept(text: str, concept: str) -> None:
    assert concept in set().union(*meanings(text))


def test_a_verb_gives_up_its_pronoun_and_a_noun_does_not() -> None:
    assert "it" in meanings("spostali")[0]
    assert "it" not in meanings("mostrami")[0]
    assert meanings("animali") == [set()]


def test_the_longest_phrase_wins() -> None:
    assert len(words("get rid of", ())) == 1
    assert len(words("get rid", ())) == 2


def test_lines_name_only_what_the_lexicon_or_a_class_has() -> None:
    unknown = {name for line in lines() for name in (line.names | line.never) if name[0] != "@"} - set(load().kinds)
    assert unknown == set()


def test_every_line_needs_something() -> None:
    assert all(line.needs for line in lines())
