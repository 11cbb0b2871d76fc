"""Executors of the owner's own: asked about, named and signed, by a principal that the test makes."""

from collections.abc import Mapping

from metnos.app import App
from metnos.core.canon import sha256_hex
from metnos.executors import manifest, signature
from metnos.executors.folder import MANIFEST
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.law.inbox import ADOPTION, Inbox, Item
from metnos.law.principal import Autonomy, Channel, Principal

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


def consent(inbox: Inbox, name: str, digest: str) -> None:
    """Have the owner say yes to exactly these files."""
    if inbox.used(ADOPTION, digest) is None:
        item = inbox.ask(ADOPTION, f"Sign {name}", {"name": name}, digest, asked_by=OWNER, hours=1)
        approve(inbox, item.id)
        inbox.take(digest)


def sign(
    app: App,
    name: str,
    reason: str = "a test",
    origin: Origin = Origin.OWNER,
    state: State = State.ACTIVE,
    *,
    expected: str | None = None,
) -> Executor:
    """Sign what lies in the folder, after a yes to it."""
    look = app.catalog.look(name)
    if look.executor is not None and origin is Origin.OWNER:
        consent(app.inbox, name, look.executor.digest)
    return app.catalog.sign(name, reason, origin, state, expected=expected)


def adopt(app: App, name: str, contents: Mapping[str, bytes], reason: str = "a test") -> Executor:
    """Put a whole executor in its place, after a yes to it."""
    read = manifest.parse(contents[MANIFEST].decode())
    consent(app.inbox, name, signature.identity(sha256_hex(read.canonical()), signature.file_digests(contents)))
    return app.catalog.adopt(name, contents, reason, Origin.OWNER)


def approve(inbox: Inbox, item_id: str, by: Principal = OWNER) -> Item:
    """Say yes to a question as a person does: with its name, where a plain yes is not enough."""
    item = inbox.find(item_id)
    return inbox.approve(item.id, by, typed=item.word)
