"""The pool with real sandboxes: what it hands out works, and it recovers from the death of anything in it."""

import contextlib
import marshal
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from metnos.core.errors import SandboxError
from metnos.sandbox import cgroup
from metnos.sandbox import pool as pools
from metnos.sandbox.interpreter import this_python
from metnos.sandbox.memory import MemoryWatch
from metnos.sandbox.pool import Broker, Ended, Job, Pool
from metnos.sandbox.profile import Walls, find_bwrap
from support import at_once

pytestmark = pytest.mark.slow

CONTEXT = {"dry_run": False, "limit": 10, "workspace": "", "utc_offset_s": 0, "now": 0.0}


def job(body: str, **walls: Any) -> Job:
    source = f"import os, time\n\ndef run(args, ctx):\n    {body}"
    code = marshal.dumps(compile(source, "executor.py", "exec"))
    return Job(code, {"n": 1}, CONTEXT, Walls(**{"wall_s": 60.0, **walls}))


def refuse(message: dict[str, Any], _: int | None) -> Any:
    return {"value": message["op"]}


ECHO = job("return {'entries': [os.getpid()]}")
SLOW = job("ctx.trash('/x'); return {'entries': ['slow']}")
SLOW_CHILD = job("ctx.trash('/x'); ctx.trash('/x'); return {'entries': ['slow']}", wall_s=1)
ENDLESS = job("ctx.trash('/x'); time.sleep(600)")


def reply(ended: Ended) -> Any:
    assert ended.message is not None, ended
    return ended.message["reply"]["entries"]


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(warm=2)
    yield pool
    pool.close()


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def parts(pool: Pool) -> tuple[int, int, list[int]]:
    """Bubblewrap, the zygote and its children, as the machine numbers them."""
    assert pool._zygote is not None
    bwrap, first = pool._zygote._process.pid, pool._zygote.pid
    below = children(first)
    zygote = below[0] if below else first
    return bwrap, zygote, children(zygote)


def eventually(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not (found := true()) and time.monotonic() < deadline:
        time.sleep(0.005)
    return found


@contextlib.contextmanager
def running(pool: Pool) -> Iterator["Future[Ended]"]:
    """A call that has begun, and goes on until something ends it."""
    begun = threading.Event()

    def ready(*_: Any) -> Any:
        begun.set()
        return {"value": 0}

    with ThreadPoolExecutor(1) as threads:
        made = threads.submit(pool.run, ENDLESS, ready)
        try:
            assert begun.wait(60)
            yield made
        finally:
            pool.close()


def living(pid: int) -> set[int]:
    """Its children that still run: what ended may wait for whoever adopted it."""
    return {each for each in children(pid) if not gone(each)}


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.parametrize("cold", [False, True])
def test_a_call_is_answered(pool: Pool, cold: bool) -> None:
    ended = pool.run(ECHO, refuse, cold=cold)
    assert reply(ended) == [1]
    assert (ended.signal, ended.timed_out, ended.too_much, ended.hostile) == (0, False, False, False)


def test_questions_go_to_the_broker_and_its_answers_back(pool: Pool) -> None:
    asked: list[dict[str, Any]] = []

    def broker(message: dict[str, Any], descriptor: int | None) -> Any:
        asked.append(message | {"size": os.fstat(descriptor).st_size if descriptor is not None else None})
        return {"value": 7}

    body = "open('/tmp/x', 'w').write('four'); return {'entries': [ctx.trash('/a'), ctx.put('/b', '/tmp/x')]}"
    assert reply(pool.run(job(body), broker)) == [7, 7]
    assert [(each["op"], each["path"], each["size"]) for each in asked] == [("trash", "/a", None), ("put", "/b", 4)]


def test_what_the_broker_raises_ends_the_call(pool: Pool) -> None:
    def broker(*_: Any) -> Any:
        raise KeyError("no")

    with pytest.raises(KeyError):
        pool.run(job("ctx.trash('/a')"), broker)
    assert reply(pool.run(ECHO, refuse)) == [1]


def test_a_child_serves_one_call(pool: Pool) -> None:
    body = "import builtins; seen = getattr(builtins, 'seen', 0); builtins.seen = 1; return {'entries': [seen]}"
    assert [reply(pool.run(job(body), refuse)) for _ in range(5)] == [[0]] * 5


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_an_idle_child_that_dies_is_replaced(pool: Pool, how: int) -> None:
    pool.run(ECHO, refuse)
    _, _, idle = parts(pool)
    assert idle
    for pid in idle:
        os.kill(pid, how)
    assert reply(pool.run(ECHO, refuse)) == [1]
    assert reply(pool.run(ECHO, refuse)) == [1]


def test_many_idle_children_that_die_are_replaced() -> None:
    with contextlib.closing(Pool(warm=6)) as pool:
        pool.run(ECHO, refuse)
        assert eventually(lambda: len(parts(pool)[2]) == 6)
        for pid in parts(pool)[2]:
            os.kill(pid, signal.SIGKILL)
        assert reply(pool.run(ECHO, refuse)) == [1]


def _killing(pool: Pool, part: int) -> Ended:
    """Make a call and kill something under it while it waits for an answer."""
    pool.run(ECHO, refuse)
    begun, killed = threading.Event(), threading.Event()

    def broker(*_: Any) -> Any:
        begun.set()
        assert killed.wait(60)
        return {"value": 0}

    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(pool.run, SLOW, broker)
        try:
            assert begun.wait(60)
            found = parts(pool)[part]
            pids = found if isinstance(found, list) else [found]
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):  # the child of the call before
                    os.kill(pid, signal.SIGKILL)
            assert eventually(lambda: all(map(gone, pids)))
        finally:
            killed.set()
        return slow.result(timeout=60)


