"""How a call ended, and what that says about the executor. Pure: everything that a child says is judged here.

Rules: a reply counts only if it is what the contract and the manifest say, with honest counts. What an executor may not
help (a missing file, a refusal) is a failure but no *fault*; a crash, a limit or a dishonest reply is its own fault and
a strike. Reaching for what it did not declare is a *breach*: quarantine, and revocation when it reached for the agent's
own keys and records or out of the sandbox (Law 3).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from metnos.core.errors import ExecutorFailed
from metnos.executors.manifest import Manifest
from metnos.executors.scope import Scope, covers
from metnos.law.forbidden import RULES, Access, why_forbidden
from metnos.sandbox.pool import Ended

KINDS = frozenset(
    ["invalid", "not_found", "exists", "not_permitted", "too_large", "unreadable", "unavailable", "conflict", "failed"]
)
NETWORK = "/network"  # what a child reports when it uses a socket
_MOST_FAILURES = 1000
_SIGKILL = 9
_OWN_RECORDS = RULES[0].what
# Where honest libraries look for facts about the machine; they find nothing and go on.
_MACHINE = re.compile(r"/(proc|sys)(/.*)?")
_OUTWARD = re.compile(r"/proc/(self|thread-self|\d+)(/task/\d+)?/(root|cwd|fd|mem|environ|maps|ns|exe)(/.*)?")


class Breach(StrEnum):
    """What follows from reaching too far."""

    NONE = ""
    QUARANTINE = "quarantine"
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call, ended. ``audit`` is the line that announced it; ``because`` is why the policy let it happen;
    ``inner`` are the calls that it made in turn."""

    executor: str
    digest: str
    turn: str
    ok: bool
    reply: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    message: str = ""
    log: str = ""
    where: tuple[str, ...] = ()
    fault: bool = False
    breach: Breach = Breach.NONE
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    action: str = ""
    effects: tuple[tuple[str, ...], ...] = ()
    writes: int = 0
    write_bytes: int = 0
    version: str = ""
    audit: int = 0
    permit: str = ""
    because: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    inner: "tuple[Outcome, ...]" = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What a child's end amounts to."""

    ok: bool = False
    reply: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    message: str = ""
    where: tuple[str, ...] = ()
    fault: bool = False


def judge(manifest: Manifest, ended: Ended, wall_s: float, cpu_s: float) -> Judged:
    """The child's last word, or the way it ended, as the caller will see it."""
    message = ended.message
    name = manifest.name
    if message is None:
        return _died(name, ended, wall_s, cpu_s)
    if message["op"] == "failed":
        return Judged(kind=_kind(message.get("kind")), message=_text(message.get("message")))
    if message["op"] == "crashed":
        where = message.get("where")
        lines = tuple(_text(line) for line in where[:8]) if isinstance(where, list) else ()
        error, said = _text(message.get("error")), _text(message.get("message"))
        kind = "too_large" if error == "MemoryError" else "failed"
        return Judged(kind=kind, message=f"{name} crashed: {error}: {said}", where=lines, fault=True)
    try:
        return Judged(ok=True, reply=check_reply(manifest, message.get("reply")))
    except ExecutorFailed as error:
        return Judged(kind="failed", message=error.what, fault=True)


def check_reply(manifest: Manifest, reply: Any) -> dict[str, Any]:
    """The reply with its counts, or an error that says in what it breaks the contract."""
    key = manifest.result_key
    if not isinstance(reply, dict):
        raise ExecutorFailed(f"{manifest.name} must return an object with `{key}`")
    strange = sorted(set(reply) - {key, "total", "failures", "left_out"})
    items = reply.get(key)
    if strange or not isinstance(items, list):
        raise ExecutorFailed(f"{manifest.name} must return `{key}` as a list, `total` and `failures`, and nothing else")
    total = reply.get("total", len(items))
    if type(total) is not int or total < len(items):
        raise ExecutorFailed(f"{manifest.name} says there are {total!r}, but returned {len(items)}")
    failures = reply.get("failures", [])
    if not isinstance(failures, list) or not all(_is_failure(each) for each in failures):
        raise ExecutorFailed(f"{manifest.name} returned `failures` that are none: use ctx.failure(item, kind, message)")
    left_out = reply.get("left_out", 0)
    if type(left_out) is not int or left_out < 0:
        raise ExecutorFailed(f"{manifest.name} says that it left out {left_out!r}")
    manifest.check_entries(items)
    return {
        key: items,
        "count": len(items),
        "total": total,
        "truncated": total > len(items),
        "failures": failures[:_MOST_FAILURES],
        "failed": len(failures),
        **({"left_out": left_out} if left_out else {}),
    }


def judge_reach(paths: Sequence[str], declared: Sequence[Scope], signal_is_hostile: bool) -> tuple[Breach, str]:
    """What reaching for these paths means, and the words for it."""
    if signal_is_hostile:
        return Breach.REVOKE, "it made a kernel call that only an attack on the sandbox makes"
    worst = Breach.NONE, ""
    for text in paths:
        path = Path(text)
        if text == NETWORK:
            worst = Breach.QUARANTINE, "it reached for the network past the broker"
            continue
        if _OUTWARD.fullmatch(text) or why_forbidden(path, Access.READ) == _OWN_RECORDS:
            return Breach.REVOKE, f"it reached for {text}"
        if not _MACHINE.fullmatch(text) and not covers(declared, path) and not _leads_to(path, declared):
            worst = Breach.QUARANTINE, f"it reached for {text}, which it does not declare"
    return worst


def _leads_to(path: Path, declared: Sequence[Scope]) -> bool:
    """A folder above a declared one may be looked at: walking there is no trespass."""
    return any(scope.root.is_relative_to(path) for scope in declared)


def _died(name: str, ended: Ended, wall_s: float, cpu_s: float) -> Judged:
    if ended.timed_out:
        return Judged(kind="failed", message=f"{name} did not end within {wall_s:g} seconds", fault=True)
    if ended.too_much_memory:
        message = f"{name} and the programs that it started used more memory than they may"
        return Judged(kind="too_large", message=message, fault=True)
    if ended.too_much:
        return Judged(kind="too_large", message=f"{name} returned more than it may", fault=True)
    if ended.hostile:
        return Judged(kind="failed", message=f"{name} was ended by the kernel: it attacked the sandbox", fault=True)
    if ended.signal == _SIGKILL and ended.cpu_ms >= cpu_s * 1000 * 0.9:
        return Judged(kind="failed", message=f"{name} used more than {cpu_s:g} seconds of CPU", fault=True)
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
    return Judged(kind="failed", message=f"{name} died without a reply ({how})", fault=True)


def _is_failure(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"item", "kind", "message"}
        and isinstance(value["kind"], str)
        and value["kind"] in KINDS
        and isinstance(value["message"], str)
    )


def _kind(value: Any) -> str:
    return value if isinstance(value, str) and value in KINDS else "failed"


def _text(value: Any) -> str:
    return str(value)[:2000] if isinstance(value, str) else ""
