"""Attacks by quantity: processes, memory, disk, time, and what comes out."""

from escape import weaken
from escape.world import PATIENCE_S, Attack, Scene, said
from metnos.executors.outcome import Outcome

FAMILY = "bombs"
FORK = """
def run(args, ctx):
    made = 0
    for _ in range(5):
        try:
            pid = os.fork()
        except OSError:
            break
        if pid == 0:
            time.sleep(600)
            os._exit(0)
        made += 1
    return say("made " + str(made))
"""
THREADS = """
import threading

def run(args, ctx):
    threading.stack_size(65536)
    made = []
    try:
        for _ in range(300):
            thread = threading.Thread(target=time.sleep, args=(600,), daemon=True)
            thread.start()
            made.append(thread)
    except RuntimeError:
        pass
    return say("made 300" if len(made) == 300 else len(made))
"""
MEMORY = """
import mmap

def run(args, ctx):
    return say("got " + str(len(mmap.mmap(-1, 1 << 30))))
"""
PACKED = """
import zlib

def run(args, ctx):
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return say("unpacked " + str(len(zlib.decompressobj(-15).decompress(block * 100))))
"""
DISK = """
def run(args, ctx):
    wrote = 0
    try:
        for number in range(20):
            with open(f"/tmp/{number}", "wb") as file:
                wrote += file.write(bytes(6 << 20))
    except OSError as error:
        return say(error, wrote)
    return say("wrote " + str(wrote))
"""
INODES = """
def run(args, ctx):
    made = 0
    try:
        for number in range(12000):
            os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError as error:
        return say(error)
    return say("made " + str(made))
"""
SPARSE = """
def run(args, ctx):
    with open("/tmp/sparse", "wb") as file:
        file.truncate(1 << 40)
    return say("size " + str(os.stat("/tmp/sparse").st_size))
"""
DESCRIPTORS = """
def run(args, ctx):
    got = []
    try:
        for _ in range(500):
            got.append(os.dup(0))
    except OSError as error:
        return say(error)
    return say("opened " + str(len(got)))
"""
SPIN = """
import hashlib
import threading

def run(args, ctx):
    def work():
        while True:
            hashlib.sha256(bytes(1 << 20)).digest()
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    while time.process_time() < 2.3:
        time.sleep(0.02)
    return say("spun " + "on")
"""
SLEEP = """
import signal

def run(args, ctx):
    for number in set(signal.valid_signals()) - {9, 19}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    time.sleep(600)
    return say("slept " + "on")
"""
REPLY = "def run(args, ctx):\n    return say('x' * (9 << 20))"
LOG = "def run(args, ctx):\n    for _ in range(100):\n        print('x' * 1000)\n    return say('x')"
FORGED_LOG = """
def run(args, ctx):
    ctx._talk.say({"op": "result", "reply": say("x"), "log": "x" * 5000000})
    time.sleep(600)
"""
# It asks and never listens: whoever answers must not wait for it longer than the call may take.
DEAF = """
def run(args, ctx):
    line = ctx._talk._socket
    line.settimeout(0.2)
    question = frame({"op": "write", "path": "nowhere"}) * 100
    try:
        while True:
            line.sendall(question)
    except OSError:
        time.sleep(600)
"""
CHATTER = """
def run(args, ctx):
    line = ctx._talk._socket
    words = frame({"op": "begun"}) * 1000
    ends = time.monotonic() + 600
    while time.monotonic() < ends:
        line.sendall(words)
"""
REACHES = """
def run(args, ctx):
    for number in range(3):
        ctx._talk.say({"op": "reached", "path": "/" + str(number) + "a/" * 50000})
    return say("x")
"""
HALF = """
def run(args, ctx):
    ctx._talk._socket.sendall(struct.pack("!I", 1000) + b"{")
    time.sleep(600)
"""
DRIP = """
def run(args, ctx):
    ctx._talk._socket.sendall(struct.pack("!I", 8000000))
    ends = time.monotonic() + 600
    while time.monotonic() < ends:
        ctx._talk._socket.sendall(b" ")
        time.sleep(0.01)
"""


