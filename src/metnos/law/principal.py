"""Who wants something: the channel it came through, the sender, and how far that sender's word goes.

Rules: the level in force is always the lower of the sender's and the owner's own setting, so no channel can raise it.
Only the owner's own channels may answer the inbox or give grants; what acts by itself (an executor, the night, a birth
test) and programs that come through the API never may. An MCP client shows questions to whoever sits before it, and
nobody can prove that it does: it may answer what it asked for itself and nothing else, if one yes is enough, and no
more. Does not guarantee that a sender is who they say: that is the channel's work, before it makes a `Principal`.
"""

import os
import pwd
import re
from dataclasses import dataclass
from enum import StrEnum


class Channel(StrEnum):
    """Where a request came from."""

    TERMINAL = "terminal"
    WEB = "web"
    API = "api"
    MCP = "mcp"
    TELEGRAM = "telegram"
    EXECUTOR = "executor"
    NIGHT = "night"
    BIRTH = "birth"


class Autonomy(StrEnum):
    """What may happen without asking, from least to most."""

    READ_ONLY = "read_only"
    SUPERVISED = "supervised"
    FULL = "full"


OWNER_CHANNELS = frozenset({Channel.TERMINAL, Channel.WEB, Channel.TELEGRAM})
PROGRAMS = frozenset({Channel.API, Channel.MCP})  # nobody knows what they had read before they asked
_ORDER = tuple(Autonomy)
_SENDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,63}")  # a name that the audit can hold


@dataclass(frozen=True, slots=True)
class Principal:
    """One sender on one channel, with the level that sender has."""

    channel: Channel
    sender: str
    level: Autonomy

    def __str__(self) -> str:
        return f"{self.channel}:{self.sender}"

    @property
    def known(self) -> bool:
        """Whether this is a channel, a sender and a level that exist. Types alone do not stop a wrong one."""
        kinds = ((self.channel, Channel), (self.level, Autonomy), (self.sender, str))
        return all(isinstance(value, kind) for value, kind in kinds) and _SENDER.fullmatch(self.sender) is not None

    @property
    def may_answer(self) -> bool:
        """Whether this is the owner speaking: only they answer questions, give grants and lift a halt."""
        return self.known and self.channel in OWNER_CHANNELS and self.level is not Autonomy.READ_ONLY

    def may_use(self, asker: str) -> bool:
        """Whether a yes to what ``asker`` asked for is one to this sender: nobody else's yes is lent to a program."""
        return self.may_answer or asker == str(self)

    def may_answer_to(self, asker: str, yeses: int) -> bool:
        """Whether this sender may answer a question that ``asker`` put and that needs so many yeses."""
        if self.channel is not Channel.MCP:
            return self.may_answer
        return self.known and self.level is not Autonomy.READ_ONLY and asker == str(self) and yeses == 1


def lower(one: Autonomy, other: Autonomy) -> Autonomy:
    """The level that allows less."""
    return min(one, other, key=_ORDER.index)


def at_terminal() -> Principal:
    """The owner at the terminal: whoever the account that Metnos runs under belongs to."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # an account without an entry, as in a container
        name = ""
    sender = name if _SENDER.fullmatch(name) else f"uid-{os.getuid()}"
    return Principal(Channel.TERMINAL, sender, Autonomy.FULL)
