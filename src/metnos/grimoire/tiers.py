"""Three tiers of memory, and the one way up into the highest: through the owner's inbox.

Short memory is the conversation at hand, medium memory what happened and what it taught, long memory the files that the
owner writes: IDENTITY, USER, MEMORY, TELOS, and what stands by hand in PLAYBOOK. Rules:

- What is known rises and never descends. Into long memory it rises only as a question with a diff, which the owner
  accepts, edits or refuses. SOUL.md is not among the files: no command changes the constitution.
- What is written is what was shown. If the file changed since, it is left, and the question is put anew.
- A question is put once: whatever became of it, the same words are not proposed again, unless the owner asks for it.
- A fact about the owner or the household (see `consent`) waits in quarantine for a question of the same kind. If they
  say no, or nothing in time, it is to go (`refused`), and what says the same is not asked about again.
- What reads like an instruction to the agent is not even proposed. What was written can be taken back.

Killed at any point a file is as it was or as it was to become; the question is then approved still, or used.
"""

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path

from metnos.core import files
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.clock import Clock, to_text
from metnos.core.difference import unified
from metnos.core.errors import InboxError, StoreFull, UsageError, Waiting, WorkspaceError
from metnos.core.workspace import Workspace
from metnos.grimoire.consent import needs_consent
from metnos.grimoire.fact import Fact
from metnos.grimoire.long_text import with_line
from metnos.grimoire.playbook import Playbook, Screen
from metnos.grimoire.playbook_file import digest_of
from metnos.grimoire.playbook_text import words_of
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.inbox import Inbox, Item, State
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.store.db import Database

KIND = "memory"  # of the questions
WRITTEN, TAKEN_BACK, AGREED = "memory written", "memory taken back", "memory agreed to"
FILES = ("IDENTITY.md", "USER.md", "MEMORY.md", "TELOS.md", "PLAYBOOK.md")
PLAYBOOK = "PLAYBOOK.md"
HOURS = 30 * 24.0  # nothing is lost by thinking about it
LONGEST = 400  # characters of a line: the head of a prompt is short
_EVIDENCE = 50  # ids that a question names
_NO = (State.REFUSED, State.EXPIRED)


class Tier(IntEnum):
    """Where something is known, from the lowest."""

    SHORT = 1
    MEDIUM = 2
    LONG = 3


def may_rise(source: Tier, target: Tier) -> bool:
    """Whether something known here may become known there: only upwards."""
    return target > source


