"""Packs: what belongs together and what is measured, as data."""

from hypothesis import given

from grimoire.happened import EPISODES, observed, turn
from metnos.grimoire.domain import GENERAL, HOME, Domain
from metnos.grimoire.episode import Episode
from metnos.grimoire.fact import Kind


@given(EPISODES)
def test_every_episode_has_a_key_and_only_numbers_are_measured(episode: Episode) -> None:
    assert HOME.key_of(episode)
    assert all(value == value and abs(value) <= 1e15 for _, value in HOME.measured(episode))


def test_the_first_place_that_holds_text_is_the_key() -> None:
    assert HOME.key_of(turn(domain="files")) == "files"
    assert HOME.key_of(turn("list {path}", domain=" ")) == "list {path}"
    assert HOME.key_of(turn("", domain="")) == GENERAL


def test_measures_come_from_the_payload_and_from_the_pack() -> None:
    assert dict(HOME.measured(turn(payload={"cost_ms": 7.0, "measures": {"files": 3}}))) == {
        "files": 3.0,
        "time taken (ms)": 7.0,
    }
    assert dict(HOME.measured(observed(temperature=20.0))) == {"temperature": 20.0}


def test_another_walk_of_life_is_another_pack() -> None:
    market = Domain("market", ("payload.protocol",), {"gas": "gas_used"}, {Kind.CAUSAL: "regime_transitions"})
    episode = turn(payload={"protocol": "lending", "gas_used": 21_000})
    assert market.key_of(episode) == "lending"
    assert dict(market.measured(episode)) == {"gas": 21_000.0}
    assert (market.category(Kind.CAUSAL), market.category(Kind.ANTI)) == ("regime_transitions", "")
