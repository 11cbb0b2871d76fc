"""Words: tokens, stems that meet, weights, and the index over fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.turn.plan.lexical import COMMON_WEIGHT, Index, content, fold, lists, name_parts, stem, tokens, weight
from tables import try_each

ANY_TEXT = st.text(alphabet=st.characters(), max_size=200)
WORDS = st.lists(st.sampled_from(["copy", "file", "pdf", "sum", "table", "note"]), max_size=6)


@try_each(
    "forms",
    [
        "calculate calculates calculating calculation calculator",
        "reminder reminders remind reminding",
        "cities city",
        "running run",
        "photo photos",
        "compress compressed",
        "cancella cancellare cancellami cancellato",
        "sposta spostare spostali",
        "cartella cartelle",
        "pagina pagine",
        "riassumi riassumere",
        "perché perche",
    ],
)
def test_forms_of_one_word_meet(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize("words", ["data date", "note nota", "file folder", "sum sun", "copy compare"])
def test_short_words_are_left_alone(words: str) -> None:
    one, other = words.split()
    assert stem(one) != stem(other)


@given(ANY_TEXT)
def test_no_text_makes_it_fail_and_every_token_stands_where_it_says(text: str) -> None:
    for token in tokens(text):
        assert text[token.start : token.end] == token.text
        assert stem(token.text)
        assert 0 <= weight(token.text) <= 1
    assert all(weight(word) for word in content(text))
    assert all(part == part.lower() for part in name_parts(text))


@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_file_name_is_one_word() -> None:
    assert [token.text for token in tokens("read report-2.pdf, please")] == ["read", "report-2.pdf", "please"]


def test_identifiers_come_apart() -> None:
    assert name_parts("find_files") == ("find", "files")
    assert name_parts("geo.distanceTo") == ("geo", "distance", "to")
    assert name_parts("parseHTMLPage") == ("parse", "html", "page")


def test_words_weigh_what_they_say() -> None:
    assert weight("the") == weight("della") == weight("Perché") == 0
    assert weight("find") == weight("trova") == COMMON_WEIGHT
    assert weight("triangle") == weight("caldaia") == 1


def test_the_lists_are_folded_and_do_not_contradict_one_another() -> None:
    found = lists()
    for words in (found.stop, found.common, found.numbers, found.times):
        assert all(fold(word) == word for word in words)
    assert not found.stop & found.common
    assert found.extensions["jpg"] == "picture"


def index() -> Index:
    return Index(
        [
            [(3.0, ["copy", "files"]), (1.0, ["copy", "files", "into", "folder"])],
            [(3.0, ["sum", "tables"]), (1.0, ["add", "columns", "table"])],
            [(3.0, ["read", "files"]), (1.0, ["show", "text", "file"])],
        ]
    )


def test_the_document_that_has_the_words_comes_first() -> None:
    assert index().scores({stem("copy"): 1.0}).argmax() == 0
    assert index().scores({stem("tables"): 1.0}).argmax() == 1
    assert index().scores({stem("copying"): 1.0, stem("file"): 1.0}).argmax() == 0


def test_a_word_that_fewer_have_says_more() -> None:
    one = index()
    assert 1.0 == one.rarity("nobody") > one.rarity(stem("copy")) > one.rarity(stem("file")) > 0
    assert one.has(stem("copy"))
    assert not one.has("nobody")


@given(
    st.lists(WORDS, min_size=1, max_size=5),
    st.dictionaries(st.sampled_from(["copi", "file", "sum", "x"]), st.floats(0, 1)),
)
def test_scores_are_shares(documents: list[list[str]], query: dict[str, float]) -> None:
    scores = Index([[(1.0, words)] for words in documents]).scores(query)
    assert scores.shape == (len(documents),)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_an_empty_index_is_fine() -> None:
    assert index().scores({}).tolist() == [0.0, 0.0, 0.0]
    assert Index([]).scores({"x": 1.0}).shape == (0,)
