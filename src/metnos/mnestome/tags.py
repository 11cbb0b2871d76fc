"""The owner's hand on the tags of a mnest.

Rules: tags say where a mnest belongs and how fast it fades, and nothing else: a change of tags leaves the weight as it
is now. If it changes how fast the mnest fades, that is an event. A turn that is tagged so may bring a tag back.
"""

from collections.abc import Sequence
from datetime import datetime

from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.mnestome import rows, words
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import Kind, Rules
from metnos.store.db import Database

RULES = Rules()
RETAGGED = "tags changed"


def retag(
    db: Database,
    key: str,
    now: datetime,
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    clear: bool = False,
    rules: Rules = RULES,
) -> Mnest:
    """Take tags from a mnest, some or all, and then give it others; the mnest as it is now."""
    ts = rows.to_millisecond(now)
    with db.write() as tx:
        mnest = rows.by_id(tx, key)
        if mnest is None:
            raise UsageError(
                f"there is no mnest {key} whose tags could be changed", fix=f"See: metnos mnestome history {key}"
            )
        kept = [tag for tag in mnest.tags if not clear and tag not in remove]
        tags = words.merged(kept, _checked(add))
        tx.execute("UPDATE mnests SET tags = ? WHERE id = ?", (words.to_json(tags), key))
        rate = rules.lambda_for(tags)
        if rate != mnest.decay_lambda:
            weight = mnest.at(ts)
            tx.execute(
                "UPDATE mnests SET weight = ?, ts_decayed = ?, decay_lambda = ? WHERE id = ?",
                (weight, to_text(max(mnest.weighed, ts)), rate, key),
            )
            delta = weight - mnest.weight
            rows.tell(tx, key, to_text(ts), Kind.DECAY, delta, RETAGGED, decay_lambda=rate)
        found = rows.by_id(tx, key)
    return found or mnest


def _checked(tags: Sequence[str]) -> list[str]:
    """What the owner types is not cut behind their back."""
    for tag in tags:
        if not tag.strip() or len(tag) > words.TAG or not tag.isprintable():
            raise UsageError(f"{tag[: words.TAG]!r} cannot be a tag", fix=f"Use 1 to {words.TAG} printable characters.")
    return [tag.strip() for tag in tags]
