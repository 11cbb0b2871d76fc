"""What the tests of the policy share: the owner, others, an act that somebody asks for, and a whole policy."""

from dataclasses import dataclass, replace
from typing import Any

from metnos import app
from metnos.core.canon import sha256_hex
from metnos.law.capability import Capability
from metnos.law.grants import Grants
from metnos.law.halt import Halts
from metnos.law.inbox import Inbox
from metnos.law.need import Need
from metnos.law.permit import Mint
from metnos.law.policy import Ask, Policy, Preview, unchanged
from metnos.law.principal import PEOPLE, Autonomy, Channel, Principal

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
DIGEST = sha256_hex(b"something")
WRITE = Need(Capability.FS_WRITE, "/home/owner/b.txt")
FETCH = Need(Capability.NET_HTTP, "example.org", "GET")
ASK = Ask(
    principal=OWNER,
    executor="write_files",
    executor_digest=sha256_hex(b"executor"),
    arguments_digest=sha256_hex(b"arguments"),
    cwd="/home/owner",
    turn="turn",
    needs=(WRITE,),
    irreversible=False,
    title="Write b.txt",
    body={"executor": "write_files", "args": {"path": "b.txt"}, "cwd": "/home/owner"},
)
PREVIEW = Preview(("writes /home/owner/b.txt",), (("write", "/home/owner/b.txt", "5"),))


def ask(**changes: Any) -> Ask:
    return replace(ASK, **changes)


def others() -> list[Principal]:
    """Everyone who may not answer."""
    machines = [Principal(each, "x", Autonomy.FULL) for each in Channel if each not in PEOPLE]
    return [
        *machines,
        Principal(Channel.WEB, "guest", Autonomy.READ_ONLY),
        Principal("smtp", "owner", Autonomy.FULL),  # type: ignore[arg-type]
        Principal(Channel.TERMINAL, "", Autonomy.FULL),
        Principal(Channel.TERMINAL, "owner", "god"),  # type: ignore[arg-type]
    ]


@dataclass(slots=True)
class Court:
    """A policy with everything it leans on, over a real workspace."""

    opened: app.App
    grants: Grants
    inbox: Inbox
    halts: Halts
    mint: Mint
    previews: int = 0

    @classmethod
    def over(cls, opened: app.App) -> "Court":
        parts = (opened.seat.db, opened.audit, opened.clock)
        return cls(opened, Grants(*parts), Inbox(*parts), Halts(opened.workspace, *parts), Mint(opened.clock))

    def policy(self, autonomy: Autonomy = Autonomy.SUPERVISED, **changes: Any) -> Policy:
        policy = Policy(
            constitution_check=lambda: unchanged(self.opened.workspace.soul, self.opened.constitution),
            grants=self.grants,
            inbox=self.inbox,
            mint=self.mint,
            clock=self.opened.clock,
            autonomy=autonomy,
            approval_hours=24,
            quotas=lambda _: None,
            halted=self.halts.halted,
        )
        return replace(policy, **changes)

    def preview(self) -> Preview:
        self.previews += 1
        return PREVIEW


def failing(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("secret content")
