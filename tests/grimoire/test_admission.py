from collections.abc import Iterator
from dataclasses import astuple, fields, replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.facts_made import SPACE, START, fact, opened, told, vector
from metnos.core.clock import MovableClock
from metnos.grimoire import admission
from metnos.grimoire.admission import AdmissionRules, Factors, Known, Outcome, Weights
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.fact import Decay, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.facts_admit import CONSENT
from metnos.grimoire.facts_admit import Outcome as What

DAY = timedelta(days=1)
SHARE = st.floats(0, 1)
FACTORS = st.builds(Factors, SHARE, SHARE, SHARE, SHARE, SHARE)


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    with opened(tmp_path, clock) as made:
        yield made


def value(key: str, port: str, **changes: object) -> object:
    text = f"The port of the server is {port}"
    return fact(key, **{"text": text, "subject": "server port", "value": port, **changes})


class TestScore:
    def test_three_fresh_episodes_pass_one_is_at_most_doubted_and_none_does_not(self) -> None:
        for kind in set(Kind) - {Kind.WARNING}:
            levels = []
            for count in (0, 1, 3):
                seen = fact(kind=kind, sources=tuple(f"e{each}" for each in range(count)), episode_count=count)
                levels.append(admission.judge(seen, Known(), START).level)
            assert levels[0] is None
            assert levels[1] in (None, 0.3)
            assert levels[2] == 0.6, kind

    @pytest.mark.parametrize(("bias", "level"), [(-9.0, None), (-0.2007, 0.3), (0.0, 0.3), (0.2, 0.3), (0.21, 0.6)])
    def test_its_score_says_at_what_confidence(self, bias: float, level: float | None) -> None:
        rules = AdmissionRules(Weights(0, 0, 0, 0, 0, bias + 1e-4))
        assert admission.judge(fact(), Known(), START, rules).level == level

    def test_a_warning_needs_only_to_be_news(self) -> None:
        warned = fact(kind=Kind.WARNING, sources=(), episode_count=0, confidence=0.4)
        assert admission.judge(warned, Known(), START).level == 0.4
        assert admission.judge(warned, Known(likest=0.99), START).level is None

    @given(FACTORS)
    def test_it_is_a_share_and_grows_with_every_factor(self, factors: Factors) -> None:
        score = admission.score_of(factors, Weights())
        assert 0 <= score <= 1
        for each in fields(Factors):
            more = replace(factors, **{each.name: 1.0})
            assert admission.score_of(more, Weights()) >= score

    def test_no_factor_is_a_constant(self) -> None:
        poor = fact(text="Things happen", sources=(), episode_count=0, reinforced=START - 90 * DAY, kind=Kind.LINK)
        rich = fact(kind=Kind.ANTI, data={"warning": "x"}, episode_count=9)
        low = admission.factors_of(poor, Known(likest=0.9, harmed=5), START)
        high = admission.factors_of(rich, Known(helped=5), START)
        assert all(less < more for less, more in zip(astuple(low), astuple(high), strict=True))

    def test_quality_is_made_of_five_things_that_vary(self) -> None:
        vague, sharp = "Maybe some things are somehow slow", "Use read_pdf before 09:00 when /var/log has 200 files"
        for part in (admission.specificity, admission.actionability, admission.verifiability):
            assert part(fact(text=vague, sources=())) < part(fact(text=sharp, subject="read_pdf", value="slow"))
        assert admission.consistency(Known(contradicting=2)) < admission.consistency(Known()) == 1.0
        dull = admission.quality_of(fact(text=vague, sources=()), Known(0.9, contradicting=2))
        assert dull < admission.quality_of(fact(text=sharp), Known())

    @given(st.text(max_size=200), st.integers(0, 50), SHARE)
    def test_quality_is_a_share_of_any_text(self, text: str, contradicting: int, likest: float) -> None:
        assert 0 <= admission.quality_of(fact(text=text), Known(likest, contradicting=contradicting)) <= 1


class TestFitting:
    def test_without_outcomes_the_weights_stay(self) -> None:
        assert admission.fit([]) == Weights()

    def test_it_learns_what_told_good_from_bad(self) -> None:
        good = [Outcome(Factors(0.9, 0.5, 0.5, each / 40, 0.5), True) for each in range(40)]
        bad = [Outcome(Factors(0.1, 0.5, 0.5, each / 40, 0.5), False) for each in range(40)]
        fitted = admission.fit([*good, *bad])
        assert fitted.utility > Weights().utility
        assert fitted == admission.fit([*good, *bad])
        assert admission.score_of(good[0].factors, fitted) > 0.55 > 0.45 > admission.score_of(bad[0].factors, fitted)

    @settings(max_examples=20)
    @given(st.lists(st.builds(Outcome, FACTORS, st.booleans()), max_size=30))
    def test_whatever_came_the_weights_stay_within_bounds(self, outcomes: list[Outcome]) -> None:
        fitted = admission.fit(outcomes)
        assert all(0 <= each <= 6 for each in astuple(fitted)[:-1])
        assert abs(fitted.bias) <= 6

    def test_one_outcome_changes_little(self) -> None:
        fitted = admission.fit([Outcome(Factors(1, 1, 1, 1, 1), False)])
        assert all(abs(new - old) < 0.5 for new, old in zip(astuple(fitted), astuple(Weights()), strict=True))


