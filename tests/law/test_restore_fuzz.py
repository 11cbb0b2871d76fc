"""Archives and workspaces changed at random: no traceback, no file outside touched, and no doubt fewer.

The suite plays a few of each, ``--soak`` thousands; a failure names the seed of its round.
"""

import contextlib
import random
import shutil
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from law.hostile import bring
from metnos import app
from metnos.app import examining, panic, tables
from metnos.core.clock import SystemClock
from metnos.core.errors import MetnosError
from metnos.core.workspace import Workspace
from metnos.law import audit_log
from metnos.law.audit_line import Entry
from suite import Repeat

WORDS = (
    "'x'", "''", "NULL", "0", "-1", "9223372036854775807", "-9223372036854775808", "1e999", "x'00ff'", "'2026-13'",
    "CAST(x'ff' AS TEXT)", "'../../../victim/history'", "'9/../../../victim/history'", "'9999-12'", "zeroblob(70000)",
    "char(0)", "char(27) || '[31m'", "'[' || replace(hex(zeroblob(20000)), '00', '[')", "'{}'", "'2026-11-15'",
)  # fmt: skip
ODD_LINES = (b'{"seq":99999999999999999999}\n', b"[" * 50_000 + b"\n", b"\xff\0\n", b"half")
TRIGGERS = (
    "CREATE TRIGGER q AFTER INSERT ON {0} BEGIN DELETE FROM {0}; END",
    "CREATE TRIGGER q BEFORE UPDATE ON {0} BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER q BEFORE INSERT ON {0} BEGIN SELECT RAISE(IGNORE); END",
    "CREATE VIEW q AS SELECT * FROM {0}",
    "CREATE INDEX q ON {0} (1)",
    "DROP TABLE {0}",
    "ALTER TABLE {0} ADD COLUMN q TEXT",
    "ALTER TABLE {0} RENAME TO q",
    "DELETE FROM {0}",
)


def of_rows(root: Path, chance: random.Random) -> None:
    """Change rows or the schema of a database as only a stranger would."""
    with closing(sqlite3.connect(_database(root, chance), isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode=DELETE")
        base.execute("PRAGMA ignore_check_constraints=ON")
        base.execute("PRAGMA writable_schema=ON")
        for _ in range(chance.randint(1, 4)):
            names = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            table = chance.choice([*names, "sqlite_master"])
            columns = [row[1] for row in base.execute(f"PRAGMA table_info('{table}')")]
            with contextlib.suppress(sqlite3.Error):
                if chance.random() < 0.4:
                    base.execute(chance.choice(TRIGGERS).format(table))
                elif columns:
                    base.execute(f"UPDATE '{table}' SET {chance.choice(columns)} = {chance.choice(WORDS)}")


def of_bytes(root: Path, chance: random.Random) -> None:
    """Change bytes of a database, of the log or of any other file."""
    every = [path for path in root.rglob("*") if path.is_file() and path.stat().st_size]
    some = [_database(root, chance), chance.choice(list((root / ".audit").glob("*.jsonl"))), chance.choice(every)]
    path = chance.choice(some)
    content = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 30)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    if chance.random() < 0.2:
        content = content[: chance.randrange(len(content))]
    path.write_bytes(content)


def of_lines(root: Path, chance: random.Random) -> None:
    """Remove, repeat, swap or add lines of the log."""
    path = chance.choice(list((root / ".audit").glob("*.jsonl")))
    lines = path.read_bytes().splitlines(keepends=True)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        lines[at:at] = [chance.choice([*ODD_LINES, lines[0], lines[-1]])]
        if chance.random() < 0.5:
            del lines[chance.randrange(len(lines))]
    chance.choice([lambda: None, lambda: chance.shuffle(lines)])()
    name = chance.choice([path.name, path.name, "9999-12.jsonl", "0000-01.jsonl", "2026-13.jsonl"])
    (path.parent / name).write_bytes(b"".join(lines))


def of_files(root: Path, chance: random.Random) -> None:
    """Put something else in the place of a file, or beside a database."""
    every = [path for path in root.rglob("*") if path.is_file() and path.name != "agent.pub"]
    path = chance.choice([_database(root, chance), chance.choice(every)])
    way = chance.randrange(4)
    if way == 0:
        path.unlink()
    elif way == 1:
        path.unlink()
        path.mkdir()
        (path / "x").write_text("x")
    elif way == 2:
        path.with_name(path.name + chance.choice(["-wal", "-shm", "-journal"])).write_bytes(chance.randbytes(4096))
    else:
        path.write_bytes(chance.choice([b"", b"x", b"[" * 100_000, b"SQLite format 3\0" + b"x" * 5000]))


WAYS: list[Callable[[Path, random.Random], None]] = [of_rows, of_rows, of_bytes, of_lines, of_files]


def _database(root: Path, chance: random.Random) -> Path:
    wanted = root / ".law" / "audit.db"
    there = [path for path in tables.of_workspace(Workspace(root)) if path.is_file() and path.stat().st_size]
    return wanted if wanted in there and chance.random() < 0.4 else chance.choice(there)


@contextlib.contextmanager
def untouched(outside: Path, seed: int) -> Iterator[None]:
    """Nothing outside the workspace is changed, and nothing but an error of ours leaves."""
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in outside.rglob("*") if path.is_file()}
    try:
        with contextlib.suppress(MetnosError):
            yield
    except Exception as error:  # whatever it is
        pytest.fail(f"seed {seed}: {error!r}\n{''.join(traceback.format_tb(error.__traceback__)[-4:])}")
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in outside.rglob("*") if path.is_file()}
    assert after == before, f"seed {seed}"


