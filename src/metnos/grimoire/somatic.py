"""Somatic markers as they are kept: how situations ended, and quick warnings before they are entered again.

The one writer of ``somatic``.

Rules: a situation is kept as a digest, its ends as turns, times and numbers: nothing here can be read as what was said.
An end counts once, however often its episode is taken in. What came after (a word of the owner, an undo) is asked for
when it matters and not copied, so a marker is never out of date. Of each situation only the newest ends are kept, and
none for longer than a year. Works with no embedder, no model and no consolidation: the next turn is warned.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, from_text, to_text
from metnos.grimoire import somatic_rules
from metnos.grimoire.appraisal import Outcome, steps_of
from metnos.grimoire.episode import Episode
from metnos.grimoire.extract import canonical_of
from metnos.grimoire.somatic_rules import RULES, End, Felt, Situation, SomaticRules
from metnos.grimoire.trace import State
from metnos.store.db import Database

KEPT = 8  # ends of one situation
_YEAR = timedelta(days=365)
_ENDED = frozenset({State.DONE, State.PARTLY, State.FAILED})
_PUT = "INSERT OR IGNORE INTO somatic (situation, source, ts, ok, kind, irreversible) VALUES (?, ?, ?, ?, ?, ?)"
_CUT = (
    "DELETE FROM somatic WHERE situation = ? AND source NOT IN"
    " (SELECT source FROM somatic WHERE situation = ? ORDER BY ts DESC, source DESC LIMIT ?)"
)
_FIND = (
    "SELECT situation, source, ts, ok, kind, irreversible FROM somatic"
    " WHERE situation IN (SELECT value FROM json_each(?)) ORDER BY ts, source"
)


@dataclass(frozen=True, slots=True)
class Planned:
    """A step that is about to be taken."""

    executor: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Warned:
    """A situation that went badly, which a step would enter again; ``last`` is its newest bad end."""

    place: int  # of the step, from 1
    situation: Situation
    marker: float
    bad: int
    of: int
    last: Felt


class Somatic:
    """The markers of one memory."""

    def __init__(self, db: Database, clock: Clock, rules: SomaticRules = RULES) -> None:
        self._db = db
        self._clock = clock
        self._rules = rules

    def note(self, episode: Episode) -> int:
        """What an episode's situations ended in; returns how many ends are new."""
        if episode.payload.get("state") not in _ENDED:
            return 0
        form, source, rows = canonical_of(episode), episode.source or episode.id, dict[str, tuple[Any, ...]]()
        for step in steps_of(episode.payload):
            end = (to_text(episode.ts), int(step["ok"]), step["kind"], int(step["irreversible"]))
            chosen = {name: value for name, value in step["args"].items() if name not in step["flowed"]}
            for situation in somatic_rules.situations(step["executor"], form, chosen):
                key = situation.digest(episode.sender)
                if key not in rows or not step["ok"]:  # one turn is one end of a situation: the bad one, if there is
                    rows[key] = (key, source, *end)
        with self._db.write() as tx:
            new = sum(tx.execute(_PUT, row) for row in rows.values())
            for key in rows:
                tx.execute(_CUT, (key, key, KEPT))
            tx.execute("DELETE FROM somatic WHERE ts < ?", (to_text(self._clock.now() - _YEAR),))
        return new

    def warnings(
        self, steps: Sequence[Planned], form: str, sender: str, outcome_of: Callable[[str], Outcome]
    ) -> list[Warned]:
        """What to say before these steps are taken: for each step at most one, the situation that went worst."""
        met = [
            (place, each, each.digest(sender))
            for place, step in enumerate(steps, start=1)
            for each in somatic_rules.situations(step.executor, form, step.args)
        ]
        ends = self._ends([key for _, _, key in met])
        outcomes: dict[str, Outcome] = {}
        worst: dict[int, Warned] = {}
        for place, situation, key in met:
            found = self._warned(place, situation, ends.get(key, ()), outcomes, outcome_of)
            if found is not None and (place not in worst or found.marker < worst[place].marker):
                worst[place] = found
        return [worst[place] for place in sorted(worst)]

    def forget(self, sources: Sequence[str]) -> int:
        """Take out what these turns left."""
        with self._db.write() as tx:
            return tx.execute(
                "DELETE FROM somatic WHERE source IN (SELECT value FROM json_each(?))",
                (canonical_json(list(sources)).decode(),),
            )

    def _warned(
        self,
        place: int,
        situation: Situation,
        ends: Sequence[End],
        outcomes: dict[str, Outcome],
        outcome_of: Callable[[str], Outcome],
    ) -> Warned | None:
        for end in ends:
            if end.source not in outcomes:
                outcomes[end.source] = outcome_of(end.source)
        felt = [somatic_rules.felt(end, outcomes[end.source], self._rules) for end in ends]
        now = self._clock.now()
        if not somatic_rules.warns(situation, felt, now, self._rules):
            return None
        bad = [each for each in felt if each.value < 0]
        marker = somatic_rules.marker(felt, now, self._rules)
        return Warned(place, situation, marker, len(bad), len(felt), bad[-1])

    def _ends(self, keys: Sequence[str]) -> dict[str, list[End]]:
        found: dict[str, list[End]] = {}
        if keys:
            for key, source, ts, ok, kind, irreversible in self._db.query(
                _FIND, (canonical_json(list(keys)).decode(),)
            ):
                found.setdefault(key, []).append(End(source, from_text(ts), bool(ok), kind, bool(irreversible)))
        return found
