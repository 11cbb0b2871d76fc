"""What fast paths know at this moment, ready for matching.

Rules: made anew when what is stored changed, in whatever process; what it hands out never changes. Forms that differ
only in the words that join their parts are one form. Vectors belong to one space: those of another embedder are not
looked at, and missing ones are computed when somebody asks by meaning. The embedder is not even loaded as long as
nothing that is known could be recognised by meaning.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from metnos.core.canon import canonical_json
from metnos.core.clock import to_text
from metnos.fastpath.calibrate import Evidence, calibrate
from metnos.fastpath.heard import Heard
from metnos.fastpath.log import Log
from metnos.fastpath.mask import mask
from metnos.fastpath.match import Matcher
from metnos.fastpath.records import FastPath, Form, Match
from metnos.fastpath.rules import Calibration, Factory
from metnos.fastpath.saying import plain
from metnos.fastpath.shape import Filled, Seen, Unresolved, fill
from metnos.store.db import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

WORDS_ONLY = ""  # the space of a calibration that was made without an embedder


class Meaning(Protocol):
    """Texts as vectors. ``space`` names what they can be compared with."""

    @property
    def space(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> "Vectors": ...


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that is known, as of one moment."""

    paths: Mapping[str, FastPath]
    forms: tuple[Form, ...]  # without the words that join their parts
    calibration: Calibration
    matcher: Matcher
    _spelled: Mapping[tuple[str, str], str]  # a form as it was first heard, by path and form
    _observed: Mapping[tuple[str, str], Mapping[str, Seen]]  # the same for values that no word says

    def match(self, heard: Heard, vector: "NDArray[np.float32] | None" = None) -> Match | None:
        """The path that a request seems to mean."""
        return self.matcher.match(plain(heard.form), mask(heard.text, heard.slots), vector)

    def spelled(self, match: Match) -> str:
        """The form that was matched, as it was first heard."""
        return self._spelled[match.path, match.form]

    def fill(self, match: Match, heard: Heard) -> Filled | Unresolved:
        """The arguments of each step of the path that was matched, from this request."""
        form = self.spelled(match)
        return fill(self.paths[match.path].shape, self._observed.get((match.path, form), {}), heard, form)


class Memory:
    """The fast paths of one workspace. Threads may share it."""

    def __init__(
        self, db: Database, logs: Sequence[Log], meaning: Callable[[], Meaning | None], factory: Factory
    ) -> None:
        self.logs = tuple(logs)
        self._db = db  # where calibrations are
        self._meaning = meaning
        self._factory = factory
        self._lock = Lock()
        self._mark: object = None
        self._by_words: Known | None = None
        self._by_meaning: Known | None = None

    def known(self) -> Known:
        """What is known by words alone."""
        with self._lock:
            return self._current()

    def known_by_meaning(self, heard: Heard) -> tuple[Known, "NDArray[np.float32] | None"]:
        """What is known, with the vector of a request to match; no vector where meaning can tell nothing."""
        with self._lock:
            known = self._current()
            if known.calibration.threshold is None:
                return known, None
            meaning = self._meaning()
            if meaning is None or meaning.space != self._space():
                return known, None
            if self._by_meaning is None:
                vectors = self._vectors(known.forms, meaning)
                matcher = Matcher(known.forms, vectors, known.calibration)
                self._by_meaning = replace(known, matcher=matcher)
            return self._by_meaning, meaning.embed([mask(heard.text, heard.slots)])[0]

    def calibrate(self, evidence: Sequence[Evidence], delta: float, now: datetime) -> Calibration:
        """Fit anew how far matches can be believed, from all that is known, and keep that."""
        with self._lock:
            known, meaning = self._current(), self._meaning()
            vectors = self._vectors(known.forms, meaning) if meaning is not None and known.forms else None
            fitted = calibrate(known.forms, vectors, evidence, delta=delta, factory=self._factory)
            space = meaning.space if vectors is not None and meaning is not None else WORDS_ONLY
            with self._db.write() as tx:
                tx.execute(
                    "INSERT INTO calibrations (ts, space, fitted) VALUES (?, ?, ?)",
                    (to_text(now), space, canonical_json(fitted.to_data()).decode()),
                )
            self._mark = None
        return fitted

    # -- inside the lock

    def _current(self) -> Known:
        newest = self._db.first("SELECT coalesce(max(id), 0) FROM calibrations")
        mark = (newest, *(log.mark()[:3] for log in self.logs))
        if self._by_words is None or mark != self._mark:
            self._by_words, self._by_meaning, self._mark = self._read(), None, mark
        return self._by_words

    def _read(self) -> Known:
        forms: dict[tuple[str, str], Form] = {}
        spelled: dict[tuple[str, str], str] = {}
        observed: dict[tuple[str, str], Mapping[str, Seen]] = {}
        for log in self.logs:
            observed |= log.observed()
            for form in log.forms():
                key = (form.path, plain(form.canonical))
                spelled.setdefault(key, form.canonical)
                uses = form.uses + (forms[key].uses if key in forms else 0)
                forms[key] = replace(forms.get(key, form), canonical=key[1], uses=uses)
        paths = {path.id: path for log in self.logs for path in log.paths()}
        fitted = self._fitted()
        listed = tuple(forms.values())
        return Known(paths, listed, fitted, Matcher(listed, None, fitted), spelled, observed)

    def _fitted(self) -> Calibration:
        row = self._db.first("SELECT fitted FROM calibrations ORDER BY id DESC LIMIT 1")
        if row is None:
            return calibrate((), None, factory=self._factory)
        return Calibration.from_data(json.loads(row[0]))

    def _space(self) -> str:
        row = self._db.first("SELECT space FROM calibrations ORDER BY id DESC LIMIT 1")
        return str(row[0]) if row else WORDS_ONLY

    def _vectors(self, forms: Sequence[Form], meaning: Meaning) -> "Vectors":
        """One row for each form; those that are not kept yet are computed, and kept in the file that has the form."""
        import numpy as np

        kept: dict[str, NDArray[np.float32]] = {}
        for log in self.logs:
            kept |= log.vectors(meaning.space)
        missing = list(dict.fromkeys(form.said for form in forms if form.said not in kept))
        if missing:
            fresh = dict(zip(missing, meaning.embed(missing), strict=True))
            kept |= fresh
            for log in self.logs:
                log.keep_vectors(meaning.space, fresh)
        return np.stack([kept[form.said] for form in forms])