def _long_log(_: Scene, outcome: Outcome) -> str:
    return f"a log of {len(outcome.log)} characters" if len(outcome.log) > 16_000 else ""


def _large(_: Scene, outcome: Outcome) -> str:
    size = len(str(dict(outcome.reply)))
    return f"a reply of {size} characters" if size > 8 << 20 else ""


def _lasted(scene: Scene, _: Outcome) -> str:
    """It went on until it ended by itself, which is later than its time was over."""
    return "" if all(ended.timed_out for ended in scene.kept["ended"]) else "nobody ended it when its time was over"


def _wordy(scene: Scene, outcome: Outcome) -> str:
    if len(outcome.message) > 5000:
        return f"a message of {len(outcome.message)} characters"
    kept = sum(len(path) for ended in scene.kept["ended"] for path in ended.reached)
    return f"{kept} characters of paths were kept" if kept > 50_000 else ""


WALL = "wall_s = 0.3"
# Without the limit it goes on for longer than that, and then ends by itself.
LASTS = {"control": {"600": "0.6"}, "weaken": weaken.walls(wall_s=PATIENCE_S)}
ATTACKS = (
    Attack("fork", FAMILY, "it has no children", FORK, escaped=said("made 5"), without="call fork"),
    # Two limits: on threads, and on the memory that their stacks take.
    Attack("threads", FAMILY, "it has few threads", THREADS, escaped=said("made 300"),
           without="limit RLIMIT_NPROC, limit RLIMIT_AS"),
    Attack("memory", FAMILY, "it has little memory", MEMORY, escaped=said("got 1073741824"), without="limit RLIMIT_AS"),
    Attack("packed data", FAMILY, "what it unpacks stays within its memory", PACKED, escaped=said("unpacked 104857600"),
           quotas="ram_mb = 96", without="limit RLIMIT_AS"),
    Attack("disk", FAMILY, "its /tmp is small", DISK, escaped=said("wrote 125829120"), without="tmp"),
    Attack("inodes", FAMILY, "its /tmp holds few files", INODES, escaped=said("made 12000"),
           weaken=weaken.inside("walls", "4 << 20, 65536, 8192", "4 << 20, 65536, 65536")),
    Attack("sparse file", FAMILY, "no file is large, not even an empty one", SPARSE, escaped=said("size 1099511627776"),
           without="limit RLIMIT_FSIZE"),
    Attack("descriptors", FAMILY, "it opens few files", DESCRIPTORS, escaped=said("opened 500"),
           without="limit RLIMIT_NOFILE"),
    Attack("spinning", FAMILY, "its CPU time ends, that of its threads included", SPIN, quotas="cpu_s = 1",
           escaped=said("spun on"), without="limit RLIMIT_CPU"),
    Attack("sleeping", FAMILY, "its time ends, whatever signals it ignores", SLEEP, quotas=WALL,
           escaped=said("slept on"), **LASTS),
    Attack("large reply", FAMILY, "a reply is bounded", REPLY, escaped=_large,
           weaken=weaken.walls(output_bytes=64 << 20)),
    Attack("long log", FAMILY, "a log is bounded", LOG, escaped=_long_log,
           weaken=weaken.both(weaken.inside("child", "_MOST_LOG = 16_000", "_MOST_LOG = 1 << 24"), weaken.long_logs)),
    Attack("forged log", FAMILY, "a log is bounded outside, too", FORGED_LOG, escaped=_long_log,
           weaken=weaken.long_logs),
    Attack("deaf", FAMILY, "nobody waits for one that asks and never listens", DEAF, quotas=WALL, escaped=_lasted,
           **LASTS),
    Attack("chatter", FAMILY, "its time ends while it chatters", CHATTER, quotas=WALL, escaped=_lasted, **LASTS),
    Attack("long paths", FAMILY, "what it says that it reached is not kept at any length", REACHES, escaped=_wordy,
           weaken=weaken.long_paths),
    Attack("half a frame", FAMILY, "half a message is not waited for", HALF, quotas=WALL, escaped=_lasted, **LASTS),
    Attack("dripping", FAMILY, "a message that comes byte by byte is not waited for", DRIP, quotas=WALL,
           escaped=_lasted, **LASTS),
)  # fmt: skip
