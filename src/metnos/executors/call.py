"""A call of an executor that somebody wants made, and the call that a question in the inbox is about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from metnos.core.canon import Json
from metnos.core.clock import from_text
from metnos.core.errors import InboxError
from metnos.executors import whole
from metnos.executors.whole import Whole
from metnos.law.capability import Capability
from metnos.law.inbox import Item
from metnos.law.need import Need
from metnos.law.principal import Autonomy, Channel, Principal


@dataclass(frozen=True, slots=True)
class Call:
    """One call that somebody wants made. ``above`` are the executors that led to it, the outermost first; ``whole`` is
    the outermost one, if that can stop for a question; ``resumes`` is the question after which it goes on."""

    name: str
    args: Mapping[str, Any]
    principal: Principal
    cwd: Path
    turn: str = ""
    above: tuple[str, ...] = ()
    now: datetime | None = None  # what time it is for the executor: when it was asked for, however late it is approved
    tainted: bool = False  # wanted only after content from outside was seen: then the owner decides, whatever the level
    carries: bool = False  # its arguments can hold what was read before: what it tells others is then sent
    whole: Whole | None = None
    resumes: str = ""
    named: frozenset[Path] = frozenset()  # paths that the owner's own words name, and never a plan or what was read


def asked(item: Item) -> Call:
    """The call that a question is about, by whoever wanted it first."""
    try:
        channel, sender, level = item.body["principal"]
        principal = Principal(Channel(channel), str(sender), Autonomy(level))
        body, now = item.body, from_text(item.body["now"])
        call = Call(body["executor"], body["args"], principal, Path(body["cwd"]), body["turn"], now=now)
        above, larger = tuple(body.get("above", ())), whole.asked_in(body)
        carries, named = bool(body.get("carries", False)), frozenset(map(Path, body.get("named", ())))
        call = replace(call, tainted=bool(body.get("tainted", False)), carries=carries, named=named)
        return replace(call, above=above, whole=larger)
    except (KeyError, TypeError, ValueError) as error:
        raise InboxError(f"question {item.id} is not about running an executor") from error


def needs_asked(item: Item) -> tuple[Need, ...] | None:
    """Everything that the act of a question wants, as it was decided about; nothing if the question does not say."""
    try:
        listed = item.body["wants"]
        return tuple(
            Need(Capability(capability), str(target), str(verb), bool(outside), bool(carries))
            for capability, target, verb, outside, carries in listed
        )
    except (KeyError, TypeError, ValueError):
        return None


def wants(needs: Iterable[Need]) -> list[Json]:
    """Needs as a question keeps them."""
    return [[need.capability, need.target, need.verb, need.outside, need.carries] for need in needs]


def wanted(item: Item) -> Call:
    """The call to make once a question is approved: the one it is about, or the larger one that this is a part of."""
    larger = item.body.get(whole.KEY)
    if larger is None:
        return replace(asked(item), above=())
    return replace(asked(replace(item, body={**item.body, **larger, whole.KEY: None, "above": ()})), resumes=item.id)
