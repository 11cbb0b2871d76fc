"""Adopting executors, changing their states, and keeping the index: everything about them that writes.

Rules: nothing is signed that does not follow the contract, that was revoked, or that is one too many; nothing that is
not built in is signed unless the owner in person said yes to exactly these files (`Consent`); a change of state signs
again what had been signed, never what happens to lie in the folder; each is recorded in the audit before and after. The
order is lock, intent, folder, index, outcome, so that a process killed anywhere leaves the old state or the new one,
and the more severe of the two until the change is made again.
"""

import ast
import dataclasses
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock
from metnos.core.errors import ExecutorError, ManifestError, MetnosError, NoRoom, NotTrusted
from metnos.core.sections import ExecutorSettings
from metnos.core.sign import Signer
from metnos.executors import folder, index, manifest, signature, verdict, vocabulary
from metnos.executors.signature import Origin, Signed
from metnos.executors.state import USABLE, State, require, worse
from metnos.executors.verdict import Executor, Verdict
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.store.db import Database, Transaction

SIGNED = "executor signed"
REBUILT = "executor index rebuilt"
_DAY = timedelta(days=1)
_NAMED = 3  # executors that could make room for another

Consent = Callable[[str, Origin], str]  # of a digest: nothing if the owner said yes to exactly that, else why not


def no_consent(_digest: str, _origin: Origin) -> str:
    """Where nobody can be asked, nothing is born."""
    return "nobody was asked about it"


