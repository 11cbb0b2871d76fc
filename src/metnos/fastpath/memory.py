"""What fast paths know at this moment: by the very words of a request, and by its meaning.

Rules: forms that differ only in the words that join their parts are one form. A form is looked up as it is needed, so
what was learnt a moment ago counts. What is matched by meaning is prepared once and made anew when it has grown by a
part, or was calibrated again; a form that it lacks is known by its words meanwhile. Vectors belong to one space: those
of another embedder are not looked at, and missing ones are computed. The embedder is not even loaded as long as nothing
that is known could be recognised by meaning. Threads may share it.
"""

import json
from collections.abc import Callable, Sequence
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
from metnos.fastpath.shape import Filled, Unresolved, fill
from metnos.fastpath.wording import otherwise
from metnos.store.db import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

WORDS_ONLY = ""  # the space of a calibration that was made without an embedder
_GROWN = 0.02  # by this part the forms may grow before the matcher is made anew


class Meaning(Protocol):
    """Texts as vectors. ``space`` names what they can be compared with."""

    @property
    def space(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> "Vectors": ...


@dataclass(frozen=True, slots=True)
class Found:
    """A path that a request seems to mean, and the arguments that it gives for each step."""

    path: FastPath
    match: Match
    form: str  # that was matched, as it was first heard
    filled: Filled | Unresolved


@dataclass(frozen=True, slots=True)
class _Prepared:
    matcher: Matcher
    spelled: dict[tuple[str, str], str]  # a form as it was first heard, by path and plain form
    size: int
    calibrated: int


class Memory:
    """The fast paths of one workspace."""

    def __init__(
        self, db: Database, logs: Sequence[Log], meaning: Callable[[], Meaning | None], factory: Factory
    ) -> None:
        self.logs = tuple(logs)
        self._db = db  # where calibrations are
        self._meaning = meaning
        self._factory = factory
        self._lock = Lock()  # of the calibration, and held for moments
        self._preparing = Lock()  # of what is matched by meaning: preparing it takes a while, and words need not wait
        self._prepared: _Prepared | None = None
        self._calibration: tuple[int, str, Calibration] | None = None

    def path(self, key: str) -> tuple[Log, FastPath] | None:
        """A path, and the log that it is in."""
        for log in self.logs:
            found = log.path(key)
            if found is not None:
                return log, found
        return None

    # -- recognising

    def exact(self, heard: Heard) -> Found | None:
        """The one path that was asked for in this form and that this request can be filled into."""
        form = plain(heard.form)
        likely = self.calibration.probability(0.0, exact=True)
        spelled = {path: said for log in self.logs for path, said in reversed(log.asked(form))}
        found = [
            each
            for path, said in spelled.items()
            if (each := self._found(Match(path, form, likely, exact=True, score=0.0), said, heard)) is not None
        ]
        fitting = [each for each in found if not isinstance(each.filled, Unresolved)]
        return fitting[0] if len(fitting) == 1 else found[0] if len(found) == 1 else None

    def alike(self, heard: Heard) -> Found | None:
        """The path that is nearest by meaning; nothing where meaning can tell nothing. Raises what an embedder does."""
        with self._lock:
            number, space, fitted = self._fitted()
        if fitted.threshold is None or not any(log.size() for log in self.logs):
            return None
        with self._preparing:
            meaning = self._meaning()
            if meaning is None or meaning.space != space:
                return None
            prepared = self._prepare(meaning, number, fitted)
        said = mask(heard.text, heard.slots)
        match = prepared.matcher.match(plain(heard.form), said, meaning.embed([said])[0])
        if match is None:
            return None
        return self._found(match, prepared.spelled[match.path, match.form], heard)

    def _found(self, match: Match, form: str, heard: Heard) -> Found | None:
        held = self.path(match.path)
        if held is None:
            return None
        log, path = held
        if why := _otherwise(log, path.id, form, heard):
            return Found(path, match, form, Unresolved("", why))
        observed = log.observed(path.id).get((path.id, form), {})
        return Found(path, match, form, fill(path.shape, observed, heard, form))

    # -- how far matches can be believed

    @property
    def calibration(self) -> Calibration:
        with self._lock:
            return self._fitted()[2]

    def calibrate(self, evidence: Sequence[Evidence], delta: float, now: datetime) -> Calibration:
        """Fit anew how far matches can be believed, from all that is known, and keep that."""
        forms, _ = self._forms()
        meaning = self._meaning() if forms else None
        vectors = self._vectors(forms, meaning) if meaning is not None else None
        fitted = calibrate(forms, vectors, evidence, delta=delta, factory=self._factory)
        space = meaning.space if meaning is not None else WORDS_ONLY
        with self._db.write() as tx:
            tx.execute(
                "INSERT INTO calibrations (ts, space, fitted) VALUES (?, ?, ?)",
                (to_text(now), space, canonical_json(fitted.to_data()).decode()),
            )
        return fitted

    # -- inside

    def _fitted(self) -> tuple[int, str, Calibration]:
        """The newest calibration: its number, its space, and what was fitted."""
        row = self._db.first("SELECT id, space FROM calibrations ORDER BY id DESC LIMIT 1")
        number, space = row or (0, WORDS_ONLY)
        if self._calibration is None or self._calibration[0] != number:
            kept = self._db.first("SELECT fitted FROM calibrations WHERE id = ?", (number,))
            nothing = calibrate((), None, factory=self._factory)
            fitted = Calibration.from_data(json.loads(kept[0])) if kept else nothing
            self._calibration = (number, space, fitted)
        return self._calibration

    def _prepare(self, meaning: Meaning, number: int, fitted: Calibration) -> _Prepared:
        known, size = self._prepared, sum(log.size() for log in self.logs)
        if known is None or known.calibrated != number or not known.size <= size <= known.size * (1 + _GROWN):
            forms, spelled = self._forms()
            matcher = Matcher(forms, self._vectors(forms, meaning), fitted)
            known = self._prepared = _Prepared(matcher, spelled, size, number)
        return known

    def _forms(self) -> tuple[tuple[Form, ...], dict[tuple[str, str], str]]:
        """Every form, without the words that join its parts, and how each was first heard."""
        forms: dict[tuple[str, str], Form] = {}
        spelled: dict[tuple[str, str], str] = {}
        for form in (each for log in self.logs for each in log.forms()):
            key = (form.path, plain(form.canonical))
            spelled.setdefault(key, form.canonical)
            uses = form.uses + (forms[key].uses if key in forms else 0)
            forms[key] = replace(forms.get(key, form), canonical=key[1], uses=uses)
        return tuple(forms.values()), spelled

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


def _otherwise(log: Log, path: str, form: str, heard: Heard) -> str:
    """Why a request may mean something else than the one in which this form was first heard."""
    asked = mask(heard.text, heard.slots)
    known = next((each.said for each in log.forms(path) if each.canonical == form), "")
    return otherwise(asked, known, plain(heard.form), plain(form))
