"""Episodes to dream of: requests with steps that went well or did not."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from metnos.grimoire.affect import Pad
from metnos.grimoire.dream_rules import Scene, Step
from metnos.grimoire.episode import Episode, Verdict

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def done(executor: str, ok: bool = True, kind: str = "exists", **args: Any) -> dict[str, Any]:
    """A recorded step."""
    return {"executor": executor, "ok": ok, "kind": "" if ok else kind, "args": args}


def turn(number: int, *steps: Mapping[str, Any], state: str = "", **changes: Any) -> Episode:
    """A verified turn; it failed if its last step did."""
    ended = state or ("done" if steps and steps[-1]["ok"] else "failed")
    made: dict[str, Any] = {
        "domain": "papers",
        "verdict": Verdict.VERIFIED,
        "pad": Pad(-0.5, 0.6, -0.2),
        "payload": {"steps": list(steps), "state": ended, "canonical": "move the {glob} to {path}"},
    }
    made |= changes
    moment = made.pop("ts", START + timedelta(minutes=number))
    return Episode(f"E{number:04}", moment, f"move the papers {number}", f"turn {number}", **made)


def mixed(first: int = 0, good: int = 4, bad: int = 4) -> list[Episode]:
    """Moving went well where it was told to overwrite, and failed where not."""
    well = [turn(first + n, done("find_files"), done("move_files", overwrite=True)) for n in range(good)]
    ill = [
        turn(first + good + n, done("find_files"), done("move_files", ok=False, overwrite=False)) for n in range(bad)
    ]
    return well + ill


def seen(number: int, *steps: Step, good: bool = True, domain: str = "papers", **changes: Any) -> Scene:
    return Scene(f"S{number:04}", START + timedelta(minutes=number), domain, steps, good, **changes)
