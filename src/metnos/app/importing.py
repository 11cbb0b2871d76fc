"""Executors from and for other instances, in a workspace.

Out goes what this agent signed itself and could run now: three files of each, in a bundle (`metnos.synt.bundle`). What
comes in is a stranger's text, whoever signed it, and goes the way of every draft: all gates, then a question in the
inbox, and after the owner's yes our own key. Rules:

- Nothing runs, is signed or is overwritten by importing; each executor stands for itself, and one that is refused does
  not keep the others out. What a gate says is told, and kept with the proposals.
- A name that is taken is taken. Only what is recognisably a later version of one that is not built in is offered as
  that: its number is higher, and it shares the code of the one that is here, or takes and gives the same.
- The same again asks nothing again: what waits, waits; what is here is here; what the owner refused stays refused,
  unless they say that they want to be asked.
- The files are examined first, then proposal and question are written together, so that a process killed anywhere
  leaves nothing that the same command does not put right.
"""

import graphlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.app.growing import SYNT
from metnos.core import files
from metnos.core.canon import Json, sha256_hex
from metnos.core.errors import ExecutorError, InboxError, ManifestError, NotTrusted, UsageError
from metnos.executors import folder, index
from metnos.executors.signature import Origin
from metnos.executors.state import State as Standing
from metnos.grimoire import poison
from metnos.grimoire.strings import strings
from metnos.law.audit_line import Entry
from metnos.law.inbox import ACTIVATION, Item
from metnos.law.inbox import State as Answer
from metnos.synt import bundle, gates, likeness
from metnos.synt.draft import Check, Draft, Made
from metnos.synt.need import Evidence, Need, Way
from metnos.synt.proposals import OPEN, Proposal, State, subject_of
from metnos.synt.rules import LikenessRules

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.executors.catalog import Look

EXPORTED, IMPORTED = "executors exported", "executors imported"
PARTS, NAME, CODE, WORDS = "parts", "name", "code", "words"  # what is looked at before the gates
KEY = "key of the bundle"  # where a question says it


class Became(StrEnum):
    """What became of something that was brought."""

    WAITS = "waits"  # for the owner's yes
    HERE = "here"  # already, to the bit
    DECLINED = "declined"  # by the owner, before
    REFUSED = "refused"  # by a gate


@dataclass(frozen=True, slots=True)
class Source:
    """Where something comes from, in words for the owner; ``key`` is that of a bundle."""

    says: str
    key: str = ""
    known: bool = False


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of one executor that was brought."""

    name: str
    became: Became
    said: str
    gate: str = ""  # the one that refused it
    question: str = ""  # in the inbox
    needs: tuple[str, ...] = ()  # executors that it calls


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    key: str
    digest: str  # of the file
    drafts: tuple[Draft, ...]
    parts: tuple[str, ...]  # that they call, are not built in and are not in the bundle


# -- out


def export(app: "App", names: Sequence[str], target: Path) -> Exported:
    """Write a bundle of executors into a file that is not there yet."""
    drafts = tuple(packable(app, name) for name in sorted(set(names)))
    raw = bundle.pack(drafts, app.seat.signer)
    counts = {"executors": len(drafts), "bytes": len(raw)}
    try:
        with app.audit.act(Entry(EXPORTED, {}, {"bundle": sha256_hex(raw)}, counts)):
            if not files.create(target, raw):
                raise UsageError(f"{target} is there already", fix="Name another file.")
    except OSError as error:
        raise ExecutorError(f"{target} cannot be written: {error.strerror}", fix="Choose another place.") from error
    called = {part for draft in drafts for part in calls(draft)} - {draft.name for draft in drafts}
    parts = sorted(part for part in called if not _is_builtin(app, part))
    return Exported(app.seat.signer.public, sha256_hex(raw), drafts, tuple(parts))


def calls(draft: Draft) -> tuple[str, ...]:
    """The executors that a draft calls. Raises `ManifestError`."""
    return draft.read().capabilities.executor.call


def packable(app: "App", name: str) -> Draft:
    """The three files of an executor that is usable and as it was signed, and that does not come with Metnos."""
    executor = app.catalog.get(name)
    if executor.origin is Origin.BUILTIN:
        raise UsageError(f"{name} comes with Metnos, so the other instance has it", fix="Export what is your own.")
    content = app.catalog.judge(name).content
    kept = content.files if content else {}
    draft = Draft(name, *(kept.get(file, b"").decode() for file in (folder.MANIFEST, folder.SOURCE, folder.TESTS)))
    if draft.digest != executor.digest:
        raise NotTrusted(f"{name} was changed just now", fix=f"Look at it: metnos executor show {name}")
    return draft


def _is_builtin(app: "App", name: str) -> bool:
    entry = index.current(app.catalog.db, name)
    return entry is not None and entry.origin is Origin.BUILTIN


# -- in


def whose(app: "App", key: str) -> Source:
    """What can be said of a key: it is ours, the owner took something from it before, or a stranger's."""
    if key == app.seat.signer.public:
        return Source("It was brought by a bundle that this agent packed itself.", key, known=True)
    agreed = (each for each in app.inbox.newest(-1) if each.kind == ACTIVATION and each.state is Answer.USED)
    if any(each.body.get(KEY) == key for each in agreed):
        return Source("It was brought by a bundle. You took an executor from the same key before.", key, known=True)
    return Source("It was brought by a bundle. Its key is a stranger's: nothing was ever taken from it.", key)


