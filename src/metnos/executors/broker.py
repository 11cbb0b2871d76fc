"""The broker: answers what a running executor asks for, outside the sandbox, within its permit.

Rules: what the manifest does not declare is a breach and ends the call; what it declares but this call was not
permitted is refused, and the executor may go on. Paths are made canonical first; a change happens only at or below a
permitted path, only in the way that the manifest's reversal allows, and, when the owner was asked, only if the owner
was shown it. A path is judged by each name that leads to it; below what was permitted, hidden names stay closed, and
what something runs by itself is changed only if the owner was shown it. A name is decided about before it is looked up,
and what it led to before a line is opened. A dry run has hands that only note, and no web. Every field that comes from
inside is checked before use.
"""

import base64
import binascii
import contextlib
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from metnos.core.canon import path_ways, sha256_hex
from metnos.core.errors import ExecutorFailed, LawError, MetnosError, PathError, Waiting
from metnos.executors import scope
from metnos.executors.effect_plan import Planning
from metnos.executors.effect_rules import HIDDEN_ALONG, MAX_FILE, RUNS_ALONG, Carried, Doing, Done
from metnos.executors.manifest import Manifest, Reversal
from metnos.executors.prepare import Prepared, request_needs
from metnos.executors.reach import Reach
from metnos.executors.scope import Folders
from metnos.law import aliases
from metnos.law.aliases import Aliases
from metnos.law.capability import Capability
from metnos.law.forbidden import Access, refuse_ways
from metnos.law.guarded import is_hidden
from metnos.law.need import Need, http_need, refuse_never, sounds_like_home
from metnos.law.permit import Effects

_CREATING = frozenset({"write", "put", "copy", "make_folder"})
# What each reverse pattern can take back.
PATTERNS: dict[Reversal, frozenset[str]] = {
    Reversal.NOTHING: frozenset(),
    Reversal.MOVE_BACK: frozenset({"move", "make_folder"}),
    Reversal.REMOVE_CREATED: _CREATING,
    Reversal.RESTORE_CONTENT: _CREATING | {"replace"},
    Reversal.RESTORE_TRASHED: frozenset({"trash", "make_folder"}),
    Reversal.IRREVERSIBLE: _CREATING | {"replace", "move", "trash"},
}
_PLAIN_NAMES = {"append": "write"}
Answer = dict[str, Any]


class Breached(Exception):
    """The executor asked for what its manifest does not declare."""


@dataclass(slots=True)
class Trip:
    """One request of an executor, with all that servers lead it to."""

    hops: int = 0
    was_outside: bool = False  # whether a machine outside the home was spoken to


