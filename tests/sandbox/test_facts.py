import getpass
import json
import os
import pwd
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.canon import canonical_json
from metnos.core.errors import ExecutorFailed
from metnos.sandbox import facts as module
from metnos.sandbox.facts import facts

STAT = "{pid} ({name}) {state} 1 1 1 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 1 0 1000 9999 25 18446744073709551615 1 1"


def mine() -> dict[str, Any]:
    (found,) = [fact for fact in facts("processes") if fact["pid"] == os.getpid()]
    return dict(found)


def house(folder: Path, **processes: str) -> Path:
    """A /proc of the test's own."""
    (folder / "stat").write_text("cpu 1 2 3\nbtime 1700000000\nprocesses 9\n")
    (folder / "filesystems").write_text("nodev\ttmpfs\nnodev\tproc\n\text4\n\tsquashfs\n")
    (folder / "self").mkdir()
    for pid, line in processes.items():
        (folder / pid.removeprefix("p")).mkdir()
        (folder / pid.removeprefix("p") / "stat").write_text(line)
    return folder


def test_this_process_is_there() -> None:
    found = mine()
    assert found["user"] == pwd.getpwuid(os.geteuid()).pw_name == getpass.getuser()
    assert found["state"] == "running"
    assert found["name"] == Path("/proc/self/comm").read_text().strip() or len(found["name"]) > 15
    rss = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    assert found["memory_mb"] == pytest.approx(rss, rel=0.1)
    assert found["cpu_s"] == pytest.approx(time.process_time(), abs=0.5)
    age = datetime.now(UTC) - datetime.fromisoformat(found["started"])
    assert timedelta(0) <= age + timedelta(seconds=2) < timedelta(hours=2)


@pytest.mark.skipif(shutil.which("ps") is None, reason="there is no ps to compare with")
def test_ps_tells_the_same() -> None:
    child = subprocess.Popen(["sleep", "30"])
    try:
        line = ["ps", "-o", "comm=,user=,stat=", "-p", str(child.pid)]
        deadline = time.monotonic() + 60  # until it has become what it will be
        while (said := subprocess.run(line, capture_output=True, text=True, check=True).stdout.split())[0] != "sleep":
            assert time.monotonic() < deadline
        (found,) = [fact for fact in facts("processes") if fact["pid"] == child.pid]
    finally:
        child.kill()
        child.wait()
    assert (found["name"], found["state"]) == ("sleep", "sleeping")
    assert said[1] == found["user"]
    assert child.pid not in [fact["pid"] for fact in facts("processes")]


def test_arguments_and_environment_are_never_told() -> None:
    line = [sys.executable, "-c", "import time; time.sleep(30)", "--token=s3cret-argument"]
    child = subprocess.Popen(line, env={"TOKEN": "s3cret-variable"})
    try:
        told = json.dumps(facts("processes"))
    finally:
        child.kill()
        child.wait()
    assert str(child.pid) in told
    assert "s3cret" not in told
    assert "time.sleep" not in told


