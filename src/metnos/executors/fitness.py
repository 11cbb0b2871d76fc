"""What each call of an executor was worth: a projection of closed turns, and what was said of them later.

Rules: the one writer of ``executor_fitness``. A turn counts once: its mark is committed together with its rows. What is
said afterwards (a good or a bad word, an undo, a redo) changes what a call was worth, as often as it is said, and the
latest holds. Only steps that really ran count: what was refused, rehearsed, cut short or waits has no audit line.
Fitness belongs to one version, by its digest: a new one begins anew. Holds names, digests, numbers and words of the
vocabulary, never content. Does not see calls that were made without a turn, nor those that executors make of another.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from metnos.core.canon import canonical_json
from metnos.core.clock import from_text, to_text
from metnos.executors import fitness_rules
from metnos.executors.fitness_rules import Fitness, Rules, Said, Seen, Step
from metnos.store import applied
from metnos.store.db import Database, Row, Transaction

PROJECTION = "fitness"
RULES = Rules()

Store = Database | Transaction
_PUT = (
    "INSERT OR REPLACE INTO executor_fitness (turn, step, name, digest, goal, ts, changed, measured, utility)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SAID = "owner IS NOT NULL OR undone = 1 OR critic IS NOT NULL"
_SILENCE = Said()


def record(db: Database, turn: str, ts: datetime, goal: str, steps: Sequence[Step], rules: Rules = RULES) -> bool:
    """Work a closed turn in, unless that was done before; says whether it was done now."""
    with db.write() as tx:
        if not applied.mark(tx, PROJECTION, turn, to_text(ts)):
            return False
        for step in steps:
            if not step.audit or not step.digest:
                continue
            found = fitness_rules.measured(step, rules) if goal else None
            changed = bool(step.action)
            worth = fitness_rules.utility(found, _SILENCE, rules, changed=changed)
            values = (turn, step.number, step.executor, step.digest, goal, to_text(ts), int(changed), found, worth)
            tx.execute(_PUT, values)
        return True


def unapplied(db: Database, turns: Sequence[str]) -> list[str]:
    """Which of these turns were not worked in yet, in the order given."""
    return applied.unapplied(db, PROJECTION, turns)


def settle(db: Database, said: Mapping[str, Said], rules: Rules = RULES, known_since: datetime | None = None) -> int:
    """Let what is said of turns hold, and nothing else that was said before; returns how many calls changed.

    What a critic said holds until it says something else: it is asked once. ``known_since`` is from when on it is known
    what was undone: what was undone in an earlier turn stays so.
    """
    listed = canonical_json(sorted(said)).decode()
    sql = (
        "SELECT turn, step, goal, changed, measured, owner, undone, critic, undone = 1 AND ts < ?"  # noqa: S608 -- ours
        f" FROM executor_fitness WHERE {_SAID} OR turn IN (SELECT value FROM json_each(?))"
    )
    since = to_text(known_since) if known_since else ""
    fresh = [new for row in db.query(sql, (since, listed)) if (new := _heard(row, said, rules)) is not None]
    if fresh:
        with db.write() as tx:
            tx.execute_many(
                "UPDATE executor_fitness SET owner = ?, undone = ?, critic = ?, utility = ?"
                " WHERE turn = ? AND step = ?",
                fresh,
            )
    return len(fresh)


def _heard(row: Row, said: Mapping[str, Said], rules: Rules) -> "tuple[str | int | float | None, ...] | None":
    """The row as it is when everybody was heard; nothing if that changes nothing."""
    turn, step, goal, changed, found, owner, undone, critic, long_ago = row
    word = said.get(turn, _SILENCE)
    word = replace(word, undone=word.undone or bool(long_ago), critic=critic if word.critic is None else word.critic)
    score = None if word.critic is None else min(1.0, max(-1.0, word.critic))
    now = (None if word.owner is None else int(word.owner), int(word.undone), score)
    if now == (owner, undone, critic):
        return None
    worth = fitness_rules.utility(found, word, rules, changed=bool(changed)) if goal else None
    return (*now, worth, turn, step)


def unjudged(store: Store, since: datetime, after: str, most: int) -> list[str]:
    """Turns since then whose worth nobody could tell and nobody has told, the oldest first; those after a turn."""
    rows = store.query(
        "SELECT DISTINCT turn FROM executor_fitness WHERE goal <> '' AND utility IS NULL AND critic IS NULL"
        " AND ts >= ? AND turn > ? ORDER BY turn LIMIT ?",
        (to_text(since), after, most),
    )
    return [turn for (turn,) in rows]


def criticise(db: Database, turn: str, score: float, rules: Rules = RULES) -> int:
    """Let a critic's word on a turn count, where nobody else said anything; returns how many calls changed."""
    sql = "SELECT turn, step, goal, changed, measured, owner, undone, critic FROM executor_fitness WHERE turn = ?"
    fresh = []
    for key, step, goal, changed, found, owner, undone, _ in db.query(sql, (turn,)):
        word = Said(None if owner is None else bool(owner), bool(undone), min(1.0, max(-1.0, score)))
        worth = fitness_rules.utility(found, word, rules, changed=bool(changed)) if goal else None
        fresh.append((word.critic, worth, key, step))
    with db.write() as tx:
        tx.execute_many("UPDATE executor_fitness SET critic = ?, utility = ? WHERE turn = ? AND step = ?", fresh)
    return len(fresh)


def of(store: Store, name: str, digest: str, now: datetime, rules: Rules = RULES) -> list[Fitness]:
    """What one version of an executor is worth, class by class, the fittest first. The unknown class has no name."""
    rows = store.query("SELECT goal, ts, utility FROM executor_fitness WHERE name = ? AND digest = ?", (name, digest))
    found = _by_goal(rows, now, rules)
    return sorted(found, key=lambda each: (-each.value, each.goal))


def in_class(store: Store, goal: str, now: datetime, rules: Rules = RULES) -> dict[tuple[str, str], Fitness]:
    """What every executor that served a class of goals is worth there, by name and digest."""
    rows = store.query("SELECT name, digest, ts, utility FROM executor_fitness WHERE goal = ?", (goal,))
    seen: dict[tuple[str, str], list[Seen]] = {}
    for name, digest, ts, worth in rows:
        seen.setdefault((name, digest), []).append(Seen(from_text(ts), worth))
    return {key: fitness_rules.fitness(goal, each, now, rules) for key, each in seen.items()}


def goals(store: Store) -> dict[str, tuple[int, int]]:
    """Every class of goals that was ever served: how many turns, and how many executors."""
    rows = store.query(
        "SELECT goal, count(DISTINCT turn), count(DISTINCT name) FROM executor_fitness WHERE goal <> ''"
        " GROUP BY goal ORDER BY 2 DESC, goal"
    )
    return {goal: (turns, executors) for goal, turns, executors in rows}


def forget(db: Database, before: datetime) -> int:
    """Drop what is older than that, of which next to nothing is left; says how many calls."""
    with db.write() as tx:
        return tx.execute("DELETE FROM executor_fitness WHERE ts < ?", (to_text(before),))


def _by_goal(rows: Iterable[Row], now: datetime, rules: Rules) -> list[Fitness]:
    seen: dict[str, list[Seen]] = {}
    for goal, ts, worth in rows:
        seen.setdefault(goal, []).append(Seen(from_text(ts), worth))
    return [fitness_rules.fitness(goal, each, now, rules) for goal, each in seen.items()]
