"""Pin the code of Metnos in a workspace: nothing acts with code that the owner did not pin.

Rules: founding a workspace pins what is there, if it is what its RECORD says and every compiled file of it is compiled
from its source. From then on a process may act only if what it measured when it started is what is pinned, and so is
what was measured last. A difference is recorded once, before anything else happens, and stays until the owner pins
anew on a terminal. The pin is signed and in the audit: a store that was lost or forged brings no other code in.
Does not guarantee anything against code that was changed before the start and lies about itself, nor against an
account's own programs.
"""

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path

from metnos import __version__
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import Clock, to_text
from metnos.core.errors import Refused, StoreError
from metnos.core.sign import Signer, verify
from metnos.law import own_bytecode
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.halt import Halt
from metnos.law.own_code import PACKAGE, OwnCode, compare, measure, name_first
from metnos.law.own_record import compare_own
from metnos.law.principal import Channel, Principal
from metnos.store.db import Database, Row
from metnos.store.migrations import Migration

PINNED = "own code pinned"
CHANGED = "own code changed"
RULE = "own code"
PURPOSE = "own code"
BYTECODE_PURPOSE = "own bytecode"
LETTERS = 8  # of the new digest: what the owner types

MIGRATIONS = (
    Migration(
        "0010_own_code",
        (
            """CREATE TABLE own_code (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                ts TEXT NOT NULL,
                version TEXT NOT NULL,
                digest TEXT NOT NULL,
                files TEXT NOT NULL,
                signature TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE own_bytecode (
                python TEXT PRIMARY KEY,
                pairs TEXT NOT NULL,
                signature TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)
_FIX = "If you changed or updated it yourself: metnos doctor --pin. If not: install Metnos again."
_MISCOMPILED = "the compiled file {} does not match its source"
_AGAIN = "Start Metnos again: metnos serve --stop, then metnos open."

Query = Callable[[str], list[Row]]


class PinStanding(StrEnum):
    """How the code stands to its pin."""

    PINNED = "pinned"
    KEPT = "kept"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Pin:
    """What the owner pinned, and when."""

    ts: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The code as it lies there now, against its pin, its RECORD and its compiled files."""

    code: OwnCode
    pin: Pin | None
    differences: tuple[str, ...]  # from the pin
    unrecorded: tuple[str, ...]  # from the RECORD of a wheel
    miscompiled: tuple[str, ...]  # compiled files that are not compiled from their source

    @property
    def word(self) -> str:
        """What the owner types to pin it."""
        return self.code.digest[:LETTERS]

    @property
    def is_sound(self) -> bool:
        """Whether it may be pinned unasked, where nothing was pinned before."""
        return not (self.unrecorded or self.miscompiled or self.code.unreadable)


@dataclass(slots=True)
class _Seen:
    """What this process saw of a package: when it started, and last."""

    started: OwnCode
    last: OwnCode
    proven: frozenset[str] = frozenset()
    miscompiled: tuple[str, ...] = ()
    is_judged: bool = False


@cache
def see(package: Path) -> _Seen:
    """Measure the package once for this process, which runs what it started with until it ends."""
    code = measure(package)
    return _Seen(code, code)


class OwnPin:
    """The pin of one workspace, and what it says of the code that runs."""

    def __init__(self, db: Database, audit: Audit, signer: Signer, clock: Clock, package: Path = PACKAGE) -> None:
        self._db = db
        self._audit = audit
        self._signer = signer
        self._clock = clock
        self._package = package

    def uphold(self) -> PinStanding:
        """Compare the code that runs with its pin; pin it if nothing was, and record a difference once."""
        seen = see(self._package)
        self._prove(seen)
        digest = seen.started.digest
        pin = self._pin(self._db.query)
        if pin is not None and pin.digest == digest and not seen.miscompiled:
            return PinStanding.KEPT
        with self._db.write() as tx:
            pin = self._pin(tx.query)
            if pin is not None and pin.digest == digest and not seen.miscompiled:
                return PinStanding.KEPT  # another process started at the same moment
            # A store that was lost or forged must not hide a change: the audit remembers the pin, too.
            recorded, noted = self._recorded()
            before = pin.digest if pin else recorded
            if before in (None, digest) and self._compare(seen.started, pin, seen.miscompiled).is_sound:
                self._write(seen.started, Entry(PINNED, {"version": __version__}, {"code": digest}))
                return PinStanding.PINNED
            if noted != self._mark(seen):
                digests = {"code": digest, "difference": self._mark(seen)}
                self._audit.append(Entry(CHANGED, {}, digests | ({"code_before": before} if before else {})))
        return PinStanding.CHANGED

    def halt(self) -> Halt | None:
        """Why this process may not act; nothing if it runs what is pinned, and what is pinned still lies there."""
        seen = see(self._package)
        pin = self._pin(self._db.query)
        is_kept = pin is not None and seen.started.digest == seen.last.digest == pin.digest
        if is_kept and not seen.miscompiled:
            return None
        now = seen.last = seen.last if is_kept else measure(self._package)
        if pin is None:
            return Halt("the code of Metnos was never pinned in this workspace", _FIX, RULE)
        if now.digest != pin.digest:
            return Halt(_words(self._compare(now, pin, ())), _FIX, RULE)
        if seen.miscompiled:
            fix = f"Remove the compiled files: {own_bytecode.removal(self._package)}. Then start Metnos again."
            return Halt(_MISCOMPILED.format(name_first(seen.miscompiled)), fix, RULE)
        if seen.started.digest != pin.digest:
            return Halt("Metnos was started with other code than is pinned now", _AGAIN, RULE)
        return None

    def look(self) -> Finding:
        """Measure the code anew and compare it with everything that is known of it."""
        seen = see(self._package)
        seen.last = code = measure(self._package)
        judged = own_bytecode.judge(self._package, code, seen.proven)
        seen.miscompiled = seen.miscompiled or judged.wrong  # this process may have loaded it: for good
        seen.proven |= judged.known
        return self._compare(code, self._pin(self._db.query), judged.wrong)

    def pin(self, word: str, by: Principal) -> Pin:
        """Pin the code as it lies there now. ``word`` is what the owner typed after they saw what differs."""
        found = self.look()
        if by.channel is not Channel.TERMINAL or not by.may_answer:
            raise Refused(f"{by} may not pin the code of Metnos", fix="Type at the terminal: metnos doctor --pin")
        if word != found.word:
            what = "the word is wrong, or the code changed since it was shown; nothing was pinned"
            raise Refused(what, fix="Type again: metnos doctor --pin")
        if found.miscompiled or found.code.unreadable:
            listed = name_first((*found.miscompiled, *found.code.unreadable))
            raise Refused(f"this code cannot be pinned: see {listed}", fix="Remove it, then type the same again.")
        before = {"code_before": found.pin.digest} if found.pin else {}
        names = {"version": __version__, "channel": by.channel, "sender": by.sender}
        with self._db.write():
            self._write(found.code, Entry(PINNED, names, {"code": found.code.digest} | before))
        pinned = self._pin(self._db.query)
        assert pinned is not None  # noqa: S101 -- it was written just now
        return pinned

    # -- what is stored

    def _write(self, code: OwnCode, entry: Entry) -> None:
        self._audit.append(entry)
        files = canonical_json(dict(code.files)).decode()
        with self._db.write() as tx:
            tx.execute(
                "INSERT OR REPLACE INTO own_code (id, ts, version, digest, files, signature) VALUES (1, ?, ?, ?, ?, ?)",
                (to_text(self._clock.now()), __version__, code.digest, files, self._sign(PURPOSE, code.digest)),
            )

    def _pin(self, query: Query) -> Pin | None:
        """The pin, if the agent itself signed it."""
        rows = query("SELECT ts, version, digest, signature FROM own_code")
        if rows and _is_signed(self._signer.public, PURPOSE, rows[0][2], rows[0][3]):
            return Pin(*rows[0][:3])
        return None

    def _pinned_files(self, pin: Pin) -> Mapping[str, str]:
        """What was pinned, file by file; nothing if that was changed since."""
        rows = self._db.query("SELECT files FROM own_code")
        if not rows or sha256_hex(rows[0][0].encode()) != pin.digest:
            return {}
        files: dict[str, str] = json.loads(rows[0][0])
        return files

    def _recorded(self) -> tuple[str | None, str | None]:
        """What the audit says was pinned last, and which difference it noted since."""
        noted = None
        for line in self._audit.newest():
            if line.kind == PINNED:
                return line.entry.digests.get("code"), noted
            if line.kind == CHANGED and noted is None:
                noted = line.entry.digests.get("difference")
        return None, noted

    def _compare(self, code: OwnCode, pin: Pin | None, miscompiled: tuple[str, ...]) -> Finding:
        files = self._pinned_files(pin) if pin and pin.digest != code.digest else None
        differences = () if files is None else compare(files, code.files) or ("the list of files was changed",)
        return Finding(code, pin, differences, compare_own(code, self._package), miscompiled)

    def _sign(self, purpose: str, text: str) -> str:
        return self._signer.sign(purpose, text.encode())

    # -- compiled files

    def _prove(self, seen: _Seen) -> None:
        """Judge the compiled files, and keep which are known to be right."""
        stored = self._known()
        if seen.is_judged and seen.proven <= stored:
            return
        if not seen.is_judged:
            judged = own_bytecode.judge(self._package, seen.started, stored)
            seen.miscompiled, seen.proven, seen.is_judged = judged.wrong, judged.known, True
        if not seen.proven <= stored:
            pairs = json.dumps(sorted(seen.proven))
            row = (_python(), pairs, self._sign(BYTECODE_PURPOSE, _python() + sha256_hex(pairs.encode())))
            # A full disk must not keep anybody from reading: this is proved anew the next time.
            with contextlib.suppress(StoreError), self._db.write() as tx:
                tx.execute("INSERT OR REPLACE INTO own_bytecode (python, pairs, signature) VALUES (?, ?, ?)", row)

    def _known(self) -> frozenset[str]:
        rows = self._db.query("SELECT pairs, signature FROM own_bytecode WHERE python = ?", (_python(),))
        if not rows:
            return frozenset()
        pairs, signature = rows[0]
        message = _python() + sha256_hex(pairs.encode())
        if not _is_signed(self._signer.public, BYTECODE_PURPOSE, message, signature):
            return frozenset()
        return frozenset(json.loads(pairs))

    @staticmethod
    def _mark(seen: _Seen) -> str:
        """Which difference this is, so that each is recorded once."""
        if not seen.miscompiled:
            return seen.started.digest
        return sha256_hex(canonical_json([seen.started.digest, *seen.miscompiled]))


def describe(found: Finding) -> Iterable[str]:
    """Everything that is wrong with the code, a sentence each; nothing if it is what was pinned."""
    if found.pin is None:
        yield "it was never pinned in this workspace"
    elif found.differences:
        yield _words(found)
    if found.unrecorded:
        yield f"it is not what was installed: {name_first(found.unrecorded)}"
    if found.miscompiled:
        yield _MISCOMPILED.format(name_first(found.miscompiled))
    if found.code.unreadable:
        yield f"it cannot be read: {name_first(found.code.unreadable)}"


def _words(found: Finding) -> str:
    if found.pin is not None and found.pin.version != __version__:
        return f"Metnos {__version__} runs here, and you pinned {found.pin.version}: {name_first(found.differences)}"
    return f"the code of Metnos is not what you pinned: {name_first(found.differences)}"


def _python() -> str:
    return f"{sys.implementation.cache_tag}-{sys.flags.optimize}"


@lru_cache(maxsize=64)
def _is_signed(public: str, purpose: str, text: str, signature: str) -> bool:
    return verify(public, purpose, text.encode(), signature)
