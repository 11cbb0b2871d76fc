"""The states of an executor, which may follow which, and which is the more severe.

Rules: an executor has one state; it stands in its signed file and in the index, and where they differ the more severe
one holds, so that neither a lost index nor an old file can make it freer. Revoked is final. Pure: nothing here is read
or written.
"""

from enum import StrEnum

from metnos.core.errors import ExecutorError


class State(StrEnum):
    """What may be done with an executor."""

    DRAFT = "draft"  # nobody signed it: it cannot be used
    SEED = "seed"  # signed and usable, on trial
    ACTIVE = "active"  # signed and usable
    DISABLED = "disabled"  # switched off by the owner
    QUARANTINE = "quarantine"  # switched off by Metnos: it was changed, or it misbehaved
    ARCHIVED = "archived"  # put away, can be brought back
    REVOKED = "revoked"  # never again


USABLE = frozenset((State.SEED, State.ACTIVE))

_SEVERITY = {
    State.ACTIVE: 0,
    State.SEED: 1,
    State.DRAFT: 2,
    State.DISABLED: 3,
    State.ARCHIVED: 4,
    State.QUARANTINE: 5,
    State.REVOKED: 6,
}

_NEXT: dict[State, frozenset[State]] = {
    State.DRAFT: frozenset((State.SEED, State.ACTIVE, State.DISABLED)),
    State.SEED: frozenset((State.ACTIVE, State.DISABLED, State.QUARANTINE, State.ARCHIVED, State.REVOKED)),
    State.ACTIVE: frozenset((State.DISABLED, State.QUARANTINE, State.ARCHIVED, State.REVOKED)),
    State.DISABLED: frozenset((State.SEED, State.ACTIVE, State.QUARANTINE, State.ARCHIVED, State.REVOKED)),
    State.QUARANTINE: frozenset((State.SEED, State.ACTIVE, State.DISABLED, State.ARCHIVED, State.REVOKED)),
    State.ARCHIVED: frozenset((State.SEED, State.ACTIVE, State.DISABLED, State.QUARANTINE, State.REVOKED)),
    State.REVOKED: frozenset(),
}


def severity(state: State) -> int:
    """How far a state is from being used freely: 0 is free, the greatest is revoked."""
    return _SEVERITY[state]


def worse(one: State, other: State) -> State:
    """The more severe of two."""
    return max(one, other, key=severity)


def allowed(before: State, after: State) -> bool:
    """Whether an executor may go from one state to the other."""
    return after in _NEXT[before]


def require(before: State, after: State) -> None:
    """Raise unless the step is allowed."""
    if allowed(before, after):
        return
    if before is State.REVOKED:
        raise ExecutorError("it was revoked, and that is final", fix="Make another executor for the same purpose.")
    if before is after:
        raise ExecutorError(f"it is {after.value} already")
    possible = ", ".join(sorted(state.value for state in _NEXT[before]))
    raise ExecutorError(f"it cannot go from {before.value} to {after.value}", fix=f"From {before.value}: {possible}.")
