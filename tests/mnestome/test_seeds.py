import tomllib
from importlib import resources
from typing import Any

import pytest

from metnos.mnestome import record, rows, seeds
from metnos.mnestome.rules import State
from metnos.mnestome.seeds import Seed
from metnos.store.db import Database
from mnestome.turns import START, Turn, Wish, check, everything, passed, reasons
from tables import try_each

SEED = Seed("find_files", "1.0.0", "read_files", "1.0.0", "documented: found files are read")
MANIFESTS = {
    folder.name: tomllib.loads((folder / "manifest.toml").read_text(encoding="utf-8"))
    for folder in resources.files("metnos.executors").joinpath("builtin").iterdir()
    if folder.is_dir() and (folder / "manifest.toml").is_file()
}


def fields(schema: dict[str, Any]) -> set[str]:
    return set(schema.get("properties", {}))


def test_a_seed_is_a_newborn_that_nobody_used(db: Database) -> None:
    assert seeds.plant(db, [SEED], START) == 1
    (found,) = everything(db)
    assert (found.state, found.weight, found.uses) == (State.SEED, 0.30, 1)
    assert reasons(db, found.id) == [SEED.reason]
    check(db)


def test_planting_again_does_nothing(db: Database) -> None:
    assert [seeds.plant(db, [SEED, SEED], START) for _ in range(2)] == [1, 0]


def test_the_first_use_makes_it_an_active_mnest(db: Database) -> None:
    seeds.plant(db, [SEED], START)
    passed(db, "find_files", "read_files")
    (found,) = everything(db)
    assert (found.state, found.uses, found.weight) == (State.ACTIVE, 2, pytest.approx(0.45))


def test_where_anything_ever_was_nothing_is_planted(db: Database) -> None:
    gone = passed(db, "find_files", "read_files")
    with db.write() as tx:
        rows.change_state(tx, gone, State.SUPERSEDED, START, "for the test")
    record.record_turn(db, Turn("T1", desired=[Wish("sign_files", "find_files", "1.0.0")]))
    newer = Seed("find_files", "2.0.0", "read_files", "3.0.0", "newer")
    wished = Seed("find_files", "1.0.0", "sign_files", "1.0.0", "wished for")
    assert seeds.plant(db, [SEED, newer, wished], START) == 0


def test_what_the_owner_let_go_does_not_come_back(db: Database) -> None:
    seeds.plant(db, [SEED], START)
    with db.write() as tx:
        tx.execute("INSERT INTO mnests_archive SELECT *, 't', 'the owner let it go' FROM mnests")
        tx.execute("DELETE FROM mnests")
    assert seeds.plant(db, [SEED], START) == 0


@pytest.mark.parametrize(
    "odd", [Seed("", "1", "b", "1", "x"), Seed("a", "1", "b c", "1", "x"), Seed("a", "\n", "b", "1", "x")]
)
def test_what_is_no_name_is_not_planted(db: Database, odd: Seed) -> None:
    assert seeds.plant(db, [odd], START) == 0


def test_a_long_reason_is_cut_and_an_empty_one_is_none(db: Database) -> None:
    seeds.plant(db, [Seed("a", "1", "b", "1", "x" * 999), Seed("a", "1", "c", "1", "")], START)
    assert sorted(reasons(db, each.id)[0] for each in everything(db)) == ["planted", "x" * 200]


def test_only_what_is_there_is_expected() -> None:
    made = seeds.documented({"find_files": "1.0.0", "read_files": "2.0.0"})
    assert [(each.src, each.src_version, each.dst, each.dst_version) for each in made] == [
        ("find_files", "1.0.0", "read_files", "2.0.0")
    ]
    calls = {"make_report": ["read_files", "gone_files"], "gone_files": ["read_files"]}
    (only,) = seeds.declared(calls, {"make_report": "1.0.0", "read_files": "2.0.0"})
    assert (only.src, only.dst, only.reason) == (
        "make_report",
        "read_files",
        "declared: make_report may call read_files",
    )


@try_each("pipeline", seeds.pipelines(), ids=lambda each: f"{each.src}-{each.dst}")
def test_a_documented_pipeline_fits(pipeline: seeds.Pipeline) -> None:
    gives, takes = MANIFESTS[pipeline.src]["output"], MANIFESTS[pipeline.dst]["args"]
    assert pipeline.takes in fields(takes)
    assert pipeline.why
    if pipeline.gives == "entries":
        assert takes["properties"][pipeline.takes]["items"]["type"] == "object"
    else:
        given, taken = gives["properties"][pipeline.gives], takes["properties"][pipeline.takes]
        assert given["type"] == taken.get("items", taken)["type"]


def test_there_are_enough_of_them_and_none_twice() -> None:
    pairs = [(each.src, each.dst) for each in seeds.pipelines()]
    assert len(pairs) == len(set(pairs)) >= 25
