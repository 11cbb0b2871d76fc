"""LoCoMo as episodes and questions: each turn of a conversation is one episode, with its date and its speaker.

Rules: an episode's text is what was said, after the speaker's name, and what a picture that was sent shows; its time is
the session's date, and one second later for each turn, so that turns keep their order. Evidence that is written in
several ways in the file is read as the turns that it names; evidence that names no turn of the file is left out, and a
question without any evidence is not asked.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.runner import need_data
from metnos.grimoire.episode import Episode

_DATE = "%I:%M %p on %d %B, %Y"
_TURN = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the episodes that answer it."""

    text: str
    category: int  # 1 several hops, 2 time, 3 open, 4 one hop, 5 asked so that the answer misleads
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    episodes: tuple[Episode, ...]
    asked: tuple[Asked, ...]
    now: datetime  # when the questions are asked: a day after the last turn


def conversations(folder: Path, name: str = "locomo_dev.json") -> list[Conversation]:
    return [_conversation(each) for each in json.loads(need_data(folder, name).read_text(encoding="utf-8"))]


def _conversation(read: dict[str, Any]) -> Conversation:
    name = str(read["id"])
    episodes = tuple(_episode(name, place, turn) for place, turn in enumerate(read["turns"]))
    known = {turn["id"] for turn in read["turns"]}
    asked = []
    for each in read["qa"]:
        evidence = frozenset(f"{name}/{turn}" for turn in _turns(each["evidence"]) if turn in known)
        if evidence:
            asked.append(Asked(str(each["question"]), int(each["category"]), evidence))
    return Conversation(name, episodes, tuple(asked), max(each.ts for each in episodes) + timedelta(days=1))


def _episode(name: str, place: int, turn: dict[str, Any]) -> Episode:
    said = f"{turn['speaker']}: {turn['text']}"
    if turn.get("caption"):
        said += f" [picture: {turn['caption']}]"
    began = datetime.strptime(turn["date"], _DATE).replace(tzinfo=UTC)
    return Episode(
        id=f"{name}/{turn['id']}",
        ts=began + timedelta(seconds=place),
        text=said,
        source=f"{name}/{turn['id']}",
        kind="message",
        sender=str(turn["speaker"]),
        session=f"{name}/{turn['session']}",
    )


def _turns(evidence: Sequence[str]) -> list[str]:
    return [f"D{int(session)}:{int(turn)}" for each in evidence for session, turn in _TURN.findall(each)]
