"""Whether the embedder still says what it said: twenty texts that never change, embedded again every week.

A model that was exchanged under its own name, a library that rounds differently, a server that prepares texts in
another way: none of them fails, and all of them make old and new vectors speak two languages. So the vectors of the
reference texts are kept from the day on which the memory began to use a space, and compared:

- drift: the mean cosine distance between then and now;
- stability: how many of each text's five nearest among the others are the same;
- norm variance: vectors are promised to have length one, and this says whether they do.

Rules: the kept vectors are those with which the space began, not last week's, because a drift that is small every week
is a large one after a year, and the oldest memories are as old as that. Critical drift stops the writing of vectors
(`require_writable` says what to do) until everything was embedded again; nothing that is kept is touched. Drift alone
can be critical; neighbours alone only warn, because texts that are hardly related swap places for nothing.

Does not guarantee anything about texts that are unlike all twenty.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.embedding import Embedder, Space
from metnos.core.errors import ModelError
from metnos.grimoire.reports import Reports
from metnos.store.db import Database

if TYPE_CHECKING:
    from metnos.core.embedding import Vectors

REEMBED = "metnos memory reembed"  # the command that embeds everything again
_NAME = "health"  # of the row in `progress`, and the kind of the report

# Four subjects of five texts each, so that every text has neighbours that are near for a reason. Requests, notes, log
# lines, a table row, code, a path, a measurement; twelve languages. Never change one: change is what they measure.
REFERENCES: tuple[str, ...] = (
    # files and folders
    "Move the PDFs in the inbox to the papers folder and tell me how many there were.",
    "Sposta le foto di agosto nella cartella delle vacanze, senza sovrascrivere niente.",
    "Welche Dateien in Downloads sind größer als hundert Megabyte?",
    "error: cannot move /srv/media/report-2024.pdf: the target exists already (EEXIST)",
    "Renomme les documents numérisés d'après leur date.",
    # the house and its measurements
    "The boiler was switched off at 21:40; the living room fell from 21.5 °C to 18.9 °C by morning.",
    "La caldaia si è fermata due volte questa settimana, sempre dopo la pioggia.",
    "2025-01-14T06:12:09Z sensor=cellar humidity=71% temperature=12.4 battery=low",
    "¿Cuánta electricidad gastamos el mes pasado en comparación con el año anterior?",
    "| device | minutes on | kWh |  washing machine | 95 | 0.84 |",
    # people, appointments, letters
    "Remind me on Thursday at nine to call the dentist about the bill.",
    "Ricordami di rispondere alla lettera della scuola entro venerdì.",
    "De vergadering met de huisbaas is verplaatst naar dinsdagmiddag.",
    "Proszę przesłać umowę najmu do końca miesiąca.",
    "明日の午後三時に歯医者の予約があります。",
    # programs and machines
    "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)",
    "The backup of last night failed because the disk was full; twelve archives were deleted and it ran again.",
    "Il backup non è riuscito: il disco è pieno, servono almeno quattro gigabyte.",
    "Резервное копирование завершено без ошибок за семь минут.",
    "服务器昨晚重新启动了两次。日志里没有错误。",
)


class State(StrEnum):
    HEALTHY = "healthy"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on a figure is no longer good. Those of drift and stability are seed 003's."""

    drift_warning: float = 0.02
    drift_critical: float = 0.05
    stable: float = 0.85
    unstable: float = 0.60
    neighbours: int = 5
    # Rows of float32 that were divided by their length differ from it by 1e-7: this is a thousand times more.
    norm_variance: float = 1e-4
    norm_off: float = 0.1  # beyond this a dot product is no cosine any more, whatever else is true
    every: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Measured:
    """The three figures, and the largest difference of a vector's length from one."""

    drift: float
    stability: float
    norm_variance: float
    norm_off: float


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found. ``began``: there was nothing to compare with, and the vectors were kept for the next time."""

    state: State
    measured: Measured
    reasons: tuple[str, ...]
    space: Space
    ts: datetime
    began: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"state": str(self.state), "ts": to_text(self.ts), "reasons": list(self.reasons)}


# -- the rules, pure


def measure(kept: "Vectors", now: "Vectors", limits: Limits) -> Measured:
    """Compare the vectors of the reference texts then and now."""
    import numpy as np

    if not np.isfinite(now).all():
        return Measured(drift=1.0, stability=0.0, norm_variance=0.0, norm_off=1.0)  # numbers that are none
    lengths = np.linalg.norm(now.astype(np.float64), axis=1)
    before, after = _unit(kept), _unit(now)
    drift = float(np.mean(1.0 - np.sum(before * after, axis=1)))
    shared = [
        len(one & other) / max(1, len(one))
        for one, other in zip(_nearest(before, limits.neighbours), _nearest(after, limits.neighbours), strict=True)
    ]
    return Measured(max(0.0, drift), float(np.mean(shared)), float(np.var(lengths)), float(np.max(abs(lengths - 1.0))))


def judge(measured: Measured, limits: Limits) -> tuple[State, tuple[str, ...]]:
    """How the embedder stands, and why if not well."""
    drift, stability = measured.drift, measured.stability
    critical: list[str] = []
    warning: list[str] = []
    if drift > limits.drift_critical:
        critical.append(f"vectors moved by {drift:.3f} on average, more than {limits.drift_critical:g}")
    elif drift >= limits.drift_warning:
        said = f"vectors moved by {drift:.3f} on average; below {limits.drift_warning:g} is healthy"
        (critical if stability < limits.unstable else warning).append(said)
    if stability < limits.stable:
        said = f"{stability:.0%} of the nearest neighbours are the same; {limits.stable:.0%} is healthy"
        (critical or warning).append(said)
    if measured.norm_off > limits.norm_off:
        critical.append(f"a vector's length is off by {measured.norm_off:.2f}, and should be one")
    elif measured.norm_variance > limits.norm_variance:
        warning.append(f"the vectors' lengths vary by {measured.norm_variance:.2g}, and should all be one")
    if critical:
        return State.CRITICAL, (*critical, *warning)
    return (State.WARNING if warning else State.HEALTHY), tuple(warning)


def _unit(rows: "Vectors") -> Any:
    import numpy as np

    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1.0)


def _nearest(rows: Any, count: int) -> list[set[int]]:
    import numpy as np

    likeness = rows @ rows.T
    np.fill_diagonal(likeness, -np.inf)
    return [set(map(int, np.argsort(-row, kind="stable")[:count])) for row in likeness]


# -- the check


class EmbeddingHealth:
    """The weekly check of one memory's embedder. The one writer of ``reference_vectors``."""

    def __init__(self, db: Database, clock: Clock, limits: Limits | None = None) -> None:
        self._db = db
        self._clock = clock
        self._limits = limits or Limits()

    def due(self) -> bool:
        """Whether a week is over since the last check; a check that lies ahead was a wrong clock's."""
        last, now = self.last(), self._clock.now()
        return last is None or not now - self._limits.every < from_text(str(last["ts"])) <= now

    def check(self, embedder: Embedder) -> Health:
        """Embed the reference texts and compare. Keeps them if this space has none yet, and writes a report."""
        rows, space = embedder.embed(REFERENCES), embedder.space
        kept = self._kept(space)
        measured = measure(rows if kept is None else kept, rows, self._limits)
        state, reasons = judge(measured, self._limits)
        health = Health(state, measured, reasons, space, self._clock.now(), began=kept is None)
        with self._db.write():
            if kept is None and state is not State.CRITICAL:
                self._keep(rows, space)
            self._record(health)
        return health

    def keep(self, embedder: Embedder) -> Health:
        """Begin anew with this embedder: after everything was embedded with it, and never otherwise."""
        with self._db.write() as tx:
            tx.execute("DELETE FROM reference_vectors")
            return self.check(embedder)

    def last(self) -> Mapping[str, Any] | None:
        """What the last check found, as its report has it."""
        row = self._db.first("SELECT value FROM progress WHERE name = ?", (_NAME,))
        return None if row is None else dict(json.loads(row[0]))

    def writable(self) -> bool:
        last = self.last()
        return last is None or last["state"] != State.CRITICAL

    def require_writable(self) -> None:
        """Raise if vectors of now do not belong to those that are kept."""
        last = self.last()
        if last is None or last["state"] != State.CRITICAL:
            return
        raise ModelError(
            f"the embedder {last['space']['model']} does not give the vectors any more that it gave:"
            f" {'; '.join(last['reasons'])}. Nothing new is put beside the old vectors, so that they stay comparable",
            kind="broken",
            fix=f"Embed everything again with it: {REEMBED}. Or set the embedder back to what it was, and check again.",
        )

    def _kept(self, space: Space) -> "Vectors | None":
        import numpy as np

        rows = self._db.query("SELECT vector FROM reference_vectors WHERE space = ? ORDER BY place", (_written(space),))
        if len(rows) != len(REFERENCES) or any(len(vector) != 4 * space.dim for (vector,) in rows):
            return None
        return np.vstack([np.frombuffer(vector, dtype="<f4") for (vector,) in rows])

    def _keep(self, rows: "Vectors", space: Space) -> None:
        name, ts = _written(space), to_text(self._clock.now())
        with self._db.write() as tx:
            tx.execute("DELETE FROM reference_vectors WHERE space = ?", (name,))
            tx.execute_many(
                "INSERT INTO reference_vectors (space, place, vector, ts) VALUES (?, ?, ?, ?)",
                [(name, place, vector.astype("<f4").tobytes(), ts) for place, vector in enumerate(rows)],
            )

    def _record(self, health: Health) -> None:
        value, ts = canonical_json(health.as_dict()).decode(), to_text(health.ts)
        with self._db.write() as tx:
            tx.execute("INSERT OR REPLACE INTO progress (name, value, ts) VALUES (?, ?, ?)", (_NAME, value, ts))
            Reports(self._db, self._clock).add(_NAME, health.as_dict())


def _written(space: Space) -> str:
    """A space as one text that is the same whenever the space is."""
    return canonical_json(asdict(space)).decode()


def described(health: Health) -> Sequence[str]:
    """A check in a few lines for the owner."""
    if health.began:
        return (f"the embedder {health.space.model} is watched from today on",)
    figures = health.measured
    line = f"embedder {health.state}: moved by {figures.drift:.4f}, {figures.stability:.0%} of neighbours the same"
    advice = (f"No vectors are written until everything was embedded again: {REEMBED}",)
    return (line, *health.reasons, *(advice if health.state is State.CRITICAL else ()))
