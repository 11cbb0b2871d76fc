"""SIGKILL at any moment of signing, changing and installing leaves the old or the new, and never a false alarm."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from executors.samples import SOURCE, Shop, open_shop, write_sample
from metnos.core.clock import SystemClock
from metnos.executors import builtins
from metnos.executors.state import State

NAME = "find_files"
ROUNDS = 24
STEP_S = 0.0008


def killed_after(seconds: float, act: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def whole(shop: Shop, name: str = NAME) -> State:
    """The state, after making sure that nothing looks tampered with."""
    found = shop.catalog.judge(name)
    assert found.problems == (), found.problems
    return found.state


def test_changing(tmp_path: Path) -> None:
    shop = open_shop(tmp_path, SystemClock())
    write_sample(shop.folder)
    shop.catalog.sign(NAME, "mine")
    for attempt in range(ROUNDS):
        before = whole(shop)
        after = State.DISABLED if before is State.ACTIVE else State.ACTIVE
        killed_after(attempt * STEP_S, lambda after=after: shop.catalog.change(NAME, after, "killed"))
        assert whole(shop) in (before, after)
        if whole(shop) is not after:
            shop.catalog.change(NAME, after, "made again")
        assert whole(shop) is after
        if after is State.ACTIVE:
            assert shop.catalog.get(NAME).usable


def test_signing(tmp_path: Path) -> None:
    shop = open_shop(tmp_path, SystemClock(), births=1000)
    write_sample(shop.folder)
    for attempt in range(ROUNDS):
        name = NAME if attempt % 2 else "read_files"
        if not shop.catalog.judge(name).signed:
            write_sample(shop.folder, name, source=f"{SOURCE}# {attempt}\n")
        killed_after(attempt * STEP_S, lambda name=name: shop.catalog.sign(name, "killed"))
        assert whole(shop, name) in (State.DRAFT, State.ACTIVE)
        assert shop.catalog.sign(name, "made again").usable
        assert shop.catalog.get(name).usable


def test_installing_and_upgrading(tmp_path: Path) -> None:
    shop = open_shop(tmp_path, SystemClock())
    package = tmp_path / "package"
    names = ["find_files", "list_files", "read_files"]
    for attempt in range(ROUNDS):
        for name in names:
            write_sample(package, name, version=f"1.0.{attempt}")
        (package / builtins.DIGESTS).write_text(json.dumps(builtins.measure(package)))
        killed_after(attempt * STEP_S * 3, lambda: builtins.install(shop.catalog, package))
        for name in names:
            assert whole(shop, name) in (State.DRAFT, State.ACTIVE)
        assert builtins.install(shop.catalog, package).refused == {}
        for name in names:
            assert shop.catalog.get(name).version == f"1.0.{attempt}"
    assert shop.lines("executor quarantined") == []
    assert [path.name for path in shop.folder.iterdir() if path.name not in names] in ([], [".staging"])