class Broker:
    """One call's broker."""

    def __init__(
        self,
        manifest: Manifest,
        prepared: Prepared,
        doing: Doing,
        reach: Reach,
        shown: Effects | None,
        deadline: float,
    ) -> None:
        self._manifest = manifest
        self._prepared = prepared
        self._doing = doing
        self._reach = reach
        self._deadline = deadline  # of the monotonic clock: nothing is begun that would outlive the call
        self._carries = prepared.carries  # whether a request can hold what was read
        self._shown = None if shown is None else set(shown)
        roots = (*prepared.reads, *prepared.writes)
        changes = [need.target for need in prepared.needs if need.capability is Capability.FS_WRITE]
        self._roots, self._writes = Folders(roots), Folders(prepared.writes)
        self._beside = Folders(root.parent for root in roots)
        self._around = Folders((*self._roots, *self._beside))
        self._changed = Folders((*prepared.writes, *map(Path, changes)))
        self._decided = Folders(Path(need.target) for need in prepared.needs)
        self._hidden = Folders(prepared.hidden)
        self._links: tuple[tuple[str, str], ...] = ()
        self._names: dict[Folders, Folders] = {}  # by every name, for as long as the links are these
        self.sight = Folders()  # what the call sees
        self._along: list[tuple[str, ...]] = []  # what the folder of one change takes along
        self.noted: list[tuple[str, ...]] = []  # every change that was made, or in a rehearsal would have been
        self._answers: dict[str, Callable[[Mapping[str, Any], int | None], Any]] = {
            "write": self._write,
            "put": self._put,
            "make_folder": self._make_folder,
            "move": self._move,
            "copy": self._copy,
            "trash": self._trash,
            "look": self._look,
            "http": self._http,
            "call": self._call,
            "chat": self._chat,
            "system": self._system,
            "mcp": self._mcp,
        }

    def __call__(self, message: Mapping[str, Any], descriptor: int | None) -> Answer:
        """Answer one request. Raises `Breached`, and `Waiting` for a call that must be approved before it can go on;
        every other failure is an answer."""
        answer = self._answers.get(str(message.get("op")))
        if answer is None:
            raise Breached(f"it spoke to the broker out of turn ({str(message.get('op'))[:40]!r})")
        try:
            return {"value": answer(message, descriptor)}
        except ExecutorFailed as error:
            return _failed(error.kind, _with_fix(error))
        except Waiting:
            raise
        except LawError as error:
            return _failed("not_permitted", _with_fix(error))
        except MetnosError as error:
            return _failed("failed", _with_fix(error))
        except (OSError, ValueError) as error:
            # A name too long for the system, a letter that no file name can have: a request that means nothing.
            return _failed("invalid", f"this cannot be done: {error}"[:500])

    # -- files

    @aliases.held()
    def _write(self, message: Mapping[str, Any], _: int | None) -> Answer:
        path, content = self._target(message, "path"), _content(message)
        overwrite, append = _flag(message, "overwrite"), _flag(message, "append")
        if overwrite or append:
            self._declare("replace")

        def do(replacing: bool) -> Done:
            return self._doing.write(path, content, overwrite=overwrite and replacing, append=append and replacing)

        return self._change("append" if append else "write", (path,), sha256_hex(content), overwrite or append, do)

    @aliases.held()
    def _put(self, message: Mapping[str, Any], descriptor: int | None) -> Answer:
        if descriptor is None:
            raise ExecutorFailed("no file came with it", kind="invalid")
        path, overwrite = self._target(message, "path"), self._replacing(message)
        with _kept(descriptor) as (ours, digest):
            return self._change(
                "put", (path,), digest, overwrite, lambda over: self._doing.put(path, ours, overwrite=over)
            )

    @aliases.held()
    def _make_folder(self, message: Mapping[str, Any], _: int | None) -> Answer:
        path = self._target(message, "path", leading=True)
        self._declare("make_folder")
        if path.is_dir():
            return _done(self._doing.make_folder(path))
        return self._change("make_folder", (path,), "", False, lambda _: self._doing.make_folder(path))

    @aliases.held()
    def _move(self, message: Mapping[str, Any], _: int | None) -> Answer:
        source, overwrite = self._target(message, "source"), self._replacing(message)
        # Another name beside it may be taken, but not from something that the call did not name.
        target = self._target(message, "target", beside=None if overwrite else source)
        return self._change(
            "move", (source, target), "", overwrite,
            lambda over: self._doing.move(source, target, overwrite=over, carry=self._carry),
        )  # fmt: skip

    @aliases.held()
    def _copy(self, message: Mapping[str, Any], _: int | None) -> Answer:
        source, target = self._source(message, "source"), self._target(message, "target")
        return self._change(
            "copy", (source, target), "", self._replacing(message),
            lambda over: self._doing.copy(source, target, overwrite=over, carry=self._carry),
        )  # fmt: skip

    @aliases.held()
    def _trash(self, message: Mapping[str, Any], _: int | None) -> Answer:
        path = self._target(message, "path")
        return self._change("trash", (path,), "", False, lambda _: self._doing.trash(path, carry=self._carry))

    @aliases.held()
    def _look(self, message: Mapping[str, Any], _: int | None) -> Answer:
        """What is at a place that this call may change, or beside it: a name may have to be free."""
        ways = _path(message, "path")
        raw, path = ways[0], ways[-1]
        if not scope.covers(self._prepared.declared, raw):
            raise Breached(f"it looked at {raw}, which it does not declare")
        if not self._roots.hold(path) and path.parent not in self._beside:
            raise ExecutorFailed(f"this call may not look at {path}", kind="not_permitted")
        refuse_ways(ways, Access.READ)
        self._refuse_hidden(ways, self._around, Access.READ)
        return _kind_of(path)

    def _target(
        self, message: Mapping[str, Any], name: str, *, leading: bool = False, beside: Path | None = None
    ) -> Path:
        """A path that this call may change: what was named, or below it.

        Folders that lead to it may be made (``leading``), and it may be given another name where it is (``beside``).
        """
        ways = _path(message, name)
        raw, path = ways[0], ways[-1]
        if not scope.covers(self._prepared.declared_writes, raw):
            raise Breached(f"it tried to change {raw}, which it does not declare")
        permitted = self._writes.hold(path) or (leading and self._writes.lie_in(path))
        permitted = permitted or (beside is not None and path.parent == beside.parent)
        if not permitted or not scope.covers(self._prepared.declared_writes, path):
            raise ExecutorFailed(f"this call may not change {path}", kind="not_permitted")
        refuse_ways(ways, Access.WRITE)
        self._refuse_hidden(ways, self._writes, Access.WRITE, () if beside is None else (beside.parent,))
        self._refuse_running(ways)
        return path

    def _source(self, message: Mapping[str, Any], name: str) -> Path:
        """A path that this call may read."""
        ways = _path(message, name)
        raw, path = ways[0], ways[-1]
        if not scope.covers(self._prepared.declared, raw):
            raise Breached(f"it tried to read {raw}, which it does not declare")
        if not self._roots.hold(path):
            raise ExecutorFailed(f"this call may not read {path}", kind="not_permitted")
        refuse_ways(ways, Access.READ)
        self._refuse_hidden(ways, self._roots, Access.READ)
        return path

    def _refuse_hidden(
        self, ways: tuple[Path, ...], roots: Folders, access: Access, beside: tuple[Path, ...] = ()
    ) -> None:
        """Raise for what has a hidden name that was not asked for itself."""
        reading, known = access is Access.READ, aliases.look()
        named = (self._named(known, roots), Folders(known.all_names(beside)))
        asked = self._named(known, self._hidden)
        for way in known.all_names(ways):
            above = [root for each in named for root in each.above(way)]
            if any(Path(root) in asked for root in above) or any(each.lie_in(way) for each in named):
                continue  # asked for itself, or on the way to what was
            parts = [str(way).removeprefix(root).lstrip("/") for root in above] or [str(way)]
            if all(is_hidden(part, reading=reading) for part in parts):
                raise ExecutorFailed(
                    f"{ways[-1]} is hidden, and this call was not permitted that", kind="not_permitted",
                    fix=f"Name {ways[-1]} in your request.",
                )  # fmt: skip

    def _named(self, known: Aliases, folders: Folders) -> Folders:
        """Folders by every name that they have at this moment."""
        if known.links != self._links:
            self._links, self._names = known.links, {}
        if folders not in self._names:
            self._names[folders] = Folders(known.all_names(folders))
        return self._names[folders]

    def _refuse_running(self, ways: tuple[Path, ...]) -> None:
        """Raise for what something runs by itself, unless it was decided about, or the owner is shown the change."""
        path = ways[-1]
        if path in self._changed or self._shown is not None or isinstance(self._doing, Planning):
            return
        what = self._prepared.running.find(aliases.look().all_names(ways))
        if what is not None:
            raise ExecutorFailed(
                f"{path} belongs to {what}, and was not asked for when this call was permitted",
                kind="not_permitted", fix=f"Name {path} in your request.",
            )  # fmt: skip

    def _carry(self, carried: Carried, target: Path | None) -> None:
        """Raise for what a folder takes along and was neither decided about nor shown to the owner, and for what is
        hidden and would come into sight of the call."""
        unseen = [path for path in carried.hidden if not self._hidden.hold(path)]
        into = () if target is None else (_letters(target.parent),)
        along = {path: (HIDDEN_ALONG, _letters(path), *into) for path in carried.hidden}
        along |= {path: (RUNS_ALONG, _letters(path)) for path in carried.runs}
        self._along = list(along.values())
        if isinstance(self._doing, Planning):
            return
        for path in (*unseen, *carried.runs):
            if self._shown is None and path not in self._decided:
                raise ExecutorFailed(
                    f"{path} would go along, which was not asked for when this call was permitted",
                    kind="not_permitted", fix=f"Name {path} in your request.",
                )  # fmt: skip
            if self._shown is not None and along[path] not in self._shown:
                raise ExecutorFailed(
                    f"{path} would go along, which was not there when this was shown and approved",
                    kind="not_permitted", fix="Ask again.",
                )  # fmt: skip
        if unseen and target is not None and self.sight.hold(target):
            raise ExecutorFailed(
                f"{unseen[0]} is hidden, and could be read at its new place by this call", kind="not_permitted",
                fix="Move it by hand, or name a target outside the folders this call reads.",
            )  # fmt: skip

    def _declare(self, operation: str) -> None:
        if operation not in PATTERNS[self._manifest.reversal]:
            raise Breached(f"it tried to {operation}, which {self._manifest.reversal.value!r} cannot take back")

    def _replacing(self, message: Mapping[str, Any]) -> bool:
        overwrite = _flag(message, "overwrite")
        if overwrite:
            self._declare("replace")
        return overwrite

    def _change(
        self, operation: str, paths: tuple[Path, ...], content: str, overwrite: bool, do: Callable[[bool], Done]
    ) -> Answer:
        """Make one change. The reversal must know it, and the owner, if asked, must have been shown exactly it."""
        self._declare(_PLAIN_NAMES.get(operation, operation))
        named = (*map(_letters, paths), *([content] if content else ()))
        if self._shown is not None:
            # Whether something is replaced was shown too: what appeared there since stays.
            overwrite = overwrite and os.path.lexists(paths[-1])
            if (_effect(operation, overwrite), *named) not in self._shown:
                words = f"{operation} {' '.join(map(str, paths))}"
                raise ExecutorFailed(f"this is not what was shown and approved: {words}", kind="not_permitted")
        self._along = []
        done = do(overwrite)
        self.noted += ((_effect(operation, done.replaced), *named), *self._along)  # what failed was shown to nobody
        return _done(done)

    # -- everything else

    def _http(self, message: Mapping[str, Any], _: int | None) -> Answer:
        http = self._manifest.capabilities.net.http
        if http is None:
            raise Breached("it tried to use the network, which it does not declare")
        headers = message.get("headers")
        if not isinstance(headers, dict) or not all(isinstance(text, str) for text in (*headers, *headers.values())):
            raise ExecutorFailed("headers must be text", kind="invalid")
        most = message.get("max_bytes")
        trip = Trip()
        fetched = self._reach.web.fetch(
            _word(message, "method").upper(),
            _word(message, "url"),
            headers,
            _content(message),
            max_bytes=most if type(most) is int and most > 0 else 1,
            allow=partial(self._allow, trip),
            screen=partial(self._screen, trip),
            timeout_s=max(0.1, self._deadline - time.monotonic()),
        )
        return {
            "status": fetched.status,
            "headers": dict(fetched.headers),
            "body": fetched.body,
            "url": fetched.url,
            "truncated": fetched.truncated,
        }

    def _screen(self, trip: Trip, host: str, method: str) -> None:
        """Decide by the name alone, before it is looked up: the question for a name can itself carry a secret out."""
        self._declared(trip, host, method)
        refuse_never(host)
        for need in request_needs(self._manifest, host, (method,), carries=self._carries):
            self._permitted(need, trip)
        trip.hops += 1

    def _allow(self, trip: Trip, host: str, method: str, addresses: list[str]) -> Need:
        """Whether this host may be spoken to where it really is: declared, and permitted or beyond question."""
        self._declared(trip, host, method)
        need = http_need(host, method, addresses)
        need = replace(need, carries=self._carries and need.outside)
        if not need.outside and not sounds_like_home(host):
            # Or a stranger's name would be a way to the machines at home.
            raise ExecutorFailed(
                f"{host} leads into the home network, which its name does not say", kind="not_permitted"
            )
        self._permitted(need, trip)
        trip.was_outside = trip.was_outside or need.outside
        self._carries = self._carries or not need.outside  # what it fetches there, it has read
        return need

    def _declared(self, trip: Trip, host: str, method: str) -> None:
        http = self._manifest.capabilities.net.http
        if http is not None and scope.host_matches(http.hosts, host) and method in http.methods:
            return
        if trip.hops:  # a server sent it there: that is no act of the executor's
            raise ExecutorFailed(f"the server leads to {host}, which is not declared", kind="not_permitted")
        raise Breached(f"it tried to {method} {host}, which it does not declare")

    def _permitted(self, need: Need, trip: Trip) -> None:
        """Raise unless the owner said yes to this, or nobody has to be asked.

        A server outside can lead a request on: then a machine at home is spoken to only if the call named it.
        """
        led_home = trip.was_outside and not need.outside
        if need not in self._prepared.needs and (led_home or not self._reach.decide(need)):
            raise ExecutorFailed(
                f"{need.target} was not asked for when this call was permitted; ask for that address itself",
                kind="not_permitted",
            )

    def _call(self, message: Mapping[str, Any], _: int | None) -> Any:
        name, args = _word(message, "name"), message.get("args")
        if name not in self._manifest.capabilities.executor.call:
            raise Breached(f"it tried to call {name[:80]!r}, which it does not declare")
        if not isinstance(args, dict):
            raise ExecutorFailed("the arguments of a call are an object", kind="invalid")
        return self._reach.call(name, args)

    def _chat(self, message: Mapping[str, Any], _: int | None) -> str:
        if not self._manifest.capabilities.model.chat:
            raise Breached("it tried to ask the language model, which it does not declare")
        if self._reach.chat is None:
            raise ExecutorFailed("there is no language model", kind="unavailable")
        tokens = message.get("max_tokens")
        return self._reach.chat(_word(message, "prompt"), tokens if type(tokens) is int else 512)

    def _system(self, message: Mapping[str, Any], _: int | None) -> list[Any]:
        what = _word(message, "what")
        if what not in self._manifest.capabilities.system.read:
            raise Breached(f"it asked for {what[:40]!r} of this machine, which it does not declare")
        return self._reach.facts(what)

    def _mcp(self, message: Mapping[str, Any], _: int | None) -> Any:
        tool, args = self._manifest.capabilities.mcp.call, message.get("args")
        if tool is None:
            raise Breached("it tried to ask an MCP server, which it does not declare")
        if not isinstance(args, dict):
            raise ExecutorFailed("the arguments of a tool are an object", kind="invalid")
        if self._reach.ask_tool is None:
            raise ExecutorFailed("there is no MCP server here", kind="unavailable")
        return self._reach.ask_tool(tool, args, max(0.1, self._deadline - time.monotonic()))