def open_bundle(app: "App", path: Path) -> tuple[bundle.Bundle, Source]:
    """What a file holds, its signature checked, and where it comes from."""
    opened = bundle.unpack(bundle.read(path), app.seat.signer.public)
    return opened, whose(app, opened.key)


def take_in(
    app: "App",
    drafts: Sequence[Draft],
    source: Source,
    *,
    again: bool = False,
    progress: Callable[[str], None] = lambda _name: None,
) -> Iterator[Brought]:
    """Bring executors before the owner, each as soon as it was examined; those that others call come first."""
    app.refuse_halted()
    bringing = _Bringing(app, source, again, {draft.name for draft in drafts})
    for draft in _in_order(drafts):
        progress(draft.name)
        yield bringing.bring(draft)
    app.audit.append(Entry(IMPORTED, counts={str(kind): count for kind, count in bringing.counts().items()}))


def _in_order(drafts: Sequence[Draft]) -> list[Draft]:
    """Parts before what calls them; where they call one another in a circle, as they came."""
    named = {draft.name: draft for draft in drafts}
    graph = {draft.name: sorted(named.keys() & set(_calls(draft))) for draft in drafts}
    try:
        return [named[name] for name in graphlib.TopologicalSorter(graph).static_order()]
    except graphlib.CycleError:
        return list(drafts)


def _calls(draft: Draft) -> tuple[str, ...]:
    try:
        return calls(draft)
    except ManifestError:
        return ()  # the gates will say so


class _Refused(Exception):
    """One of the checks before the gates says no."""

    def __init__(self, gate: str, problem: str) -> None:
        super().__init__(problem)
        self.gate = gate
        self.problem = problem