@pytest.mark.parametrize("part", [2, 1, 0], ids=["the children", "the zygote", "bubblewrap"])
def test_a_call_whose_sandbox_is_killed_ends_and_the_next_one_works(pool: Pool, part: int) -> None:
    ended = _killing(pool, part)
    # Whoever kills a parent may leave the rest for a moment.
    assert ended.message is None or (part != 2 and reply(ended) == ["slow"])
    assert not ended.hostile
    assert reply(pool.run(ECHO, refuse)) == [1]


def test_a_zygote_that_died_between_two_calls_is_replaced(pool: Pool) -> None:
    for which in (0, 1):
        pool.run(ECHO, refuse)
        pid = parts(pool)[:2][which]
        os.kill(pid, signal.SIGKILL)
        assert eventually(lambda pid=pid: gone(pid))
        assert reply(pool.run(ECHO, refuse)) == [1]


@pytest.mark.parametrize("cold", [False, True])
def test_eight_threads_share_a_pool(cold: bool) -> None:
    with contextlib.closing(Pool(warm=2)) as pool, ThreadPoolExecutor(8) as threads:
        bodies = [job(f"time.sleep(0.01); return {{'entries': [{number}]}}") for number in range(16)]
        ended = list(threads.map(lambda each: pool.run(each, refuse, cold=cold), bodies))
    assert [reply(each) for each in ended] == [[number] for number in range(16)]


def test_a_call_within_a_call(pool: Pool) -> None:
    def broker(*_: Any) -> Any:
        return {"value": reply(pool.run(ECHO, refuse))}

    assert reply(pool.run(job("return {'entries': [ctx.call('x', {})]}"), broker)) == [[1]]


def test_closing_ends_everything_and_a_closed_pool_starts_again(pool: Pool) -> None:
    pool.run(ECHO, refuse)
    bwrap, zygote, below = parts(pool)
    pool.close()
    pool.close()
    assert all(eventually(lambda pid=pid: gone(pid)) for pid in (bwrap, zygote, *below))
    assert reply(pool.run(ECHO, refuse)) == [1]


def test_closing_under_a_running_call_ends_it(pool: Pool) -> None:
    pool.run(ECHO, refuse)
    with running(pool) as slow:
        pool.close()
        assert slow.result(timeout=60).message is None


def test_a_fork_gets_sandboxes_of_its_own(pool: Pool) -> None:
    pool.run(ECHO, refuse)
    before = parts(pool)[:2]

    def work() -> Any:
        got = reply(pool.run(ECHO, refuse))
        mine = parts(pool)[:2]
        pool.close()
        return got, mine

    ((got, theirs),) = at_once([work])
    assert got == [1]
    assert set(theirs).isdisjoint(before)
    assert reply(pool.run(ECHO, refuse)) == [1]
    assert parts(pool)[:2] == before


