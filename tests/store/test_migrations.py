from collections.abc import Sequence
from pathlib import Path

import pytest

from metnos.app import tables
from metnos.core.clock import MovableClock
from metnos.core.errors import StoreSchema
from metnos.executors import undo_schema
from metnos.fastpath import schema as fastpath_schema
from metnos.grimoire import episodes_schema, medium_schema, memory_schema
from metnos.law import audit, schema
from metnos.mnestome import past
from metnos.night import schema as night_schema
from metnos.store.db import Database
from metnos.store.migrations import Migration
from support import at_once

STEPS = (
    Migration("0001_one", ("CREATE TABLE one (a INTEGER) STRICT",)),
    Migration("0002_two", ("CREATE TABLE two (b TEXT) STRICT", "INSERT INTO two VALUES ('made by a migration')")),
    Migration("0003_three", ("ALTER TABLE one ADD COLUMN c TEXT NOT NULL DEFAULT 'filled'",)),
)
REAL = {
    "audit.db": audit.MIGRATIONS,
    "law.db": schema.MIGRATIONS,
    "medium.db": medium_schema.MIGRATIONS,
    "grimoire.db": memory_schema.MIGRATIONS,
    "episodes.db": episodes_schema.MIGRATIONS,
    "events_history.sqlite": past.MIGRATIONS,
    "mnest.sqlite": tables.of_mnestome(),
    "multi_tool_paths.sqlite": fastpath_schema.MIGRATIONS_L2,
    "night.db": night_schema.MIGRATIONS,
    "undo.db": undo_schema.MIGRATIONS,
}


