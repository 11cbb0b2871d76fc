"""The owner's yeses: to a direction, and to exactly the files that will live. There is no other way to either.

Rules: a direction is a question about one proposal; what Metnos thought of by itself is not made before its yes was
used. An activation is a question about the digest of three files; the catalog signs nothing that Metnos made unless the
yes to that very digest was used, and, if it was Metnos's own idea, the yes to its direction before (`consent`). Both
are asked by whoever proposes and answered by the owner alone; each yes is used once. What the owner edits is another
draft, goes through every gate again, and is another question.
"""

from collections.abc import Mapping, Sequence

from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import InboxError, NotTrusted
from metnos.executors.catalog import Catalog
from metnos.executors.registrar import Consent
from metnos.executors.signature import Origin
from metnos.executors.verdict import Executor
from metnos.law.inbox import ACTIVATION, DIRECTION, Inbox, Item
from metnos.law.principal import Principal
from metnos.synt.draft import Draft, Made
from metnos.synt.need import Need, Way
from metnos.synt.proposals import Proposal, Proposals, State

_HOURS = 30 * 24.0  # nothing is lost by thinking about it
_TITLE = 90


def consent(inbox: Inbox) -> Consent:
    """Whether the owner agreed to exactly what has a digest; what speaks against it, if not."""

    def why_not(digest: str) -> str:
        item = inbox.used(ACTIVATION, digest)
        if item is None:
            return "you did not say yes to exactly these files"
        way, direction = str(item.body.get("way", "")), str(item.body.get("direction", ""))
        if way not in tuple(Way):
            return "nobody knows how it came about"
        if Way(way).is_internal and (not direction or inbox.used(DIRECTION, direction) is None):
            return "it was Metnos's own idea, and you did not agree to the direction first"
        return ""

    return why_not


class Activation:
    """Puts proposals before the owner and does what they decided."""

    def __init__(self, proposals: Proposals, inbox: Inbox, catalog: Catalog) -> None:
        self._proposals = proposals
        self._inbox = inbox
        self._catalog = catalog

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
        draft = made.draft
        if draft is None or not made.green:
            raise NotTrusted("only what passed every gate is put before the owner")
        body: dict[str, Json] = {
            **shown,
            "proposal": proposal.id,
            "way": str(proposal.need.way),
            "direction": direction_digest(proposal) if proposal.need.way.is_internal else "",
            "files": _files(draft),
        }
        title = f"Let {draft.name} live: {draft.read().purpose}"
        item = self._inbox.ask(ACTIVATION, title[:200], body, draft.digest, asked_by=asked_by, hours=_HOURS)
        return self._proposals.drafted(proposal, made, item.id)

    def activate(self, item: Item) -> Executor:
        """The owner said yes to a draft: sign exactly that."""
        proposal = self._of(item, ACTIVATION)
        draft = proposal.draft
        if draft is None or draft.digest != item.digest:
            raise NotTrusted("that is not the draft that you were shown", fix="Look again: metnos synt list")
        if self._inbox.take(item.digest) is None and self._inbox.used(ACTIVATION, item.digest) is None:
            raise InboxError(f"question {item.id} has no yes that could be used", fix="metnos inbox list")
        reason = f"made for: {_short(proposal.need.text)}"
        executor = self._catalog.adopt(draft.name, draft.contents(), reason, Origin.SYNTHESISED)
        if proposal.state is not State.ACTIVE:
            self._proposals.born(proposal, executor.version)
        return executor

    def roll_back(self, name: str, digest: str) -> Executor:
        """Put an earlier version back: the owner agreed to it once, to the bit."""
        found = [draft for known, _, draft, _ in self._proposals.versions(name) if known == digest]
        if not found:
            raise NotTrusted(f"no version of {name} like that ever lived", fix=f"metnos synt show {name}")
        return self._catalog.adopt(name, found[0].contents(), "an earlier version was put back", Origin.SYNTHESISED)

    def _of(self, item: Item, kind: str) -> Proposal:
        proposal = self._proposals.of_question(item.id) if item.kind == kind else None
        if proposal is None:
            raise InboxError(f"question {item.id} is about no {kind} that is known", fix="metnos synt list")
        return proposal


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
    return {**found, "evidence": seen.says} if seen.says else found


def _files(draft: Draft) -> dict[str, Json]:
    return {name: content.decode() for name, content in draft.contents().items()}


def _short(text: str) -> str:
    plain = " ".join(text.split()).rstrip(".")
    return plain if len(plain) <= _TITLE else f"{plain[: _TITLE - 1]}…"
