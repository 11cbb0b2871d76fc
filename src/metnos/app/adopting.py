"""Adopting an executor that the owner brought: the question about exactly these files, and what a yes to it does.

Rules: whoever may ask can ask; nothing is signed before the owner in person typed the name that they were shown. The
question is bound to the digest of the files: what lies in the folder when the answer comes must be just that.
"""

from typing import TYPE_CHECKING

from metnos.app.deciding import NEVER
from metnos.core.canon import Json
from metnos.core.errors import InboxError
from metnos.executors import folder, words
from metnos.executors.verdict import Executor
from metnos.law.inbox import ADOPTION, Item
from metnos.law.principal import Principal

if TYPE_CHECKING:
    from metnos.app.house import App

KIND = ADOPTION
REASON = "signed by the owner"
_HOURS = 30 * 24.0


def ask(app: "App", draft: Executor, by: Principal, *, reason: str = REASON, server: str = "") -> Item:
    """Ask whether to sign an executor that was examined. What is to be typed is its name, or that of its ``server``."""
    body: dict[str, Json] = {
        "name": server or draft.name,
        "executor": draft.name,
        "version": draft.version,
        "purpose": draft.manifest.purpose,
        "may": [*words.capabilities(draft.manifest)],
        "effect": words.effect(draft.manifest),
        "never": list(NEVER),
        "reason": reason,
        "files": {folder.SOURCE: draft.source, folder.TESTS: draft.tests_text},
    }
    title = f"Sign {draft.name}: {draft.manifest.purpose}"[:200]
    return app.inbox.ask(KIND, title, body, draft.digest, asked_by=by, hours=_HOURS)


def answered(app: "App", item: Item) -> str:
    """The owner typed the name: sign what lies in the folder, if it is still that; says what was done."""
    name = str(item.body.get("executor", ""))
    agree(app, item)
    signed = app.catalog.sign(name, str(item.body.get("reason", REASON)), expected=item.digest)
    return f"{name} {signed.version} is signed and active."


def agree(app: "App", item: Item) -> None:
    """Use the yes to exactly these files, or find that it was used: from here on they may be signed."""
    if app.inbox.take(item.digest) is None and app.inbox.used(KIND, item.digest) is None:
        raise InboxError(f"question {item.id} has no yes that could be used", fix="metnos inbox list")