class Registrar:
    """Writes folders, signatures and the index of one workspace's executors."""

    def __init__(
        self,
        executors: Path,
        db: Database,
        audit: Audit,
        signer: Signer,
        clock: Clock,
        defaults: ExecutorSettings,
        consent: Consent = no_consent,
    ) -> None:
        self._consent = consent
        self._executors = executors
        self._db = db
        self._audit = audit
        self._signer = signer
        self._clock = clock
        self._defaults = defaults
        self._public = signer.public

    @property
    def db(self) -> Database:
        """The index's database: its write lock is the lock around every change of a folder."""
        return self._db

    @property
    def audit(self) -> Audit:
        return self._audit

    @property
    def defaults(self) -> ExecutorSettings:
        return self._defaults

    @property
    def folder(self) -> Path:
        """Where the executors live."""
        return self._executors

    def folder_of(self, name: str) -> Path:
        """Where an executor lives."""
        if not vocabulary.is_name(name):
            raise NotTrusted(f"there is no executor {name!r}")
        return self._executors / name

    def judge(self, name: str) -> Verdict:
        """What is to be thought of a name, now. Changes nothing."""
        if not vocabulary.is_name(name):
            return Verdict(name, State.DRAFT, None, None, None)
        entry = index.current(self._db, name)  # before the folder: a change writes the folder first
        return verdict.judge(name, entry, folder.read(self._executors, name), self._public)

    def judge_all(self, names: Iterable[str]) -> Iterator[Verdict]:
        """Judge each of these executors, with one query of the index instead of one for each. Changes nothing."""
        entries = {entry.name: entry for entry in index.all_current(self._db)}  # before any folder, as above
        for name in filter(vocabulary.is_name, names):
            yield verdict.judge(name, entries.get(name), folder.read(self._executors, name), self._public)

    # -- adopting

    def sign(
        self,
        name: str,
        reason: str,
        origin: Origin = Origin.OWNER,
        state: State = State.ACTIVE,
        *,
        expected: str | None = None,
    ) -> Executor:
        """Adopt what lies in the folder, after checking it, and sign it in that state.

        ``expected`` is the digest of what was examined and shown: anything else is not signed.
        """
        with self._db.write() as tx:
            found = self.judge(name)
            contents = _signable(found)
            signed = self._prepare(found, contents, reason, origin, state)
            if expected not in (None, signed.digest):
                raise NotTrusted(f"{name} changed while it was being examined", fix="Look at it and sign it again.")
            names = {"name": name, "origin": origin.value, "version": signed.version, "state": state.value}
            with self._audit.act(Entry(SIGNED, names, _digests(signed), {"serial": signed.serial})):
                folder.put(self._executors, name, folder.SIGNATURE, signed.encode(self._signer))
                self._enter(tx, signed)
            return verdict.record(self.judge(name))

    def adopt(
        self, name: str, contents: Mapping[str, bytes], reason: str, origin: Origin, state: State = State.ACTIVE
    ) -> Executor:
        """Put a whole executor in its place and sign it, after every check; what was there goes."""
        with self._db.write() as tx:
            signed = self._prepare(self.judge(name), contents, reason, origin, state)
            names = {"name": name, "origin": origin.value, "version": signed.version, "state": state.value}
            with self._audit.act(Entry(SIGNED, names, _digests(signed), {"serial": signed.serial})):
                self.write(tx, name, contents, reason, origin, state)
            return verdict.record(self.judge(name))

    def write(
        self, tx: Transaction, name: str, contents: Mapping[str, bytes], reason: str, origin: Origin, state: State
    ) -> Signed:
        """Put a whole executor in its place, signed. For whoever holds the lock and keeps the audit."""
        found = self.judge(name)
        signed = self._prepare(found, contents, reason, origin, state)
        folder.place(self._executors, name, {**contents, folder.SIGNATURE: signed.encode(self._signer)})
        self._enter(tx, signed)
        return signed

    def _prepare(
        self, found: Verdict, contents: Mapping[str, bytes], reason: str, origin: Origin, state: State
    ) -> Signed:
        """What would be signed, after every check."""
        name = found.name
        if state not in (*USABLE, State.DISABLED, State.QUARANTINE, State.ARCHIVED):
            raise ExecutorError(f"nothing is signed as {state.value}")
        read = check_contents(name, contents, None if origin is Origin.BUILTIN else self._defaults)
        files = signature.file_digests(contents)
        canonical = sha256_hex(read.canonical())
        signed = Signed(
            name, read.version, signature.identity(canonical, files), files, canonical, origin, state,
            signature.clean_reason(reason), self._clock.now(), found.serial + 1,
        )  # fmt: skip
        self._refuse_revoked(signed)
        if origin is not Origin.BUILTIN and (refused := self._consent(signed.digest, origin)):
            raise NotTrusted(
                f"{name} is not signed: {refused}", fix=f"metnos executor sign {name}, or metnos inbox list"
            )
        if origin is not Origin.BUILTIN and state in USABLE:
            self._refuse_too_many(signed)
        return signed

    def _refuse_revoked(self, signed: Signed) -> None:
        past = {entry.version: entry.state for entry in index.versions(self._db, signed.name)}
        if index.is_revoked(self._db, signed.code) or past.get(signed.version) is State.REVOKED:
            raise NotTrusted(
                f"{signed.name} {signed.version} was revoked, and that is final",
                fix="Write other code as a new version.",
            )

    def _refuse_too_many(self, signed: Signed) -> None:
        self._refuse_too_many_active(signed.name)
        born = index.births_since(self._db, self._clock.now() - _DAY)
        if born >= self._defaults.births and not index.was_born(self._db, signed.name):
            raise NoRoom(
                f"{born} executors were born within a day, which is the most allowed",
                fix="Try again tomorrow, or allow more: metnos config set executors.births 10",
            )

    def _enter(self, tx: Transaction, signed: Signed) -> None:
        """Write a signature into the index."""
        index.put(tx, index.from_signed(signed, signed.since))
        if signed.origin is not Origin.BUILTIN and signed.state in USABLE:
            index.record_birth(tx, signed)

    # -- changing

    def change(self, name: str, state: State, reason: str) -> State:
        """Bring an executor into another state; returns the one before."""
        with self._db.write() as tx:
            found = self.judge(name)
            before = found.state
            _refuse_unchangeable(found, state)
            require(before, state)
            signed, entry = self._next(found, state, reason)
            if signed and state in USABLE and signed.origin is not Origin.BUILTIN and before not in USABLE:
                self._refuse_too_many_active(name)
            names = {"name": name, "before": before.value}
            kind = "executor quarantined" if state is State.QUARANTINE else f"executor {state.value}"
            digests = {key: value for key, value in (("executor", entry.digest), ("code", entry.code)) if value}
            with self._audit.act(Entry(kind, names, digests, {"serial": entry.serial})):
                if signed and not self._sign_again(signed):
                    entry = self._next(dataclasses.replace(found, signed=None), state, reason)[1]
                index.put(tx, entry)
                if state is State.REVOKED:
                    index.record_revoked(tx, _codes(found), name, entry.ts)
            return before

    def panic(self, reason: str) -> list[str]:
        """Switch off every executor that is not built in; returns their names."""
        stopped: list[str] = []
        failed: MetnosError | None = None
        for name in index.active_synthesised(self._db):
            try:
                with self._db.write():  # one by one: what goes wrong with one must not keep or bring back the others
                    if self.judge(name).state in USABLE:
                        self.change(name, State.DISABLED, reason)
                        stopped.append(name)
            except MetnosError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return stopped

    def _sign_again(self, signed: Signed) -> bool:
        """Write the new signature. Switching off must not fail on a full disk: then the index alone says so."""
        try:
            folder.put(self._executors, signed.name, folder.SIGNATURE, signed.encode(self._signer))
        except ExecutorError:
            if signed.state in USABLE:
                raise
            return False
        return True

    def _next(self, found: Verdict, state: State, reason: str) -> tuple[Signed | None, index.Entry]:
        """The signature to write, if one can be, and the index's entry for it."""
        now = self._clock.now()
        kept = found.signed
        said = signature.clean_reason(reason)
        entry = found.entry
        stale = any(problem.wrong in ("old-signature", "name") for problem in found.problems)
        if kept is None or stale:
            assert entry is not None  # noqa: S101 -- `_refuse_unchangeable` saw to that
            return None, dataclasses.replace(entry, state=state, reason=said, ts=now)
        signed = dataclasses.replace(kept, state=state, reason=said, since=now, serial=found.serial + 1)
        loaded = entry.loaded_at if entry and entry.version == signed.version else now
        fresh = index.from_signed(signed, loaded)
        before = (entry and entry.before) or found.state
        return signed, dataclasses.replace(fresh, before=before if found.problems else None)

    def _refuse_too_many_active(self, name: str) -> None:
        others = [each for each in index.active_synthesised(self._db) if each != name]
        if len(others) >= self._defaults.active:
            unused = [entry.name for entry in index.longest_unused(self._db) if entry.name != name][:_NAMED]
            raise NoRoom(
                f"{len(others)} executors that are not built in are active, which is the most allowed",
                fix=f"Archive one: metnos executor archive NAME. Not used for longest: {', '.join(unused)}",
            )

    # -- the index

    def rebuild(self) -> list[str]:
        """Enter every well signed folder that the index does not know; returns their names.

        The audit remembers what a lost index had known: a signature older than its last line stays in quarantine, and
        what was revoked or quarantined stays so.
        """
        entered = []
        with self._db.write() as tx:
            missing = [name for name in folder.names(self._executors) if self.judge(name).unlisted]
            recorded = _recorded(self._audit) if missing else {}
            for name in missing:
                signed = self.judge(name).signed
                assert signed is not None  # noqa: S101 -- an unlisted one is signed
                serial, state, codes = recorded.get(name, (0, signed.state, set()))
                old = serial > signed.serial
                held = worse(worse(state, signed.state), State.QUARANTINE if old else signed.state)
                entry = index.from_signed(signed, signed.since)
                before = signed.state if old else None
                index.put(tx, dataclasses.replace(entry, state=held, serial=max(serial, signed.serial), before=before))
                revoked = codes | ({signed.code} if held is State.REVOKED else set())
                index.record_revoked(tx, sorted(revoked), name, self._clock.now())
                entered.append(name)
            if entered:
                self._audit.append(Entry(REBUILT, counts={"executors": len(entered)}))
        return entered


