"""Whatever a stranger's file says, it is words."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grimoire.taught import START, episode, fact
from metnos.grimoire import fact_rules
from metnos.grimoire.consent import needs_consent, waits
from metnos.grimoire.episode import Provenance, Scope, Verdict
from metnos.grimoire.exchange_strangers import MOST, Origin, episode_of, fact_of, is_imported
from metnos.grimoire.fact import Decay, Kind, Standing
from metnos.turn.plan.records import Kind as PlanKind
from metnos.turn.plan.records import Path, Plan, Step
from metnos.turn.steer import Asked, steer

ORIGIN = Origin("d" * 64, "e" * 64)
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
words = st.text(max_size=40)
share = st.floats(0, 1)
data: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"when": st.just({"canonical": "find <files>"}), "prefer": st.just({"executor": "x", "args": {"to": "/evil"}})}
)


@given(
    claims=st.fixed_dictionaries(
        {
            "kind": st.sampled_from(Kind), "provenance": st.sampled_from(Provenance), "decay": st.sampled_from(Decay),
            "standing": st.sampled_from(Standing), "scope": st.sampled_from(Scope), "confidence": share,
            "quality": share, "sender": st.sampled_from(["owner", "agent", "import:x", ""]), "subject": words,
            "value": words, "data": data, "pinned": st.booleans(), "helped": st.integers(0, 99),
            "bloodstain": st.booleans(), "tags": st.lists(words, max_size=2).map(tuple),
        }
    ),
    key=words, text=words,
)  # fmt: skip
def test_no_fact_of_theirs_has_power(claims: dict[str, Any], key: str, text: str) -> None:
    given_ = fact(key or "F", text, **claims)
    made = fact_of(given_, ORIGIN, NOW)
    if made is None:
        assert needs_consent(given_) or given_.standing in (Standing.EXPIRED, Standing.PRUNED)
        return
    assert is_imported(made.sender)
    assert made.confidence <= MOST
    assert not fact_rules.may_act(made)
    assert not fact_rules.may_enter_playbook(made)
    assert not waits(made)
    assert fact_rules.ceiling(made) < fact_rules.RULES.insight
    assert made == fact_of(given_, ORIGIN, NOW), "again is the same"
    assert made.id != given_.id
    plan = Plan(PlanKind.STEPS, Path.ROUTER, steps=(Step("x", {}),))
    assert steer(plan, Asked("find <files>", {}), [made], {}).used == ()


@given(
    payload=data, tags=st.lists(words, max_size=2).map(tuple), text=words, pinned=st.booleans(), ahead=st.integers(0, 9)
)
def test_no_episode_of_theirs_teaches(
    payload: dict[str, Any], tags: tuple[str, ...], text: str, pinned: bool, ahead: int
) -> None:
    given_ = episode("E", text, payload=payload, tags=tags, pinned=pinned, verdict=Verdict.VERIFIED,
                     provenance=Provenance.OWNER, ts=START.replace(year=START.year + ahead))  # fmt: skip
    made = episode_of(given_, ORIGIN, NOW)
    assert (made.payload, made.tags, made.pinned, made.verdict) == ({}, (), False, Verdict.REJECTED)
    assert made.ts <= NOW
    assert is_imported(made.sender)
    assert made.id != given_.id
    assert made.source.startswith("import:")
