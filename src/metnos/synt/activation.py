"""The owner's yeses: to a direction, and to exactly the files that will live. There is no other way to either.

Rules: a direction is a question about one proposal; what Metnos thought of by itself is not made before its yes was
used. An activation is a question about the digest of three files; the catalog signs nothing that Metnos made unless the
yes to that very digest was used, and, if it was Metnos's own idea, the yes to its direction before (`consent`). Both
are asked by whoever proposes and answered by the owner alone; each yes is used once. What the owner edits is another
draft, goes through every gate again, and is another question.

A question and the proposal that it is about are in two files, which cannot be written together. So the question comes
first, with the files in it, and whoever finds one that nobody noted notes it (`settle`): a process killed between the
two leaves nothing that cannot be answered.

Another version takes the place of one only if that is still the one that the owner was shown the difference to. What
was there is kept, to be put back; trust is not: what was granted to it by name ends, in whichever direction it goes.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import ExecutorError, InboxError, NotTrusted
from metnos.executors import folder, index
from metnos.executors.catalog import Catalog
from metnos.executors.registrar import Consent
from metnos.executors.signature import Origin
from metnos.executors.state import State as Standing
from metnos.executors.verdict import Executor
from metnos.law.grants import Grant, Grants
from metnos.law.inbox import ACTIVATION, ADOPTION, DIRECTION, Inbox, Item
from metnos.law.inbox import State as Answer
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.synt.draft import Check, Draft, Made
from metnos.synt.need import Need, Way
from metnos.synt.proposals import Birth, Proposal, Proposals, State

BEFORE = "before"  # where a question has the digest of the version that it is shown against; empty if there is none
KEPT = ("way", "direction", "proposal")  # of a question whose words are forgotten: nobody's words, and still needed
_HOURS = 30 * 24.0  # nothing is lost by thinking about it
_TITLE = 90
_SELF = Principal(Channel.NIGHT, "synt", Autonomy.READ_ONLY)
_FILES = (folder.MANIFEST, folder.SOURCE, folder.TESTS)
_AGREED = (Answer.APPROVED, Answer.USED)
_UNKNOWN = "how it stood when another took its place is not known any more"


def consent(inbox: Inbox) -> Consent:
    """Whether the owner agreed to exactly what has a digest; what speaks against it, if not."""

    def why_not(digest: str, origin: Origin) -> str:
        adopted = inbox.used(ADOPTION, digest) if origin is Origin.OWNER else None
        item = inbox.used(ACTIVATION, digest)
        if adopted is not None:
            return ""
        if item is None:
            return "you have not approved these exact files"
        way, direction = str(item.body.get("way", "")), str(item.body.get("direction", ""))
        if way not in tuple(Way):
            return "nobody knows how it came about"
        if Way(way).is_internal and (not direction or inbox.used(DIRECTION, direction) is None):
            return "it was Metnos's own idea, and you did not agree to the direction first"
        return ""

    return why_not


@dataclass(frozen=True, slots=True)
class Lives:
    """What came of a yes, or of putting a version back. ``ended`` is what the one before it had been granted."""

    executor: Executor
    before: str = ""  # the version whose place it took
    ended: tuple[Grant, ...] = ()


class Activation:
    """Puts proposals before the owner and does what they decided."""

    def __init__(self, proposals: Proposals, inbox: Inbox, catalog: Catalog, grants: Grants | None = None) -> None:
        self._proposals = proposals
        self._inbox = inbox
        self._catalog = catalog
        self._grants = grants

    # -- questions

    def settle(self) -> None:
        """Note every question that was asked by a process which was killed before it could note it."""
        for item in self._inbox.open(DIRECTION, ACTIVATION):
            if self._proposals.of_question(item.id) is None:
                with contextlib.suppress(InboxError, ExecutorError):  # a question about nothing that is known: it ends
                    self._note(item)

    def question(self, proposal: Proposal) -> Item | None:
        """The question that a proposal waits for, or whose answer is to be carried out."""
        key = {State.DIRECTION: proposal.direction, State.DRAFTED: proposal.activation}.get(proposal.state, "")
        try:
            return self._inbox.find(key) if key else None
        except InboxError:
            return None

    def is_agreed(self, proposal: Proposal) -> bool:
        """Whether the owner said yes to its draft, and it does not live yet."""
        item = self.question(proposal) if proposal.state is State.DRAFTED else None
        return item is not None and item.state in _AGREED

    def _note(self, item: Item) -> Proposal:
        """Let a proposal know of its question. Raises if the question is about none, or not about it any more."""
        proposal = self._proposals.get(str(item.body.get("proposal", "")))
        if item.kind == DIRECTION:
            if proposal.state is State.WEIGHED and item.digest == direction_digest(proposal):
                return self._proposals.ask_direction(proposal, item.id)
        elif proposal.state in (State.COMMISSIONED, State.DRAFTED):
            other = self.question(proposal)
            draft = _draft(item)
            if (other is None or other.state not in (Answer.WAITING, *_AGREED)) and draft.digest == item.digest:
                checks = tuple(Check(str(each), "") for each in item.body.get("checks", ()))
                return self._proposals.drafted(proposal, Made(draft, checks), item.id)
        raise InboxError(f"question {item.id} is about nothing that waits for it", fix="metnos synt list")

    # -- the direction

    def ask_direction(self, proposal: Proposal, why: Sequence[str], *, asked_by: Principal) -> Item:
        """Ask whether Metnos should try to learn this. ``why`` are lines for the owner."""
        title = f"Shall I learn to {_short(proposal.need.text)}"
        body: dict[str, Json] = {
            "proposal": proposal.id,
            "way": str(proposal.need.way),
            "need": proposal.need.text,
            "why": list(why),
            **evidence(proposal.need),
        }
        item = self._inbox.ask(DIRECTION, title, body, direction_digest(proposal), asked_by=asked_by, hours=_HOURS)
        if proposal.state is State.WEIGHED:
            self._proposals.ask_direction(proposal, item.id)
        return item

    def agreed(self, item: Item) -> Proposal:
        """The owner said yes to a direction: it may be made."""
        proposal = self._of(item, DIRECTION)
        if proposal.state is State.COMMISSIONED:
            return proposal  # a process died between the two: the yes was used
        if self._inbox.take(item.digest) is None and self._inbox.used(DIRECTION, item.digest) is None:
            raise InboxError(f"question {item.id} has no yes that could be used", fix="metnos inbox list")
        return self._proposals.commission(proposal, "the owner agreed to the direction")

    # -- the executor itself

    def ask_activation(
        self, proposal: Proposal, made: Made, shown: Mapping[str, Json], *, asked_by: Principal
    ) -> Proposal:
        """Put a green draft before the owner; ``shown`` is what they see of it beside the files."""
        title, body, digest = _question(proposal, made, shown)
        item = self._inbox.ask(ACTIVATION, title, body, digest, asked_by=asked_by, hours=_HOURS)
        return self._proposals.drafted(proposal, made, item.id)

    def ask_again(self, item: Item, made: Made, shown: Mapping[str, Json], *, by: Principal) -> Item:
        """Put what the owner made of a draft in the place of the question about it."""
        proposal = self._of(item, ACTIVATION)
        title, body, digest = _question(proposal, made, shown)
        new = self._inbox.edit(item.id, by, body, digest, title=title)
        self._proposals.drafted(proposal, made, new.id)
        return new

    def activate(self, item: Item) -> Lives:
        """The owner said yes to a draft: sign exactly that."""
        proposal = self._of(item, ACTIVATION)
        draft = proposal.draft
        if draft is None or draft.digest != item.digest:
            raise NotTrusted("that is not the draft that you were shown", fix="Look again: metnos synt list")
        old = index.current(self._catalog.db, draft.name)
        shown_against = item.body.get(BEFORE)
        if shown_against is not None and (old.digest if old else "") not in (shown_against, draft.digest):
            raise NotTrusted(
                f"{draft.name} is not the version any more that you were shown the difference to",
                fix="Nothing was changed. Refuse it with that as the reason, and it is made anew: metnos inbox refuse "
                f"{item.id} --reason ...",
            )
        if self._inbox.take(item.digest) is None and self._inbox.used(ACTIVATION, item.digest) is None:
            raise InboxError(f"question {item.id} has no yes that could be used", fix="metnos inbox list")
        before = old if old is not None and old.digest != draft.digest else None
        if before is not None:
            self._keep(proposal, before)
        ended = self._end_grants(draft.name) if before is not None else ()
        reason = f"made for: {_short(proposal.need.text)}"
        executor = self._catalog.adopt(draft.name, draft.contents(), reason, Origin.SYNTHESISED)
        if proposal.state is not State.ACTIVE:
            self._proposals.born(proposal, executor.version)
        return Lives(executor, before.version if before else "", ended)

    # -- versions

    def roll_back(self, name: str, digest: str) -> Lives:
        """Put an earlier version back: the owner agreed to it once, to the bit.

        It comes back as it stood when another took its place: what was in quarantine or switched off is so again, for
        that it failed is not undone by its successor having failed as well.
        """
        found = [each.draft for each in self._proposals.versions(name) if each.digest == digest]
        if not found:
            raise NotTrusted(f"no version of {name} like that ever lived", fix=f"metnos synt show {name}")
        current = index.current(self._catalog.db, name)
        entry = next((each for each in index.versions(self._catalog.db, name) if each.digest == digest), None)
        state, reason = _as_it_was(entry)
        ended = self._end_grants(name)
        origin = entry.origin if entry else Origin.SYNTHESISED
        executor = self._catalog.adopt(name, found[0].contents(), reason, origin, state)
        self._proposals.returned(digest, f"version {executor.version} was put back: {state}")
        return Lives(executor, current.version if current else "", ended)

    def _keep(self, proposal: Proposal, entry: index.Entry) -> None:
        """Keep the version whose place another takes, as it was signed, if nobody has."""
        content = self._catalog.judge(entry.name).content
        kept = content.files if content else {}
        draft = Draft(entry.name, *(kept.get(file, b"").decode(errors="replace") for file in _FILES))
        with contextlib.suppress(ExecutorError):  # what lies there was not signed: there is nothing to go back to
            if draft.digest == entry.digest:
                self._proposals.keep(proposal, Birth(entry.digest, entry.version, draft, entry.loaded_at))

    def _end_grants(self, name: str) -> tuple[Grant, ...]:
        """What the owner allowed one version for good was not allowed another."""
        return tuple(self._grants.end_of(name, _SELF)) if self._grants else ()

    def _of(self, item: Item, kind: str) -> Proposal:
        if item.kind == kind:
            proposal = self._proposals.of_question(item.id)
            with contextlib.suppress(ExecutorError):
                return proposal or self._note(item)
        raise InboxError(f"question {item.id} is about no {kind} that is known", fix="metnos synt list")


def _as_it_was(entry: index.Entry | None) -> tuple[Standing, str]:
    """In which state an earlier version is put back, and why."""
    if entry is None:
        return Standing.QUARANTINE, _UNKNOWN
    if entry.state in (Standing.QUARANTINE, Standing.DISABLED):
        return entry.state, entry.reason
    return Standing.ACTIVE, "an earlier version was put back"


def _question(proposal: Proposal, made: Made, shown: Mapping[str, Json]) -> tuple[str, dict[str, Json], str]:
    """The question about a green draft: its title, its body, and what the yes is bound to."""
    draft = made.draft
    if draft is None or not made.green:
        raise NotTrusted("only what passed every gate is put before the owner")
    body: dict[str, Json] = {
        **shown,
        "name": draft.name,
        "proposal": proposal.id,
        "way": str(proposal.need.way),
        "direction": direction_digest(proposal) if proposal.need.way.is_internal else "",
        "checks": [check.gate for check in made.checks],
        "files": _files(draft),
    }
    return f"Let {draft.name} live: {draft.read().purpose}"[:200], body, draft.digest


def _draft(item: Item) -> Draft:
    """The draft that a question is about."""
    files = item.body.get("files", {})
    name = str(item.body.get("name", ""))
    return Draft(name, *(str(files.get(file, "")) for file in _FILES))


def direction_digest(proposal: Proposal) -> str:
    """What a yes to a direction is bound to."""
    return sha256_hex(canonical_json([DIRECTION, proposal.id, proposal.subject]))


def evidence(need: Need) -> dict[str, Json]:
    """Why it is proposed, in numbers, for a question."""
    seen = need.evidence
    numbers: dict[str, Json] = {"uses": seen.uses, "days": seen.days, "saved seconds": round(seen.saved_ms / 1000, 1)}
    found: dict[str, Json] = {name: value for name, value in numbers.items() if value}
    if seen.turns:
        found["turns"] = list(seen.turns)
    if seen.failures:
        found["failures"] = list(seen.failures)
    return {**found, "evidence": seen.says} if seen.says else found


def _files(draft: Draft) -> dict[str, Json]:
    return {name: content.decode() for name, content in draft.contents().items()}


def _short(text: str) -> str:
    plain = " ".join(text.split()).rstrip(".")
    return plain if len(plain) <= _TITLE else f"{plain[: _TITLE - 1]}…"
