"""What acts outside the sandbox and was confirmed by a person: the MCP servers, each as it was shown.

Rules: a confirmation is for one name with one digest, which stands for the whole command line, address and environment;
whoever changes one letter of these has nothing confirmed. It is signed with the agent's key, and so does not come along
with another agent's files. Only a person at a terminal confirms: what acts outside the sandbox has the rights of the
account. Whatever cannot be read counts as not confirmed. Does not guarantee that the program behind the words is still
the same one.
"""

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, to_text
from metnos.core.errors import Refused
from metnos.core.sign import Signer, verify
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.principal import Channel, Principal
from metnos.store.db import Database
from metnos.store.migrations import Migration

CONFIRMED, WITHDRAWN = "server confirmed", "server unconfirmed"
PURPOSE = "confirmed server"
FORGET_ALL = "DELETE FROM confirmed_servers"

MIGRATIONS = (
    Migration(
        "0009_confirmed_servers",
        (
            """CREATE TABLE confirmed_servers (
                name TEXT PRIMARY KEY,
                digest TEXT NOT NULL CHECK (length(digest) = 64),
                ts TEXT NOT NULL,
                signature TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)


class Confirmations:
    """The confirmed servers of one workspace."""

    def __init__(self, db: Database, signer: Signer, clock: Clock, audit: Audit) -> None:
        self._db = db
        self._signer = signer
        self._clock = clock
        self._audit = audit

    def confirm(self, name: str, digest: str, by: Principal) -> None:
        """Let a server be started or spoken to as it stands now."""
        if by.channel is not Channel.TERMINAL or not by.may_answer:
            raise Refused(
                f"{by} may not confirm what is started outside the sandbox",
                fix=f"Type at a terminal: metnos mcp confirm {name}",
            )
        names = {"server": name, "channel": by.channel, "sender": by.sender}
        with self._db.write() as tx:
            self._audit.append(Entry(CONFIRMED, names, {"server": digest}))
            tx.execute(
                "INSERT OR REPLACE INTO confirmed_servers (name, digest, ts, signature) VALUES (?, ?, ?, ?)",
                (name, digest, to_text(self._clock.now()), self._signer.sign(PURPOSE, _message(name, digest))),
            )

    def holds(self, name: str, digest: str) -> bool:
        """Whether this very server was confirmed, with this agent's key."""
        row = self._db.first("SELECT digest, signature FROM confirmed_servers WHERE name = ?", (name,))
        return (
            row is not None
            and row[0] == digest
            and verify(self._signer.public, PURPOSE, _message(name, digest), str(row[1]))
        )

    def withdraw(self, name: str) -> bool:
        """Let a server be started no more; says whether it could be."""
        with self._db.write() as tx:
            gone = tx.execute("DELETE FROM confirmed_servers WHERE name = ?", (name,)) > 0
            if gone:
                self._audit.append(Entry(WITHDRAWN, {"server": name}))
        return gone


def _message(name: str, digest: str) -> bytes:
    return canonical_json([name, digest])
