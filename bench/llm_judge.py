"""Whether a turn did what was asked, by what it left behind: files, notes, reminders, and facts in executors' replies.

Wording is never judged. What a scenario does not name must be as before: a plan that does more than it was asked for
fails. ``bench/scenarios/turns.toml`` says what the fields of a scenario mean.
"""

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from metnos.grimoire.trace import Trace

Home = dict[str, bytes | None]


def look(home: Path) -> Home:
    """Everything in a home: files with their content, folders without."""
    found = (path for path in home.rglob("*") if not _is_own(path.relative_to(home)))
    return {path.relative_to(home).as_posix(): path.read_bytes() if path.is_file() else None for path in found}


def complaints(turn: Mapping[str, Any], trace: Trace, before: Home, home: Path, notes: Path) -> Iterator[str]:
    """Everything that is not as the scenario wants it; nothing if the turn succeeded."""
    wanted = turn.get("state", "done")
    if str(trace.state) != wanted:
        yield f"it ended as {trace.state}, not {wanted}"
    yield from _facts(turn, trace)
    yield from _files(turn, before, look(home))
    if "notes" in turn and not any(turn["notes"] in path.read_text() for path in notes.glob("*.md")):
        yield f"no note holds {turn['notes']!r}"
    if "reminder" in turn:
        yield from _reminder(turn["reminder"], trace)


def _is_own(path: Path) -> bool:
    return path.parts[0] in (".local", ".cache", ".config")  # the trash, and what libraries keep


def _facts(turn: Mapping[str, Any], trace: Trace) -> Iterator[str]:
    replies = [json.dumps(step.reply, ensure_ascii=False, separators=(",", ":")) for step in trace.steps if step.ok]
    last = replies[-1] if replies else ""
    yield from (f"no reply holds {each!r}" for each in turn.get("facts", ()) if each not in "".join(replies))
    yield from (f"the last reply does not hold {each!r}" for each in turn.get("last", ()) if each not in last)
    yield from (f"the last reply holds {each!r}" for each in turn.get("without", ()) if each in last)


def _files(turn: Mapping[str, Any], before: Home, now: Home) -> Iterator[str]:
    wanted: Mapping[str, Any] = turn.get("after", {})
    for name, content in wanted.items():
        wrong = _wrong(content, name in now, now.get(name))
        if wrong:
            yield f"{name} {wrong}"
    parents = {parent.as_posix() for name in wanted for parent in Path(name).parents}
    for name in sorted(set(before) | set(now)):
        if name not in wanted and name not in parents and (name in before, before.get(name)) != (
            name in now, now.get(name)
        ):  # fmt: skip
            yield f"{name} has changed"


def _wrong(content: Any, there: bool, now: bytes | None) -> str:
    if isinstance(content, Mapping) and content.get("absent"):
        return "is still there" if there else ""
    if not there:
        return "is not there"
    if isinstance(content, Mapping) and content.get("folder"):
        return "" if now is None else "is no folder"
    if now is None:
        return "is a folder"
    return "" if _holds(content, now) else f"holds {now[:80]!r}"


def _holds(content: Any, now: bytes) -> bool:
    if isinstance(content, str):
        return now == content.encode()
    if "holds" in content:
        return str(content["holds"]).encode() in now
    if "zip" in content:
        with zipfile.ZipFile(io.BytesIO(now)) as archive:
            return set(content["zip"]) <= {name.rstrip("/") for name in archive.namelist()}
    return bool(list(csv.reader(io.StringIO(now.decode("utf-8-sig")))) == content["rows"])


def _reminder(wanted: Mapping[str, Any], trace: Trace) -> Iterator[str]:
    made = [each for step in trace.steps if step.ok for each in step.reply.get("results", ()) if "due" in each]
    if len(made) != 1:
        yield f"{len(made)} reminders were made"
        return
    due = datetime.fromisoformat(made[0]["due"])
    asked = trace.asked.astimezone(due.tzinfo)
    day = (asked + timedelta(days=wanted["day"])).date()
    if (due.date(), due.hour) != (day, wanted["hour"]) or wanted["text"] not in made[0]["text"]:
        yield f"the reminder is {made[0]['text']!r} at {made[0]['due']}"
