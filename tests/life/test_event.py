"""An event before it is remembered."""

from datetime import UTC, datetime

from metnos.grimoire import appraisal
from metnos.grimoire.domain import event_of
from metnos.grimoire.episode import Provenance, Scope, Verdict
from metnos.life import pack
from metnos.life.event import Event, episode_of, measures_of

DEFI = pack.read("defi")
SEEN = Event("swap", "pool", "chain 1 0xab", datetime(2026, 11, 1, tzinfo=UTC), "swap at pool", {"value_eth": 2.0})


def test_numbers_get_the_names_of_the_pack_and_what_is_no_number_is_left_out() -> None:
    odd = Event("swap", "pool", "s", SEEN.ts, "t", {"value_eth": 2, "gas_used": True, "gas_price_gwei": "9"})
    assert measures_of(odd, DEFI) == {"value (ETH)": 2.0}


def test_it_is_remembered_as_the_agents_own_observation_and_speaks_for_itself() -> None:
    episode = episode_of(SEEN, "E1", DEFI, 0.7)
    assert (episode.kind, episode.scope, episode.provenance) == ("observation", Scope.AGENT, Provenance.SELF)
    assert (episode.domain, episode.tags, episode.curiosity) == ("pool", ("swap",), 0.7)
    assert event_of(episode) == "swap"
    assert dict(DEFI.measured(episode)) == {"value (ETH)": 2.0}
    assert appraisal.verdict(episode) is Verdict.VERIFIED
