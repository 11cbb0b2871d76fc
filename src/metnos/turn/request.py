"""What somebody asks for, and nothing else: the first record of a turn."""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from metnos.core.errors import UsageError
from metnos.law.principal import Channel, Principal

LONGEST = 20_000  # characters; a longer text belongs into a file
_SOMEBODYS = re.compile(rf"(?s)({'|'.join(Channel)}):[^\s:]+:.")  # a conversation that is one sender's alone


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``id`` is the turn's; ``asked`` is aware and in the zone of whoever asks."""

    id: str
    text: str
    principal: Principal
    cwd: Path
    asked: datetime
    conversation: str
    dry_run: bool = False


def is_anothers(conversation: str) -> bool:
    """Whether a conversation is a program's, or a stranger's, and so nobody else's."""
    return _SOMEBODYS.match(conversation) is not None


def own_conversation(name: str, principal: Principal) -> str:
    """The conversation of that name that this sender may speak in.

    The owner's conversations are shared by all of the owner's devices. Anybody else's begin with who it is, so that
    nobody joins them and they join nobody: what was found last is what the next *them* means.
    """
    mine = f"{principal}:"
    if name.startswith(mine):
        return name
    if not principal.is_owner:
        return mine + name
    if is_anothers(name):
        raise UsageError("this conversation is somebody else's", fix="Begin one of your own.")
    return name