def _path(message: Mapping[str, Any], name: str) -> tuple[Path, ...]:
    """Every name that leads to where a path does: first as it was spelled, without dots, and last where it really is.

    The last component stays what it is: an operation on a link is about the link.
    """
    text = _word(message, name)
    if not text.startswith("/"):
        raise ExecutorFailed("a path must be absolute", kind="invalid")
    last = Path(text).name
    try:
        above = path_ways(str(Path(text).parent), cwd=Path("/"), home=Path("/"))
    except PathError as error:
        raise ExecutorFailed(error.what, kind="invalid") from error
    if last in ("", ".", ".."):
        raise ExecutorFailed("a path must end in a name", kind="invalid")
    return tuple(way / last for way in above)


def _effect(operation: str, replacing: bool) -> str:
    return f"{operation} over" if replacing else operation


def _letters(path: Path) -> str:
    """A path as text that any store can hold; one that is no text, by its bytes."""
    try:
        return str(path).encode().decode()
    except UnicodeEncodeError:
        return f"bytes {os.fsencode(path).hex()}"


def _kind_of(path: Path) -> Answer:
    try:
        status = path.lstat()
    except OSError:
        return {"kind": "missing", "size": 0}
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    return {"kind": kinds.get(stat.S_IFMT(status.st_mode), "other"), "size": status.st_size}


