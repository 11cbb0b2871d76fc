"""What becomes of a memory that nobody here vouches for: words, and whose they are. Pure.

Rules: a stranger's episode or fact is only what it says. Its sender is the file that it came with, its provenance that
of strangers, and it is believed at most `MOST`; no step, argument, measure, edge, vector, count, mark, mood or name of
a subject comes along, so that nothing is learnt from it, nothing is done as it says, and nothing here is set aside by
it. It may say what is true: when own experience shows the same, that is learnt as own knowledge, beside it. What is
about the owner or the household, or claims to be their word, stays out; so do patterns to refuse, versions of the
playbook and the mood. Ids are made from the stranger's, so taking in again changes nothing.
"""

from dataclasses import dataclass
from datetime import datetime

from metnos.core.canon import sha256_hex
from metnos.grimoire.affect import NEUTRAL
from metnos.grimoire.consent import needs_consent
from metnos.grimoire.episode import Episode, Provenance, Scope, Verdict
from metnos.grimoire.fact import Decay, Fact, Kind, Standing

MOST = 0.2  # confidence
SENDER = "import"  # how the sender of what came with a file begins
PROVENANCE = Provenance.LETHE
_SHORT = 16  # characters of a key or a digest


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a file comes from: its digest, and the key that signed it, if one did. ``own``: this very agent's."""

    digest: str
    key: str = ""
    own: bool = False

    @property
    def sender(self) -> str:
        return f"{SENDER}:{(self.key or self.digest)[:_SHORT]}"


def is_imported(sender: str) -> bool:
    """Whether a sender is a file that nobody here vouches for."""
    return sender.startswith(f"{SENDER}:")


def episode_of(given: Episode, origin: Origin, now: datetime) -> Episode:
    """A stranger's episode as it may come in."""
    return Episode(
        id=_id(given.id),
        ts=min(given.ts, now),
        text=given.text,
        source=f"{SENDER}:{sha256_hex((given.source or given.id).encode())}",
        kind="note",
        sender=origin.sender,
        session=origin.sender,
        scope=Scope.OWNER,
        provenance=PROVENANCE,
        verdict=Verdict.REJECTED,
    )


def fact_of(given: Fact, origin: Origin, now: datetime) -> Fact | None:
    """A stranger's fact as it may come in; nothing if it may not."""
    if given.standing not in (Standing.ACTIVE, Standing.QUARANTINED) or needs_consent(given):
        return None
    return Fact(
        id=_id(given.id),
        kind=Kind.INSIGHT,
        text=given.text,
        domain="",
        confidence=min(given.confidence, MOST),
        quality=min(given.quality, MOST),
        provenance=PROVENANCE,
        decay=Decay.STRATEGIC if given.decay in (Decay.NEVER, Decay.STRUCTURAL) else given.decay,
        created=now,
        reinforced=min(given.reinforced, now),
        applied=now,
        pad=NEUTRAL,
        scope=Scope.OWNER,
        sender=origin.sender,
        standing=given.standing,
    )


def _id(given: str) -> str:
    """The same for the same, of the shape of all ids here, and never one that is known here."""
    return f"0{sha256_hex(f'{SENDER} {given}'.encode())[:25].upper()}"
