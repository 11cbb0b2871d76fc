"""Who wants something: the channel it came through, the sender, and how far that sender's word goes.

Rules: the level in force is always the lower of the sender's and the owner's own setting, so no channel can raise it.
Only a person answers the inbox, gives grants, lifts a halt and lets others in, and only where a person can be: at a
terminal, in a signed-in browser, on a paired phone. A command line without a terminal and the library are programs of
the owner's account: they ask as the owner, and answer nothing as one. What acts by itself (an executor, the night, a
birth test) and programs that come through the API never answer. The library and an MCP client can show a question to a
person, and cannot prove that they do: each may answer what it asked for itself and nothing else, if it is an act and
one yes is enough. Does not guarantee that a sender is who they say: that is the channel's work, before it makes a
`Principal`.
"""

import os
import pwd
import re
from dataclasses import dataclass
from enum import StrEnum

from metnos.core.errors import Refused
from metnos.core.terminal import is_at_terminal


class Channel(StrEnum):
    """Where a request came from."""

    TERMINAL = "terminal"  # a person types there
    SCRIPT = "script"  # the command line where no person can type
    LIBRARY = "library"  # a program that uses the Python API
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


PEOPLE = frozenset({Channel.TERMINAL, Channel.WEB, Channel.TELEGRAM})
OWN_PROGRAMS = frozenset({Channel.SCRIPT, Channel.LIBRARY})  # they run under the owner's account
OWNER_CHANNELS = PEOPLE | OWN_PROGRAMS
PROGRAMS = frozenset({Channel.API, Channel.MCP})  # nobody knows what they had read before they asked
_SHOWING = frozenset({Channel.LIBRARY, Channel.MCP})  # they may show what they asked for, and bring an answer
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
    def is_owner(self) -> bool:
        """Whether the owner asks here, in person or by a program of their own account."""
        return self.known and self.channel in OWNER_CHANNELS and self.level is not Autonomy.READ_ONLY

    @property
    def may_answer(self) -> bool:
        """Whether this is the owner in person: only they answer questions, give grants and lift a halt."""
        return self.is_owner and self.channel in PEOPLE

    def may_use(self, asker: str) -> bool:
        """Whether a yes to what ``asker`` asked for is one to this sender: nobody else's yes is lent to a program."""
        return self.may_answer or asker == str(self)

    def may_answer_to(self, asker: str, yeses: int, *, act: bool) -> bool:
        """Whether this sender may answer a question that ``asker`` put and that needs so many yeses.

        ``act``: it is about an act, and not about what lives, what is learnt, or what may be done from now on.
        """
        if self.channel not in _SHOWING:
            return self.may_answer
        own = self.known and self.level is not Autonomy.READ_ONLY and asker == str(self)
        return own and act and yeses == 1


def lower(one: Autonomy, other: Autonomy) -> Autonomy:
    """The level that allows less."""
    return min(one, other, key=_ORDER.index)


def at_terminal() -> Principal:
    """The owner in person at the terminal of this process; raises `Refused` where no person can type."""
    if not is_at_terminal():
        raise Refused("here is no terminal to type at", fix="Type this at a terminal, without a pipe.")
    return of_account(Channel.TERMINAL)


def of_account(channel: Channel) -> Principal:
    """The owner of the account that Metnos runs under, as they come this way."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # an account without an entry, as in a container
        name = ""
    sender = name if _SENDER.fullmatch(name) else f"uid-{os.getuid()}"
    return Principal(channel, sender, Autonomy.FULL)
