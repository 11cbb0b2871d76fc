"""Writing PLAYBOOK.md so that nothing is lost: neither what the owner saves meanwhile, nor who wrote which line.

The file and the memory of it cannot change at one stroke, so the memory notes first what is about to be written, then
the file changes, then the memory says that it did. Whoever comes after a process that was killed in between sees by
the two contents, the file's and the staged one's, how far it came. Rules:

- Content that somebody saved in the last moment is kept in the history before anything else happens, and is what is
  merged next. If the file was saved once more since, that is the owner's newest word; the other stays in the history.
- A file that is missing or empty says nothing about any line: they are written again. So does one that was founded anew
  since, unless it is what would be left if somebody had taken out Metnos's lines and nothing else.
- Lines that the file marks as Metnos's and nobody remembers are Metnos's too: they leave by the next run.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from metnos.core.clock import Clock, to_text
from metnos.core.errors import MetnosError, StoreBusy
from metnos.core.ids import UlidMaker
from metnos.grimoire import playbook_marks as marks
from metnos.grimoire import playbook_text as texts
from metnos.grimoire.playbook_file import PlaybookFile, digest_of
from metnos.grimoire.playbook_history import METNOS, OWNER, History, Intent, State
from metnos.grimoire.playbook_text import Change, Line, Merged
from metnos.store.db import Database, Transaction

_TRIES = 20  # saves that may come between before this gives way: no editor saves that often
_FOUND = "as it was found"


class Writer:
    """Brings the file to what it should be. Everything here is called with the lock held."""

    def __init__(self, path: Path, db: Database, clock: Clock) -> None:
        self.file = PlaybookFile(path, db.path.with_name("playbook.lock"))
        self.history = History(db, clock)
        self._db = db
        self._clock = clock
        self._ids = UlidMaker(clock)

    def recover(self) -> State:
        """Settle what a run that was killed left behind; what is true of the file now."""
        state = self._certain()
        intent = state.intent
        if intent is None:
            return self.with_lost(state)
        disk, staged = self.file.read(), self.file.beside(intent.staged)
        entered = {line.words for line in intent.ours} - {line.words for line in state.ours}
        there = {item.words for item in texts.parse(disk or b"").items}
        # Lines that entered show a swap only where the file has changed: an earlier swap may have brought them.
        edited = digest_of(disk) != intent.base and bool(entered & there)
        swapped = digest_of(disk) == intent.made or digest_of(staged) != intent.made or edited
        saved: bytes | None = None
        if not swapped:
            state = self._drop(state)
            if intent.saved and digest_of(disk) == intent.base:
                saved = self.history.content(intent.saved)
        elif staged is not None and digest_of(staged) not in (intent.base, intent.made):
            self._keep_version(staged)
            if digest_of(disk) == intent.made:
                saved = staged
                state = replace(state, intent=None, maybe=(*state.maybe, *intent.ours))
        if saved is not None:
            self.write(state, (), (), "a save that came between was merged", saved)
        elif swapped:
            self.settle(replace(state, ours=intent.ours, headings=intent.headings))
        self.file.sweep()
        return self.with_lost(self.history.state())

    def with_lost(self, state: State) -> State:
        """With the lines that the file says to be Metnos's and that are not remembered: its memory was lost, or it came
        from elsewhere. Of what the owner decided about, as what they took out or put back, their word counts."""
        known = {line.words for line in (*state.ours, *state.maybe, *(state.intent.ours if state.intent else ()))}
        found = marks.lines_of(self.file.read() or b"")
        lost = [line for line in found if line.words not in known and texts.bar_of(line.words) not in state.barred]
        return replace(state, ours=(*state.ours, *lost)) if lost else state

    def write(
        self, state: State, wanted: Sequence[Line], gone: Collection[str], why: str, saved: bytes | None = None
    ) -> tuple[Merged, bool]:
        """Put lines in and take lines out, beginning again as often as somebody saves the file meanwhile.

        ``saved`` is what the owner wants there, if it is not what is there. Also says whether the file was renewed.
        """
        for _ in range(_TRIES):
            disk = self.file.read()
            found = disk if saved is None else saved
            blank = self._says_nothing(found, state)
            ours = () if blank else state.ours
            change = Change(ours, state.maybe, (*state.ours, *wanted) if blank else wanted, gone, state.headings)
            base = found if found and found.strip() else founded() if change.wanted else found or b""
            merged = marks.merge(base, change)
            state, version = self._note(state, found, merged)
            if merged.content == (disk or b""):
                self.settle(replace(state, ours=merged.ours, headings=merged.headings))
                return merged, False
            if self.replace(disk, merged, state, METNOS, why, version if saved is not None else 0):
                return merged, blank and bool(state.ours)
            saved = self._came_between(merged)
            # What was written a moment ago may be in what is saved next.
            state = replace(state, maybe=(*state.maybe, *merged.entered))
        raise StoreBusy("PLAYBOOK.md is saved by somebody again and again", fix="Try again in a moment.")

    def replace(self, disk: bytes | None, merged: Merged, state: State, by: str, why: str, saved: int = 0) -> bool:
        """Write a content if the file is still what it was; says whether it was. If not, the intent is left."""
        staged = self.file.stage(merged.content, self._ids())
        try:
            with self._db.write() as tx:
                version = self.history.add(tx, merged.content, by, why, anyway=True)
                made, base = digest_of(merged.content), digest_of(disk)
                intent = Intent(base, made, staged, version, merged.ours, merged.headings, saved)
                self.history.keep(tx, replace(state, intent=intent))
        except MetnosError:
            self.file.sweep()
            raise
        try:
            done = self.file.swap(staged, disk)
        except MetnosError:
            self._drop(self.history.state())
            self.file.sweep()
            raise
        if done:
            self.settle(replace(state, ours=merged.ours, headings=merged.headings))
            self.file.sweep()
        return done

    def settle(self, state: State) -> None:
        """Keep what is true of the file now, and in the table of heuristics with it."""
        now = to_text(self._clock.now())
        ours = {line.fact: line for line in state.ours}
        with self._db.write() as tx:
            self.history.keep(tx, replace(state, intent=None, maybe=()))
            for fact, entered in tx.query("SELECT fact, entered FROM heuristics"):
                line = ours.get(fact)
                if line is not None:
                    tx.execute(
                        "UPDATE heuristics SET entered = ?, strategy = ?, line = ?, barred = 0 WHERE fact = ?",
                        (entered or now, line.strategy, line.words, fact),
                    )
                elif entered:
                    tx.execute("UPDATE heuristics SET entered = '', ticks = 0 WHERE fact = ?", (fact,))

    def note_disk(self) -> bytes | None:
        """What is in the file, kept in the history."""
        disk = self.file.read()
        if disk is not None:
            self._keep_version(disk)
        return disk

    def bar(self, tx: Transaction, lines: Collection[Line]) -> None:
        for line in lines:
            tx.execute("UPDATE heuristics SET barred = 1, line = ? WHERE fact = ?", (line.words, line.fact))

    # -- inside

    def _certain(self) -> State:
        """The state, for certain.

        What a killed process was about to commit may be in the log without being seen yet, and would come true when the
        log is next read anew. Writing over it settles that it did not; SQLite does not write a row that stays the same.
        """
        if not self.file.staged():
            return self.history.state()
        with self._db.write() as tx:
            state = self.history.state()
            self.history.keep(tx, state)
        if state.intent is None:
            self.file.sweep()
        return state

    def _note(self, state: State, found: bytes | None, merged: Merged) -> tuple[State, int]:
        """Keep what was found, and bar what the owner took out or says already; the number of the version."""
        barred = (*merged.missing, *merged.said)
        missing = {line.fact for line in merged.missing}
        noted = replace(
            state,
            barred=state.barred | {texts.bar_of(line.words) for line in barred},
            ours=tuple(line for line in state.ours if line.fact not in missing),
        )
        with self._db.write() as tx:
            version = 0 if found is None else self.history.add(tx, found, OWNER, _FOUND)
            self.bar(tx, barred)
        return noted, version

    def _came_between(self, merged: Merged) -> bytes | None:
        """After a swap that met something else: what somebody had saved, if it is not what is in the file now."""
        state = self.history.state()
        if state.intent is None:
            return None
        staged = self.file.beside(state.intent.staged)
        if staged is None or staged == merged.content:
            self._drop(state)
            self.file.sweep()
            return None
        self._keep_version(staged)
        return staged

    def _keep_version(self, content: bytes) -> None:
        with self._db.write() as tx:
            self.history.add(tx, content, OWNER, _FOUND)

    def _drop(self, state: State) -> State:
        with self._db.write() as tx:
            return self.history.drop(tx, state)

    def _says_nothing(self, found: bytes | None, state: State) -> bool:
        """Whether a content is no decision about the lines that were there."""
        if found is None or not found.strip():
            return True
        if not state.ours or _told(found) != _told(founded()):
            return False
        last = self.history.newest()
        return last is not None and _told(texts.without(last, {line.words for line in state.ours})) != _told(founded())


def founded() -> bytes:
    """The file as it is when a workspace is founded."""
    return resources.files("metnos.law").joinpath("templates", "PLAYBOOK.md").read_bytes()


def _told(content: bytes) -> list[bytes]:
    return [line.strip() for line in marks.unmarked(content).splitlines() if line.strip()]
