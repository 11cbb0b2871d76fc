import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.context.compress import Part, compress, compress_parts
from metnos.context.pieces import pieces
from metnos.context.surprisal import Surprisal, general
from metnos.context.tokens import estimate

MODEL = general()
WORDS = st.sampled_from(
    [
        *["the", "of", "and", "Zanzibar", "not", "3", "kids", "1 000 000", "/a/b/c.txt", "https://example.org/x?y=1"],
        *["7.5", '"as she said"', "«così»", "`a b`", "today.", "why?", "家", "我3月去", "\n", "| a | b |\n"],
        "```\nx y\n```\n",
    ]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=60).map(" ".join), st.text(max_size=300))

STORY = (
    "Hey, it is so good to see you again! How have you been lately? "
    "We went to the lake on Sunday, and it was really a lot of fun. "
    "My sister adopted a greyhound named Pixel from the shelter in Trento on 14 March. "
    "I think that we should do something like that again some time. "
    "Anyway, let me know if there is anything that I can do for you."
)


def words(text: str) -> int:
    return len(text.split())


def short(text: str, target: int, question: str = "") -> str:
    return compress(text, target, question=question, count=estimate, model=MODEL)


@given(TEXTS, st.integers(0, 60), st.sampled_from(["", "how many kids?", "the path of the file"]))
def test_it_meets_its_target_with_whole_pieces_of_the_text_in_their_order(
    text: str, target: int, question: str
) -> None:
    made = compress_parts([Part(text)], target, question=question, count=estimate, model=MODEL)[0]
    assert estimate(made.text) <= target or not made.text
    if made.text == text:
        return
    whole = {(piece.start, piece.end) for piece in pieces(text)}
    assert set(made.spans) <= whole
    assert list(made.spans) == sorted(made.spans)
    assert "".join(made.text.split()) == "".join("".join(text[start:end] for start, end in made.spans).split())


@given(st.lists(TEXTS, min_size=1, max_size=5), st.integers(0, 80))
def test_several_texts_meet_one_target_together(texts: list[str], target: int) -> None:
    made = compress_parts([Part(text) for text in texts], target, count=estimate, model=MODEL)
    assert len(made) == len(texts)
    joined = "\n".join(each.text for each in made if each.text)
    assert not joined or estimate(joined) <= target


@given(TEXTS, st.integers(0, 40))
def test_a_count_that_is_not_even_steady_is_met_too(text: str, target: int) -> None:
    def odd(content: str) -> int:
        return len(content.encode()) // 2 + len(content) % 7

    made = compress(text, target, count=odd, model=MODEL)
    assert not made or odd(made) <= target


def test_what_fits_stays_as_it_is() -> None:
    assert short(STORY, 1000) == STORY
    assert short("", 0) == ""


def test_whole_sentences_go_first_and_the_one_that_is_asked_about_stays() -> None:
    made = short(STORY, estimate(STORY) // 3, "Which dog did the sister adopt?")
    assert all(word in made for word in ("sister", "adopted", "greyhound", "Pixel", "Trento", "14 March"))
    assert "Anyway" not in made
    assert "How have you" not in made


def test_without_a_question_what_tells_most_stays() -> None:
    made = short(STORY, estimate(STORY) // 3)
    assert all(word in made for word in ("greyhound", "Pixel", "Trento"))


def test_inside_a_sentence_expected_words_go_before_telling_ones() -> None:
    text = "Then I went to the aquarium in Rotterdam with my cousin because of the axolotl that they have there"
    made = short(text, 14).split()
    assert {"aquarium", "Rotterdam", "axolotl"} <= set(made)
    assert "the" not in made


def test_another_question_keeps_another_sentence() -> None:
    text = "The key is under the pot. The cat is called Moro. The bill was paid on Monday."
    assert "Moro" in short(text, 9, "What is the name of the cat?")
    assert "pot." in short(text, 9, "Where is the key?")


def test_a_denial_is_never_left_out_of_what_it_denies() -> None:
    text = "The bridge is really not safe for trucks and you should never cross it without a permit."
    for target in range(estimate(text)):
        made = short(text, target)
        assert ("safe" in made) == ("not safe" in made)
        assert ("cross" in made) == ("never cross" in made)


def test_rows_of_a_table_go_whole_and_its_heading_stays() -> None:
    rows = "\n".join(f"| file{n}.txt | {n * 100} | the owner's notes of day {n} |" for n in range(1, 20))
    table = f"| name | size | about |\n|---|---|---|\n{rows}"
    made = short(table, estimate(table) // 3, "notes of day 7")
    assert made.startswith("| name | size | about |\n|---|---|---|\n")
    assert "| file7.txt | 700 |" in made
    assert set(made.split("\n")) < set(table.split("\n"))


def test_a_piece_that_can_never_fit_does_not_keep_others_out() -> None:
    code = "```\n" + "value = compute(9)\n" * 200 + "```"
    made = short(f"The cause was a loose cable.\n{code}\nIt was repaired on Tuesday.", 15)
    assert "cable" in made
    assert "```" not in made


def test_what_the_caller_knows_to_matter_is_kept_longer() -> None:
    parts = [f"The {thing} was sold to a man from {town}." for thing, town in (("boat", "Pula"), ("barn", "Graz"))]
    for best in (0, 1):
        weighed = [Part(text, float(at == best)) for at, text in enumerate(parts)]
        made = compress_parts(weighed, estimate(parts[0]), count=estimate, model=MODEL)
        assert words(made[best].text) > words(made[1 - best].text)


def test_text_of_the_model_itself_is_shortened_like_any_other() -> None:
    model = general()
    model.add([STORY])
    made = compress(STORY, estimate(STORY) // 3, count=estimate, model=model, seen=True)
    assert "greyhound" in made


@pytest.mark.parametrize("model", [MODEL, Surprisal()], ids=["general", "blank"])
def test_question_forms_meet(model: Surprisal) -> None:
    text = "She paints on Fridays. He swims at noon. They argue all day."
    made = compress(text, 6, question="who was painting", count=words, model=model)
    assert re.search(r"\bpaints\b", made)
