"""Attacks by kernel call: on other processes, on what the walls are made of, and on the kernel itself."""

import contextlib
import ctypes
import os
from collections.abc import Iterator

from escape import outside, weaken
from escape.world import Attack, Scene, said

FAMILY = "kernel"
RUN = "def run(args, ctx):\n    return say({})"
# Root's rights, Landlock and the filter stand one behind the other before most calls of this kind.
ROOT = "uid, rights, landlock"


def calls(name: str, holds: str, words: str, wins: str, without: str = "", **more: object) -> Attack:
    return Attack(name, FAMILY, holds, RUN.format(words), escaped=said(wins), without=without, **more)  # type: ignore[arg-type]


PTRACE = """
def run(args, ctx):
    pid, address = @pid@, @address@
    seize, peek, interrupt = 0x4206, 2, 0x4207
    if call(101, seize, pid, 0, 0) < 0:
        return say("refused")
    call(101, interrupt, pid, 0, 0)
    call(61, pid, 0, 0x40000000, 0)
    words = ctypes.create_string_buffer(32)
    for at in range(0, 32, 8):
        call(101, peek, pid, address + at, ctypes.c_void_p(ctypes.addressof(words) + at))
    return say(words.raw)
"""
VM_READ = """
def run(args, ctx):
    got = ctypes.create_string_buffer(32)
    local = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(got), 32))
    remote = ctypes.create_string_buffer(struct.pack("QQ", @address@, 32))
    return say(call(310, @pid@, local, 1, remote, 1, 0), got.raw)
"""
PIDFD = """
def run(args, ctx):
    at = call(434, @pid@, 0)
    taken = call(438, at, 0, 0)
    return say("took " + "it" if taken >= 0 else (at, taken))
"""
KEYS = """
def run(args, ctx):
    session, search, read = -3, 10, 11
    key = call(250, search, session, b"user", b"escape", 0)
    text = ctypes.create_string_buffer(99)
    call(250, read, key, text, 99)
    return say(key, text.raw)
"""
ADD_KEY = """
def run(args, ctx):
    got = call(248, b"user", b"planted", b"x", 1, -3)
    return say("added " + "it" if got > 0 else got)
"""
SETNS = """
def run(args, ctx):
    peer_pidfd, ipc = 77, 0x08000000
    zygote = ctx._talk._socket.getsockopt(1, peer_pidfd)
    got = call(308, zygote, ipc)
    return say("entered " + "it" if got == 0 else got)
"""
CLONE3 = """
def run(args, ctx):
    flags = {flags}
    got = call(435, ctypes.create_string_buffer(struct.pack("Q" * 11, flags, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)), 88)
    if got == 0:
        os._exit(0)
    return say("made " + "one" if got > 0 else got)
"""
CLONE = """
def run(args, ctx):
    got = call(56, 0x10000000 | 17, 0, 0, 0, 0)
    if got == 0:
        os._exit(0)
    return say("made " + "one" if got > 0 else got)
"""
BECOME = """
def run(args, ctx):
    call({number}, *{words})
    return say("uid is " + str(os.getuid()), "gid is " + str(os.getgid()))
"""
CAPSET = """
def run(args, ctx):
    wanted = 1 << 21
    header = ctypes.create_string_buffer(struct.pack("II", 0x20080522, 0))
    data = ctypes.create_string_buffer(struct.pack("IIIIII", wanted, wanted, 0, 0, 0, 0))
    return say("raised " + "it" if call(126, header, data) == 0 else "no")
"""
# mov eax, NUMBER; then the instruction; ret
MACHINE = """
def run(args, ctx):
    import mmap
    memory = mmap.mmap(-1, 4096, prot=7)
    memory.write(bytes.fromhex("{code}"))
    enter = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    got = enter()
    return say("entered " + "it" if got > 0 else got)
"""
# A program of two calls: write a reply to the channel, end.
PROGRAM = """
import fcntl

def program():
    words = frame({"op": "result", "reply": {"entries": [{"said": "executed " + "it"}]}})
    start = 0x400000 + 120
    code = b"\\xb8\\x01\\0\\0\\0\\xbf\\x03\\0\\0\\0\\x48\\xbe" + struct.pack("<Q", start + 38)
    code += b"\\xba" + struct.pack("<I", len(words)) + b"\\x0f\\x05\\xb8\\x3c\\0\\0\\0\\x31\\xff\\x0f\\x05"
    code = code.ljust(38, b"\\x90") + words
    head = b"\\x7fELF\\2\\1\\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    size = 120 + len(code)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 4096) + code

def keep_channel():
    fcntl.fcntl(3, fcntl.F_SETFD, 0)
"""
MEMFD = (
    PROGRAM
    + """
def run(args, ctx):
    keep_channel()
    at = call(319, b"x", 0)
    tried(lambda: os.write(at, program()))
    return say(call(322, at, b"", None, None, 0x1000))
"""
)
TMP_PROGRAM = (
    PROGRAM
    + """
def run(args, ctx):
    keep_channel()
    with open("/tmp/program", "wb") as file:
        file.write(program())
    os.chmod("/tmp/program", 0o755)
    return say(*tried(lambda: os.execv("/tmp/program", ["program"])))
"""
)
BOX_PROGRAM = (
    PROGRAM
    + """
def run(args, ctx):
    keep_channel()
    return say(*tried(lambda: os.execv("@box@/program", ["program"])))
"""
)
SYSTEM_PROGRAM = (
    PROGRAM
    + """
def run(args, ctx):
    os.dup2(3, 1)
    words = frame({"op": "result", "reply": {"entries": [{"said": "executed " + "it"}]}})
    text = "".join("\\\\x%02x" % byte for byte in words)
    return say(*tried(*[lambda at=at: os.execv(at, ["printf", text]) for at in ("/usr/bin/printf", "/bin/printf")]))
"""
)
MOUNT = RUN.format('"mounted " + "it" if call(165, b"t", b"/tmp", b"tmpfs", 0, 0) == 0 else "no"')
PIVOT = RUN.format('"pivot " + str(call(155, b"/tmp", b"/tmp"))')
CHROOT = RUN.format('"chroot " + str(call(161, b"/usr"))')
LISTENER = """
def run(args, ctx):
    code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FC00000))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
    new_listener = 8
    got = call(317, 1, new_listener, program)
    if got > 0:
        os.write(3, b"")
    return say("listens " + "now" if got > 0 else got)
"""
PERF = """
def run(args, ctx):
    wanted = ctypes.create_string_buffer(struct.pack("IIQ", 1, 128, 1) + bytes(112))
    got = call(298, wanted, 0, -1, -1, 0)
    return say("perf " + "works" if got >= 0 else got)
"""
# The kernel drops an argument's upper half; a filter that compares the whole must not be fooled by it.
LEASE = """
def run(args, ctx):
    open("/tmp/held", "w").close()
    at = os.open("/tmp/held", os.O_RDONLY)
    set_lease, reading = 1024, 0
    got = [call(72, at, high << 32 | set_lease, reading) for high in (0, 1, 0x80000000)]
    return say("leased " + "it" if 0 in got else got)
"""
SOCKET_FILTER = """
def run(args, ctx):
    code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
    one, _ = socket.socketpair()
    attach, level = 26, 1
    at, upper = one.fileno(), (0, 1 << 32)
    got = [call(54, at, left | level, right | attach, program, 16) for left in upper for right in upper]
    return say("attached " + "it" if 0 in got else got)
"""
PEER = """
def run(args, ctx):
    peer_pidfd = 77
    got = tried(lambda: ctx._talk._socket.getsockopt(1, peer_pidfd))[0]
    return say("peer is " + "open" if isinstance(got, int) else got)
"""
URGENT = """
def run(args, ctx):
    one, other = socket.socketpair()
    got = tried(lambda: one.send(b"x", socket.MSG_OOB))[0]
    return say("urgent " + "sent" if got == 1 else got)
"""
MERGED = """
def run(args, ctx):
    import mmap
    memory = mmap.mmap(-1, 1 << 16)
    at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    mergeable, page_out = 12, 21
    got = [call(28, at, 1 << 16, high << 32 | advice) for high in (0, 1) for advice in (mergeable, page_out)]
    return say("advised " + "it" if 0 in got else got)
"""


