"""A furnished box with a broker before it, for whoever plays the child."""

import shutil
from pathlib import Path
from typing import Any

from executors.boxes import Box
from executors.calls import READS, WRITES, broker, mutating, ready
from metnos.executors.prepare import Prepared

OPERATIONS: dict[str, dict[str, Any]] = {
    "write": {"op": "write", "path": "in/new", "text": "x"},
    "overwrite": {"op": "write", "path": "in/a.txt", "text": "x", "overwrite": True},
    "append": {"op": "write", "path": "in/a.txt", "text": "x", "append": True},
    "put": {"op": "put", "path": "in/new"},
    "put over": {"op": "put", "path": "in/a.txt", "overwrite": True},
    "make_folder": {"op": "make_folder", "path": "in/new"},
    "move": {"op": "move", "source": "in/a.txt", "target": "in/new"},
    "move over": {"op": "move", "source": "in/a.txt", "target": "in/sub/b.txt", "overwrite": True},
    "copy": {"op": "copy", "source": "in/a.txt", "target": "in/new"},
    "copy over": {"op": "copy", "source": "in/a.txt", "target": "in/sub/b.txt", "overwrite": True},
    "trash": {"op": "trash", "path": "in/a.txt"},
}
PLACED = ("path", "source", "target")
CREATING = {"write", "put", "make_folder", "copy"}
PATTERNS = {
    "move_back": {"move", "make_folder"},
    "remove_created": CREATING,
    "restore_content": CREATING | {"overwrite", "append", "put over", "copy over"},
    "restore_trashed": {"trash", "make_folder"},
    "irreversible": set(OPERATIONS),
}


def furnish(home: Path) -> None:
    """`in` is what the call names; `other` and `beside.txt` are declared only; `../far` is not even that."""
    for name in ("in/a.txt", "in/sub/b.txt", "other/c.txt", "beside.txt", "inside.txt", "../far/d.txt"):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {path.name}")
    links = {"in/link": "../other", "in/out": "../../far", "in/alias": "../beside.txt", "in/loop": "loop", "door": "in"}
    for name, target in links.items():
        (home / name).symlink_to(target)


class Desk:
    """A box, furnished anew, with a broker before it."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.home = box.home
        for old in (box.home, box.far):
            shutil.rmtree(old)
        furnish(self.home)

    def prepared(self, reversal: str, targets: list[str], sources: list[str]) -> tuple[Any, Prepared]:
        scopes = {"read": [f"{self.home}/**"], "write": [f"{self.home}/**"]}
        read = mutating(reversal, {"targets": WRITES, "sources": READS}, {"fs": scopes})
        return read, ready(read, self.home, targets=targets, sources=sources)

    def ask(
        self,
        message: dict[str, Any],
        descriptor: int | None = None,
        *,
        reversal: str = "irreversible",
        targets: tuple[str, ...] = ("in",),
        sources: tuple[str, ...] = (),
        shown: Any = None,
        dry: bool = False,
        spelled: bool = False,
    ) -> dict[str, Any]:
        """What the broker answers to one message of a call that may change ``targets`` and read ``sources``.

        Paths are relative to the home, or as they are ``spelled``.
        """
        read, prepared = self.prepared(reversal, list(targets), list(sources))
        if not spelled:
            message = self.placed(message)
        if dry:
            return broker(read, prepared, self.box.planning(), shown=shown)(message, descriptor)
        with self.box.begin() as doing:
            return broker(read, prepared, doing, shown=shown)(message, descriptor)

    def rehearse(self, message: dict[str, Any], descriptor: int | None = None) -> tuple[tuple[str, ...], ...]:
        """The effects that a dry run of this message would have shown."""
        read, prepared = self.prepared("irreversible", ["in"], [])
        trying = broker(read, prepared, self.box.planning())
        assert "value" in trying(self.placed(message), descriptor)
        return tuple(trying.noted)

    def placed(self, message: dict[str, Any]) -> dict[str, Any]:
        return {key: self.at(value) if key in PLACED else value for key, value in message.items()}

    def at(self, path: Any) -> Any:
        return f"{self.home}/{path}" if isinstance(path, str) and path and not path.startswith("/") else path

    def picture(self) -> dict[str, Any]:
        return self.box.everything()
