"""A memory in a folder of its own, with no workspace around it: for any agent loop.

Rules: nothing here loads what acts (executors, sandbox, turns). The folder holds what ``memory/`` of a workspace holds,
and PLAYBOOK.md if something was learnt that belongs there. Several processes may use it at once.
"""

import contextlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from metnos.app import dating
from metnos.core import files
from metnos.core.clock import Clock
from metnos.core.embedding import Embedder
from metnos.core.errors import ModelError, StoreBusy, WorkspaceError
from metnos.grimoire import episodes_folder, facts_admit, facts_rows, memory_schema, reembed
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.forget import Forgetting, Plan
from metnos.grimoire.forget import Forgotten as Gone
from metnos.grimoire.mind import Mind
from metnos.grimoire.question import Span
from metnos.store.compact import compact
from metnos.store.db import Database

BUSY = "another process is learning"


class Alone(Mind):
    """The memory in a folder, which is made if it is not there."""

    def __init__(self, folder: Path, embedder: Embedder | None, clock: Clock) -> None:
        try:
            files.private_folder(folder)
        except OSError as error:
            raise WorkspaceError(f"{folder} cannot be a folder: {error.strerror}", fix="Name another place.") from error
        if not folder.is_dir():
            raise WorkspaceError(f"{folder} is no folder", fix="Name a folder; it is made if it is not there.")
        self._folder, self._embedder, self._clock = folder, embedder, clock
        place = folder / "episodes"
        self.db = Database(folder / "grimoire.db", memory_schema.MIGRATIONS, clock=clock)
        self.episodes = open_episodes(place, episodes_folder.in_charge(place) or "sqlite", clock)

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def root(self) -> Path:
        return self._folder

    @property
    def embedder(self) -> Embedder | None:
        return self._embedder

    def dates(self, text: str, now: datetime) -> Iterator[tuple[str, Span]]:
        return dating.dates(text, now)

    def asks(self, text: str) -> bool:
        return text.rstrip().endswith("?")

    # -- what is done with the whole

    def learn(self, seconds: float) -> tuple[bool, dict[str, int], str]:
        """Whether it was finished, how much came of it, and why not."""
        try:
            embedder = self.meant()
        except ModelError:
            embedder = None  # words are enough to learn from
        cycle = self.consolidate(seconds, embedder)
        if cycle is None:
            return False, {}, BUSY
        return cycle.finished, dict(cycle.counts), "" if cycle.finished else "its time was used up"

    def forget(self, words: str, ids: Sequence[str]) -> Gone:
        forgetting = Forgetting(self.episodes, self.facts, self.playbook, self._folder, self._clock)
        plan = forgetting.plan(words, ids)
        return Gone() if plan.is_empty else self._take_out(forgetting, plan)

    def _take_out(self, forgetting: Forgetting, plan: Plan) -> Gone:
        reembed.forgotten(self._folder, "episodes", plan.episodes)
        reembed.forgotten(self._folder, "facts", plan.facts)
        gone = forgetting.forget(plan)
        with contextlib.suppress(StoreBusy):  # somebody is reading: the log was emptied, and the next one gets the rest
            compact(self.db.path)
        return gone

    def agree(self, fact: str) -> bool:
        """Let a fact count that waited. Without a workspace there is no inbox: the program answers for its user."""
        with self.db.write() as tx:
            found = facts_rows.read(tx, [fact])
            return bool(found) and bool(facts_admit.agreed(self.facts, tx, found[0]))

    def close(self) -> None:
        self.episodes.close()
        self.db.close()
