import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ManifestError
from metnos.executors import vocabulary
from metnos.executors.vocabulary import LANGUAGES, Name, Vocabulary, Word
from tables import try_each

KNOWN: Vocabulary = vocabulary.load()
KINDS = {"verbs": KNOWN.verbs, "objects": KNOWN.objects, "qualifiers": KNOWN.qualifiers}


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_is_one_small_word_with_a_meaning_and_synonyms(kind: str) -> None:
    for text, word in KINDS[kind].items():
        assert re.fullmatch("[a-z]+", text), text
        assert word.means.endswith("."), text
        for language in LANGUAGES:
            assert word.synonyms[language], f"{text} has no synonym in {language}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_synonym_belongs_to_one_word_only(kind: str) -> None:
    words: dict[str, Word] = dict(KINDS[kind])
    said = [(synonym, word.text) for word in words.values() for each in word.synonyms.values() for synonym in each]
    synonyms = [synonym for synonym, _ in said]
    assert len(synonyms) == len(set(synonyms)), {each for each in synonyms if synonyms.count(each) > 1}
    assert not set(synonyms) & set(words), "a word is another word's synonym"
    assert all(synonym == " ".join(synonym.casefold().split()) for synonym in synonyms), "it would never be found"


def test_the_lists_are_of_a_size_that_a_person_can_know() -> None:
    assert 40 <= len(KNOWN.verbs) <= 60
    assert 40 <= len(KNOWN.objects) <= 70
    assert 15 <= len(KNOWN.qualifiers) <= 40


@given(
    st.sampled_from(sorted(KNOWN.verbs)),
    st.sampled_from(sorted(KNOWN.objects)),
    st.none() | st.sampled_from(sorted(KNOWN.qualifiers)),
)
def test_every_combination_is_a_name_and_comes_apart_again(verb: str, thing: str, qualifier: str | None) -> None:
    name = Name(verb, thing, qualifier)
    assert vocabulary.parse_name(str(name)) == name


@given(st.text(max_size=70))
def test_what_is_not_of_known_words_is_refused(text: str) -> None:
    try:
        name = vocabulary.parse_name(text)
    except ManifestError:
        return
    assert str(name) == text
    assert name.verb in KNOWN.verbs


@try_each(
    ("text", "said"),
    [
        ("reed_files", "Did you mean 'read'?"),
        ("locate_files", "Did you mean 'find'?"),
        ("find_filez", "Did you mean 'files'?"),
        ("read_tables_exel", "Did you mean 'xlsx'?|Did you mean"),
        ("find_files_qqqqqq", "docs/executors.md"),
        ("Find_files", "small letters"),
        ("find", "small letters"),
        ("find_files_pdf_html", "small letters"),
    ],
)
def test_the_nearest_word_is_named(text: str, said: str) -> None:
    with pytest.raises(ManifestError) as caught:
        vocabulary.parse_name(text)
    assert re.search(said, str(caught.value))


def test_people_say_it_in_their_own_words() -> None:
    assert vocabulary.canonical_verb("Look  for") == "find"
    assert vocabulary.canonical_verb("cerca") == "find"
    assert vocabulary.canonical_verb("cerca", "en") is None
    assert vocabulary.canonical_verb("find", "it") == "find"
    assert vocabulary.canonical_object("foto") == "images"
    assert vocabulary.canonical_object("città") == "places"
    assert vocabulary.canonical_qualifier("excel") == "xlsx"
    assert vocabulary.canonical_object("nothing at all") is None
