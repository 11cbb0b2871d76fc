"""The catalog: the only way to an executor.

Rules: `get` hands out nothing that was not verified just now, byte for byte, and is not usable by its state; whatever
differs from what was signed is quarantined, recorded in the audit, and named. The write lock of the index is the lock
around every change of a folder, so that two processes take turns; a folder is changed before the index, and what the
index has not heard of yet is never freer for it. Adopting and changing executors is in `registrar`. Does not guarantee
anything against whoever can read the agent's key.
"""

import contextlib
import dataclasses
from collections.abc import Iterable

from metnos.core.clock import Clock
from metnos.core.errors import ManifestError, NotTrusted
from metnos.core.nearest import nearest
from metnos.core.sections import ExecutorSettings
from metnos.core.sign import Signer
from metnos.core.workspace import Workspace
from metnos.executors import folder, index, verdict, vocabulary, words
from metnos.executors.registrar import Consent, Registrar, no_consent
from metnos.executors.signature import Origin
from metnos.executors.state import USABLE, State
from metnos.executors.verdict import Executor, Verdict
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.store.db import Database

QUARANTINED = "executor quarantined"


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """What can be said of an executor without trusting it: for lists and for showing."""

    name: str
    state: State
    version: str
    origin: Origin
    purpose: str
    reason: str
    problems: tuple[str, ...]
    executor: Executor | None  # nothing when its files cannot be read as one


class Catalog(Registrar):
    """The executors of one workspace."""

    def __init__(
        self,
        workspace: Workspace,
        db: Database,
        audit: Audit,
        signer: Signer,
        clock: Clock,
        defaults: ExecutorSettings,
        consent: Consent = no_consent,
    ) -> None:
        super().__init__(workspace.executors, db, audit, signer, clock, defaults, consent)

    def get(self, name: str) -> Executor:
        """The executor of that name, verified just now and usable; raises `NotTrusted` otherwise."""
        return self._hand_out(self.judge(name))

    def _hand_out(self, found: Verdict) -> Executor:
        if found.tampered:
            found = self.quarantine(found.name)
        if found.tampered or found.unlisted or found.state not in USABLE:
            raise self._refusal(found)
        try:
            return verdict.record(found)
        except ManifestError as error:  # signed under other rules than today's
            raise NotTrusted(f"{found.name} cannot be used: {error.what}", fix=error.fix) from error

    def look(self, name: str) -> Look:
        """What is known about an executor, whatever its state. Changes nothing."""
        found = self.judge(name)
        if found.tampered:
            found = self.judge(name)  # without the lock the first look may have met a folder that was being replaced
        if not found.exists:
            raise self._refusal(found)
        return _look(found)

    def names(self) -> list[str]:
        """Every name in the folder or in the index."""
        return sorted({*folder.names(self._executors), *index.names(self._db)})

    def rows(self) -> list[Look]:
        """A look at every executor, by name."""
        return [self.look(name) for name in self.names()]

    def usable(self) -> list[Executor]:
        """Every executor that `get` would hand out now; what was tampered with is quarantined on the way."""
        found = []
        for judged in self.judge_all(self.names()):
            with contextlib.suppress(NotTrusted):
                found.append(self._hand_out(judged))
        return found

    def switched_off(self) -> list[Executor]:
        """Every executor that the owner disabled and that is otherwise as it was signed."""
        names = self._db.query("SELECT DISTINCT name FROM executors WHERE state = ?", (State.DISABLED,))
        looks = [self.look(str(name)) for (name,) in names]
        sound = (each.executor for each in looks if each.state is State.DISABLED and not each.problems)
        return [each for each in sound if each is not None]

    def mark(self) -> object:
        """Differs as soon as the index of executors has changed, in whatever process."""
        return self._db.first("SELECT count(*), max(ts), total(serial) FROM executors")

    def verify_all(self) -> list[Look]:
        """Verify every executor now, quarantine what was tampered with; returns a look at each that has a problem."""
        wrong = []
        for found in self.judge_all(self.names()):
            if found.tampered:
                found = self.quarantine(found.name)
            if found.problems or found.unlisted:
                wrong.append(_look(found))
        return wrong

    def quarantine(self, name: str) -> Verdict:
        """Look again with the lock held, and if it is still not as signed, record that and switch it off."""
        with self._db.write() as tx:
            found = self.judge(name)
            entry = found.entry
            known = entry is not None and (entry.state is State.REVOKED or entry.tampered)
            if not found.tampered or known:
                return found
            said = "; ".join(problem.said for problem in found.problems)
            self._audit.append(
                Entry(
                    QUARANTINED,
                    {"name": name, "wrong": found.problems[0].wrong},
                    counts={"problems": len(found.problems), "serial": entry.serial if entry else 0},
                )
            )
            now = self._clock.now()
            if entry is None:
                before, origin = (
                    (found.signed.state, found.signed.origin) if found.signed else (State.DRAFT, Origin.OWNER)
                )
                entry = index.Entry(name, "0.0.0", before, now, "", "", "", origin, 0, said, None, now)
            held = dataclasses.replace(entry, state=State.QUARANTINE, before=entry.state, reason=said, ts=now)
            index.put(tx, held)
            return found

    def _refusal(self, found: Verdict) -> NotTrusted:
        name = found.name
        if not found.exists or not vocabulary.is_name(name):
            return NotTrusted(f"there is no executor {name!r}", fix=_nearest(name, self.names()))
        if found.tampered:
            said = "; ".join(problem.said for problem in found.problems)
            builtin = found.entry is not None and found.entry.origin is Origin.BUILTIN
            fix = "Put the shipped one back: metnos init" if builtin else _SIGN.format(name=name)
            return NotTrusted(f"{name} is not as it was signed, and is in quarantine: {said}", fix=fix)
        if found.unlisted:
            return NotTrusted(f"{name} is signed, but not in the index", fix="metnos executor rebuild")
        if found.state is State.DRAFT:
            return NotTrusted(f"{name} is a draft: it was not signed yet", fix=f"metnos executor sign {name}")
        entry = found.entry
        reason = f": {entry.reason}" if entry and entry.reason else ""
        fix = "" if found.state is State.REVOKED else f"metnos executor enable {name}"
        return NotTrusted(f"{name} is {words.STATES[found.state]}{reason}", fix=fix)


_SIGN = "Look at what changed. If it is right: metnos executor sign {name}"


def _look(found: Verdict) -> Look:
    problems = [problem.said for problem in found.problems]
    executor = None
    try:
        executor = verdict.record(found)
    except ManifestError as error:
        problems.append(error.what)
    if found.unlisted:
        problems.append("it is signed, but not in the index")
    entry = found.entry
    return Look(
        name=found.name,
        state=found.state,
        version=executor.version if executor else (entry.version if entry else ""),
        origin=executor.origin if executor else (entry.origin if entry else Origin.OWNER),
        purpose=executor.manifest.purpose if executor else "",
        reason=executor.reason if executor else (entry.reason if entry else ""),
        problems=tuple(dict.fromkeys(problems)),
        executor=executor,
    )


def _nearest(name: str, known: Iterable[str]) -> str:
    close = nearest(name, known, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else "`metnos executor list` names them all."
