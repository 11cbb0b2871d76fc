"""Three simulated days of mixed load in one process: memory, descriptors, threads and processes stay as they are."""

import gc
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

import processes
from metnos.app import App, verify_audit
from metnos.app import night as building
from metnos.core.clock import MovableClock
from metnos.law.capability import Capability
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.night.records import State
from metnos.turn.events import Answer
from suite import Repeat
from turn.turning import OWNER, take

PROGRAM = Principal(Channel.API, "program", Autonomy.SUPERVISED)
PER_HOUR = 36
REQUESTS = (
    ("find the txt files in ~/inbox", OWNER),
    ("read ~/inbox/1.txt", OWNER),
    ("search for bread in ~/inbox", OWNER),
    ("how full are the disks", OWNER),
    ("note: it rained", OWNER),
    ("remind me tomorrow at 9 to pay the rent", OWNER),
    ("move ~/inbox/1.txt to ~/done", OWNER),
    ("move ~/done/1.txt to ~/inbox", OWNER),
    ("delete ~/inbox/2.txt", OWNER),
    ("translate the bible into Klingon", OWNER),
    ("read ~/.ssh/id_rsa", OWNER),
    ("delete ~/inbox", PROGRAM),
)


@dataclass(frozen=True, slots=True)
class Use:
    """What this process holds of the machine."""

    memory_mb: float
    descriptors: int
    threads: int
    children: int

    @classmethod
    def now(cls) -> "Use":
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        held = len(list(Path("/proc/self/fd").iterdir()))
        return cls(
            pages * os.sysconf("SC_PAGE_SIZE") / 2**20, held, threading.active_count(), len(processes.children())
        )


def load(home: Path) -> Iterator[int]:
    """The home as it is at the beginning of each hour."""
    for name in ("inbox", "done"):
        (home / name).mkdir(exist_ok=True)
    for number in range(1, 4):
        (home / "inbox" / f"{number}.txt").write_text(f"bread {number}\n")
    yield from range(PER_HOUR)


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.timeout(1800)
def test_what_it_holds_stays_as_it_is(equipped: App, clock: MovableClock, tmp_path: Path, repeat: Repeat) -> None:
    equipped.set_setting("night.backup", "false", at_terminal())
    app, home = App.open(equipped.workspace, clock), tmp_path / "home"
    app.__dict__["embedder"] = None
    night = building.build(app)
    hours = repeat("simulated hours of mixed load", suite=1, soak=72)
    uses: list[Use] = []
    for hour in hours:
        for number in load(home) if len(hours) > 1 else range(len(REQUESTS)):
            text, who = REQUESTS[number % len(REQUESTS)]
            answers = [Answer.YES] * 3 if number % 5 else [Answer.NO]
            taken = take(app, text, answers, cwd=home, principal=who, conversation=f"{hour}-{number // 6}")
            assert taken.ended.state not in ("cancelled", "interrupted"), text
            clock.move(timedelta(seconds=3600 / PER_HOUR))
        if hour % 24 == 23:
            assert {run.state for run in night.run_all()} == {State.DONE}
        uses.append(Use.now())
    settled, last = uses[len(uses) // 3], uses[-1]
    assert last.descriptors <= settled.descriptors + 4, uses
    assert last.threads <= settled.threads + 2, uses
    assert last.children <= settled.children + 1, uses
    assert last.memory_mb <= settled.memory_mb * 1.15 + 8, uses
    assert verify_audit(app.workspace).faults == ()
    app.close()


@pytest.mark.slow
@pytest.mark.repeated
def test_no_jump_of_the_clock_gives_anybody_more(
    equipped: App, clock: MovableClock, tmp_path: Path, repeat: Repeat
) -> None:
    """Grants and yeses end, whichever way the clock is moved: what has ended never counts again."""
    home = tmp_path / "home"
    (home / "a.txt").write_text("a")
    jumps = (timedelta(days=400), timedelta(days=-500), timedelta(hours=-1), timedelta(seconds=1), timedelta(days=-9))
    for number in repeat("jumps of the clock", suite=5, soak=200):
        equipped.grants.grant("move_files", Capability.FS_WRITE, str(home), days=1, by=OWNER)
        ended = take(equipped, "delete ~/a.txt", cwd=home, conversation=f"{number}")
        assert ended.ended.state in ("waiting", "refused", "failed"), ended.ended
        clock.move(jumps[number % len(jumps)])
        if jumps[number % len(jumps)] > timedelta(days=1):
            assert equipped.grants.active() == []
        assert (home / "a.txt").exists()
    assert verify_audit(equipped.workspace).faults == ()