def test_when_its_process_dies_nothing_is_left() -> None:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            pool = Pool(warm=2)
            pool.run(ECHO, refuse)
            bwrap, zygote, below = parts(pool)
            with running(pool):
                os.write(writer, " ".join(map(str, (bwrap, zygote, *below, *parts(pool)[2]))).encode())
                time.sleep(600)
        os._exit(0)
    os.close(writer)
    try:
        pids = [int(word) for word in os.read(reader, 1000).split()]
    finally:
        os.close(reader)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert len(pids) >= 4
    assert all(eventually(lambda pid=pid: gone(pid)) for pid in pids)


def test_a_missing_bubblewrap_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SandboxError) as caught:
        Pool(str(tmp_path / "none")).run(ECHO, refuse)
    assert "config set sandbox.bwrap" in caught.value.fix


def _open() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


BROKEN = {
    "says why and ends": "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
    "ends": "#!/bin/sh\nexit 3\n",
    "hangs": "#!/bin/sh\nexec sleep 60\n",
    "is no program": "nonsense",
    "does not say what it started": "#!/bin/bash\nargs=()\nwhile [ $# -gt 0 ]; do\n  if [ \"$1\" = --info-fd ]; then\n"
    "    eval \"echo nonsense >&$2; exec $2>&-\"; shift 2\n  else args+=(\"$1\"); shift; fi\ndone\n"
    f"exec {find_bwrap('')} \"${{args[@]}}\"\n",
}  # fmt: skip


@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("how", BROKEN)
def test_a_start_that_breaks_is_an_error_and_leaves_nothing(
    script: Callable[[str], Path], how: str, cold: bool
) -> None:
    script(BROKEN[how])
    pool = Pool(timeout_s=0.5 if how == "hangs" else 60.0)
    before, processes = _open(), living(os.getpid())
    with pytest.raises(SandboxError) as caught:
        pool.run(ECHO, refuse, cold=cold)
    assert caught.value.fix
    assert eventually(lambda: living(os.getpid()) <= processes)
    assert _open() <= before
    if how == "says why and ends":
        assert "sysctl" in caught.value.fix


SLEEP = "import time; time.sleep(60)"


def test_a_start_that_hangs_inside_leaves_nothing(script: Callable[[str], Path]) -> None:
    """Bubblewrap itself is well, and what it started says nothing: its first process must not be left behind."""
    mark = f"60.{os.getpid()}"
    text = f"#!/bin/bash\nargs=()\nwhile [ \"$1\" != -- ]; do args+=(\"$1\"); shift; done\n" \
           f"exec {find_bwrap('')} \"${{args[@]}}\" -- {this_python().program} -ISc '{SLEEP}' {mark}\n"  # fmt: skip

    def left() -> list[int]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if mark.encode() in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found

    script(text)
    with pytest.raises(SandboxError, match="in time"):
        Pool(timeout_s=0.5).run(ECHO, refuse)
    try:
        assert eventually(lambda: not left())
    finally:
        for pid in left():
            os.kill(pid, signal.SIGKILL)


def test_calls_leave_no_descriptor_and_no_process_behind() -> None:
    with contextlib.closing(Pool(warm=1)) as pool:
        pool.run(ECHO, refuse)
        before, processes = _open(), living(os.getpid())
        for body in ("return {'entries': []}", "1 / 0", "os._exit(3)", "os.close(3)", "time.sleep(600)"):
            for cold in (False, True):
                pool.run(job(body, wall_s=0.3), refuse, cold=cold)
        assert eventually(lambda: _open() <= before)
        assert eventually(lambda: living(os.getpid()) == processes)


def test_walls_that_cannot_be_built_are_an_error(pool: Pool) -> None:
    with pytest.raises(SandboxError, match="the walls could not be built"):
        pool.run(job("return {'entries': []}", binds=("/nonexistent/folder",)), refuse)
    assert reply(pool.run(ECHO, refuse)) == [1]