def _word(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or "\0" in value:
        raise ExecutorFailed(f"{name} must be text", kind="invalid")
    return value


def _flag(message: Mapping[str, Any], name: str) -> bool:
    return message.get(name) is True


def _content(message: Mapping[str, Any]) -> bytes:
    text = message.get("text")
    try:
        if isinstance(text, str):
            return text.encode(errors="surrogateescape")
        return base64.b64decode(_word(message, "base64"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ExecutorFailed("content must be text or base64", kind="invalid") from error


@contextlib.contextmanager
def _kept(descriptor: int) -> Iterator[tuple[int, str]]:
    """What an untrusted descriptor holds, as a file of our own that nobody changes any more, and its digest."""
    digest, at = hashlib.sha256(), 0
    with tempfile.TemporaryFile() as ours:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ExecutorFailed("only an ordinary file can be put somewhere", kind="invalid")
        while part := os.pread(descriptor, 1 << 20, at):
            at += len(part)
            if at > MAX_FILE:
                raise ExecutorFailed("the file is too large", kind="too_large")
            digest.update(part)
            ours.write(part)
        ours.flush()
        yield ours.fileno(), digest.hexdigest()


def _done(done: Any) -> Answer:
    return {"done": done.op, "bytes": done.bytes, "replaced": done.replaced}


def _with_fix(error: MetnosError) -> str:
    return f"{error.what}. {error.fix}" if error.fix else error.what


def _failed(kind: str, message: str) -> Answer:
    return {"failed": True, "kind": kind, "message": message}
