"""What is to be thought of an executor: the index's entry and the folder's content, held against each other.

Rules: decides and does nothing else. Whatever differs from what was signed is a problem, and a problem makes it
quarantine at the least; without problems the more severe state of the two holds. A folder without a signature that the
index does not know is a draft.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from metnos.core.canon import sha256_hex
from metnos.core.errors import ManifestError
from metnos.executors import folder, manifest, signature
from metnos.executors.folder import Content, Problem
from metnos.executors.index import Entry
from metnos.executors.manifest import Manifest
from metnos.executors.signature import Origin, Signed
from metnos.executors.state import USABLE, State, worse


@dataclass(frozen=True, slots=True)
class Executor:
    """One executor, as it was when it was looked at."""

    name: str
    version: str
    manifest: Manifest
    source: str
    tests_text: str
    digest: str
    code_digest: str
    state: State
    origin: Origin
    reason: str
    since: datetime | None
    serial: int

    @property
    def usable(self) -> bool:
        return self.state in USABLE


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything known about one name. ``problems`` of a draft hinder its signing, of others they are tampering."""

    name: str
    state: State
    entry: Entry | None
    content: Content | None
    signed: Signed | None
    problems: tuple[Problem, ...] = ()

    @property
    def exists(self) -> bool:
        return self.entry is not None or self.content is not None

    @property
    def tampered(self) -> bool:
        return bool(self.problems) and self.state is not State.DRAFT

    @property
    def unlisted(self) -> bool:
        """Well signed, but the index has no entry: it was lost, or the signing was interrupted."""
        return self.signed is not None and self.entry is None and not self.problems

    @property
    def serial(self) -> int:
        """The greatest serial that was ever seen for it."""
        return max(self.entry.serial if self.entry else 0, self.signed.serial if self.signed else 0)


def judge(name: str, entry: Entry | None, content: Content | None, public: str) -> Verdict:
    """Hold the index and the folder against each other. The index must have been read first."""
    if content is None:
        # What was put away or revoked may be removed from the disk as well.
        wanted = entry is not None and entry.state not in (State.ARCHIVED, State.REVOKED)
        gone = (Problem("missing", "its folder is gone"),) if wanted else ()
        return Verdict(name, _state(entry, None, gone), entry, None, None, gone)
    raw = content.files.get(folder.SIGNATURE)
    if raw is None:
        problems = list(content.strange)
        if entry is None:
            return Verdict(name, State.DRAFT, None, content, None, tuple(problems))
        if not any(problem.wrong.endswith(f":{folder.SIGNATURE}") for problem in problems):
            problems.append(Problem("missing:signature", "its signature is missing"))
        return Verdict(name, _state(entry, None, problems), entry, content, None, tuple(problems))
    read = signature.read(raw, public)
    if isinstance(read, Problem):
        found = (read, *content.strange)
        return Verdict(name, _state(entry, None, found), entry, content, None, found)
    problems = signature.compare(content, read) + _against_index(read, entry)
    return Verdict(name, _state(entry, read, problems), entry, content, read, tuple(problems))


def record(verdict: Verdict) -> Executor:
    """The executor behind a verdict, whatever its state. Raises `ManifestError` when its files are none."""
    content = verdict.content
    missing = [file for file in folder.SIGNED if content is None or file not in content.files]
    if content is None or missing:
        raise ManifestError(
            f"{verdict.name} lacks {', '.join(missing)}", fix="docs/executors.md says what a folder must hold."
        )
    texts = {file: _decode(content.files[file], file, verdict.name) for file in folder.SIGNED}
    signed = verdict.signed
    if signed and not verdict.problems:
        read = _signed_manifest(texts[folder.MANIFEST])
        digest = signed.digest
    else:
        read = read_manifest(verdict.name, texts[folder.MANIFEST])
        digest = signature.identity(sha256_hex(read.canonical()), signature.file_digests(content.files))
    return Executor(
        name=verdict.name,
        version=read.version,
        manifest=read,
        source=texts[folder.SOURCE],
        tests_text=texts[folder.TESTS],
        digest=digest,
        code_digest=sha256_hex(content.files[folder.SOURCE]),
        state=verdict.state,
        origin=_origin(verdict),
        reason=_reason(verdict),
        since=verdict.entry.ts if verdict.entry else (signed.since if signed else None),
        serial=verdict.serial,
    )


def read_manifest(name: str, text: str) -> Manifest:
    """The manifest of the folder ``name``, which must be its own."""
    read = manifest.parse(text, where=f"{name}/{folder.MANIFEST}")
    if read.name != name:
        raise ManifestError(
            f"the folder {name} holds the manifest of {read.name}", fix="Give the folder the manifest's name."
        )
    return read


def _against_index(signed: Signed, entry: Entry | None) -> list[Problem]:
    if entry is None or signed.serial > entry.serial:
        return []  # a change that was cut short before it reached the index: ours, and newer
    if signed.serial < entry.serial or signed.digest != entry.digest:
        return [Problem("old-signature", "an older signature was put back")]
    return []


def _state(entry: Entry | None, signed: Signed | None, problems: object) -> State:
    if problems:
        listed = entry.state if entry else State.QUARANTINE
        # A signature that is not stale still tells the state: what was revoked does not become less by being changed.
        fresh = signed is not None and entry is not None and signed.name == entry.name and signed.serial >= entry.serial
        return worse(State.QUARANTINE, worse(listed, signed.state) if signed and fresh else listed)
    if entry is None:
        return worse(State.DRAFT, signed.state) if signed else State.DRAFT
    return worse(entry.state, signed.state) if signed else entry.state


def _origin(verdict: Verdict) -> Origin:
    source = verdict.signed or verdict.entry
    return source.origin if source else Origin.OWNER


def _reason(verdict: Verdict) -> str:
    if verdict.problems:
        return "; ".join(problem.said for problem in verdict.problems)
    if verdict.entry and verdict.signed and verdict.entry.state is not verdict.state:
        return verdict.signed.reason
    source = verdict.entry or verdict.signed
    return source.reason if source else ""


@lru_cache(maxsize=512)
def _signed_manifest(text: str) -> Manifest:
    """Of a signed manifest the same bytes are the same manifest: it need not be read twice."""
    return manifest.parse(text, signed=True)


def _decode(raw: bytes, file: str, name: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ManifestError(f"{name}/{file} is not UTF-8 text", fix="Save it as UTF-8.") from error
