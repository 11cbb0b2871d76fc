"""Testaments to inherit from, made by hand: sound ones, and what somebody who means harm would make of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.sign import Signer, load_signer, make_keys
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Kind
from metnos.life import testament_file
from metnos.life.cause import Cause
from metnos.life.testament import (
    MOST_ANCESTORS,
    PURPOSE,
    Ancestor,
    Bone,
    Category,
    Entry,
    Left,
    Link,
    Opened,
    Testament,
)

BORN = datetime(2026, 1, 1, tzinfo=UTC)
DIED = BORN + timedelta(days=300)
FIRST = "ab" * 32  # the key of the first of the line

SAYINGS = (
    "Sorting tables of more than {} rows takes long; split them first.",
    "When a page of host {} does not answer, wait and try it again once.",
    "Files in folder {} are archives: list them before reading.",
    "Pictures wider than {} points need to be scaled down before they are sent.",
    "Column {} of a bank statement holds the amount, not the balance.",
    "If a note numbered {} is missing, look for it in the bin.",
)


def a_signer(folder: Path) -> Signer:
    folder.mkdir(parents=True, exist_ok=True)
    make_keys(folder / "secret", folder / "public")
    return load_signer(folder / "secret")


def an_entry(number: int = 0, **changes: Any) -> Entry:
    """Each number says something else of something else."""
    made = Entry(
        id=f"E{number}",
        kind=Kind.INSIGHT,
        text=SAYINGS[number % len(SAYINGS)].format(100 + number),
        domain=f"domain{number}",
        confidence=0.8,
        quality=0.6,
        decay=Decay.STRATEGIC,
        provenance=Provenance.SELF,
        origin=FIRST,
        generation=0,
        held=1,
        created=BORN + timedelta(days=number % 200),
        subject=f"subject {number}",
        value=f"value {number}",
        episode_count=8,
    )
    return replace(made, **changes)


def a_testament(**changes: Any) -> Testament:
    made = Testament(
        id="01TESTAMENT",
        born=BORN,
        died=DIED,
        cause=Cause.OWNER,
        generation=0,
        ticks=400,
        profile="home",
        reflection={each: (f"About {each}.",) for each in Category},
        reflected_by="extraction",
        lived={"bytes": 5_000_000, "episodes": 400},
        entries=tuple(an_entry(number) for number in range(6)),
        links=(Link("E0", "E1", "supports", 0.5), Link("E2", "E3", "used_with", 1.0)),
        episodes=(Left("P0", BORN, "Sorting the table of last year took ten minutes.", importance=0.8),),
        bones=(Bone("find_files", "read_files", 0.4),),
    )
    return replace(made, **changes)


def of_generation(generation: int, **changes: Any) -> Testament:
    """One with as many ancestors as it must have."""
    known = reversed(range(max(0, generation - MOST_ANCESTORS), generation))
    before = tuple(Ancestor(sha256_hex(f"ancestor {number}".encode()), "cd" * 32, number) for number in known)
    return a_testament(generation=generation, ancestors=before, **changes)


def opened(testament: Testament, signer: Signer, executors: bytes = b"") -> tuple[Opened, str]:
    """As `app.inheriting.read` would give it."""
    raw = testament_file.pack(testament, executors, signer)
    return testament_file.unpack(raw), raw.partition(b"\n")[0].decode()


def written(folder: Path, testament: Testament, signer: Signer, executors: bytes = b"") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "left.testament"
    path.write_bytes(testament_file.pack(testament, executors, signer))
    return path


def forged(raw: bytes, signer: Signer, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> bytes:
    """A testament with something changed in its lines, and signed anew, as whoever forges one would."""
    first, second = (json.loads(line) for line in raw.splitlines())
    change(first, second)
    body = canonical_json(second)
    first["body"] = {"bytes": len(body), "sha256": sha256_hex(body)}
    first.pop("signature")
    first["key"] = signer.public
    first["signature"] = signer.sign(PURPOSE, canonical_json(first))
    return canonical_json(first) + b"\n" + body + b"\n"
