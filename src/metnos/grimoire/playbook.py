"""PLAYBOOK.md: how to act, learnt from what worked. This is its only writer besides the owner.

A heuristic comes in when it has been believed and active for long enough, and goes when it is believed no more. Rules:

- What the owner writes is theirs, wherever it stands. A line of Metnos's that they change is theirs from then on; one
  that they take out never comes back by itself, in whichever fact it is learnt again.
- One process writes at a time, in whole files. What is saved by an editor while Metnos writes is merged, not replaced.
  Killed at any point, the file is as it was or as it was to become, and the next run knows which.
- Every version that was found or written is kept; any can be compared and put back.
- The file says which lines are Metnos's, so that they are known as such where the memory of it was lost. Nobody answers
  for those any more: they go, and come again if they are learnt again.
- Only what was screened comes in, and nothing about the owner or the household, which needs their consent.
- A file that is missing, empty or as it was founded is no decision about any line: they are written again. What the
  owner had written by hand is then in the history, and the report says so.

Does not guarantee to tell a line that was deleted from one that an editor did not know yet when it saved over it: both
are taken for deleted, and `allow` lets such a line in again.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from metnos.core.clock import Clock
from metnos.core.errors import Refused, StoreBusy, WorkspaceError
from metnos.grimoire import fact_rules
from metnos.grimoire import playbook_marks as marks
from metnos.grimoire import playbook_text as texts
from metnos.grimoire.consent import needs_consent
from metnos.grimoire.fact import Fact, Standing
from metnos.grimoire.fact_rules import FactRules
from metnos.grimoire.playbook_file import digest_of
from metnos.grimoire.playbook_history import OWNER, Says, State, Version
from metnos.grimoire.playbook_text import Change, Line, Merged
from metnos.grimoire.playbook_writer import Writer
from metnos.law.principal import Principal
from metnos.store.db import Database

Screen = Callable[[str], str]  # why a text may not be learnt; nothing if it may


@dataclass(frozen=True, slots=True)
class PlaybookRules:
    """When a heuristic comes. How far it must be believed to come and to stay is in `fact_rules`."""

    ticks: int = 10  # that it was active; seed 003's
    most: int = 200  # lines: about 50 KB, which is what seed 003 expects of a month


RULES = PlaybookRules()


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did: lines that came and went; those that the owner took out or rewrote; what was not let in.

    ``renewed`` says that the file was missing or empty and was written again; ``problem``, why nothing was written.
    """

    entered: tuple[Line, ...] = ()
    left: tuple[Line, ...] = ()
    barred: tuple[Line, ...] = ()
    screened: int = 0
    renewed: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Gone:
    """What forgetting took out."""

    lines: int
    versions: int