def test_a_title_that_a_program_gives_itself_is_not_taken_for_its_name() -> None:
    code = (
        "import ctypes, sys, time\n"
        "ctypes.CDLL(None).prctl(15, b'a name of fifteen and more')\n"
        "print('ready', flush=True); time.sleep(30)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        (found,) = [fact for fact in facts("processes") if fact["pid"] == child.pid]
    finally:
        child.kill()
        child.communicate()
    assert found["name"] == "a name of fifte"


def test_long_program_names_are_whole(tmp_path: Path) -> None:
    program = tmp_path / "a-program-with-a-long-name"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    child = subprocess.Popen([str(program), "30"])
    try:
        names = [fact["name"] for fact in facts("processes") if fact["pid"] == child.pid]
    finally:
        child.kill()
        child.wait()
    assert names == [program.name]


@pytest.mark.parametrize("name", ["plain", "with space", "a) R 1 (b", "((", "))", "naïve"])
def test_odd_names_do_not_confuse(tmp_path: Path, name: str) -> None:
    proc = house(tmp_path, p7=STAT.format(pid=7, name=name, state="S"))
    (found,) = facts("processes", proc)
    assert found == {
        "pid": 7,
        "name": name,
        "user": getpass.getuser(),
        "cpu_s": 300 / os.sysconf("SC_CLK_TCK"),
        "memory_mb": round(25 * os.sysconf("SC_PAGE_SIZE") / 1e6, 1),
        "started": datetime.fromtimestamp(1700000000 + 1000 / os.sysconf("SC_CLK_TCK"), UTC).isoformat(
            timespec="seconds"
        ),
        "state": "sleeping",
    }


def test_what_vanishes_is_left_out(tmp_path: Path) -> None:
    proc = house(tmp_path, p7=STAT.format(pid=7, name="x", state="Z"), p8="", p9="9 (cut")
    (proc / "10").mkdir()  # its files are gone
    (proc / "12").write_text("no folder")
    assert [fact["pid"] for fact in facts("processes", proc)] == [7]


def test_a_user_without_a_name_has_a_number() -> None:
    assert module._user(4_000_000_123) == "4000000123"


@given(st.binary(max_size=60))
def test_no_line_of_the_kernel_makes_it_fail(line: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        proc = house(Path(folder), p7="")
        (proc / "7" / "stat").write_bytes(line)
        canonical_json(facts("processes", proc))


# -- disks


def test_real_disks_have_plausible_sizes() -> None:
    for disk in facts("disks"):
        space = os.statvfs(str(disk["mount"]))
        total, used, free = (int(str(disk[key])) for key in ("total", "used", "free"))
        assert total == space.f_blocks * space.f_frsize > 0
        assert 0 <= used <= total
        assert free <= total - used + space.f_frsize
        assert disk["type"] not in ("proc", "sysfs", "tmpfs", "cgroup2", "devtmpfs")


def test_only_real_file_systems_once_each(tmp_path: Path) -> None:
    here = tmp_path / "a disk"
    (here / "bound").mkdir(parents=True)
    single = tmp_path / "file"
    single.write_text("x")
    spaced = str(here).replace(" ", "\\040")
    proc = house(tmp_path)
    (proc / "self" / "mounts").write_text(
        f"/dev/sda1 {spaced}/bound ext4 rw 0 0\n"
        f"/dev/sda1 {spaced} ext4 rw 0 0\n"
        f"tmpfs {tmp_path} tmpfs rw 0 0\n"
        f"/dev/loop0 {tmp_path} squashfs ro 0 0\n"
        f"/dev/sdb1 {single} ext4 rw 0 0\n"
        f"/dev/sdc1 {tmp_path}/gone ext4 rw 0 0\n"
        f"nas:/share {tmp_path} nfs4 rw 0 0\n"
        "nonsense\n"
    )
    found = facts("disks", proc)
    assert [(disk["mount"], disk["device"], disk["type"]) for disk in found] == [
        (str(tmp_path), "nas:/share", "nfs4"),
        (str(here), "/dev/sda1", "ext4"),
    ]


def test_a_network_disk_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc = house(tmp_path)
    (proc / "self" / "mounts").write_text(f"nas:/share {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(module, "_statvfs", lambda _: asked.append(answers.wait(120)))
    monkeypatch.setattr(module, "_NETWORK_WAIT_S", 0.05)
    asked, answers = list[bool](), threading.Event()
    assert facts("disks", proc) == []
    assert asked == [], "nobody answered yet"
    answers.set()


# -- the machine


def test_the_machine_is_this_one() -> None:
    (found,) = facts("host")
    assert (found["name"], found["kernel"], found["machine"]) == (os.uname()[1], os.uname()[2], os.uname()[4])
    assert found["cpus"] == os.cpu_count()
    total, free = int(str(found["memory_total"])), int(str(found["memory_free"]))
    assert 0 < free <= total
    assert total == pytest.approx(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=0.01)
    assert found["load_1"] == pytest.approx(os.getloadavg()[0], abs=2)
    assert found["uptime_s"] == pytest.approx(time.clock_gettime(time.CLOCK_BOOTTIME), abs=5)
    assert found["system"]


@pytest.mark.parametrize("what", ["processes", "disks", "host"])
def test_all_facts_are_plain_data(what: str) -> None:
    canonical_json(facts(what))


def test_other_facts_are_not_told() -> None:
    with pytest.raises(ExecutorFailed, match="no facts called") as caught:
        facts("environment")
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize("what", ["processes", "disks", "host"])
def test_a_machine_without_proc_says_so(tmp_path: Path, what: str) -> None:
    with pytest.raises(ExecutorFailed) as caught:
        facts(what, tmp_path)
    assert caught.value.kind == "unavailable"
