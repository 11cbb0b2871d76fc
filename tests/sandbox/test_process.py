import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from metnos.sandbox import process


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"]) as started:
        yield started
        started.kill()


def test_a_process_is_known_by_its_start(sleeper: "subprocess.Popen[bytes]") -> None:
    started = process.start_time(sleeper.pid)
    assert started.isdigit()
    assert process.start_time(sleeper.pid) == started
    assert started != process.start_time(os.getpid())


def test_it_is_ended_if_it_is_the_one_that_was_meant(sleeper: "subprocess.Popen[bytes]") -> None:
    assert process.end(sleeper.pid, process.start_time(sleeper.pid))
    assert sleeper.wait(5) == -signal.SIGKILL


def test_another_under_the_same_number_is_left_alone(sleeper: "subprocess.Popen[bytes]") -> None:
    assert not process.end(sleeper.pid, "1")
    assert sleeper.poll() is None


def test_one_that_is_gone_is_gone(sleeper: "subprocess.Popen[bytes]") -> None:
    started = process.start_time(sleeper.pid)
    sleeper.kill()
    sleeper.wait()
    assert process.start_time(sleeper.pid) == "gone"
    assert not process.end(sleeper.pid, started)


def test_what_never_was_is_not_ended() -> None:
    """A number that is free, with the very word that a free number has: there is nobody to be killed."""
    assert not process.end(1 << 22, "gone")


def test_a_name_with_brackets_and_blanks_does_not_confuse_it(tmp_path: object) -> None:
    code = "import ctypes, time; ctypes.CDLL(None).prctl(15, b'a) S 1 (b', 0, 0, 0); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-S", "-c", code], stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        assert process.start_time(started.pid).isdigit()
        assert process.end(started.pid, process.start_time(started.pid))
