"""Which conversation a chat client goes on with: it sends the whole talk each time, and no name for it.

Rules: a talk is known by how it began, the first message of the user and the first answer to it; so two talks that
begin with the same words are two, and nobody goes on with the talk of somebody else. What is not known (the daemon was
started again, a client changed the answer) begins anew, which forgets what "them" was and mistakes nothing. A client
may name its conversation instead (``metadata.conversation``).
"""

import threading
from collections import OrderedDict

from metnos.api.openai_rules import Asked
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.ids import UlidMaker
from metnos.law.principal import Principal

_MOST = 2000  # talks that are known
_NAME = "conversation"  # of the metadata


class Talks:
    """The talks of all clients. Threads may share it."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._ids = UlidMaker()
        self._lock = threading.Lock()
        self._known: OrderedDict[str, str] = OrderedDict()

    def find(self, who: Principal, asked: Asked) -> str:
        """The conversation that this goes on with, or a new one."""
        named = asked.metadata.get(_NAME, "") if asked.metadata else ""
        if named:
            return f"api-{_digest(who, asked.user, named)}"
        first, answer = _begin(asked)
        if not answer:
            return self._ids()
        with self._lock:
            return self._known.get(_digest(who, asked.user, first, answer)) or self._ids()

    def keep(self, who: Principal, asked: Asked, text: str, conversation: str) -> None:
        """A turn of a conversation ended with this answer: whoever sends its beginning again goes on with it."""
        first, answer = _begin(asked)
        with self._lock:
            key = _digest(who, asked.user, first, answer or _plain(text))
            self._known[key] = conversation
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)


def _begin(asked: Asked) -> tuple[str, str]:
    """The first message of the user, and the first of the assistant after it."""
    first, answer = "", ""
    for message in asked.messages:
        text = _plain(message.text)
        if message.role == "user" and not first:
            first = text
        elif message.role == "assistant" and first and text:
            answer = text
            break
    return first, answer


def _plain(text: str) -> str:
    return " ".join(text.split())


def _digest(who: Principal, *parts: str) -> str:
    return sha256_hex(canonical_json([str(who), *parts]))[:32]