def schema(path: Path) -> list[tuple[str, ...]]:
    db = Database(path, read_only=True)
    rows = db.query("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    db.close()
    return rows


@pytest.mark.parametrize("steps", [STEPS, *REAL.values()], ids=["example", *REAL])
def test_from_blank_and_from_every_older_schema_the_same(tmp_path: Path, steps: Sequence[Migration]) -> None:
    Database(tmp_path / "blank.db", steps)
    for count in range(len(steps) + 1):
        path = tmp_path / f"{count}.db"
        Database(path, steps[:count]).close()
        Database(path, steps).close()
        Database(path, steps).close()
        assert schema(path) == schema(tmp_path / "blank.db")


def test_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    db = Database(path, STEPS[:1])
    with db.write() as tx:
        tx.execute("INSERT INTO one VALUES (1)")
    assert Database(path, STEPS).query("SELECT a, c FROM one") == [(1, "filled")]


def test_each_leaves_its_record(tmp_path: Path, clock: MovableClock) -> None:
    db = Database(tmp_path / "store.db", STEPS, clock=clock)
    rows = db.query("SELECT position, name, digest, ts FROM migrations ORDER BY position")
    assert [row[:3] for row in rows] == [(n + 1, step.name, step.digest) for n, step in enumerate(STEPS)]
    assert {row[3] for row in rows} == {"2026-11-15T12:00:00.000Z"}


def test_one_that_fails_leaves_nothing_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Database(path, STEPS[:1]).close()
    before = schema(path)
    broken = Migration("0002_broken", ("CREATE TABLE half (a INTEGER)", "THIS IS NOT SQL"))
    with pytest.raises(Exception, match="syntax error"):
        Database(path, (*STEPS[:1], broken))
    assert schema(path) == before
    Database(path, STEPS)


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Database(path, STEPS).close()
    before = schema(path)
    with pytest.raises(StoreSchema, match="newer Metnos") as caught:
        Database(path, STEPS[:2])
    assert "newer version" in caught.value.fix
    assert schema(path) == before


def test_a_step_that_was_edited_after_it_ran_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Database(path, STEPS[:1]).close()
    edited = Migration("0001_one", ("CREATE TABLE one (a TEXT) STRICT",))
    renamed = Migration("0001_uno", STEPS[0].statements)
    for other in (edited, renamed):
        with pytest.raises(StoreSchema, match="another history"):
            Database(path, (other,))


def test_real_steps_that_were_released_never_change() -> None:
    """Each new migration adds a line here. If a line must change, a migration was edited: add a new one instead."""
    released = {
        ("audit.db", "0001_head"): "a38559a53220191bbe559630a742e78670da4ae31d269d0f453de8c7f28c22f4",
        ("law.db", "0001_constitution"): "9438e5da5473edbf5596aa92198ec24a1007f87c2392515bcd8b4982c1317adc",
        ("law.db", "0002_grants"): "beb9bb158189fa88abf0165324b0300e3c21626328984ce01fd6974401f1815e",
        ("law.db", "0003_inbox"): "2d45d9ee883d9f0b50c8bf74dd58770d5f38054ecc1e056175fe119adb365284",
        ("law.db", "0004_halts"): "0e0bfc795249feebe0e3bcedf6e0cb4d6a6b3a370485550ec08cb6ee71580f0b",
        ("law.db", "0005_devices"): "070db4112f1591b4cddc245bcea6590b31c09391fadb201414f2a0e372c5ac45",
        ("law.db", "0006_makers_of_codes"): "c4ff3dfcd67e28be9676acffd7646948628aa65d2a38635d251ed1b2dbe6bf1d",
        ("law.db", "0007_halts_for_good"): "3292a8a29b42f7ec3d5f82571d6ce11884de1e68e309ec8f9efd1baf40abe8e8",
        ("law.db", "0008_running_in_a_file"): "e07ca9cb3d36e67da24e54b86d5a614576264c68a403831eb5aa70a5e7e7881d",
        ("law.db", "0009_confirmed_servers"): "5a90b4e3b7b40a88ec47144bed2eaab415f909dd01d440ee3d05120b636b4af6",
        ("law.db", "0010_own_code"): "0e290195cd32db2e7305d1ef574f836594ff2837c315545d55e7f542d4077e64",
        ("law.db", "0011_store_count"): "df474806fa57ca32095a6d2e88854e030c228dcab63a939ff7dc25d690123104",
        ("audit.db", "0002_doubts"): "f6fa4dc92d70843a0575e66ef25d2c2c69960d39d5ec4b65c3d28e6787350c0b",
        ("medium.db", "0001_turns"): "0f76730081deffa5bdeb059d1a918659898532802f03714306d23e594ce0cc34",
        ("mnest.sqlite", "0001_executors"): "dc9c262d74a6e7bc15f5d22c5755a376858b3a530c944a848e72ad93bf83eb22",
        ("mnest.sqlite", "0002_mnests"): "2274dd23d242a7c309a9271b0a8207a26ed07676f925e4a01c58ff4b2d4b02c2",
        (
            "events_history.sqlite",
            "0001_past_events",
        ): "add4afef00b3da108fe07a6d4cc5a751a7a3d807dcf26f12e3372854384b2f3e",
        ("medium.db", "0002_one_projection"): "9572910b4a380156c944fecd86d9dfaf4017f4e0817c177f9235162319adf4fe",
        ("medium.db", "0003_contexts"): "391528cc41d964994fe59c2e70239ea16641d1c19fd5866a87902f4ee0bab7f1",
        ("grimoire.db", "0001_facts"): "29693f8c6932a735dca4ecfa78954020b8e0f841a968ec16e9fe083f13456b5c",
        ("grimoire.db", "0002_memory"): "a8079efd32420ab22172b62f3ba396fd9d8e6ae13c13d4a0dd7f8094faf83e93",
        ("grimoire.db", "0003_somatic"): "6402a79c1803d80903a84d887ca2e15c84a0be9f2b6a4ba90a47779d04628ea5",
        ("episodes.db", "0001_episodes"): "a1047f597ce0ebd577afa54e113d3173bea799ce556420ad834654afccf8225f",
        ("mnest.sqlite", "0003_ageing"): "f7d2cdd8488aa769616f4494e877e03d901e87b6fb3ca46211560656e2d5a908",
        ("mnest.sqlite", "0004_fast_paths"): "5f3f47415577d1bb022684ad18d1c0660f4f99463205d63e16b05e9e62295570",
        ("mnest.sqlite", "0005_fitness"): "fb73077aa0080fe3005fac37fbd7fb70dfe11b051553888db604974cbd2db504",
        (
            "multi_tool_paths.sqlite",
            "0001_multi_tool_paths",
        ): "6a4c9ea854e674d008206191e5e30d5ce266126772027596773b8d6e89c7c730",
        ("night.db", "0001_runs_and_notices"): "2c12f9a9e42e0e8edc328abf51fd2f9523c52be8aa1aee85bba1cee52caed597",
        ("undo.db", "0001_undo"): "247a4cb81d5b39ef8e09f2f318612e7be2c6adfefe8f02116546baa954815c1d",
    }
    assert {(name, step.name): step.digest for name, steps in REAL.items() for step in steps} == released


@pytest.mark.slow
def test_many_processes_migrate_one_file_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    at_once([lambda: Database(path, STEPS, busy_timeout_s=30).close()] * 8)
    assert Database(path, STEPS).query("SELECT count(*) FROM two") == [(1,)]