class TestAdmitting:
    def test_what_is_new_and_grounded_is_admitted_and_told(self, facts: Facts) -> None:
        done = facts.admit(fact(confidence=0.99))
        assert (done.outcome, done.is_kept) == (What.ADMITTED, True)
        assert facts.get(["01FACT"])[0].confidence == 0.6
        assert len(told(facts)) == 1

    def test_what_has_too_little_is_rejected_and_refused_fast_until_it_has_more(
        self, facts: Facts, clock: MovableClock
    ) -> None:
        thin = fact(text="Something happens", sources=("e1",), episode_count=1)
        assert facts.admit(thin).outcome is What.REJECTED
        assert facts.admit(thin).outcome is What.KNOWN
        more = replace(thin, sources=("e1", "e2", "e3", "e4"), episode_count=4)
        assert facts.admit(more).outcome is What.ADMITTED
        other = replace(thin, text="Nothing much goes on")
        assert facts.admit(other).outcome is What.REJECTED
        clock.move(8 * DAY)
        assert facts.admit(other).outcome is What.REJECTED, "after a while it is weighed again"

    def test_a_near_duplicate_merges_and_reinforces_once_for_each_new_episode(self, facts: Facts) -> None:
        first = facts.admit(fact("a")).fact
        assert first is not None
        again = facts.admit(fact("b", text=first.text.upper(), sources=("ep3", "ep4")))
        assert again.outcome is What.MERGED
        assert again.fact is not None
        assert again.fact.id == "a"
        assert (again.fact.sources, again.fact.episode_count) == (("ep1", "ep2", "ep3", "ep4"), 4)
        assert again.fact.confidence > first.confidence
        same = facts.admit(fact("c", sources=("ep4",))).fact
        assert same is not None
        assert same.confidence == again.fact.confidence, "the same evidence twice is no more evidence"
        assert facts.count() == 1

    def test_other_words_merge_by_their_vector(self, facts: Facts) -> None:
        facts.admit(fact("a", text="The printer is slow in the morning"), vector(1, 0.01), SPACE)
        near = fact("b", text="Mornings, printing takes long", sources=("e9",))
        assert facts.admit(near, vector(1), SPACE).outcome is What.MERGED
        far = fact("c", text="Scans come out upside down", sources=("e9", "e8", "e7"))
        assert facts.admit(far, vector(0, 1), SPACE).outcome is What.ADMITTED

    def test_the_newest_estimate_of_a_measure_replaces_the_older(self, facts: Facts) -> None:
        def measured(key: str, mean: float) -> object:
            data = {"metric": "s", "mean": mean, "stddev": 1.0, "count": 5}
            about = {"subject": "s", "value": f"{mean}", "data": data, "sources": tuple(f"{key}{n}" for n in range(5))}
            return fact(key, kind=Kind.BASELINE, text=f"It takes {mean} s", episode_count=5, **about)

        facts.admit(measured("a", 4.0))  # type: ignore[arg-type]
        merged = facts.admit(measured("b", 4.5)).fact  # type: ignore[arg-type]
        assert merged is not None
        assert (merged.id, merged.text, merged.data["mean"], merged.episode_count) == ("a", "It takes 4.5 s", 4.5, 10)
        assert facts.admit(measured("c", 40.0)).outcome is What.CONTRADICTED  # type: ignore[arg-type]

    def test_a_contradiction_is_kept_linked_and_the_newer_quarantined(self, facts: Facts) -> None:
        facts.admit(value("a", "80", sources=("e1", "e2", "e3")))  # type: ignore[arg-type]
        done = facts.admit(value("b", "81", sources=("e4", "e5", "e6")))  # type: ignore[arg-type]
        assert done.outcome is What.CONTRADICTED
        old, new = facts.get(["a", "b"])
        assert (old.standing, new.standing) == (Standing.ACTIVE, Standing.QUARANTINED)
        assert (old.contradicts, new.contradicts) == (("b",), ("a",))
        assert (old.value, old.confidence) == ("80", 0.6), "nothing is overwritten"

    def test_when_the_evidence_turns_so_do_the_two(self, facts: Facts) -> None:
        facts.admit(value("a", "80", sources=("e1", "e2", "e3")))  # type: ignore[arg-type]
        facts.admit(value("b", "81", sources=("e4", "e5", "e6")))  # type: ignore[arg-type]
        for number in range(4):
            facts.admit(value(f"c{number}", "81", sources=(f"n{number}", f"m{number}")))  # type: ignore[arg-type]
        old, new = facts.get(["a", "b"])
        assert (old.standing, new.standing) == (Standing.QUARANTINED, Standing.ACTIVE)
        assert old.contradicts == ("b",)

    def test_explicit_supersession_ends_the_older_ones_time(self, facts: Facts, clock: MovableClock) -> None:
        facts.admit(value("a", "80", sources=("e1", "e2", "e3")))  # type: ignore[arg-type]
        clock.move(DAY)
        newer = value("b", "81", sources=("e4", "e5", "e6"), valid_from=clock.now())
        done = facts.admit(newer, supersedes=["a"])  # type: ignore[arg-type]
        assert done.superseded == ("a",)
        old, new = facts.get(["a", "b"])
        assert (old.standing, old.valid_until) == (Standing.EXPIRED, clock.now())
        assert (new.standing, new.contradicts) == (Standing.ACTIVE, ())
        assert facts.links("b", "supersedes") == ["a"]

    @pytest.mark.parametrize(
        "weaker", [{"provenance": Provenance.LETHE}, {"sender": "somebody"}, {"provenance": Provenance.DREAM}]
    )
    def test_a_weaker_source_cannot_end_what_a_stronger_one_said(self, facts: Facts, weaker: dict[str, object]) -> None:
        facts.admit(value("a", "80", sources=("e1", "e2", "e3")))  # type: ignore[arg-type]
        newer = value("b", "81", sources=tuple("xyzuvw"), episode_count=9, data={"supersedes": ["a"]}, **weaker)
        done = facts.admit(newer, supersedes=["a"])  # type: ignore[arg-type]
        assert done.superseded == ()
        assert facts.get(["a"])[0].standing is Standing.ACTIVE
        assert facts.get(["b"])[0].standing is Standing.QUARANTINED

    def test_what_is_pinned_is_never_set_aside(self, facts: Facts) -> None:
        facts.put(value("a", "80", pinned=True, confidence=0.2))  # type: ignore[arg-type]
        newer = value("b", "81", sources=tuple("abcdefghij"), episode_count=10, provenance=Provenance.OWNER)
        facts.admit(newer, supersedes=["a"])  # type: ignore[arg-type]
        assert facts.get(["a"])[0].standing is Standing.ACTIVE

    def test_what_is_about_people_waits_for_their_word(self, facts: Facts) -> None:
        done = facts.admit(fact(text="The owner prefers short answers in 4 of 5 turns"))
        assert done.outcome is What.CONSENT
        assert done.fact is not None
        assert (done.fact.standing, done.fact.tags) == (Standing.QUARANTINED, (CONSENT,))
        again = facts.admit(replace(done.fact, id="b", tags=(), sources=("n1", "n2", "n3")))
        assert again.fact is not None
        assert again.fact.standing is Standing.QUARANTINED, "repeating it is no consent"

    def test_a_dream_is_believed_little_has_a_time_and_is_confirmed_by_experience(self, facts: Facts) -> None:
        dreamt = facts.admit(fact("a", kind=Kind.HEURISTIC, provenance=Provenance.DREAM, decay=Decay.STRUCTURAL)).fact
        assert dreamt is not None
        assert (dreamt.kind, dreamt.confidence, dreamt.decay) == (Kind.INSIGHT, 0.3, Decay.EPHEMERAL)
        assert dreamt.confirm_by == START + 7 * DAY
        lived = facts.admit(fact("b", kind=Kind.INSIGHT, sources=("n1", "n2"))).fact
        assert lived is not None
        assert (lived.id, lived.provenance, lived.confirm_by) == ("a", Provenance.SELF, None)

    def test_a_dream_whose_time_is_over_is_not_confirmed_any_more(self, facts: Facts, clock: MovableClock) -> None:
        facts.admit(fact("a", kind=Kind.INSIGHT, provenance=Provenance.DREAM))
        clock.move(8 * DAY)
        lived = facts.admit(fact("b", kind=Kind.INSIGHT, reinforced=clock.now())).fact
        assert lived is not None
        assert lived.id == "b"

    @pytest.mark.parametrize(
        ("provenance", "generation", "first"),
        [(Provenance.CLADE, 0, 0.4), (Provenance.CLADE, 2, 0.4 * 0.85**2), (Provenance.LETHE, 1, 0.2 * 0.85)],
    )
    def test_what_is_inherited_is_believed_by_its_provenance_and_generation(
        self, facts: Facts, provenance: Provenance, generation: int, first: float
    ) -> None:
        taken = facts.admit(fact(provenance=provenance, generation=generation, episode_count=20)).fact
        assert taken is not None
        assert taken.confidence == pytest.approx(first)

    def test_two_audiences_never_make_one_fact(self, facts: Facts) -> None:
        facts.admit(fact("a"))
        theirs = fact("b", scope=Scope.SENDER, sender="somebody", sources=("n1", "n2", "n3"))
        assert facts.admit(theirs).outcome is not What.MERGED
        assert facts.get(["a"])[0].episode_count == 3