@contextlib.contextmanager
def session_key(scene: Scene) -> Iterator[None]:
    """A key in the session keyring of the Metnos process, which every process that it starts inherits."""
    outside.LIBC.syscall(250, 1, None)
    key = outside.LIBC.syscall(248, b"user", b"escape", scene.secret.encode(), len(scene.secret), ctypes.c_int(-3))
    assert key > 0
    possessor_all = 0x3F3F0000
    outside.LIBC.syscall(250, 5, key, possessor_all)
    yield


def _box_program(scene: Scene) -> None:
    facts: dict[str, object] = {}
    prelude = (
        "import struct, json\ndef frame(m):\n    b = json.dumps(m).encode()\n    return struct.pack('!I', len(b)) + b\n"
    )
    exec(prelude + PROGRAM, facts)
    path = scene.box / "program"
    path.write_bytes(facts["program"]())  # type: ignore[operator]
    path.chmod(0o755)
    assert os.access(path, os.X_OK)


ATTACKS = (
    # The process is out of sight in its own namespace; the filter and Landlock stand behind.
    # An ordinary user's sandbox is a user namespace, whose processes the kernel never lets trace one outside.
    Attack("ptrace", FAMILY, "no process outside can be traced", PTRACE, setup=outside.process,
           without="pid, landlock, call ptrace", only_root="control"),
    Attack("process_vm_readv", FAMILY, "no process outside can be read", VM_READ, setup=outside.process,
           without="pid, landlock, call process_vm_readv", only_root="control"),
    Attack("pidfd_getfd", FAMILY, "no descriptor can be taken from a process outside", PIDFD, setup=outside.process,
           escaped=said("took it"), without="pid, landlock", weaken=weaken.no_filter, only_root="control"),
    Attack("session keyring", FAMILY, "the owner's keys are in another session", KEYS, setup=session_key,
           without="keyring, call keyctl"),
    Attack("add_key", FAMILY, "no key can be left in the kernel", ADD_KEY, escaped=said("added it"),
           without="call add_key"),
    calls("io_uring", "there is no second way to make kernel calls",
          '(lambda got: ("ring " + str(got >= 0), got))(call(425, 4, ctypes.create_string_buffer(120)))',
          "ring True", "call io_uring_setup, limit RLIMIT_MEMLOCK"),
    calls("user namespace", "no new user namespace, which would give all rights in it",
          '"unshared " + str(call(272, 0x10000000))', "unshared 0", "call unshare"),
    Attack("clone", FAMILY, "no process in a new user namespace", CLONE, escaped=said("made one"),
           without="call unshare"),
    Attack("clone3", FAMILY, "the newer call makes no process either", CLONE3.format(flags=0),
           escaped=said("made one"), weaken=weaken.no_filter),
    Attack("clone3 namespace", FAMILY, "nor a user namespace", CLONE3.format(flags="0x10000000"),
           escaped=said("made one"), weaken=weaken.no_filter),
    Attack("setns", FAMILY, "the zygote's namespaces cannot be entered through its descriptor", SETNS,
           escaped=said("entered it"), without=f"call setns, call getsockopt, {ROOT}"),
    Attack("peer", FAMILY, "no handle on the process at the other end of its channel", PEER,
           escaped=said("peer is open"), without="call getsockopt"),
    Attack("lease", FAMILY, "no lease holds up others who open a file", LEASE, escaped=said("leased it"),
           without="call fcntl"),
    Attack("socket filter", FAMILY, "no program is put before a socket", SOCKET_FILTER, escaped=said("attached it"),
           without="call setsockopt"),
    Attack("urgent byte", FAMILY, "no urgent bytes, whose handling was a way into the kernel", URGENT,
           escaped=said("urgent sent"), without="call sendto"),
    Attack("merged pages", FAMILY, "pages are not merged with those of others, nor thrown out", MERGED,
           escaped=said("advised it"), without="call madvise"),
    Attack("mount", FAMILY, "nothing can be mounted", MOUNT, escaped=said("mounted it"), without=f"call mount, {ROOT}"),
    calls("open_tree", "no mount can be copied", '"tree " + str(call(428, -100, b"/usr", 1) >= 0)', "tree True",
          f"call open_tree, {ROOT}"),
    calls("fsopen", "no file system can be opened", '"opened " + str(call(430, b"tmpfs", 0) >= 0)', "opened True",
          f"call fsopen, {ROOT}"),
    Attack("pivot_root", FAMILY, "its root cannot be put aside", PIVOT, escaped=said("pivot 0"),
           without=f"call pivot_root, {ROOT}"),
    Attack("chroot", FAMILY, "its root cannot be changed", CHROOT, escaped=said("chroot 0"),
           without=f"call chroot, {ROOT}",
           weaken=weaken.command("--cap-add CAP_SYS_ADMIN", "--cap-add CAP_SYS_ADMIN --cap-add CAP_SYS_CHROOT")),
    *(Attack(f"become root by {name}", FAMILY, "it is not root and does not become it",
             BECOME.format(number=number, words=words), escaped=said("uid is 0"), without=f"call {name}, {ROOT}",
             only_root="control")
      for name, number, words in (("setuid", 105, "(0,)"), ("setresuid", 117, "(0, 0, 0)"))),
    Attack("capset", FAMILY, "no right can be raised", CAPSET, escaped=said("raised it"),
           without=f"call capset, {ROOT}"),
    calls("prctl", "it cannot make itself traceable again", '"dumpable " + str(call(157, 4, 1, 0, 0, 0))', "dumpable 0",
          "call prctl"),
    Attack("seccomp listener", FAMILY, "it cannot install filters that answer its own calls", LISTENER,
           escaped=said("listens now"), without="call seccomp", no_control="a listener stops every further call"),
    calls("bpf", "no program can be put into the kernel",
          '"map " + str(call(321, 0, ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 4, 1) + bytes(104)), 120))',
          "map 4", f"call bpf, {ROOT}", only_root="control"),
    Attack("perf_event_open", FAMILY, "nothing can be measured", PERF, escaped=said("perf works"),
           without=f"call perf_event_open, {ROOT}", only_root="control"),
    calls("userfaultfd", "page faults cannot be held up", '"fault " + str(call(323, 1) >= 0)', "fault True",
          "call userfaultfd"),
    Attack("int 0x80", FAMILY, "the 32-bit way into the kernel is closed", MACHINE.format(code="b814000000cd80c3"),
           escaped=said("entered it"), weaken=weaken.no_filter),
    Attack("x32", FAMILY, "the x32 way into the kernel is closed", MACHINE.format(code="b8270000400f05c3"),
           escaped=said("entered it"), no_control="this kernel has no x32, so nothing can show it open"),
    # The filter and Landlock.
    Attack("memfd program", FAMILY, "what is written in memory is not executed", MEMFD, escaped=said("executed it"),
           without="landlock", weaken=weaken.no_filter),
    # The filter, Landlock and the mount's flag.
    Attack("own program", FAMILY, "what is written to /tmp is not executed", TMP_PROGRAM, escaped=said("executed it"),
           without="landlock, call execve",
           weaken=weaken.inside("kernel", "nosuid_nodev_noexec = 2 | 4 | 8", "nosuid_nodev_noexec = 2 | 4")),
    Attack("program in the box", FAMILY, "what lies in the box is not executed", BOX_PROGRAM,
           capabilities='fs.read = ["@box@/**"]', setup=outside.made(_box_program), escaped=said("executed it"),
           without="landlock, call execve", weaken=weaken.programs_in_data),
    # Nothing to execute is in sight, the filter and Landlock.
    Attack("system program", FAMILY, "no program of the system is executed", SYSTEM_PROGRAM,
           escaped=said("executed it"), without="hiding, landlock, call execve"),
    calls("kexec and modules", "no kernel or module is loaded", '"module " + str(call(313, 0, b"", 0))', "module -8",
          f"call finit_module, {ROOT}", no_control="its control would load a module"),
    calls("reboot", "the machine is not stopped", '"reboot " + str(call(169, 0, 0, 0, None))', "reboot 0",
          no_control="its control would have to be a real one"),
)  # fmt: skip
