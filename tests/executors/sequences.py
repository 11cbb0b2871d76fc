"""Random sequences of operations on a small box, for property tests."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from executors.boxes import Box
from metnos.core.errors import ExecutorFailed
from metnos.executors.effects import Doing

NAMES = ("a", "b", "d", "d/a", "d/e", "d/e/b", "far/a", "far/d", "é\n", "forbidden", "link", "pipe", "twin")
PATHS = st.one_of(st.sampled_from(NAMES[:4]), st.sampled_from(NAMES[:8]), st.sampled_from(NAMES))
CONTENT = st.sampled_from((b"", b"one\n", b"two\ntwo\n", b"\0binary", b"x" * 3000))
FLAG = st.booleans()
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), PATHS, CONTENT, FLAG, FLAG),
    st.tuples(st.just("put"), PATHS, CONTENT, FLAG),
    st.tuples(st.just("make_folder"), PATHS),
    st.tuples(st.just("move"), PATHS, PATHS, FLAG),
    st.tuples(st.just("copy"), PATHS, PATHS, FLAG),
    st.tuples(st.just("trash"), PATHS),
)
SEQUENCES = st.lists(OPERATIONS, max_size=8)
ACTIONS = st.lists(st.lists(OPERATIONS, min_size=1, max_size=4), max_size=5)
Operation = tuple[object, ...]


def furnish(box: Box) -> None:
    """Files, folders, and what must be refused."""
    home = box.home
    (home / "d" / "e").mkdir(parents=True)
    (home / "a").write_bytes(b"first\nsecond\n")
    (home / "d" / "a").write_bytes(b"in a folder\n")
    (home / "d" / "e" / "b").write_bytes(b"\0deep")
    (home / "d" / "inner link").symlink_to("a")
    (home / "link").symlink_to("a")
    os.mkfifo(home / "pipe")
    (home / "twin").write_text("one file, two names")
    (home / "other twin").hardlink_to(home / "twin")
    (home / "d").chmod(0o750)
    (home / "a").chmod(0o640)
    os.utime(home / "a", ns=(1_000_000_001, 2_000_000_002))


def place(box: Box, name: object) -> Path:
    """Where a name leads: those that begin with ``far`` to the disk that the store is on."""
    text = str(name)
    return box.far / text.removeprefix("far/") if text.startswith("far/") else box.home / text


def perform(hand: Doing, box: Box, operation: Operation) -> str:
    """Do one operation; ``done``, or the class of the failure."""
    op, path, *rest = operation
    where = place(box, path)
    try:
        if op == "write":
            hand.write(where, rest[0], overwrite=rest[1], append=rest[2])
        elif op == "put":
            with tempfile.TemporaryFile() as file:
                file.write(rest[0])
                file.flush()
                hand.put(where, file.fileno(), overwrite=rest[1])
        elif op == "make_folder":
            hand.make_folder(where)
        elif op == "trash":
            if box.far not in where.parents:  # the trash of that disk would be at the root of this machine
                hand.trash(where)
        else:
            getattr(hand, op)(where, place(box, rest[0]), overwrite=rest[1])
    except ExecutorFailed as error:
        return error.kind
    return "done"


def perform_all(hand: Doing, box: Box, operations: Sequence[Operation]) -> list[str]:
    return [perform(hand, box, each) for each in operations]