class Tiers:
    """The way into long memory of one workspace. ``screen`` says why a text may not be proposed (see `poison`)."""

    def __init__(
        self,
        workspace: Workspace,
        inbox: Inbox,
        audit: Audit,
        db: Database,
        clock: Clock,
        playbook: Playbook,
        screen: Screen,
    ) -> None:
        self._root = workspace.root
        self._kept = workspace.memory / "long"
        self._inbox = inbox
        self._audit = audit
        self._db = db
        self._clock = clock
        self._playbook = playbook
        self._screen = screen

    # -- asking

    def propose(
        self,
        text: str,
        file: str,
        why: str,
        evidence: Sequence[str],
        *,
        asked_by: Principal,
        source: Tier = Tier.MEDIUM,
        again: bool = False,
    ) -> Item | None:
        """Ask whether a line may stand in a file of long memory; nothing if that was asked before or it is there."""
        if not may_rise(source, Tier.LONG):
            raise UsageError("what is in long memory already does not rise any further")
        body = self._body(text, file, why, evidence)
        key = f"proposal {_key(file, str(body['text']))}"
        if body["diff"] == "" or (not again and self._was_put(key)):
            return None
        return self._ask(key, f"Remember for good, in {file}: {body['text']}", body, asked_by)

    def consent(self, fact: Fact, why: str, *, asked_by: Principal) -> Item | None:
        """Ask whether a fact about the owner or the household may be kept; nothing if that was asked before."""
        if not needs_consent(fact):
            raise UsageError("this fact is about nobody and needs no consent")
        words = self._words(fact.text)
        key = f"consent {fact.id}"
        if self._was_put(key):
            return None
        body: dict[str, Json] = {"text": words, "fact": fact.id, "why": words_of(why, LONGEST)}
        return self._ask(key, f"Know about you: {words}", body | _evidence(fact.sources), asked_by)

    def edit(self, item: Item, text: str, by: Principal) -> Item:
        """Put a question with other words in the place of one that waits."""
        if item.kind != KIND or "file" not in item.body:
            raise InboxError(f"question {item.id} is about: {item.kind}", fix="Only what is proposed can be edited.")
        body = self._body(text, item.body["file"], item.body["why"], item.body["evidence"])
        if body["diff"] == "":
            raise UsageError(f"{item.body['file']} says that already", fix=f"metnos inbox refuse {item.id}")
        title = f"Remember for good, in {item.body['file']}: {body['text']}"
        new = self._inbox.edit(item.id, by, body, _digest(body), title=title)
        self._note(f"proposal {_key(item.body['file'], str(body['text']))}", new)
        return new

    def refused(self, *, known: bool = False) -> list[str]:
        """Facts that the owner did not agree to: they said no, or nothing in time. They are to be removed.

        Only what was asked, if it is ``known`` still: a question whose words were forgotten says nothing about them.
        """
        rows = self._db.query("SELECT name, value FROM progress WHERE name LIKE 'consent %'")
        items = {item.id: item for item in self._inbox.newest(-1)} if rows else {}
        ended = [(name, items.get(value)) for name, value in rows]
        return [
            name.removeprefix("consent ")
            for name, item in ended
            if (not known if item is None else item.state in _NO and (item.body or not known))
        ]

    # -- writing

    def apply(self, item: Item, agree: Callable[[str], object] = lambda _: None) -> None:
        """Do what was approved: write the line, or let the fact count (``agree``). Once, whoever else tries."""
        if item.kind != KIND:
            raise InboxError(f"question {item.id} is about: {item.kind}")
        if "fact" in item.body:
            self._agree(item, agree)
            return
        file = str(item.body["file"])
        with self._locked():
            self._require_approved(item)
            before = self._read(file)
            if digest_of(before) == item.body["made"]:
                self._inbox.take(item.digest, item.needs_yes)  # written before, by somebody who then was interrupted
                return
            made = None if digest_of(before) != item.body["base"] else with_line(file, before, str(item.body["text"]))
            if made is None or digest_of(made) != item.body["made"]:
                self._put_anew(item, file)
            else:
                self._write_agreed(item, file, before, made)

    def undo(self, item: Item) -> None:
        """Take back what `apply` wrote, if the file is still what it wrote."""
        file = str(item.body.get("file", ""))
        kept = self._kept / f"{file}.{item.id}"
        if item.kind != KIND or not kept.exists():
            raise UsageError(f"nothing was written for question {item.id}, or it was forgotten since")
        with self._locked():
            now = self._read(file)
            if digest_of(now) != item.body["made"]:
                raise UsageError(f"{file} was changed since, so it is left as it is", fix="Edit the file by hand.")
            with self._audit.act(Entry(TAKEN_BACK, {"item": item.id, "file": file}, {"made": str(item.body["made"])})):
                self._write(file, now, kept.read_bytes(), "what was agreed to was taken back")
            kept.unlink()

    # -- forgetting

    def forget(
        self, touches: Callable[[Item], bool], says: Callable[[str], bool], erase: Callable[[str], object]
    ) -> int:
        """Take the words out of questions (``erase``, by id) and of what is kept for `undo`; how many there were."""
        gone = 0
        for item in self._inbox.newest(-1):
            if item.kind == KIND and "text" in item.body and touches(item):
                erase(item.id)
                gone += 1
        for path in self._kept.glob("*") if self._kept.is_dir() else ():
            if says(path.read_text(encoding="utf-8", errors="replace")):
                path.unlink()
                gone += 1
        return gone

    # -- inside

    def _body(self, text: str, file: str, why: str, evidence: Sequence[str]) -> dict[str, Json]:
        if file not in FILES:
            raise UsageError(f"nothing is proposed for {file}", fix=f"Only for {', '.join(FILES)}.")
        words = self._words(text)
        before = self._read(file)
        made = with_line(file, before, words)
        return {
            "text": words,
            "file": file,
            "why": words_of(why, LONGEST),
            "diff": _diff(file, before or b"", made),
            "base": digest_of(before),
            "made": digest_of(made),
        } | _evidence(evidence)

    def _words(self, text: str) -> str:
        words = words_of(text, LONGEST)
        reason = self._screen(text) or self._screen(words)
        if reason or not words:
            raise UsageError(
                f"this is not proposed: {reason or 'it says nothing'}", fix="Write it by hand if you want it."
            )
        return words

    def _ask(self, key: str, title: str, body: dict[str, Json], asked_by: Principal) -> Item:
        item = self._inbox.ask(KIND, title, body, _digest(body), asked_by=asked_by, hours=HOURS)
        self._note(key, item)
        return item

    def _was_put(self, key: str) -> bool:
        return self._db.first("SELECT 1 FROM progress WHERE name = ?", (key,)) is not None

    def _note(self, key: str, item: Item) -> None:
        with self._db.write() as tx:
            tx.execute(
                "INSERT OR REPLACE INTO progress (name, value, ts) VALUES (?, ?, ?)",
                (key, item.id, to_text(self._clock.now())),
            )

    def _require_approved(self, item: Item) -> Item:
        standing = self._inbox.standing(item.digest, item.needs_yes)
        if standing is None or standing.id != item.id or standing.state is not State.APPROVED:
            raise InboxError(f"question {item.id} is not approved", fix="See it: metnos inbox list --all")
        return standing

    def _agree(self, item: Item, agree: Callable[[str], object]) -> None:
        """Let a fact count. Doing so twice does no harm, so the approval is used up afterwards."""
        channel, _, sender = (self._require_approved(item).answered_by or "").partition(":")
        names = {"item": item.id, "fact": str(item.body["fact"]), "channel": channel, "sender": sender}
        with self._audit.act(Entry(AGREED, names)):
            agree(str(item.body["fact"]))
        self._inbox.take(item.digest, item.needs_yes)

    def _put_anew(self, item: Item, file: str) -> None:
        """The file is not what the owner saw: ask again, with what would change now."""
        self._inbox.take(item.digest, item.needs_yes)
        body = self._body(item.body["text"], file, item.body["why"], item.body["evidence"])
        if body["diff"] == "":
            return  # it says so by now
        key = f"proposal {_key(file, str(body['text']))}"
        asker = _asker(item)
        new = self._ask(key, item.title, body, asker)
        raise Waiting(
            f"{file} was changed since you were asked, so nothing was written",
            item=new.id,
            fix=f"See what would change now: metnos inbox show {new.id}",
        )

    def _write_agreed(self, item: Item, file: str, before: bytes | None, made: bytes) -> None:
        digests = {"made": digest_of(made)} | ({} if before is None else {"base": digest_of(before)})
        with self._audit.act(Entry(WRITTEN, {"item": item.id, "file": file}, digests)):
            files.private_folder(self._kept)
            files.replace(self._kept / f"{file}.{item.id}", before or b"", mode=files.PRIVATE_FILE)
            self._write(file, before, made, f"question {item.id} was approved")
            if self._inbox.take(item.digest, item.needs_yes) is None:
                self._write(file, made, before or b"", "the approval was taken back")
                raise InboxError(f"question {item.id} was refused just now, so nothing was written")

    def _write(self, file: str, before: bytes | None, made: bytes, why: str) -> None:
        if file == PLAYBOOK:
            if not self._playbook.put(made, digest_of(before), why):
                raise WorkspaceError(f"{file} was saved by somebody else just now", fix="Try again.")
            return
        path = self._path(file)
        try:
            files.replace(path, made, mode=path.stat().st_mode & 0o777 if path.exists() else files.PRIVATE_FILE)
        except OSError as error:
            what = f"{file} cannot be written: {error.strerror or error}. It was left as it is."
            raise StoreFull(what, fix="Free some space, or check who owns the file.") from error

    def _read(self, file: str) -> bytes | None:
        try:
            return self._path(file).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WorkspaceError(f"{file} cannot be read: {error.strerror or error}") from error

    def _path(self, file: str) -> Path:
        return Path(os.path.realpath(self._root / file))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, in any process; the lock goes with it."""
        files.private_folder(self._kept)
        descriptor = os.open(self._kept / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.PRIVATE_FILE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _key(file: str, words: str) -> str:
    return sha256_hex(canonical_json([file, " ".join(re.findall(r"\w+", words.casefold()))]))


def _digest(body: dict[str, Json]) -> str:
    """What the answer is bound to: the fact and its words, or exactly what the file was and would be."""
    bound = ("fact", "text") if "fact" in body else ("file", "base", "made")
    return sha256_hex(canonical_json([KIND, *(body[name] for name in bound)]))


def _evidence(ids: Sequence[str]) -> dict[str, Json]:
    return {"evidence": list(ids)[:_EVIDENCE]}


def _diff(file: str, before: bytes, made: bytes) -> str:
    old, new = (each.decode("utf-8", "replace") for each in (before, made))
    return "\n".join(unified(old, new, (file, f"{file}, with your consent")))


def _asker(item: Item) -> Principal:
    """Who asked, as a question says it."""
    channel, _, sender = item.asked_by.partition(":")
    return Principal(Channel(channel), sender, Autonomy.READ_ONLY)
