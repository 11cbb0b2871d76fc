"""A call that consists of other calls: what its parts did so far, so that it can stop for a question and go on later.

An executor that calls others has nothing to be asked about itself; its parts have. Where one of them needs the owner's
yes, the whole ends there, and the question keeps every call that was made before: what each was asked, and what it
answered. After the yes the whole begins anew, and those calls are answered as they were, without being made: what was
changed is not changed twice, and what was read before the question is what the yes was about.

Rules: calls are answered in the order in which they were made, and only if they are the same to the byte; a whole that
goes another way is ended. Only what changes nothing itself can stop and begin anew. All that the parts change is one
action, which is taken back at one stroke. Belongs to one thread. Does not guarantee that what was found is still there:
the part that acts finds that out.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import ExecutorFailed, InboxError
from metnos.executors.outcome import Outcome

KEY = "whole"  # where a question has it
MOST = 3_000_000  # bytes that a question may keep of it; the inbox takes a little more
_KEPT = ("executor", "digest", "turn", "ok", "reply", "kind", "message", "version", "action", "audit", "permit",
         "because", "args")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One call of a whole, ended. ``above`` are the executors that led to it; ``args`` is what it was called with."""

    above: tuple[str, ...]
    args: Mapping[str, Any]
    outcome: Outcome
    mark: str  # digest of what counts for whether two wholes came the same way

    def is_call(self, above: tuple[str, ...], name: str, args: Mapping[str, Any]) -> bool:
        same = (self.above, self.outcome.executor) == (above, name)
        return same and canonical_json(dict(self.args)) == canonical_json(dict(args))

    def data(self) -> dict[str, Any]:
        kept = {name: getattr(self.outcome, name) for name in _KEPT}
        return {"above": list(self.above), "asked": dict(self.args), **kept}


class Whole:
    """The outermost call while it runs. ``caller`` is what it needs to be begun anew, ``before`` what was done of it
    before it stopped, and ``made`` what was done of it now."""

    def __init__(
        self, caller: Mapping[str, Json], digest: str, before: Iterable[Part] = (), made: Iterable[Part] = ()
    ) -> None:
        self._caller = dict(caller)
        self._digest = digest
        self._ahead = deque(before)
        self._made = list(made)

    @property
    def digest(self) -> str:
        """What an approval for one of its parts is bound to, beside that part: this whole, come this way."""
        return sha256_hex("".join((self._digest, *(part.mark for part in self._made))).encode())

    @property
    def root(self) -> str:
        """The action under which everything that its parts change is recorded; empty before the first change."""
        known = (part.outcome.action for part in (*self._made, *self._ahead))
        return next((action for action in known if action), "")

    @property
    def told(self) -> tuple[str, ...]:
        """What was changed already, in lines for whoever is asked about the rest."""
        changed = [part.outcome.executor for part in self._made if part.outcome.action]
        back = f"; to take that back: metnos undo {self.root}"
        return (f"already done: {', '.join(changed)}{back}",) if changed else ()

    def answer(self, above: tuple[str, ...], name: str, args: Mapping[str, Any]) -> Outcome | None:
        """How this call ended before the question; nothing if it is still to be made."""
        if not self._ahead:
            return None
        following = self._ahead[0]
        if following.is_call(above, name, args):
            self._made.append(self._ahead.popleft())
            return following.outcome
        if following.above[: len(above) + 1] == (*above, name):
            return None  # it was in the middle of this one when it stopped
        raise ExecutorFailed(
            f"it wants {name} now, and wanted something else before the question", kind="conflict", fix="Ask again."
        )

    def add(self, above: tuple[str, ...], args: Mapping[str, Any], outcome: Outcome) -> None:
        """Keep how a call ended. What it called in turn is part of its answer from now on."""
        inside = (*above, outcome.executor)
        while self._made and self._made[-1].above[: len(inside)] == inside:
            self._made.pop()
        self._made.append(_part(above, args, outcome))

    def data(self) -> dict[str, Json]:
        """As a question keeps it. Raises `ExecutorFailed` if that would be too much."""
        found = {**self._caller, "digest": self._digest, "parts": [part.data() for part in self._made]}
        if len(canonical_json(found)) > MOST:
            raise ExecutorFailed(
                "what it has found is too much to be kept until you are asked", kind="too_large",
                fix="Ask for less at a time.",
            )  # fmt: skip
        return found


def begin(body: Mapping[str, Any], digest: str, caller: Mapping[str, Json]) -> Whole:
    """A whole at its beginning; if a question has stopped it before, with the answers that the question kept."""
    kept = body.get(KEY)
    if not kept:
        return Whole(caller, digest)
    if kept["digest"] != digest:
        raise ExecutorFailed(f"{caller['executor']} is not what it was before the question", kind="conflict",
                             fix="Ask again.")  # fmt: skip
    return Whole(caller, digest, before=_parts(kept["parts"]))


def asked_in(body: Mapping[str, Any]) -> Whole | None:
    """The whole as it stood when a question was put; nothing if the question is about a call by itself."""
    kept = body.get(KEY)
    if not kept:
        return None
    caller = {key: value for key, value in kept.items() if key not in ("digest", "parts")}
    return Whole(caller, kept["digest"], made=_parts(kept["parts"]))


def _part(above: tuple[str, ...], args: Mapping[str, Any], ended: Outcome) -> Part:
    known_by: list[Json] = [list(above), ended.executor, dict(args), ended.kind, dict(ended.reply)]
    return Part(above, args, ended, sha256_hex(canonical_json(known_by)))


def _parts(listed: Iterable[Mapping[str, Any]]) -> Iterator[Part]:
    try:
        for each in listed:
            kept = {name: each[name] for name in _KEPT}
            yield _part(tuple(each["above"]), each["asked"], Outcome(**kept))
    except (KeyError, TypeError) as error:
        raise InboxError("what the question has kept cannot be read", fix="Ask again.") from error
