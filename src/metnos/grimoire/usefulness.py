"""Whether memories helped: what had a part in a turn, and how that turn ended. The one writer of ``recalls``.

Rules: being shown strengthens nothing. A memory that steered a plan helped if the owner let it stand or liked it, and
did harm if the owner took it back or complained; one that was only shown gets the owner's praise or blame and nothing
else. Each is counted once, when what came after the turn can be known: at once if the owner said a word, else after a
while. What this holds is names and numbers, never words.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, to_text
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.episode import Mark
from metnos.grimoire.episodes import Episodes
from metnos.grimoire.facts import Facts
from metnos.store.db import Database

WAIT = timedelta(days=1)  # whoever wants something taken back mostly notices within a day
_KINDS = ("episode", "fact")
_AT_ONCE = 500
_TWINS = "SELECT id FROM facts WHERE kind = 'heuristic' AND json_extract(data, '$.fact') = ?"  # as the playbook has it


@dataclass(frozen=True, slots=True)
class Settled:
    """A memory that had a part in a turn: by which factors it was chosen, and whether it helped (1) or not (-1)."""

    turn: str
    memory: str
    factors: Mapping[str, float]
    helped: int


class Usefulness:
    """What was recalled, and what became of it."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def note(self, turn: str, memories: Sequence[Mapping[str, Any]]) -> None:
        """These memories had a part in this turn."""
        now = to_text(self._clock.now())
        rows = [
            (
                turn,
                str(each["id"]),
                str(each["kind"]),
                canonical_json(dict(each.get("factors", {}))).decode(),
                int(bool(each.get("steered"))),
                now,
            )
            for each in memories
            if each.get("id") and each.get("kind") in _KINDS
        ]
        with self._db.write() as tx:
            tx.execute_many(
                "INSERT INTO recalls (turn, memory, kind, factors, steered, ts) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET steered = max(steered, excluded.steered)",  # it may have been shown, too
                rows,
            )

    def settle(self, facts: Facts, episodes: Episodes, outcome_of: Callable[[str], Outcome]) -> list[Settled]:
        """Count what can be known by now; the memories that proved useful or harmful."""
        before, now = to_text(self._clock.now() - WAIT), self._clock.now()
        open_ = self._db.query(
            "SELECT turn, memory, kind, steered, factors, ts <= ? FROM recalls WHERE helped IS NULL"
            " ORDER BY ts LIMIT ?",
            (before, _AT_ONCE),
        )
        told: list[Settled] = []
        for turn, memory, kind, steered, factors, is_old in open_:
            helped = _helped(outcome_of(turn), bool(steered), bool(is_old))
            if helped is None:
                continue
            with self._db.write() as tx:
                put = "UPDATE recalls SET helped = ? WHERE turn = ? AND memory = ? AND helped IS NULL"
                if not tx.execute(put, (helped, turn, memory)) or helped == 0:
                    continue
                told.append(Settled(turn, memory, json.loads(factors), helped))
                if kind == "fact":
                    twins = [twin for (twin,) in tx.query(_TWINS, (memory,))]
                    (facts.helped if helped > 0 else facts.harmed)([memory, *twins])
            if kind == "episode" and helped > 0:
                episodes.mark([Mark(memory, used=1, used_at=now)])
        self._link(facts, told)
        return told

    def _link(self, facts: Facts, told: Sequence[Settled]) -> None:
        """Facts that helped in one turn belong together: what a dream has to recombine is what never did."""
        for turn in dict.fromkeys(each.turn for each in told):
            known = facts.get(sorted(each.memory for each in told if each.turn == turn and each.helped > 0))
            for one, other in combinations([fact.id for fact in known], 2):
                facts.link(one, other, "used_with")

    def forget(self, turns: Sequence[str], memories: Sequence[str]) -> int:
        """Take out what is about these turns or these memories."""
        listed = (canonical_json(list(turns)).decode(), canonical_json(list(memories)).decode())
        with self._db.write() as tx:
            return tx.execute(
                "DELETE FROM recalls WHERE turn IN (SELECT value FROM json_each(?))"
                " OR memory IN (SELECT value FROM json_each(?))",
                listed,
            )


def _helped(outcome: Outcome, steered: bool, is_old: bool) -> int | None:
    """1 helped, -1 did harm, 0 had no part in how it ended; None: nobody can know yet."""
    if outcome.feedback is False or (steered and outcome.undone):
        return -1
    if outcome.feedback is True or (steered and outcome.repeated > 0):
        return 1
    if not is_old:
        return None
    return 1 if steered and not outcome.undone else 0
