"""A box of files with the hands that change it, for the tests of effects and undo."""

import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import ForbiddenPath
from metnos.core.ids import UlidMaker
from metnos.core.sign import Signer, load_signer, make_keys
from metnos.core.workspace import Workspace
from metnos.executors.effect_plan import Planning
from metnos.executors.effects import Acting, Effects
from metnos.executors.trash import Trash
from metnos.executors.undo import Undo
from metnos.executors.undo_schema import MIGRATIONS
from metnos.law.audit import Audit
from metnos.law.forbidden import Access
from metnos.law.halt import Halt
from metnos.store.db import Database

FAST = Path("/dev/shm")  # where a sync costs nothing
Tree = dict[str, tuple[Any, ...]]


def refuse(path: Path, access: Access) -> None:
    """As the Law does, but with one name that needs no home around it."""
    if "forbidden" in path.name:
        raise ForbiddenPath(f"{path} is out of bounds for any {access}")


class Box:
    """``home`` and ``far`` are the owner's; all else is Metnos's own. ``far`` lies on the disk that the store is on.

    ``checkpoint`` is called between the steps of each effect.
    """

    def __init__(
        self, root: Path, clock: Clock | None = None, *, signer: Signer | None = None, other: Path | None = None
    ) -> None:
        self.root = root
        self.clock = clock or SystemClock()
        self.other = other
        self.home = root / "box"
        self.far = (other or root) / "far"
        self.workspace = Workspace(root / "work")
        self.store = other / "store" if other else self.workspace.undo_store
        for each in (self.home, self.far, self.store):
            each.mkdir(parents=True, exist_ok=True)
        self.trash = Trash(root / "share" / "Trash")
        self.ids = UlidMaker(self.clock)
        self.halt: Halt | None = None
        self.checkpoint: Callable[[str], None] = lambda _: None
        self.db = Database(self.workspace.undo_db, MIGRATIONS, clock=self.clock)
        self.signer = signer or make_signer(root)
        self.audit = Audit(self.workspace, self.signer, self.clock, every=100, busy_timeout_s=10)
        self.effects = Effects(
            self.db, self.store, self.trash, self.clock, self.ids, refuse, max_file=1 << 20, checkpoint=self._point
        )
        self.undo = Undo(
            self.db, self.store, self.trash, refuse, self.clock, self.ids, self.audit, lambda: self.halt,
            checkpoint=self._point,
        )  # fmt: skip

    def _point(self, step: str) -> None:
        self.checkpoint(step)

    def begin(self, title: str = "a test", **limits: int) -> Acting:
        return self.effects.begin(executor="test_files", title=title, **limits)

    def planning(self, **limits: int) -> Planning:
        return Planning(refuse, self.trash, max_file=1 << 20, **limits)

    def close(self) -> None:
        self.db.close()
        self.audit.close()

    def rubbish(self) -> list[str]:
        """What is left over where nothing should be: hidden names in the box, half-made things in the store."""
        left = [str(path) for home in (self.home, self.far) for path in home.rglob(".metnos-*")]
        return left + [each.name for each in self.store.iterdir() if each.name.endswith(".tmp") or ".live" in each.name]

    def everything(self) -> Tree:
        return {**snapshot(self.home), **{f"far/{name}": facts for name, facts in snapshot(self.far).items()}}

    def again(self) -> "Box":
        """The same box as the next process finds it."""
        self.close()
        return Box(self.root, self.clock, signer=self.signer, other=self.other)


def make_signer(folder: Path) -> Signer:
    make_keys(folder / "secret", folder / "public")
    return load_signer(folder / "secret")


def snapshot(root: Path) -> Tree:
    """Everything below a folder: kinds, modes, contents, and the times of files."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if path.is_symlink():
            found[str(path.relative_to(root))] = ("link", str(path.readlink()))
        elif path.is_dir():
            found[str(path.relative_to(root))] = ("folder", mode)
        else:
            content = path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(root))] = ("file", mode, content, status.st_mtime_ns)
    return found


@contextmanager
def fast_box(signer: Signer | None = None, *, two_disks: bool = False) -> Iterator[Box]:
    """A box in memory, for tests that make many. Two disks: the owner's files lie on another one than the store."""
    near, elsewhere = Path(tempfile.mkdtemp(dir=FAST)), Path(tempfile.mkdtemp(dir="/var/tmp"))
    box = Box(near, signer=signer, other=elsewhere if two_disks else None)
    try:
        yield box
    finally:
        box.close()
        shutil.rmtree(near)
        shutil.rmtree(elsewhere)