def check_contents(name: str, contents: Mapping[str, bytes], defaults: ExecutorSettings | None) -> manifest.Manifest:
    """Whether these files follow the contract; returns the manifest. ``defaults`` bound the quotas."""
    texts = {}
    for file in folder.SIGNED:
        if file not in contents:
            raise ManifestError(f"{name} lacks {file}", fix="docs/executors.md says what a folder must hold.")
        try:
            texts[file] = contents[file].decode()
        except UnicodeDecodeError as error:
            raise ManifestError(f"{name}/{file} is not UTF-8 text", fix="Save it as UTF-8.") from error
    read = manifest.parse(texts[folder.MANIFEST], where=f"{name}/{folder.MANIFEST}", defaults=defaults)
    if read.name != name:
        raise ManifestError(f"the folder {name} holds the manifest of {read.name}", fix="Give both one name.")
    _check_code(name, texts[folder.SOURCE])
    return read


def _check_code(name: str, source: str) -> None:
    """Whether it is Python with a function ``run(args, ctx)``. It is not run here, and not judged."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ManifestError(f"{name}/{folder.SOURCE} is not Python: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "run" and len(node.args.args) == 2:
            return
    raise ManifestError(f"{name}/{folder.SOURCE} has no function run(args, ctx)", fix="Write one.")


def _signable(found: Verdict) -> Mapping[str, bytes]:
    """The files to sign, if the folder holds them and nothing strange."""
    if found.content is None:
        raise ExecutorError(f"there is no folder {found.name!r} to sign", fix="Write the executor there first.")
    if found.content.strange:
        problem = found.content.strange[0]
        raise ManifestError(f"{found.name} cannot be signed: {problem.said}", fix="Put that right first.")
    return found.content.files


def _refuse_unchangeable(found: Verdict, state: State) -> None:
    name = found.name
    if not found.exists:
        raise NotTrusted(f"there is no executor {name!r}", fix="`metnos executor list` names them all.")
    if found.entry is None:
        what = "is not in the index" if found.signed else "is a draft"
        fix = "metnos executor rebuild" if found.unlisted else f"metnos executor sign {name}"
        raise NotTrusted(f"{name} {what}, so its state cannot be changed", fix=fix)
    if state is State.REVOKED and found.entry.origin is Origin.BUILTIN:
        what = f"{name} comes with Metnos, so it is not revoked: nothing could bring it back"
        raise NotTrusted(what, fix=f"To switch it off: metnos executor disable {name}")
    if found.tampered and state not in (State.ARCHIVED, State.REVOKED):
        said = "; ".join(problem.said for problem in found.problems)
        raise NotTrusted(
            f"{name} is not as it was signed: {said}", fix=f"Look at it. If it is right: metnos executor sign {name}"
        )


def _digests(signed: Signed) -> dict[str, str]:
    return {"executor": signed.digest, "code": signed.code}


def _codes(found: Verdict) -> list[str]:
    """Every code that goes by this name now: what was signed, and what lies there."""
    codes = {signed.code for signed in (found.signed, found.entry) if signed and signed.code}
    if found.content and folder.SOURCE in found.content.files:
        codes.add(sha256_hex(found.content.files[folder.SOURCE]))
    return sorted(codes)


def _recorded(audit: Audit) -> dict[str, tuple[int, State, set[str]]]:
    """What the audit remembers of each executor: its greatest serial, its last severe state, its revoked code."""
    severe = {"executor quarantined": State.QUARANTINE, "executor revoked": State.REVOKED}
    known: dict[str, tuple[int, State, set[str]]] = {}
    for line in audit.newest():
        names = line.entry.names
        name = names.get("name", "")
        if not line.kind.startswith("executor ") or not name or names.get("phase", "done") != "done":
            continue
        first = name not in known
        serial, state, codes = known.get(name, (0, State.ACTIVE, set()))
        if line.kind in severe and (first or line.kind == "executor revoked"):
            state = worse(state, severe[line.kind])
        if line.kind == "executor revoked" and "code" in line.entry.digests:
            codes = codes | {line.entry.digests["code"]}
        known[name] = (max(serial, line.entry.counts.get("serial", 0)), state, codes)
    return known