@pytest.mark.parametrize(
    ("body", "walls", "check"),
    [
        ("time.sleep(600)", {"wall_s": 0.2}, lambda ended: ended.timed_out),
        ("return {'entries': ['x' * 3000]}", {"output_bytes": 1000}, lambda ended: ended.too_much),
        ("os._exit(3)", {}, lambda ended: ended.exit_code == 3),
        ("import ctypes; ctypes.CDLL(None).syscall(101, 0, 0, 0, 0)", {}, lambda ended: ended.hostile),
        ("import ctypes; ctypes.string_at(0)", {}, lambda ended: ended.signal == signal.SIGSEGV),
        ("x = 1 / 0", {}, lambda ended: ended.message["error"] == "ZeroDivisionError"),
        ("raise SystemExit", {}, lambda ended: ended.message["error"] == "SystemExit"),
        ("open('/nowhere/else')", {}, lambda ended: ended.reached == ["/nowhere/else"]),
    ],
)
@pytest.mark.parametrize("cold", [False, True])
def test_how_a_call_ended_is_told(pool: Pool, body: str, walls: dict[str, Any], check: Any, cold: bool) -> None:
    ended = pool.run(job(body, **walls), refuse, cold=cold)
    assert check(ended), ended


RUN = """
    import subprocess
    done = subprocess.run(args["line"], input=b"b\\na\\n", capture_output=True, cwd="/tmp")
    folder = os.path.dirname(args["line"][0])
    return {"entries": [done.returncode, done.stdout.decode().split(), done.stderr.decode()[-200:], os.listdir(folder)]}
"""


@pytest.mark.parametrize("words", ["/usr/bin/sort", "python", "/usr/bin/perl -ne print", "/usr/bin/file -b -"])
def test_a_named_program_works_and_nothing_beside_it_is_there(pool: Pool, words: str) -> None:
    """With the libraries and the data that it needs; a Python of its own has its standard library."""
    line = words.split(" ")
    if words == "python":
        line = [str(this_python().program), "-Sc", "import json, sys; sys.stdout.write(sys.stdin.read())"]
    program = Path(line[0])
    if not program.is_file() or program.is_symlink():
        pytest.skip(f"no {program}")
    made = Job(
        job(RUN.strip()).code, {"line": line}, CONTEXT, Walls(wall_s=60.0, ram_mb=1024, programs=(str(program),))
    )
    code, said, complained, beside = reply(pool.run(made, refuse))
    assert (code, complained) == (0, "")
    assert said in (["a", "b"], ["b", "a"]) or "ASCII" in said
    assert beside == [program.name]


HOG = """
    import signal
    bound = bytearray(args["shared"] << 20)
    with open("/tmp/x", "wb") as file:
        for _ in range(args["files"]):
            file.write(bytes(1 << 20))
    reader, writer = os.pipe()

    def fork():
        for _ in range(args["forks"]):
            if os.fork() == 0:
                own = bytearray(args["each"] << 20)
                ctx._talk._socket.close()
                os.write(writer, b"x")
                while True:
                    signal.sigwait({signal.SIGTERM})

    if args["threaded"]:  # by a thread that lives on: the children of one that ended are the main one's
        import threading
        threading.Thread(target=lambda: (fork(), threading.Event().wait()), daemon=True).start()
    else:
        fork()
    had = 0
    while had < args["forks"]:
        had += len(os.read(reader, 100))
    ctx.trash("/ready")
    return {"entries": ["lived"]}
"""


def hog(forks: int, each: int, *, shared: int = 0, files: int = 0, ram_mb: int = 256, threaded: bool = False) -> Job:
    """A call that starts processes, each with so many MB of its own, and then asks for something."""
    walls = Walls(wall_s=60.0, ram_mb=ram_mb, programs=(str(this_python().program),))
    args = {"forks": forks, "each": each, "shared": shared, "files": files, "threaded": threaded}
    return Job(job(HOG.strip()).code, args, CONTEXT, walls)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any], int | None], Any]:
    """A broker that answers after several looks at the memory, or when one of them found too much."""
    really, looked, found = MemoryWatch._is_too_much, threading.Condition(), [False]

    def look(self: MemoryWatch) -> bool:
        too_much = really(self)
        with looked:
            found.append(too_much)
            looked.notify_all()
        return too_much

    def answer(_: dict[str, Any], __: int | None) -> Any:
        with looked:
            before = len(found)
            assert looked.wait_for(lambda: found[-2:] == [True, True] or len(found) >= before + 3, 60)
        return {"value": 0}

    monkeypatch.setattr(MemoryWatch, "_is_too_much", look)
    monkeypatch.setattr(cgroup, "hold", lambda *_: None)
    return answer


def test_the_memory_of_all_processes_of_a_call_counts_together(pool: Pool, patient: Broker) -> None:
    ended = pool.run(hog(12, 100), patient)
    assert (ended.message, ended.too_much_memory) == (None, True)


