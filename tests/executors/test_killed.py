"""SIGKILL at any moment of signing, changing and installing leaves the old or the new, and never a false alarm."""

import json
import random
from pathlib import Path

import pytest

from executors.samples import SOURCE, Shop, open_shop, write_sample
from killing import killed_after
from metnos.core.clock import SystemClock
from metnos.executors import builtins
from metnos.executors.state import State
from suite import Repeat

NAME = "find_files"
SUITE, SOAK = 5, 120
LONGEST_S = 0.02  # about as long as what is killed takes


def whole(shop: Shop, name: str = NAME) -> State:
    """The state, after making sure that nothing looks tampered with."""
    found = shop.catalog.judge(name)
    assert found.problems == (), found.problems
    return found.state


@pytest.mark.slow
@pytest.mark.repeated
def test_changing(tmp_path: Path, repeat: Repeat) -> None:
    chance = random.Random(1)
    shop = open_shop(tmp_path, SystemClock())
    write_sample(shop.folder)
    shop.catalog.sign(NAME, "mine")
    for _ in repeat("kills of a change of state", suite=SUITE, soak=SOAK):
        before = whole(shop)
        after = State.DISABLED if before is State.ACTIVE else State.ACTIVE
        killed_after(chance.random() * LONGEST_S, lambda after=after: shop.catalog.change(NAME, after, "killed"))
        assert whole(shop) in (before, after)
        if whole(shop) is not after:
            shop.catalog.change(NAME, after, "made again")
        assert whole(shop) is after
        if after is State.ACTIVE:
            assert shop.catalog.get(NAME).usable


@pytest.mark.slow
@pytest.mark.repeated
def test_signing(tmp_path: Path, repeat: Repeat) -> None:
    chance = random.Random(2)
    shop = open_shop(tmp_path, SystemClock(), births=1000)
    write_sample(shop.folder)
    for attempt in repeat("kills of a signing", suite=SUITE, soak=SOAK):
        name = NAME if attempt % 2 else "read_files"
        if not shop.catalog.judge(name).signed:
            write_sample(shop.folder, name, source=f"{SOURCE}# {attempt}\n")
        killed_after(chance.random() * LONGEST_S, lambda name=name: shop.catalog.sign(name, "killed"))
        assert whole(shop, name) in (State.DRAFT, State.ACTIVE)
        assert shop.catalog.sign(name, "made again").usable
        assert shop.catalog.get(name).usable


@pytest.mark.slow
@pytest.mark.repeated
def test_installing_and_upgrading(tmp_path: Path, repeat: Repeat) -> None:
    chance = random.Random(3)
    shop = open_shop(tmp_path, SystemClock())
    package = tmp_path / "package"
    names = ["find_files", "list_files", "read_files"]
    for attempt in repeat("kills of an installation", suite=SUITE, soak=SOAK):
        for name in names:
            write_sample(package, name, version=f"1.0.{attempt}")
        (package / builtins.DIGESTS).write_text(json.dumps(builtins.measure(package)))
        killed_after(chance.random() * LONGEST_S * 3, lambda: builtins.install(shop.catalog, package))
        for name in names:
            assert whole(shop, name) in (State.DRAFT, State.ACTIVE)
        assert builtins.install(shop.catalog, package).refused == {}
        for name in names:
            assert shop.catalog.get(name).version == f"1.0.{attempt}"
    assert shop.lines("executor quarantined") == []
    assert [path.name for path in shop.folder.iterdir() if path.name not in names] in ([], [".staging"])
