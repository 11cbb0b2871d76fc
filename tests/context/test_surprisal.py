import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.context.surprisal import Surprisal, general


@pytest.fixture(scope="module")
def new_agent() -> Surprisal:
    return general()


def bits(model: Surprisal, text: str, *, seen: bool = False) -> dict[str, float]:
    return {text[word.start : word.end]: word.bits for word in model.score(text, seen=seen)}


def test_a_new_agent_expects_function_words_and_is_surprised_by_names(new_agent: Surprisal) -> None:
    found = bits(new_agent, "I went to the Zanzibar aquarium with my sister in 1987")
    assert max(found["to"], found["the"], found["with"]) < 10 < min(found["Zanzibar"], found["aquarium"], found["1987"])


def test_a_new_agent_knows_italian_too(new_agent: Surprisal) -> None:
    found = bits(new_agent, "Ieri sono andato a comprare un ornitorinco")
    assert found["sono"] < 10 < found["ornitorinco"]


def test_what_the_agent_reads_often_becomes_expected() -> None:
    model = general()
    before = model.information("Zanzibar")
    assert model.add(["We talked about Zanzibar again."] * 20) == 20
    assert model.information("zanzibar") < before - 5


def test_text_that_the_model_was_made_of_can_be_scored_as_if_it_were_new() -> None:
    text = "The plumber left a blue umbrella in Trondheim."
    model = general()
    new = bits(model, text)
    model.add([text])
    known, apart = bits(model, text), bits(model, text, seen=True)
    assert known["Trondheim"] < new["Trondheim"] / 2
    assert apart["Trondheim"] == pytest.approx(new["Trondheim"], rel=0.15)


@given(st.text(max_size=200))
def test_any_text_has_bits_for_words_that_stand_in_it_in_order(text: str) -> None:
    words = Surprisal().score(text)
    assert all(word.bits >= 0 and 0 <= word.start < word.end <= len(text) for word in words)
    assert all(one.end <= other.start for one, other in itertools.pairwise(words))


def test_what_is_kept_is_the_same_and_holds_no_words() -> None:
    import zstandard

    model = general()
    model.add(["The password of the gate is chrysanthemum."])
    content = model.to_bytes()
    again = Surprisal.from_bytes(content)
    assert again.count == model.count
    assert again.score("the gate is chrysanthemum") == model.score("the gate is chrysanthemum")
    assert b"chrysanth" not in zstandard.decompress(content.partition(b"\n")[2])
    assert len(content) < 200_000


@pytest.mark.parametrize("content", [b"", b"metnos-surprisal-1\n", b"metnos-surprisal-1\nrubbish", b"other"])
def test_bytes_that_are_no_model_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        Surprisal.from_bytes(content)


def test_a_damaged_model_is_refused() -> None:
    import zstandard

    magic, _, body = general().to_bytes().partition(b"\n")
    shorter = zstandard.compress(zstandard.decompress(body)[:-8])
    with pytest.raises(ValueError):
        Surprisal.from_bytes(magic + b"\n" + shorter)


def test_a_model_that_is_full_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.context.surprisal._CHECKED", 50)
    monkeypatch.setattr("metnos.context.surprisal._FULL", 0.0)
    model = Surprisal()
    assert model.add([" ".join(f"w{n}" for n in range(60)), "and this"]) == 1
    assert model.full
    assert Surprisal.from_bytes(model.to_bytes()).full
