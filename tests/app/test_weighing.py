"""The weights that decide what is kept of what was learnt: from the settings, and fitted."""

from collections.abc import Iterator
from dataclasses import asdict, replace

import pytest

from app.remembered import quiet
from grimoire.facts_made import fact
from metnos.app import App, weighing
from metnos.core.errors import UsageError
from metnos.grimoire.admission import Weights
from metnos.law import audit_log
from metnos.law.principal import at_terminal


@pytest.fixture
def app(equipped: App) -> Iterator[App]:
    opened, _ = quiet(equipped)
    yield opened
    opened.close()


def lived(app: App) -> None:
    """What three episodes taught proved wrong, what twelve did proved right."""
    facts = app.grimoire.facts
    for number in range(24):
        count = 12 if number % 2 else 3
        seen = fact(
            facts.new_id(), text=f"tool{number} takes {number} s", subject=f"tool{number}", domain=f"d{number}",
            sources=tuple(f"e{number}-{each}" for each in range(count)), episode_count=count,
        )  # fmt: skip
        kept = facts.admit(seen).fact
        assert kept is not None
        (facts.helped if number % 2 else facts.harmed)([kept.id])


def in_force(app: App) -> Weights:
    return weighing.fitting(app, app.grimoire.db).weights()


def test_the_settings_are_what_counts(app: App) -> None:
    assert in_force(app) == Weights()
    opened, _ = quiet(app, memory__admission__grounding="1", memory__admission__bias="-6")
    assert in_force(opened) == Weights(grounding=1.0, bias=-6.0)
    assert not opened.grimoire.facts.admit(fact("01A")).is_kept, "the gate weighs by them"
    opened.close()
    assert app.grimoire.facts.admit(fact("01B", text="something else altogether", domain="b")).is_kept


@pytest.mark.parametrize(("name", "value"), [("grounding", "-1"), ("kind", "7"), ("bias", "nan"), ("bias", "-7")])
def test_what_is_beyond_the_bounds_is_refused(app: App, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"memory.admission.{name}"):
        app.set_setting(f"memory.admission.{name}", value, at_terminal())


def test_fitted_weights_count_when_they_are_kept_and_until_they_are_dropped(app: App) -> None:
    lived(app)
    shown = weighing.fit(app, keep=False)
    assert in_force(app) == shown.before == Weights()
    kept = weighing.fit(app, keep=True)
    assert kept.after == shown.after != Weights()
    assert in_force(app) == kept.after
    seen = fact("01NEW", text="tool99 takes 99 s", domain="d99")
    judged = app.grimoire.facts.admit(seen).judged
    assert judged is not None
    assert judged.level is None, "three episodes were never enough, and the gate that is open knows it at once"
    newest = next(line for line in audit_log.backwards(app.workspace.audit) if line.kind == weighing.KEPT)
    assert (newest.entry.counts["good"], newest.entry.counts["bad"]) == (12, 12)
    assert weighing.drop(app)
    assert in_force(app) == Weights()
    assert not weighing.drop(app)


def test_what_the_owner_set_is_theirs_whatever_was_fitted(app: App) -> None:
    lived(app)
    opened, _ = quiet(app, memory__admission__grounding="4.5")
    fitted = weighing.fit(opened, keep=True)
    assert dict(fitted.own) == {"grounding": 4.5}, "also where it is the default"
    assert asdict(in_force(opened))["grounding"] == 4.5
    assert in_force(opened) != Weights()
    again, _ = quiet(opened, memory__admission__bias="-4")
    assert in_force(again) == replace(fitted.after, bias=-4.0)
    again.close()
    opened.close()


def test_too_little_changes_nothing(app: App) -> None:
    assert not weighing.fit(app, keep=True).is_enough
    assert not weighing.drop(app)