class _Bringing:
    """The way of what one bundle or folder holds."""

    def __init__(self, app: "App", source: Source, again: bool, beside: set[str]) -> None:
        self._app = app
        self._source = source
        self._again = again
        self._beside = beside  # what is brought together
        self._done: list[Brought] = []

    def counts(self) -> dict[Became, int]:
        return {kind: sum(each.became is kind for each in self._done) for kind in Became}

    def bring(self, given: Draft) -> Brought:
        draft = replace(given, code=gates.formatted(given.code))  # as the gates would write it
        try:
            found = self._settled(draft) or self._examined(draft)
        except _Refused as no:
            found = self._refused(draft, (Check(no.gate, no.problem),))
        self._done.append(found)
        return found

    # -- what needs no look at the code

    def _settled(self, draft: Draft) -> Brought | None:
        """What is to be said without examining it: that it is here, waits, or was refused by the owner."""
        try:
            digest = draft.digest
        except ManifestError:
            return None  # the first gate says so
        look = self._look(draft.name)
        if look is not None and look.executor is not None and look.executor.digest == digest:
            enable = "" if look.executor.usable else f" To use it: metnos executor enable {draft.name}"
            return Brought(draft.name, Became.HERE, f"it is here already, to the bit, and is {look.state}.{enable}")
        before = next((each for each in self._app.growing.proposals.all() if each.digest == digest), None)
        if before is None or before.state is State.ACTIVE:
            return None  # never seen; or it lived, and something else is in its place: `_replaced` decides
        item = self._question(before)
        if before.is_open and item is not None and item.state in (Answer.WAITING, Answer.APPROVED):
            return Brought(draft.name, Became.WAITS, "you were asked about it already", question=item.id)
        if before.state is State.REFUSED and not self._again:
            return Brought(draft.name, Became.DECLINED, f"{before.reason}. To be asked again: --again")
        return None

    def _look(self, name: str) -> "Look | None":
        try:
            return self._app.catalog.look(name)
        except NotTrusted:
            return None

    def _question(self, proposal: Proposal) -> Item | None:
        try:
            return self._app.inbox.find(proposal.activation) if proposal.activation else None
        except InboxError:
            return None

    # -- examining

    def _examined(self, draft: Draft) -> Brought:
        try:
            needs = calls(draft)
        except ManifestError:
            needs = ()
        else:
            _refuse_orders(draft)
            self._refuse_revoked(draft)
            self._refuse_lacking(needs)
        replaces = self._replaced(draft)
        made = self._app.growing.examined(draft, replaces)
        if made.draft is None:
            return self._refused(draft, made.checks, replaces)
        return self._asked(made, replaces, needs)

    def _refuse_revoked(self, draft: Draft) -> None:
        if index.is_revoked(self._app.catalog.db, sha256_hex(draft.code.encode())):
            raise _Refused(CODE, "this very code was revoked here, and that is final")

    def _refuse_lacking(self, needs: Sequence[str]) -> None:
        """What it calls must be usable here, or have come with it and not been refused."""
        refused = {each.name for each in self._done if each.became in (Became.REFUSED, Became.DECLINED)}
        usable = {each.name for each in self._app.catalog.usable()}
        lacking = [part for part in needs if part not in usable and part not in self._beside - refused]
        if lacking:
            raise _Refused(PARTS, f"it calls {', '.join(lacking)}, which cannot be used here: import that first")

    def _replaced(self, draft: Draft) -> str:
        """The executor of which this is a later version; nothing if the name is free."""
        look = self._look(draft.name)
        if look is None:
            return ""
        if look.origin is Origin.BUILTIN:
            raise _Refused(NAME, f"{draft.name} comes with Metnos, and nothing takes its place")
        if look.state is Standing.DRAFT or look.executor is None:
            raise _Refused(NAME, f"a folder {draft.name} is here that nobody signed; it is left alone")
        version = draft.read().version
        if _number(version) <= _number(look.version):
            raise _Refused(NAME, f"{draft.name} is {look.version} here, and {version} is no later version of it")
        if not _is_version_of(likeness.of_draft(draft), likeness.of_executor(look.executor)):
            raise _Refused(NAME, f"there is another executor called {draft.name} here, and this is no version of it")
        return draft.name

    # -- what comes of it

    def _need(self, draft: Draft, replaces: str = "") -> Need:
        try:
            text = draft.read().purpose
        except ManifestError:
            text = f"What a bundle calls {draft.name}"
        return Need(text, Way.IMPORTED, draft.name, evidence=Evidence(says=self._source.says), replaces=replaces)

    def _asked(self, made: Made, replaces: str, needs: tuple[str, ...]) -> Brought:
        growing, draft = self._app.growing, made.draft
        assert draft is not None  # noqa: S101 -- only what passed comes here
        need = self._need(draft, replaces)
        with growing.proposals.db.write():  # both or neither: nobody could make a proposal of it that has no files
            self._refuse_second(draft)
            proposal, _ = growing.proposals.take_up(need, "it was imported")
            shown = {**growing.shown(proposal, made), **self._origin(needs)}
            asked = growing.births.ask_activation(proposal, made, shown, asked_by=SYNT)
        said = f"a new version of {replaces}; it passed every gate" if replaces else "it passed every gate"
        return Brought(draft.name, Became.WAITS, said, question=asked.activation, needs=needs)

    def _refuse_second(self, draft: Draft) -> None:
        """One question about one name at a time: the second yes would put the second in the place of the first."""
        for each in self._app.growing.proposals.all(OPEN):
            if each.name == draft.name and each.digest != draft.digest and self._waits(each):
                raise _Refused(NAME, f"another {draft.name} is on its way already: metnos synt show {each.id[-6:]}")

    def _waits(self, proposal: Proposal) -> bool:
        """Whether something comes of it still: an import that nobody answered in time is none."""
        item = self._question(proposal)
        open_ = item is not None and item.state in (Answer.WAITING, Answer.APPROVED)
        return open_ or proposal.need.way is not Way.IMPORTED

    def _origin(self, needs: tuple[str, ...]) -> dict[str, Json]:
        found: dict[str, Json] = {KEY: self._source.key} if self._source.key else {}
        return {**found, "calls": list(needs)} if needs else found

    def _refused(self, draft: Draft, checks: Sequence[Check], replaces: str = "") -> Brought:
        """Keep what was refused and why, once; an open proposal about the same is left alone."""
        wrong = next(check for check in checks if not check.passed)
        reason = f"{wrong.gate}: {wrong.problem}"
        proposals, need = self._app.growing.proposals, self._need(draft, replaces)
        same = (each for each in proposals.all() if each.subject == subject_of(need))
        if not any(each.is_open or each.reason == reason for each in same):
            with proposals.db.write():
                proposals.abandon(proposals.take_up(need, "it was imported")[0], reason, checks)
        return Brought(draft.name, Became.REFUSED, wrong.problem, wrong.gate)


def _refuse_orders(draft: Draft) -> None:
    """What a manifest says stands before every planner: what speaks to the agent there is no description."""
    said = list(strings(draft.read().model_dump(mode="json", exclude_unset=True)))
    reason = next(filter(None, (poison.screen(text).reason for text in (*said, "\n".join(said)))), "")
    if reason:
        raise _Refused(WORDS, f"its manifest speaks to the agent: {reason}")


def _is_version_of(one: likeness.Profile, other: likeness.Profile) -> bool:
    """Whether two of one name are the same thing: by their code, or by what they take and give."""
    rules = LikenessRules()
    mine, theirs = one.takes | one.gives, other.takes | other.gives
    alike = one.kind == other.kind and len(mine & theirs) >= rules.keys_same * len(mine | theirs)
    return alike or likeness.code_likeness(one.source, other.source) >= rules.code_near


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split("."))) if version else ()