class Playbook:
    """The playbook of one workspace. ``screen`` says why a text may not be learnt (see `poison`)."""

    def __init__(
        self,
        path: Path,
        db: Database,
        clock: Clock,
        screen: Screen,
        rules: PlaybookRules = RULES,
        belief: FactRules = fact_rules.RULES,
    ) -> None:
        self._writer = Writer(path, db, clock)
        self.history = self._writer.history
        self._file = self._writer.file
        self._db = db
        self._screen = screen
        self._rules = rules
        self._belief = belief

    # -- learning

    def consider(self, heuristics: Iterable[Fact], ticks: int) -> Report:
        """Hold the file against all heuristics that there are, ``ticks`` after the last time.

        A line whose fact is not among them, or is not active any more, leaves.
        """
        facts = {fact.id: fact for fact in heuristics}
        with self._file.locked():
            state = self._writer.recover()
            known = self._count({key: fact for key, fact in facts.items() if _counts(fact)}, ticks)
            gone = [line.fact for line in state.ours if self._leaves(facts.get(line.fact))]
            staying = [line for line in state.ours if line.fact not in gone]
            wanted, screened = self._wanted(facts, known, state, staying)
            merged, renewed = self._writer.write(state, wanted, gone, "what was learnt changed")
        return _report(merged, renewed, screened)

    def look(self) -> Report:
        """Take note of what the owner changed, and settle what an interrupted run left."""
        with self._file.locked():
            return _report(*self._writer.write(self._writer.recover(), (), (), "a missing file was written again"))

    def lines(self) -> tuple[Line, ...]:
        """What stands in the file by Metnos's hand, as far as it is known or the file says so."""
        state = self.history.state()
        try:
            return self._writer.with_lost(state).ours
        except WorkspaceError:
            return state.ours  # too large to be read: whoever writes it says so

    def allow(self, fact: str) -> bool:
        """Let a heuristic in again that the owner took out; says whether it was barred. It has to prove itself anew."""
        with self._file.locked(), self._db.write() as tx:
            row = tx.first("SELECT line FROM heuristics WHERE fact = ? AND barred = 1", (fact,))
            if row is None:
                return False
            state = self.history.state()
            self.history.keep(tx, replace(state, barred=state.barred - {texts.bar_of(row[0])}))
            tx.execute("UPDATE heuristics SET barred = 0, ticks = 0, entered = '' WHERE fact = ?", (fact,))
            return True

    # -- versions

    def versions(self) -> list[Version]:
        """All versions, the oldest first."""
        return self.history.versions()

    def diff(self, older: int, newer: int) -> str:
        return self.history.diff(older, newer)

    def restore(self, version: int, by: Principal) -> Report:
        """Put a version back, which only a person may: it can hold lines that the owner took out. Lines that it does
        not hold do not come back by themselves."""
        if not by.may_answer:
            raise Refused(
                f"{by} may not put a version back: a person has to",
                fix=f"Type at a terminal: metnos memory playbook --restore {version}",
            )
        content = self.history.content(version)
        with self._file.locked():
            state = self._writer.recover()
            rows = self._db.query("SELECT fact, strategy, line FROM heuristics WHERE entered <> '' OR barred = 1")
            known = {line.fact: line for line in (*(Line(*row) for row in rows), *state.ours)}
            found = texts.merge(content, Change(maybe=tuple(known.values()), headings=state.headings))
            there = {line.fact for line in found.ours}
            away = tuple(line for key, line in known.items() if key not in there)
            theirs = [line for line in marks.lines_of(content) if line.words not in {each.words for each in found.ours}]
            bars = state.barred - {texts.bar_of(line.words) for line in found.ours}
            then = replace(state, barred=bars | {texts.bar_of(line.words) for line in (*away, *theirs)})
            before = self._writer.note_disk()
            with self._db.write() as tx:
                self._writer.bar(tx, away)
            if before == content:
                self._writer.settle(replace(then, ours=found.ours, headings=found.headings))
            elif not self._writer.replace(before, found, then, OWNER, f"version {version} was put back"):
                raise StoreBusy("PLAYBOOK.md was saved by somebody else just now", fix="Try again.")
            return Report(barred=away)

    def put(self, content: bytes, expected: str, why: str) -> bool:
        """Write what the owner agreed to, if the file still is what they saw (by its digest); says whether it was."""
        with self._file.locked():
            state = self._writer.recover()
            before = self._writer.note_disk()
            if digest_of(before) != expected:
                return False
            if before == content:
                return True
            found = texts.merge(content, Change(maybe=state.ours, headings=state.headings))
            return self._writer.replace(before, found, state, OWNER, why)

    # -- forgetting

    def forget(self, facts: Collection[str], says: Says = lambda _: False) -> Gone:
        """Take Metnos's lines of these facts, and those that say it, out of the file and out of every version.

        What the owner wrote stays in the file, and says it no more in any version.
        """
        with self._file.locked():
            state = self._writer.recover()
            rows = self._db.query("SELECT fact, strategy, line FROM heuristics")
            lines = {*state.ours, *state.maybe, *(Line(*row) for row in rows)}
            out = {line for line in lines if line.fact in facts or says(line.words)}
            words = {line.words for line in out}
            merged, _ = self._writer.write(state, (), {line.fact for line in out}, "something was forgotten")
            with self._db.write() as tx:
                tx.query("PRAGMA secure_delete = ON")
                versions = self.history.forget(tx, words, says)
                state = self.history.state()
                self.history.keep(tx, replace(state, maybe=tuple(set(state.maybe) - out)))
                for line in out:
                    tx.execute("DELETE FROM heuristics WHERE fact = ?", (line.fact,))
        return Gone(len(merged.left), versions)

    # -- what comes and goes

    def _count(self, facts: dict[str, Fact], ticks: int) -> dict[str, tuple[int, bool]]:
        """Let heuristics that were there already grow older; how old each is, and whether it is barred."""
        with self._db.write() as tx:
            rows = tx.query("SELECT fact FROM heuristics")
            there = {key for (key,) in rows}
            for key in there:
                tx.execute(
                    "UPDATE heuristics SET ticks = ? + ticks * ? WHERE fact = ?",
                    (ticks if key in facts else 0, int(key in facts), key),
                )
            for key, fact in facts.items():
                if key not in there:
                    tx.execute(
                        "INSERT INTO heuristics (fact, strategy, line, entered)"
                        " SELECT id, ?, ?, '' FROM facts WHERE id = ?",
                        (_strategy(fact), texts.words_of(fact.text), key),
                    )
            found = tx.query("SELECT fact, ticks, barred FROM heuristics")
        return {key: (count, bool(barred)) for key, count, barred in found}

    def _wanted(
        self, facts: dict[str, Fact], known: dict[str, tuple[int, bool]], state: State, staying: Collection[Line]
    ) -> tuple[list[Line], int]:
        """The lines that have earned their place, the surest first, and how many of those were not let in."""
        here = {line.fact for line in state.ours}
        earned = [
            fact
            for key, fact in facts.items()
            if key not in here
            and key in known
            and not known[key][1]
            and known[key][0] >= self._rules.ticks
            and fact_rules.may_enter_playbook(fact, self._belief)
            and fact.harmed <= fact.helped
        ]
        earned.sort(key=lambda fact: (-fact.confidence, fact.id))
        clean = [fact for fact in earned if not self._kept_out(fact)]
        lines = [Line(fact.id, _strategy(fact), texts.words_of(fact.text)) for fact in clean]
        taken = {line.words for line in staying}
        fresh: list[Line] = []
        for line in lines:
            if line.words and line.words not in taken and texts.bar_of(line.words) not in state.barred:
                taken.add(line.words)
                fresh.append(line)
        return fresh[: max(0, self._rules.most - len(state.ours))], len(earned) - len(clean)

    def _leaves(self, fact: Fact | None) -> bool:
        return fact is None or fact_rules.must_leave_playbook(fact, self._belief) or self._kept_out(fact)

    def _kept_out(self, fact: Fact) -> bool:
        return needs_consent(fact) or any(self._screen(text) for text in (fact.text, _strategy(fact)))


def _counts(fact: Fact) -> bool:
    return fact.standing is Standing.ACTIVE


def _strategy(fact: Fact) -> str:
    found = fact.data.get("strategy", "")
    return texts.name_of(found) if isinstance(found, str) else ""


def _report(merged: Merged, renewed: bool, screened: int = 0) -> Report:
    barred = (*merged.missing, *merged.said)
    return Report(merged.entered, merged.left, barred, screened, renewed, merged.problem)
