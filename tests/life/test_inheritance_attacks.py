"""Testaments that were forged, altered, blown up or poisoned: each is refused at the door, and nothing is made.

Every case goes the way of `metnos init --from`: a file is read, and the workspace that was to be made is not there
afterwards. Most forgeries are signed by whoever forged them, as a real one would be.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from life.door import Door
from life.willed import a_signer, a_testament, an_entry, forged
from metnos.app import inheriting
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.core.sign import Signer
from metnos.core.workspace import Workspace
from metnos.life import testament_file
from metnos.life.testament import MOST_BYTES, PURPOSE
from metnos.synt import bundle
from synt.specimens import draft

Json = dict[str, Any]
Lines = Callable[[Json, Json], None]
Bytes = Callable[[bytes, Signer], bytes]


def test_the_sound_one_is_not_refused(sound: bytes, door: Door, clock: MovableClock) -> None:
    door.path.write_bytes(sound)
    opened, core = inheriting.read(door.blank, door.path, clock=clock)
    assert len(opened.testament.entries) == 6
    assert json.loads(core)["key"] == opened.key


# -- bytes that are not what was signed


def _flipped(line: int) -> Bytes:
    def change(raw: bytes, _signer: Signer) -> bytes:
        lines = raw.splitlines()
        lines[line] = (
            lines[line].replace(b"About", b"about") if line == 0 else lines[line].replace(b"tables", b"fables")
        )
        return b"\n".join(lines) + b"\n"

    return change


def _without_end(raw: bytes, _signer: Signer) -> bytes:
    return raw[: len(raw) // 2]


def _other_body(raw: bytes, signer: Signer) -> bytes:
    """The core of one who was believed with what another one left."""
    other = testament_file.pack(a_testament(entries=(an_entry(5),), links=()), b"", signer)
    return raw.splitlines()[0] + b"\n" + other.splitlines()[1] + b"\n"


def _signed_for_something_else(raw: bytes, signer: Signer) -> bytes:
    first, second = raw.splitlines()
    content = {name: value for name, value in json.loads(first).items() if name != "signature"}
    signature = signer.sign("executor bundle", canonical_json(content))
    return canonical_json({**content, "signature": signature}) + b"\n" + second + b"\n"


def _outer(**changes: Any) -> Bytes:
    """The first line changed, and not signed again."""

    def change(raw: bytes, _signer: Signer) -> bytes:
        first, second = raw.splitlines()
        data = {**json.loads(first), **changes}
        kept = {name: value for name, value in data.items() if value is not None}
        return canonical_json(kept) + b"\n" + second + b"\n"

    return change


def _spelt_otherwise(raw: bytes, signer: Signer) -> bytes:
    """Signed, but with a space too many: two spellings of one thing are two things to a signature."""
    first, second = raw.splitlines()
    return first.replace(b'{"body"', b'{ "body"', 1) + b"\n" + second + b"\n"


def _key_twice(raw: bytes, signer: Signer) -> bytes:
    """JSON with a name twice: readers differ about which one counts."""
    first, second = raw.splitlines()
    body = second[:-1] + b',"links":[]}'
    data = json.loads(first)
    data["body"] = {"bytes": len(body), "sha256": sha256_hex(body)}
    data.pop("signature")
    data["signature"] = signer.sign(PURPOSE, canonical_json(data))
    return canonical_json(data) + b"\n" + body + b"\n"


ALTERED: dict[str, tuple[Bytes, str]] = {
    "a word of the core": (_flipped(0), "signature of the testament does not hold"),
    "a word of an entry": (_flipped(1), "not what its signature speaks of"),
    "half of it": (_without_end, "no testament, or its end is missing"),
    "only the core": (lambda raw, _: raw.splitlines()[0] + b"\n", "no testament, or its end is missing"),
    "a line more": (lambda raw, _: raw + b"{}\n", "no testament, or its end is missing"),
    "something after the end": (lambda raw, _: raw + b" ", "no testament, or its end is missing"),
    "nothing": (lambda _raw, _: b"", "no testament"),
    "no JSON": (lambda _raw, _: b"hello\nworld\n", "no testament, or it was damaged"),
    "a program": (lambda _raw, _: b"\x7fELF\x02\x01\n\x00\x00\n", "no testament, or it was damaged"),
    "a list": (lambda _raw, _: b"[]\n[]\n", "no testament"),
    "a bundle of executors": (lambda _raw, signer: bundle.pack([draft()], signer), "no testament"),
    "deep brackets": (lambda _raw, _: b"[" * 5000 + b"\n{}\n", "nested deeper"),
    "what somebody else left": (_other_body, "not what its signature speaks of"),
    "a signature for something else": (_signed_for_something_else, "signature of the testament does not hold"),
    "no signature": (_outer(signature=None), "nobody signed"),
    "a signature of zeros": (_outer(signature="0" * 128), "signature of the testament does not hold"),
    "a signature that is none": (_outer(signature="yes"), "nobody signed"),
    "another key": (_outer(key="ab" * 32), "signature of the testament does not hold"),
    "a later format": (_outer(version=2), "format that this Metnos does not know"),
    "a format that is true": (_outer(version=True), "format that this Metnos does not know"),
    "another format": (_outer(format="metnos-memory"), "no testament"),
    "a part that none has": (_outer(fast_paths=[]), "other parts"),
    "other spelling": (_spelt_otherwise, "not spelt as Metnos writes it"),
    "a name twice": (_key_twice, "not spelt as Metnos writes it"),
    "too long a first line": (lambda raw, _: b'{"format":"' + b"x" * 20_000 + b'"}\n{}\n', "longer than"),
    "too much of it": (lambda raw, _: raw + b"x" * MOST_BYTES, "larger than a testament can be"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERED)
def test_altered(name: str, sound: bytes, forger: Signer, door: Door) -> None:
    change, said = ALTERED[name]
    assert said in door.refuses(change(sound, forger))


# -- signed by whoever forged it, and still refused


def _entry(**changes: Any) -> Lines:
    def change(_first: Json, second: Json) -> None:
        second["entries"][0].update(changes)

    return change


def _core(**changes: Any) -> Lines:
    def change(first: Json, _second: Json) -> None:
        first["core"].update(changes)

    return change


def _link(**changes: Any) -> Lines:
    def change(_first: Json, second: Json) -> None:
        second["links"][0].update(changes)

    return change


def _many(part: str, count: int, **changes: Any) -> Lines:
    """So many of one part, each with an id of its own."""

    def change(first: Json, second: Json) -> None:
        like = second[part][0]
        name = "id" if "id" in like else "src"
        ids = [f"find_{_letters(number)}" if part == "bones" else f"X{number}" for number in range(count)]
        second[part] = [{**like, **changes, name: key} for key in ids]
        first["left"][part] = count

    return change


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _deep(depth: int) -> Any:
    made: Any = "x"
    for _ in range(depth):
        made = {"x": made}
    return made


def _again(_first: Json, second: Json) -> None:
    second["entries"][1]["id"] = second["entries"][0]["id"]


def _left_differs(first: Json, _second: Json) -> None:
    first["left"]["entries"] = 5


def _no_category(first: Json, _second: Json) -> None:
    first["core"]["reflection"].pop("what failed")


def _ancestors(change: Callable[[list[Json]], list[Json]]) -> Lines:
    def changed(first: Json, _second: Json) -> None:
        first["core"]["ancestors"] = change(first["core"]["ancestors"])

    return changed


def _same_twice(listed: list[Json]) -> list[Json]:
    return [{**each, "key": listed[0]["key"]} for each in listed]


def _fast_paths(_first: Json, second: Json) -> None:
    second["fast_paths"] = [{"canonical": "open the door", "call": "write_files"}]


def _executors(text: str) -> Lines:
    def change(_first: Json, second: Json) -> None:
        second["executors"] = text

    return change


def _altered_executor(_first: Json, second: Json) -> None:
    second["executors"] = second["executors"].replace("capital", "Capital", 1)


FORGED: dict[str, tuple[Lines, str]] = {
    "belief beyond certainty": (_entry(confidence=1.5), "confidence"),
    "belief as a word": (_entry(confidence="0.9"), "confidence"),
    "belief that is true": (_entry(confidence=True), "confidence"),
    "belief without end": (_entry(confidence=1e999), "no testament, or it was damaged"),
    "a kind that is none": (_entry(kind="order"), "kind"),
    "a source that is none": (_entry(provenance="god"), "provenance"),
    "an age below nothing": (_entry(generation=-1), "generation"),
    "an age beyond the line": (_entry(generation=9), "older than its line"),
    "held longer than the line lived": (_entry(held=50), "older than its line"),
    "evidence below nothing": (_entry(episode_count=-5), "episode_count"),
    "no words": (_entry(text="  "), "text"),
    "too many words": (_entry(text="a" * 4001), "text"),
    "too much data": (_entry(data={"x": "a" * 9000}), "data"),
    "data without a floor": (_entry(data=_deep(30)), "data"),
    "a number that no float holds": (_entry(kind="baseline", data={"mean": 10**400}), "means nothing"),
    "a number that nobody can round": (_entry(data={"deep": [{"lag": 1.7e308}]}), "means nothing"),
    "an origin that is no key": (_entry(origin="me"), "origin"),
    "a time that is none": (_entry(created="yesterday"), "created"),
    "a fact after the death": (_entry(created="2026-11-14T00:00:00.000Z"), "after the death"),
    "an id that leads elsewhere": (_entry(id="../../etc"), "id"),
    "a pin": (_entry(pinned=True), "other fields"),  # no field of a testament makes anything stay
    "exact parameters": (_entry(args={"path": "x"}), "other fields"),
    "two of one id": (_again, "two of one id"),
    "a link to nowhere": (_link(dst="E99"), "leads nowhere"),
    "a link to itself": (_link(dst="E0"), "leads nowhere"),
    "a link that is none": (_link(relation="obeys"), "relation"),
    "more entries than pass the bottleneck": (_many("entries", 2049), "more than 2048"),
    "more episodes than an owner may release": (_many("episodes", 33), "more than 32"),
    "more links than a structure has": (_many("links", 8193), "more than 8192"),
    "more bones than a skeleton": (_many("bones", 2049), "more than 2048"),
    "a bone that is no executor": (_many("bones", 1, dst="../../bin/sh"), "dst"),
    "a dream": (_entry(provenance="dream"), "holds dreams"),
    "fast paths": (_fast_paths, "other parts than it can have"),
    "fewer entries than it says": (_left_differs, "does not hold what its first line says"),
    "eight categories": (_no_category, "nine categories"),
    "a death before the birth": (_core(died="2020-01-01T00:00:00.000Z"), "death before the birth"),
    "a death to come": (_core(died="2090-01-01T00:00:00.000Z"), "dies in the future"),
    "a cause that is none": (_core(cause="boredom"), "cause"),
    "ancestors out of order": (_ancestors(lambda listed: listed[::-1]), "out of order"),
    "an ancestor that is missing": (_ancestors(lambda listed: listed[:1]), "missing"),
    "an ancestor twice": (_ancestors(_same_twice), "leads back to itself"),
    "more lives than a line had": (_core(habits=[{"setting": "turn.steps", "value": 20, "held": 40}]), "older than"),
    "a setting that is none": (_core(habits=[{"setting": "../x", "value": 1, "held": 1}]), "setting"),
    "executors that are none": (_executors("print(1)"), "cannot be used"),
    "executors that are a list": (_executors([]), "no bundle"),  # type: ignore[arg-type]  # as a forger would
    "an altered executor": (_altered_executor, "cannot be used"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_forged(name: str, sound: bytes, forger: Signer, door: Door) -> None:
    change, said = FORGED[name]
    raw = _infinite(sound, forger) if "without end" in name else forged(sound, forger, change)
    assert said in door.refuses(raw)


def _infinite(raw: bytes, signer: Signer) -> bytes:
    """A number that JSON can spell and no computer can hold."""
    first, second = raw.splitlines()
    body = second.replace(b'"confidence":0.8', b'"confidence":1e999', 1)
    data = json.loads(first)
    data["body"] = {"bytes": len(body), "sha256": sha256_hex(body)}
    data.pop("signature")
    data["signature"] = signer.sign(PURPOSE, canonical_json(data))
    return canonical_json(data) + b"\n" + body + b"\n"


def test_executors_that_somebody_else_signed(forger: Signer, sound: bytes, door: Door, tmp_path: Path) -> None:
    other = bundle.pack([draft()], a_signer(tmp_path / "other")).decode()
    assert "signed by somebody else" in door.refuses(forged(sound, forger, _executors(other)))


def test_one_who_is_its_own_ancestor(forger: Signer, sound: bytes, door: Door) -> None:
    def change(first: Json, _second: Json) -> None:
        first["core"]["ancestors"][1]["key"] = forger.public

    assert "leads back to itself" in door.refuses(forged(sound, forger, change))


def test_one_that_claims_to_be_this_very_agent(workspace: Workspace, sound: bytes, tmp_path: Path) -> None:
    """A forger knows our public key and not our secret one."""
    own = workspace.public_key.read_text().strip()
    path = tmp_path / "left.testament"
    path.write_bytes(_outer(key=own)(sound, a_signer(tmp_path / "x")))
    with pytest.raises(TestamentError, match="claims to be signed by this very agent"):
        inheriting.read(workspace, path)


# -- files that are none


def test_no_file(door: Door) -> None:
    assert "cannot be read" in door.refuses()


def test_a_folder(door: Door) -> None:
    door.path.mkdir()
    assert "not an ordinary file" in door.refuses()


def test_a_pipe_that_nobody_writes_to(door: Door) -> None:
    os.mkfifo(door.path)
    assert "not an ordinary file" in door.refuses()


def test_a_file_without_end(door: Door) -> None:
    door.path.symlink_to("/dev/zero")
    assert "not an ordinary file" in door.refuses()


def test_a_large_file_is_not_read_whole(door: Door) -> None:
    with door.path.open("wb") as file:
        file.truncate(1 << 40)  # a hole: a terabyte that takes no room
    assert "larger than a testament can be" in door.refuses()


@pytest.mark.slow
def test_refused_at_the_terminal_in_two_lines(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "left.testament"
    path.write_bytes(_flipped(1)(sound, a_signer(tmp_path / "x")))
    arguments = [sys.executable, "-m", "metnos", "--workspace", str(tmp_path / "new"), "init", "--from", str(path)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "error: what the testament leaves is not what its signature speaks of" in done.stderr
    assert "fix: Nothing was changed." in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "new").exists()
