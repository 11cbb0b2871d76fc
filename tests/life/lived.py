"""A life that left something: facts of every kind, private words, secrets, open work. Ids and times are fixed, so that
two lives made alike leave the same."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from metnos.app import App
from metnos.grimoire.episode import Episode, Provenance, Scope
from metnos.grimoire.fact import Decay, Fact, Kind
from metnos.law.capability import Capability
from metnos.law.principal import at_terminal
from metnos.life import testament_file
from metnos.life.testament import Opened
from support import START

SECRET = "tok-9f8e7d6c5b4a39281706"
WORDS = "the blue folder holds the letters from the notary in Ravenna"  # private: somebody said it here
PLACE = "/home/somebody/letters"


def fact(number: int, kind: Kind, text: str, **changes: Any) -> Fact:
    made = Fact(
        id=f"F{number:04}",
        kind=kind,
        text=text,
        domain="files",
        confidence=0.7,
        quality=0.6,
        provenance=Provenance.SELF,
        decay=Decay.STRATEGIC,
        created=START,
        reinforced=START,
        applied=START,
        episode_count=4,
    )
    return replace(made, **changes)


def procedure(number: int, form: str, args: dict[str, Any]) -> Fact:
    text = f'For requests of the form "{form}": find_files with path "{PLACE}".'
    return fact(
        number,
        Kind.PROCEDURAL,
        text,
        subject=f"{form}: find_files path",
        data={
            "strategy": "find_files",
            "observation": text,
            "when": {"canonical": form},
            "prefer": {"executor": "find_files", "args": args},
            "instead_of": {},
            "count": 4,
            "of": 4,
        },
    )


def facts() -> list[Fact]:
    """What a life learnt: what may cross, and what must not."""
    failing = f'read_tables fails with not_found on path "{PLACE}/x.csv" (3 of 4 times).'
    return [
        fact(1, Kind.INSIGHT, "Large tables are slow to sort."),
        fact(2, Kind.BASELINE, '"files": ms is usually about 273.4, give or take 41.', subject="files: ms",
             data={"metric": "ms", "mean": 273.4, "stddev": 41.2, "count": 9}),
        procedure(3, "find <files>", {"path": PLACE}),
        fact(4, Kind.ANTI, failing, subject="read_tables", bloodstain=True,
             data={"warning": failing, "executor": "read_tables", "error": "not_found",
                   "when": {"args": {"path": f"{PLACE}/x.csv"}}, "count": 3, "of": 4}),
        fact(5, Kind.CAUSAL, "After read_tables fails with not_found follows find_files fails with timeout.",
             data={"cause": "read_tables fails with not_found", "effect": "find_files fails with timeout",
                   "lag": 61.0, "count": 5, "of": 6, "lift": 3.2}),
        fact(6, Kind.INSIGHT, f"It is known that {WORDS}."),
        fact(7, Kind.INSIGHT, "The owner prefers tea."),
        fact(8, Kind.INSIGHT, f"The server is asked with {SECRET}."),
        fact(9, Kind.HEURISTIC, "Look before writing.", data={"strategy": "look"}),
        fact(10, Kind.WARNING, f"What lies in {PLACE} was lost."),
        fact(11, Kind.INSIGHT, "The owner lives in the north.", provenance=Provenance.OWNER),
    ]  # fmt: skip


def live(app: App) -> App:
    """Give an open workspace a life."""
    for each in facts():
        app.grimoire.facts.put(each)
    app.grimoire.facts.link("F0001", "F0002", "supports", 0.8)
    app.grimoire.facts.link("F0001", "F0006", "supports", 0.9)
    now = app.clock.now()
    app.grimoire.episodes.add(
        [
            Episode("P0001", now, WORDS, "s1", importance=0.9, domain="files"),
            Episode("P0002", now + timedelta(minutes=1), "Sorting took ten minutes.", "s2", scope=Scope.AGENT,
                    importance=0.4, domain="files"),
        ],
        None,
        None,
    )  # fmt: skip
    (app.workspace.keys / "cloud.token").write_text(SECRET + "\n", encoding="ascii")
    (app.workspace.keys / "cloud.token").chmod(0o600)
    app.grants.grant("find_files", Capability.FS_READ, "/srv/data", days=30, by=at_terminal())
    app.inbox.ask("test", "May I?", {}, "ab" * 32, asked_by=at_terminal(), hours=24)
    return app


def left(path: Path) -> Opened:
    """The testament that lies there."""
    return testament_file.unpack(testament_file.read(path))