def test_processes_that_a_thread_started_count_too(pool: Pool, patient: Broker) -> None:
    assert pool.run(hog(12, 40, threaded=True), patient).too_much_memory


def test_memory_that_processes_share_counts_once(pool: Pool, patient: Broker) -> None:
    assert reply(pool.run(hog(6, 1, shared=100), patient)) == ["lived"]
    assert pool.run(hog(6, 30, shared=100), patient).too_much_memory


def test_the_kernel_counts_together_where_it_may(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    if cgroup.find_hierarchy() is None:
        pytest.skip("no cgroup can be made here")
    monkeypatch.setattr(MemoryWatch, "_is_too_much", lambda _: False)
    held = []
    really = cgroup.hold

    def hold(pids: Iterable[int], most: int) -> cgroup.MemoryGroup | None:
        held.append(really(pids, most))
        return held[-1]

    monkeypatch.setattr(cgroup, "hold", hold)
    assert reply(pool.run(hog(4, 30), lambda *_: {"value": 0})) == ["lived"]
    assert pool.run(hog(12, 100), lambda *_: {"value": 0}).too_much_memory
    pool.close()
    assert [group.folder.exists() for group in held if group] == [False, False]


def test_without_the_count_each_process_has_its_limit_alone() -> None:
    with contextlib.closing(Pool(warm=0, without=frozenset({"limit memory"}))) as weak:
        assert reply(weak.run(hog(4, 40, ram_mb=128), refuse)) == ["lived"]


def test_what_lies_in_tmp_counts_too(pool: Pool, patient: Broker) -> None:
    assert reply(pool.run(hog(1, 30, files=10, ram_mb=96), patient)) == ["lived"]
    assert pool.run(hog(1, 45, files=60, ram_mb=96), patient).too_much_memory


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_count_that_cannot_be_made_ends_the_call(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: MemoryWatch) -> bool:
        raise OSError

    monkeypatch.setattr(MemoryWatch, "_is_too_much", fail)
    walls = {"programs": (str(this_python().program),)}
    assert pool.run(job("time.sleep(600)", **walls), refuse).too_much_memory


def test_a_call_without_programs_is_not_watched(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MemoryWatch", None)
    assert reply(pool.run(ECHO, refuse)) == [1]
    assert reply(pool.run(ECHO, refuse, cold=True)) == [1]


def test_nobody_waits_for_one_that_asks_and_never_listens(pool: Pool) -> None:
    """The answers fill its channel: whoever writes them must give up when the call's time is over."""
    body = (
        'import struct; line = ctx._talk._socket; line.settimeout(0.2); q = b\'{"op":"x"}\';'
        " q = struct.pack('!I', len(q)) + q\n    try:\n        while True:\n            line.sendall(q * 100)\n"
        "    except OSError:\n        time.sleep(600)"
    )
    with ThreadPoolExecutor(1) as threads:
        made = threads.submit(pool.run, job(body, wall_s=0.3), lambda *_: {"value": "x" * 1000})
        try:
            assert made.result(timeout=60).timed_out
        finally:
            pool.close()


def test_starting_and_stopping_is_told(pool: Pool) -> None:
    told: list[tuple[str, int]] = []
    pool.on_start = lambda pid: told.append(("start", pid))
    pool.on_stop = lambda pid: told.append(("stop", pid))
    pool.run(ECHO, refuse, cold=True)
    assert [what for what, _ in told] == ["start", "stop"]
    pool.run(ECHO, refuse)
    pool.close()
    assert [what for what, _ in told] == ["start", "stop"] * 2
    assert told[0][1] == told[1][1] != told[2][1] == told[3][1]


@pytest.mark.parametrize("cold", [False, True])
def test_the_time_of_the_broker_is_not_the_childs(pool: Pool, monkeypatch: pytest.MonkeyPatch, cold: bool) -> None:
    def answer_slowly(message: dict[str, Any], _: int | None) -> Any:
        time.sleep(1.5)
        return {"value": message["op"]}

    assert reply(pool.run(job("ctx.trash('/x'); return {'entries': ['slow']}", wall_s=1), answer_slowly, cold=cold))
    assert pool.run(job("ctx.trash('/x'); time.sleep(600)", wall_s=1), answer_slowly, cold=cold).timed_out
    monkeypatch.setattr(pools, "_LONGEST_ANSWERS_S", 0.1)
    assert pool.run(SLOW_CHILD, answer_slowly, cold=cold).timed_out
