"""The built-in executors: from the package into the workspace.

They lie in ``builtin/<name>/``, and ``builtin/digests.json`` says what each file must be (``make docs`` writes it).

Rules: what does not match its shipped digest is refused, that one alone; installing again when nothing changed writes
nothing; a newer package replaces an older built-in and keeps the state that the owner gave it. A built-in that was
tampered with is restored in the state it had before; a revoked one stays revoked; an executor of the owner's own under
the same name is left alone, and said. Safe to interrupt: what is not done yet is done the next time.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable

from metnos.core.canon import sha256_hex
from metnos.core.errors import ExecutorError, ManifestError
from metnos.executors import folder
from metnos.executors.catalog import Catalog
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.executors.verdict import Verdict
from metnos.law.audit_line import Entry
from metnos.store.db import Transaction

DIGESTS = "digests.json"
INSTALLED = "builtins installed"
_REASON = "built in"
_WHY = ("fresh", "upgraded", "restored")

Digests = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Report:
    """What an installation did; ``refused`` says why for each name."""

    fresh: tuple[str, ...] = ()
    upgraded: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> tuple[str, ...]:
        return (*self.fresh, *self.upgraded, *self.restored)


@dataclass(frozen=True, slots=True)
class _Due:
    """One built-in that has to be written, why, and in which state."""

    name: str
    why: str
    state: State
    contents: Mapping[str, bytes]


def install(catalog: Catalog, package_folder: Traversable | None = None) -> Report:
    """Bring the shipped executors into the workspace and sign them; does nothing when nothing changed."""
    shipped = package_folder or resources.files("metnos.executors").joinpath("builtin")
    digests = read_digests(shipped)
    found = {each.name: each for each in catalog.judge_all(digests)}
    for name, each in found.items():
        if each.tampered:
            catalog.quarantine(name)  # said first, then restored
    refused = _taken(found)
    if not any(_wanted(each, digests[name]) for name, each in found.items()):
        return Report(refused=refused)
    with catalog.db.write() as tx:  # judged again inside: another process may have been faster
        folder.sweep(catalog.folder)
        due = list(_due(catalog, shipped, digests, refused))
        if due:
            counts = {why: sum(one.why == why for one in due) for why in _WHY}
            entry = Entry(INSTALLED, digests={"shipped": digests_hash(digests)}, counts=counts)
            with catalog.audit.act(entry):
                for one in due:
                    _write(catalog, tx, one, refused)
    done = [one for one in due if one.name not in refused]
    by_why = {why: tuple(one.name for one in done if one.why == why) for why in _WHY}
    return Report(by_why["fresh"], by_why["upgraded"], by_why["restored"], refused)


def read_digests(shipped: Traversable) -> Digests:
    """What the package says its files are, by executor."""
    try:
        data = json.loads(shipped.joinpath(DIGESTS).read_bytes())
        return {str(name): {str(file): str(digest) for file, digest in of.items()} for name, of in data.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise ExecutorError(
            f"the list of built-in executors is damaged: {DIGESTS}", fix="Install this version of Metnos again."
        ) from error


def measure(shipped: Traversable) -> dict[str, dict[str, str]]:
    """The digests of what lies in the package's folder: what ``digests.json`` must hold."""
    homes = sorted(
        (home for home in shipped.iterdir() if home.is_dir() and _has_manifest(home)), key=lambda home: home.name
    )
    return {home.name: {file: sha256_hex(home.joinpath(file).read_bytes()) for file in folder.SIGNED} for home in homes}


def digests_hash(digests: Digests) -> str:
    """One digest for the whole list."""
    return sha256_hex(json.dumps(digests, sort_keys=True).encode())


def _has_manifest(home: Traversable) -> bool:
    return home.joinpath(folder.MANIFEST).is_file()


def _wanted(found: Verdict, files: Mapping[str, str]) -> str:
    """Why a built-in has to be written, or an empty string."""
    if not found.exists or (found.entry is None and found.signed is not None and found.signed.origin is Origin.BUILTIN):
        return "fresh"
    entry = found.entry
    if entry is None or entry.origin is not Origin.BUILTIN or found.state is State.REVOKED:
        return ""
    if found.tampered or entry.tampered:
        return "restored"
    return "" if found.signed and dict(found.signed.files) == dict(files) else "upgraded"


def _taken(judged: Mapping[str, Verdict]) -> dict[str, str]:
    """Which names the owner's own executors have taken."""
    taken = {}
    for name, found in judged.items():
        known = found.entry or found.signed
        if found.exists and (known is None or known.origin is not Origin.BUILTIN) and found.state is not State.REVOKED:
            taken[name] = "an executor of your own has this name; it was left as it is"
    return taken


def _due(catalog: Catalog, shipped: Traversable, digests: Digests, refused: dict[str, str]) -> Iterator[_Due]:
    for name, files in digests.items():
        found = catalog.judge(name)
        why = _wanted(found, files)
        if not why:
            continue
        try:
            contents = _shipped_files(shipped, name, files)
        except ManifestError as error:
            refused[name] = error.what
            continue
        yield _Due(name, why, _state(found, why), contents)


def _state(found: Verdict, why: str) -> State:
    """The state to install in: what the owner made of it stays, also when it was tampered with meanwhile."""
    if why == "upgraded":
        return found.state
    before = found.entry.before if found.entry else None
    return State.ACTIVE if before in (None, State.DRAFT) else State(before)


def _shipped_files(shipped: Traversable, name: str, files: Mapping[str, str]) -> dict[str, bytes]:
    """The files of one built-in, each checked against its digest."""
    contents = {}
    for file in folder.SIGNED:
        try:
            contents[file] = shipped.joinpath(name, file).read_bytes()
        except OSError as error:
            raise ManifestError(f"the package lacks {name}/{file}") from error
        if sha256_hex(contents[file]) != files.get(file):
            raise ManifestError(f"the package's {name}/{file} is not what was shipped; install Metnos again")
    return contents


def _write(catalog: Catalog, tx: Transaction, due: _Due, refused: dict[str, str]) -> None:
    """Write one; a manifest that does not follow the contract keeps that one out, and no other."""
    try:
        signed = catalog.write(tx, due.name, due.contents, _REASON, Origin.BUILTIN, due.state)
    except ExecutorError as error:
        refused[due.name] = error.what
        return
    if due.why != "fresh":
        names = {
            "name": due.name,
            "origin": "builtin",
            "version": signed.version,
            "state": due.state.value,
        }
        catalog.audit.append(Entry("executor signed", names, {"executor": signed.digest}, {"serial": signed.serial}))
