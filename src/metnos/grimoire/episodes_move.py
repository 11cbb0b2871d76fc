"""Moving every episode from one engine to the other.

Rules: the copy is made beside what is in use; it can be stopped and killed, and goes on where it was. At the end nobody
may write for a moment: what came meanwhile is copied, both are compared by count and by a digest over every row and
every vector, and only if they are equal is the other engine put in charge, at one stroke. Then what was in use is
deleted. What changed under a copy makes the comparison fail; then the copy is made anew, once.

Does not guarantee that another process that has the old one open notices: stop the daemon before.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock
from metnos.core.errors import StoreError, UsageError
from metnos.grimoire import episodes_folder as place
from metnos.grimoire import episodes_rows as rows
from metnos.grimoire.episode import Where
from metnos.grimoire.episodes import ENGINES, Engine, open_engine

_BATCH = 1_000  # episodes copied in one commit

Tell = Callable[[int, int], None]  # how many are done, of how many


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved. ``done`` is false if it was stopped before the end."""

    engine: str
    count: int
    digest: str
    done: bool


def move(
    folder: Path,
    engine: str,
    clock: Clock,
    busy_timeout_s: float = 10.0,
    *,
    tell: Tell = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Moved:
    """Put ``engine`` in charge of everything that is in the folder. Call it again to go on."""
    before = place.in_charge(folder)
    if engine not in ENGINES:
        raise UsageError(f"no engine for episodes is called {engine!r}", fix=f"There are: {', '.join(ENGINES)}.")
    if before is None or before == engine:
        raise UsageError(f"the episodes are kept by {before or 'nobody'}: there is nothing to move to {engine}")
    source = open_engine(folder, before, clock, busy_timeout_s)
    try:
        moved = _attempt(folder, source, engine, clock, busy_timeout_s, tell, stop)
        if moved is None:  # it had begun earlier, and what was copied then has changed since
            place.drop(folder, engine)
            moved = _attempt(folder, source, engine, clock, busy_timeout_s, tell, stop)
    finally:
        source.close()
    if moved is None:
        place.drop(folder, engine)
        raise StoreError(
            "the copy is not equal to what it was copied from; it was dropped, and nothing has changed",
            fix="Stop whatever else uses the episodes, and try again.",
        )
    if moved.done:
        place.drop(folder, before)
    return moved


def digest_of(store: Engine) -> tuple[int, str]:
    """How many episodes, and a digest over all of them and their vectors, in order."""
    digest, count, after = hashlib.sha256(), 0, 0
    while chunk := store.select(Where(), after=after, count=_BATCH):
        for each, half in zip(chunk, store.halves_of(chunk), strict=True):
            digest.update(canonical_json(rows.to_row(each, each.seq)))
            digest.update(b"-" if half is None else half.tobytes())
        count, after = count + len(chunk), chunk[-1].seq
    return count, digest.hexdigest()


def _attempt(
    folder: Path,
    source: Engine,
    engine: str,
    clock: Clock,
    busy_timeout_s: float,
    tell: Tell,
    stop: Callable[[], bool],
) -> Moved | None:
    """One way through; nothing if the copy turned out to differ."""
    target = open_engine(folder, engine, clock, busy_timeout_s)
    try:
        if target.space is not None and target.space != source.space:
            return None
        target.found(source.space, 0)
        if not _copy(source, target, tell, stop):
            return Moved(engine, target.count(), "", done=False)
        with source.frozen():
            _copy(source, target, tell, lambda: False)
            target.found(None, source.last_seq())
            count, digest = digest_of(source)
            if (count, digest) != digest_of(target):
                return None
            place.hand_over(folder, engine)
        return Moved(engine, count, digest, done=True)
    finally:
        target.close()


def _copy(source: Engine, target: Engine, tell: Tell, stop: Callable[[], bool]) -> bool:
    """Copy what comes after the last that was copied; says whether that was all."""
    newest = target.select(Where(), count=1, newest_first=True)
    after = newest[0].seq if newest else 0
    done, total = target.count(), source.count()
    while chunk := source.select(Where(), after=after, count=_BATCH):
        if stop():
            return False
        target.copy_in(chunk, source.halves_of(chunk))
        after, done = chunk[-1].seq, done + len(chunk)
        tell(done, total)
    return True
