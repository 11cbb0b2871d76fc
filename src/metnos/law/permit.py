"""Permits: the only thing that a runner takes as leave to act, and the mint that alone can make one.

Rules: a permit names who may run what, with which arguments, where and for which turn; a code over all of its fields,
made with a secret that never leaves this process, shows every alteration. It is good once, for a minute, in the process
it was made in. The mint remembers permits until they are used or expire and knows none that it does not remember, so a
used one cannot come back, however the clock is moved. Does not guarantee anything against code that runs inside this
process: executors never do.
"""

import hmac
import os
import secrets
import threading
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from metnos.core.canon import Json, canonical_json
from metnos.core.clock import Clock
from metnos.core.errors import Refused
from metnos.core.ids import UlidMaker
from metnos.law.need import Need
from metnos.law.principal import Principal

LIFETIME = timedelta(minutes=1)  # from the decision to the start of the run, which is a matter of milliseconds

Effects = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one run. ``effects`` is what the owner was shown; nothing, if they were not asked. ``because`` is what
    the policy said."""

    id: str
    principal: Principal
    executor: str
    executor_digest: str
    arguments_digest: str
    cwd: str
    turn: str
    needs: tuple[Need, ...]
    effects: Effects | None
    issued: datetime
    expires: datetime
    irreversible: bool
    because: str = ""
    mac: str = ""


class Mint:
    """Makes permits and recognises them. One per process; threads may share it."""

    def __init__(self, clock: Clock, *, lifetime: timedelta = LIFETIME) -> None:
        self._clock = clock
        self._lifetime = lifetime
        self._ids = UlidMaker(clock)
        self._lock = threading.Lock()
        self._unused: dict[str, datetime] = {}
        self._renew()

    def mint(
        self,
        *,
        principal: Principal,
        executor: str,
        executor_digest: str,
        arguments_digest: str,
        cwd: str,
        turn: str,
        needs: tuple[Need, ...],
        effects: Effects | None,
        irreversible: bool,
        because: str = "",
    ) -> Permit:
        """A new permit. Only the policy calls this."""
        now = self._clock.now()
        permit = Permit(
            id=self._ids(),
            principal=principal,
            executor=executor,
            executor_digest=executor_digest,
            arguments_digest=arguments_digest,
            cwd=cwd,
            turn=turn,
            needs=needs,
            effects=effects,
            issued=now,
            expires=now + self._lifetime,
            irreversible=irreversible,
            because=because,
        )
        with self._lock:
            self._renew_after_fork()
            self._unused = {key: until for key, until in self._unused.items() if until > now}
            self._unused[permit.id] = permit.expires
            return replace(permit, mac=self._code(permit))

    def check(self, permit: Permit, executor_digest: str, arguments_digest: str) -> None:
        """Accept a permit, once, for exactly this executor and these arguments; anything else raises `Refused`."""
        with self._lock:
            self._renew_after_fork()
            if not self._made_here(permit):
                raise _no("it was not given by this Metnos, or it was altered")
            if (permit.executor_digest, permit.arguments_digest) != (executor_digest, arguments_digest):
                raise _no("it was given for something else")
            now = self._clock.now()
            if now < permit.issued:
                raise _no("the clock went back since it was given")
            if now >= permit.expires:
                raise _no("it expired")
            if self._unused.pop(permit.id, None) is None:
                raise _no("it was used before")

    def __len__(self) -> int:
        """How many permits wait to be used."""
        return len(self._unused)

    def _made_here(self, permit: Permit) -> bool:
        try:
            return type(permit) is Permit and hmac.compare_digest(self._code(permit), permit.mac)
        except (TypeError, ValueError, AttributeError):  # a field that is not even of its kind
            return False

    def _code(self, permit: Permit) -> str:
        return hmac.new(self._secret, canonical_json(_fields(permit)), "sha256").hexdigest()

    def _renew(self) -> None:
        self._pid = os.getpid()
        self._secret = secrets.token_bytes(32)
        self._unused = {}

    def _renew_after_fork(self) -> None:
        """A child must not honour its parent's permits: each of the two would, once."""
        if self._pid != os.getpid():
            self._renew()


def _no(why: str) -> Refused:
    return Refused(f"this permit is not valid: {why}", fix="Ask for the act again; nothing was done.")


def _fields(permit: Permit) -> list[Json]:
    """Every field but the code itself, in a form that has one spelling."""
    who = permit.principal
    effects: list[Json] | None = None if permit.effects is None else [list(effect) for effect in permit.effects]
    return [
        permit.id,
        [who.channel, who.sender, who.level],
        permit.executor,
        permit.executor_digest,
        permit.arguments_digest,
        permit.cwd,
        permit.turn,
        [[need.capability, need.target, need.verb, need.outside, need.carries] for need in permit.needs],
        effects,
        permit.issued.isoformat(),  # to the microsecond, unlike the text that is stored
        permit.expires.isoformat(),
        permit.irreversible,
        permit.because,
    ]
