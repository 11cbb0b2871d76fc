"""Rules of PLAYBOOK.md against fast paths: a path that a new or changed rule concerns has to prove itself again.

A rule is one point of a list or one paragraph. It concerns a path if it names one of its executors, or shares two words
of content with a form of it.

Rules: the first sight of a file changes nothing, since paths were learnt beside it. A rule that went away counts like
one that came: what followed it may be wrong now. Paths are moved before the rules are kept, so that a crash in between
moves them again and loses nothing. Does not read what a rule means.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from metnos.core.canon import sha256_hex
from metnos.fastpath.canonical import canonical
from metnos.fastpath.log import Log
from metnos.fastpath.records import FastPath, Form, State
from metnos.fastpath.saying import content
from metnos.fastpath.states import back_to_shadow
from metnos.store.db import Database

SHARED = 2  # words of content that a rule and a form must share: one is shared by too many
_SEEN = ""  # the digest of the row that says that the file was seen at all
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_POINT = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+")
_LONGEST = 2000  # characters of one rule that are looked at
_QUOTED = 200


@dataclass(frozen=True, slots=True)
class Changed:
    """The rules that came and those that went."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def rules_of(text: str) -> list[str]:
    """The rules of a playbook: its points and paragraphs, without headings and comments."""
    rules: list[str] = []
    open_ = False
    for line in _COMMENT.sub("\n", text).splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            open_ = False
            continue
        start = _POINT.match(line)
        body = " ".join(line[start.end() if start else 0 :].split())
        if start or not open_:
            rules.append(body)
        else:
            rules[-1] = f"{rules[-1]} {body}"
        open_ = True
    return list(dict.fromkeys(rule[:_LONGEST] for rule in rules if rule))


def changed(db: Database, text: str) -> Changed:
    """How the rules differ from those that were kept last; the first time they do not."""
    known: dict[str, str] = dict(db.query("SELECT digest, text FROM playbook_rules"))
    if _SEEN not in known:
        return Changed()
    now = _digests(rules_of(text))
    added = tuple(rule for digest, rule in now.items() if digest not in known)
    removed = tuple(rule for digest, rule in known.items() if digest not in now and digest != _SEEN)
    return Changed(added, removed)


def keep(db: Database, text: str) -> None:
    """Keep the rules as they are now."""
    rows = list({_SEEN: "", **_digests(rules_of(text))}.items())
    with db.write() as tx:
        tx.execute("DELETE FROM playbook_rules")
        tx.execute_many("INSERT INTO playbook_rules (digest, text) VALUES (?, ?)", rows)


def concerns(rule: str, path: FastPath, forms: Iterable[Form]) -> bool:
    """Whether a rule speaks of a path: by the name of an executor, or by words of what was asked."""
    if any(re.search(rf"\b{re.escape(name)}\b", rule) for name in path.tools):
        return True
    words = set(content(canonical(rule, ())))
    return any(len(words & set(content(form.canonical))) >= SHARED for form in forms)


def review(db: Database, logs: Sequence[Log], text: str, ts: datetime) -> list[str]:
    """Hold the active paths against what changed in the playbook; says which went back to shadow."""
    found = changed(db, text)
    moved: list[str] = []
    if found.added or found.removed:
        reasons = [(rule, f"PLAYBOOK.md now says: {rule[:_QUOTED]!r}") for rule in found.added]
        reasons += [(rule, f"PLAYBOOK.md no longer says: {rule[:_QUOTED]!r}") for rule in found.removed]
        for log in logs:
            for path in log.paths(State.ACTIVE):
                forms = log.forms(path.id)
                reason = next((why for rule, why in reasons if concerns(rule, path, forms)), "")
                if reason and back_to_shadow(log, path.id, reason, ts):
                    moved.append(path.id)
    keep(db, text)
    return moved


def _digests(rules: Iterable[str]) -> dict[str, str]:
    return {sha256_hex(rule.encode("utf-8", "surrogatepass")): rule for rule in rules}
