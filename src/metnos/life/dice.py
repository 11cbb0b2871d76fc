"""Checking the dice: every throw is derived again from what was written down about it. Pure.

A throw is good if this agent's key made it for its tick, if the hazard and the clock of age are those of that tick and
the greatest age that held then, if the life is over after it exactly when this throw or an earlier one had to end it,
and if the audit, which nobody can change unnoticed, has the same. So whoever writes into the table can make it agree
with itself, and not with the audit.

Does not check the audit: `metnos audit verify` does.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metnos.core import sign
from metnos.law.audit_line import Entry
from metnos.life import vitality_rules as rules_of
from metnos.life.vitality_rules import PURPOSE, Rules

THROWN = "life dice thrown"
_BILLION = 10**9  # the audit counts in whole numbers
_SAME = 1e-12  # what another machine's arithmetic may differ by


@dataclass(frozen=True, slots=True)
class Thrown:
    """What is written down about the age of one tick. ``roll`` is nothing where no dice were thrown."""

    tick: int
    hayflick: int  # the greatest age that held then
    hazard: float
    roll: float | None
    proof: str
    survival: float  # the clock of age after it; zero: the life was over

    def recorded(self) -> Entry:
        """What the audit holds of a throw."""
        counts = {
            "tick": self.tick,
            "limit": self.hayflick,
            "throw_ppb": int((self.roll or 0.0) * _BILLION),
            "hazard_ppb": int(self.hazard * _BILLION),
        }
        return Entry(THROWN, {"proof": self.proof}, counts=counts)


@dataclass(frozen=True, slots=True)
class Proof:
    """What checking the throws found: how many there are, and what is wrong with which."""

    throws: int
    faults: tuple[str, ...]


def prove(ticks: Iterable[Thrown], audited: Iterable[Entry], public: str, rules: Rules) -> Proof:
    """Check every throw of a life, the oldest first, against what the audit holds."""
    known: dict[int, list[Entry]] = {}
    for entry in audited:
        if entry.kind == THROWN and (tick := entry.counts.get("tick")) is not None:
            known.setdefault(tick, []).append(entry)
    throws, faults, gone = 0, list[str](), False
    for each in ticks:
        throws += each.roll is not None
        fault = _fault(each, gone, public, rules, known.get(each.tick, ()))
        faults += [f"tick {each.tick}: {fault}"] if fault else []
        gone = gone or each.survival <= 0  # for good, also over ticks at which nobody aged
    return Proof(throws, tuple(faults))


def _fault(each: Thrown, gone: bool, public: str, rules: Rules, audited: Sequence[Entry]) -> str:
    if each.roll is None:
        return "a throw that the audit has is missing here" if audited else ""
    if not sign.verify(public, PURPOSE, rules_of.throw_message(each.tick), each.proof):
        return "this agent's key did not make this throw"
    if each.roll != rules_of.throw_of(each.proof):
        return "the throw is not what its proof says"
    if not _same(each.hazard, rules_of.hazard(each.tick, each.hayflick, rules)):
        return "the hazard is not that of its age"
    should, ended = gone or each.roll < each.hazard, each.survival <= 0
    if should != ended:
        return "the throw should have ended this life" if should else "this throw ends no life"
    if not ended and not _same(each.survival, rules_of.survival(each.tick, each.hayflick, rules)):
        return "the clock of age does not stand where its age puts it"
    wanted = each.recorded()
    if not any(entry.names == wanted.names and _agrees(entry.counts, wanted.counts) for entry in audited):
        return "the audit says otherwise" if audited else "the audit does not know this throw"
    return ""


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME)


def _agrees(found: Mapping[str, int], wanted: Mapping[str, int]) -> bool:
    # A billionth more or less may be rounding; the rest are whole numbers.
    return found.keys() == wanted.keys() and all(
        abs(found[name] - wanted[name]) <= name.endswith("_ppb") for name in wanted
    )
