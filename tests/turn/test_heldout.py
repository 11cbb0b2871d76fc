"""How much of what people ask is done without a language model: requests that were written before they were tried.

Judged by what is so afterwards, never by the plan: files, facts in the replies, and that nothing else has changed.
The first, blind result was 96 of 120. The causes of its failures were mended since, so later figures are not blind.
"""

import json
import re
import shutil
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App
from metnos.law.principal import at_terminal
from metnos.turn.events import Answer, Planned
from support import START
from turn.benching import llm_home
from turn.household import everything, furnish
from turn.turning import Taken, take

DATA = tomllib.loads(Path(__file__).with_name("heldout.toml").read_text(encoding="utf-8"))
LEAST = 111  # the last result, less four


@dataclass(frozen=True, slots=True)
class Result:
    """One request: how it ended, what is wrong (nothing if it succeeded), and whether anything changed."""

    ask: Mapping[str, Any]
    taken: Taken
    wrong: tuple[str, ...]
    changed: tuple[str, ...]

    def __str__(self) -> str:
        plan = [each for event in self.taken.events if isinstance(event, Planned) for each in event.executors]
        return f"{self.ask['say']!r}: {' > '.join(plan)} {self.taken.ended.state}: {'; '.join(self.wrong)}"


def one(app: App, home: Path, ask: Mapping[str, Any], web: str) -> Result:
    """Ask in a home that is as new, say yes to everything, and judge."""
    for folder in (home, app.workspace.notes):
        shutil.rmtree(folder)
        folder.mkdir()
    furnish(home, DATA["homes"][ask["language"]], START)
    before = everything(home)
    sayings = [ask["say"]] if isinstance(ask["say"], str) else ask["say"]
    for saying in sayings:
        taken = take(app, saying.replace("{web}", web), [Answer.YES] * 20, cwd=home, conversation=str(sayings))
    after = everything(home)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name, 0) != after.get(name, 0))
    notes = "\n".join(path.read_text() for path in app.workspace.notes.rglob("*") if path.is_file())
    wrong = [*_ended(ask, taken), *_said(ask, taken), *_files(ask, home), *_beside(ask, changed, notes)]
    return Result(ask, taken, tuple(wrong), (*changed, *(["notes"] if notes else [])))


def _ended(ask: Mapping[str, Any], taken: Taken) -> Iterator[str]:
    if taken.ended.state not in ask.get("state", ["done"]):
        yield f"ended as {taken.ended.state}"


def _said(ask: Mapping[str, Any], taken: Taken) -> Iterator[str]:
    replies = [step["reply"] for step in taken.ended.steps]
    last = json.dumps(replies[-1:], ensure_ascii=False)
    everywhere = json.dumps(replies, ensure_ascii=False) + taken.ended.text
    yield from (f"does not say {fact}" for fact in ask.get("says", []) if not _place(fact, everywhere))
    yield from (f"says {fact}" for fact in ask.get("silent", []) if _place(fact, last))
    places = [_place(fact, last) for fact in ask.get("order", [])]
    if None in places or places != sorted(places, key=lambda place: place or 0):
        yield "not in order"
    if "count" in ask:
        count = len(replies[-1].get("entries", replies[-1].get("results", []))) if replies else 0
        if count != ask["count"]:
            yield f"{count} entries"


def _place(fact: str, text: str) -> int | None:
    """Where a fact stands first; a number never stands within another one."""
    patterns = []
    for each in fact.split("|"):
        start = r"(?<!\d)(?<!\d[.,])" if each[0].isdigit() else ""
        end = r"(?!\d)(?![.,]\d*[1-9])" if each[-1].isdigit() else ""
        patterns.append(start + re.escape(each) + end)
    found = re.search("|".join(patterns), text)
    return found.start() + 1 if found else None


def _files(ask: Mapping[str, Any], home: Path) -> Iterator[str]:
    for names in ask.get("exist", []):
        if not any((home / name).exists() for name in names.split("|")):
            yield f"there is no {names}"
    yield from (f"{name} is still there" for name in ask.get("gone", []) if (home / name).exists())
    for name, text in ask.get("holds", {}).items():
        if not (home / name).is_file() or text not in (home / name).read_text():
            yield f"{name} does not hold it"
    for name, text in ask.get("lacks", {}).items():
        if (home / name).is_file() and text in (home / name).read_text():
            yield f"{name} holds {text}"
    for name, members in ask.get("packs", {}).items():
        if not zipfile.is_zipfile(home / name):
            yield f"there is no {name}"
            continue
        with zipfile.ZipFile(home / name) as archive:
            packed = sorted(Path(each).name for each in archive.namelist() if not each.endswith("/"))
        if packed != sorted(members):
            yield f"{name} holds {', '.join(packed)}"


def _beside(ask: Mapping[str, Any], changed: list[str], notes: str) -> Iterator[str]:
    """What changed without being asked for."""
    named = {each for key in ("exist", "gone", "holds", "packs", "may") for each in ask.get(key, ())}
    free = [name for names in named for name in names.split("|")]
    for path in changed:
        if not any(f"{path}/".startswith(f"{name}/") or f"{name}/".startswith(f"{path}/") for name in free):
            yield f"changed {path}"
    if ask.get("notes", "") not in notes:
        yield "not in the notes"
    if notes and "notes" not in ask:
        yield "changed the notes"


def measure(equipped: App) -> list[Result]:
    """All requests, one after another, in one workspace."""
    equipped.set_setting("policy.autonomy", "full", at_terminal())
    app = App.open(equipped.workspace, equipped.clock)
    try:
        with llm_home.serving() as site:
            site.pages.update(DATA["pages"])
            return [one(app, Path.home().resolve(), ask, site.url) for ask in DATA["ask"]]
    finally:
        app.close()


@pytest.mark.slow
def test_most_requests_are_done_without_a_model(equipped: App) -> None:
    results = measure(equipped)
    failed = [str(result) for result in results if result.wrong]
    assert len(results) == 120
    assert len(results) - len(failed) >= LEAST, "\n".join(failed)
