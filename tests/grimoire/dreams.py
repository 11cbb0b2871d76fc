"""What is dreamt of: requests with steps that went well or did not, and facts that may be joined."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.grimoire.affect import Pad
from metnos.grimoire.dream_rules import Scene, Step
from metnos.grimoire.episode import Episode, Provenance, Verdict
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.facts import Facts

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SPACE = Space("made", "1", "p", 3)
ANY = (Standing.ACTIVE, Standing.QUARANTINED, Standing.EXPIRED)


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


def dreams(facts: Facts) -> list[Fact]:
    return [fact for fact in facts.find(standings=ANY) if "shape" in fact.data]


def shaped(facts: Facts, shape: str) -> Fact:
    (found,) = [fact for fact in dreams(facts) if fact.data["shape"] == shape]
    return found


def known(name: str, clock: MovableClock, **changes: Any) -> Fact:
    """Something that is believed."""
    made = Fact(
        *(name, Kind.INSIGHT, f"{name} is so", "papers", 0.8, 0.6, Provenance.SELF, Decay.STRATEGIC),
        *(clock.now(), clock.now(), clock.now()),
        sources=("E1", "E2", "E3"),
    )
    return replace(made, **changes)


def near_pair(facts: Facts, clock: MovableClock, **changes: Any) -> None:
    """Two facts of two domains with something in common."""
    one, other = np.array([1, 0, 0], dtype=np.float32), np.array([0.6, 0.8, 0], dtype=np.float32)
    text = "when it rains, the shared folder of the cellar machine is slower and takes 40 s"
    facts.put(known("A", clock, text=text), one, SPACE)
    more = {"domain": "weather", "text": "when the pump runs, the line of the cellar drops 12 packets"}
    facts.put(known("B", clock, **(more | changes)), other, SPACE)
