"""Predictive fitness, measured live: each fact that steered a step is scored against how that step went.

The one writer of ``scores``.

Rules: a fact counts once for a step of a turn. It is scored as soon as the turn is closed, by whether the step
succeeded; a word of the owner, or an undo, within the time in which one may come changes that, and after it nothing
does. Holds names and numbers, never words.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, to_text
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.fact import Fact
from metnos.grimoire.trace import StepTrace
from metnos.grimoire.usefulness import WAIT
from metnos.life import fitness_rules, vitality_rules
from metnos.life.fitness_rules import Foretold
from metnos.life.vitality_rules import RULES, Rules, Score
from metnos.store.db import Database

_HALVINGS = 10  # what came before so many half-lives weighs a thousandth
_AT_ONCE = 500


class Fitness:
    """What was foretold, and what came true."""

    def __init__(self, db: Database, clock: Clock, rules: Rules = RULES) -> None:
        self._db = db
        self._clock = clock
        self._rules = rules

    def note(self, turn: str, closed: datetime, facts: Sequence[Fact], steps: Sequence[StepTrace]) -> int:
        """Score the facts that steered a turn against its steps; returns how many scores are new."""
        return self.score(turn, closed, list(fitness_rules.foretold(facts, steps)), final=False)

    def score(self, source: str, ts: datetime, foretold: Sequence[Foretold], *, final: bool = True) -> int:
        """Score what was foretold of a turn, or of an event, which ``source`` names; returns how many are new.

        ``final``: nobody will say more about it, as of what was only watched.
        """
        rows = [
            (source, each.step, each.fact, each.confidence, each.expects, each.ok, each.ok, final, to_text(ts))
            for each in foretold
        ]
        if not rows:
            return 0
        with self._db.write() as tx:
            put = (
                "INSERT OR IGNORE INTO scores (turn, step, fact, confidence, expects, ok, went, final, ts)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            )
            return sum(tx.execute(put, row) for row in rows)

    def settle(self, outcome_of: Callable[[str], Outcome]) -> int:
        """Let what came after turns count; returns how many scores changed."""
        old = to_text(self._clock.now() - WAIT)
        found = self._db.query(
            "SELECT seq, turn, ok, went, ts <= ? FROM scores WHERE final = 0 ORDER BY seq LIMIT ?", (old, _AT_ONCE)
        )
        outcomes = {turn: outcome_of(turn) for turn in dict.fromkeys(turn for _, turn, *_ in found)}
        changed = []
        for seq, turn, ok, before, is_old in found:
            outcome = outcomes[turn]
            now, final = fitness_rules.went(bool(ok), outcome), fitness_rules.is_final(outcome, bool(is_old))
            if final or now != bool(before):
                changed.append((now, final, seq, now != bool(before)))
        if changed:
            with self._db.write() as tx:
                tx.execute_many("UPDATE scores SET went = ?, final = ? WHERE seq = ?", [row[:3] for row in changed])
        return sum(turned for *_, turned in changed)

    def value(self) -> float:
        """Predictive fitness as it stands."""
        count = int(self._rules.half_life * _HALVINGS)
        rows = self._db.query("SELECT confidence, expects = went FROM scores ORDER BY seq DESC LIMIT ?", (count,))
        return vitality_rules.fitness([Score(sure, bool(hit)) for sure, hit in reversed(rows)], self._rules)

    def counts(self) -> tuple[int, int]:
        """How often something was foretold, and how often it came true."""
        row = self._db.first("SELECT count(*), coalesce(sum(expects = went), 0) FROM scores")
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def forget(self, turns: Sequence[str], facts: Sequence[str]) -> int:
        """Take out what is about these turns or these facts."""
        with self._db.write() as tx:
            return tx.execute(
                "DELETE FROM scores WHERE turn IN (SELECT value FROM json_each(?))"
                " OR fact IN (SELECT value FROM json_each(?))",
                (canonical_json(list(turns)).decode(), canonical_json(list(facts)).decode()),
            )