def _make_outside(tmp_path: Path) -> Path:
    outside = tmp_path / "victim"
    outside.mkdir()
    (outside / "history.jsonl").write_text("mine\n")
    (outside / "history").write_text("mine\n")
    return outside


def _first_seed(request: pytest.FixtureRequest) -> int:
    return random.SystemRandom().randrange(1 << 30) if request.config.getoption("--soak") else 1


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.timeout(1800)
def test_archives_changed_at_random(
    honest: Path,
    key: Path,
    tmp_path: Path,
    repeat: Repeat,
    request: pytest.FixtureRequest,
) -> None:
    outside, first, restored = _make_outside(tmp_path), _first_seed(request), 0
    for number in repeat("archives changed at random", suite=12, soak=300):
        seed = first + number
        chance = random.Random(seed)
        place = tmp_path / "round"
        plain = Path(shutil.copytree(honest, place / "plain"))
        target = Workspace(place / "here" / "workspace")
        own = chance.random() < 0.3
        if own:
            shutil.copytree(honest, target.root)
            shutil.copy2(key, target.secret_key)
        for _ in range(chance.randint(1, 2)):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, IndexError, ValueError, sqlite3.Error):
                chance.choice(WAYS)(plain, chance)
        done = False
        with untouched(outside, seed):
            bring(plain, key, target)
            done = True
        assert done or target.root.exists() == own, f"seed {seed}: nothing restored, yet its place was taken"
        assert not list(target.root.parent.glob(".*")), f"seed {seed}"
        if done:
            restored += 1
            _notices_a_cut(target, seed, outside)
            _speaks_plainly(target, seed, outside)
        shutil.rmtree(place)
    assert restored, "nothing was ever restored: this proves nothing"


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.timeout(1800)
def test_workspaces_changed_at_random(
    honest: Path,
    key: Path,
    tmp_path: Path,
    repeat: Repeat,
    request: pytest.FixtureRequest,
) -> None:
    """Whatever breaks a workspace: it says so, and a panic still halts it."""
    outside, first = _make_outside(tmp_path), _first_seed(request)
    for number in repeat("workspaces changed at random", suite=10, soak=300):
        seed = first + number
        chance = random.Random(seed)
        there = Workspace(tmp_path / "round" / "workspace")
        shutil.copytree(honest, there.root)
        shutil.copy2(key, there.secret_key)
        for _ in range(chance.randint(1, 2)):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, IndexError, ValueError, sqlite3.Error):
                chance.choice(WAYS)(there.root, chance)
        _speaks_plainly(there, seed, outside)
        shutil.rmtree(tmp_path / "round")


def _notices_a_cut(target: Workspace, seed: int, outside: Path) -> None:
    with untouched(outside, seed):
        opened = app.App.open(target)
        for _ in range(3):
            opened.audit.append(Entry("thing done"))
        assert opened.audit.doubt() is None, f"seed {seed}"
        opened.close()
        log = audit_log.path_of(target.audit, audit_log.months(target.audit)[-1])
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
        again = app.App.open(target)
        assert again.audit.doubt() is not None, f"seed {seed}: the log was cut, and nothing doubts it"
        assert again.halted() is not None, f"seed {seed}"
        again.close()


def _speaks_plainly(target: Workspace, seed: int, outside: Path) -> None:
    """The doctor says what is wrong, whoever acts gets an error of ours, and a panic halts."""
    with untouched(outside, seed):
        assert list(examining._check_workspace(target, SystemClock()))
    with untouched(outside, seed), contextlib.suppress(OSError):  # the program makes a sentence of it
        app.verify_audit(target)
    with untouched(outside, seed):
        panic.panic(target, "smoke")
    with untouched(outside, seed), contextlib.suppress(OSError):
        opened = app.App.open(target)
        assert opened.halted() is not None, f"seed {seed}: a panic did not halt it"
        opened.close()
