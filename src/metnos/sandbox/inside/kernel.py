"""The kernel calls that Python has no names for: mounts by descriptor, namespaces, capabilities, Landlock, seccomp.

Rules: each function is one call and raises ``OSError`` when it fails. Numbers are the same on x86_64 and aarch64 for
everything newer than 2018; the few older ones are told apart.
"""

import ctypes
import os
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_ARM = os.uname().machine == "aarch64"

_CLONE = 220 if _ARM else 56
_PIVOT_ROOT = 41 if _ARM else 155
_UMOUNT2 = 39 if _ARM else 166
_MOUNT = 40 if _ARM else 165
_CAPSET = 91 if _ARM else 126
_PRCTL = 167 if _ARM else 157
_SECCOMP = 277 if _ARM else 317
_KEYCTL = 219 if _ARM else 250
_PRLIMIT = 261 if _ARM else 302
_OPEN_TREE, _MOVE_MOUNT, _OPENAT2, _MOUNT_SETATTR = 428, 429, 437, 442
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446

NEW_MOUNTS, NEW_PIDS, NEW_IPC, NEW_USERS = 0x20000, 0x20000000, 0x08000000, 0x10000000
_SIGCHLD = 17
_AT_FDCWD, _EMPTY_PATH, _RECURSIVE, _TREE_CLONE = -100, 0x1000, 0x8000, 1
READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS, _IDMAP = 0x1, 0x2, 0x4, 0x8, 0x00100000
_NO_MAGIC_LINKS, _NO_LINKS, _IN_ROOT = 0x02, 0x04, 0x10


def _call(number: int, *arguments: object) -> int:
    result: int = _LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def fork_into(namespaces: int) -> int:
    """Fork a child into namespaces of its own; 0 in the child, which is process 1 of a new process namespace."""
    api = ctypes.pythonapi
    api.PyOS_BeforeFork()
    pid = _LIBC.syscall(ctypes.c_long(_CLONE), ctypes.c_long(namespaces | _SIGCHLD), 0, 0, 0, 0)
    if pid == 0:
        api.PyOS_AfterFork_Child()
        return 0
    code = ctypes.get_errno()
    api.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(code, os.strerror(code))
    return int(pid)


def mount_tmpfs(target: str, *, size: int, files: int, mode: str) -> None:
    options = f"size={size},nr_inodes={files},mode={mode}".encode()
    nosuid_nodev_noexec = 2 | 4 | 8
    _call(_MOUNT, b"tmpfs", os.fsencode(target), b"tmpfs", ctypes.c_ulong(nosuid_nodev_noexec), options)


def open_beneath(root: int, path: str) -> int:
    """A handle on ``path`` below the folder ``root``; a symbolic link anywhere on the way is refused."""
    how = struct.pack("QQQ", os.O_PATH | os.O_CLOEXEC, 0, _NO_LINKS | _NO_MAGIC_LINKS | _IN_ROOT)
    return _call(_OPENAT2, root, os.fsencode(path), how, len(how))


def clone_tree(descriptor: int) -> int:
    """A detached copy of the mount at a handle, with everything mounted below it."""
    return _call(_OPEN_TREE, descriptor, b"", _EMPTY_PATH | _RECURSIVE | _TREE_CLONE | os.O_CLOEXEC)


def restrict_tree(tree: int, flags: int, *, owners: int | None = None, recursive: bool = True) -> None:
    """Set mount flags on a detached tree; ``owners`` is a user namespace that translates who owns the files."""
    attributes = struct.pack("QQQQ", flags | (_IDMAP if owners is not None else 0), 0, 0, owners or 0)
    how = _EMPTY_PATH | (_RECURSIVE if recursive else 0)
    _call(_MOUNT_SETATTR, tree, b"", how, attributes, len(attributes))


def restrict_mount(path: str, flags: int) -> None:
    attributes = struct.pack("QQQQ", flags, 0, 0, 0)
    _call(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), 0, attributes, len(attributes))


def attach_tree(tree: int, target: str) -> None:
    from_empty_path = 0x4
    _call(_MOVE_MOUNT, tree, b"", _AT_FDCWD, os.fsencode(target), from_empty_path)


def enter_root(folder: str) -> None:
    """Make ``folder`` the root of this mount namespace and let go of everything that was mounted before."""
    os.chdir(folder)
    _call(_PIVOT_ROOT, b".", b".")
    detach = 2
    _call(_UMOUNT2, b".", detach)
    os.chdir("/")


def drop_capabilities() -> None:
    version_3 = 0x20080522
    _call(_CAPSET, struct.pack("II", version_3, 0), struct.pack("IIIIII", 0, 0, 0, 0, 0, 0))


def forbid_new_rights() -> None:
    set_no_new_privileges, set_dumpable = 38, 4
    _call(_PRCTL, set_no_new_privileges, 1, 0, 0, 0)
    _call(_PRCTL, set_dumpable, 0, 0, 0, 0)


def die_with_parent() -> None:
    """End when the zygote ends, whatever that ended by. A change of rights would clear this, so it comes after."""
    set_parent_death_signal, kill = 1, 9
    _call(_PRCTL, set_parent_death_signal, kill, 0, 0, 0)


def leave_keyring() -> None:
    """Join a session keyring of our own, so that the owner's is out of reach before seccomp even comes."""
    join_session = 1
    _call(_KEYCTL, join_session, 0)


def limit(which: int, most: int) -> None:
    """Set a resource limit of this process, for good."""
    _call(_PRLIMIT, 0, which, struct.pack("QQ", most, most), None)


def filter_calls(program: bytes) -> None:
    """Install a seccomp filter given as an array of BPF instructions."""
    instructions = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(instructions))
    set_mode_filter = 1
    _call(_SECCOMP, set_mode_filter, 0, header)


def landlock_version() -> int:
    """The kernel's Landlock version, 0 where it has none."""
    ask_version = 1
    try:
        return _call(_LANDLOCK_CREATE, None, 0, ask_version)
    except OSError:
        return 0


def landlock_rules(handled: int, rules: list[tuple[str, int]], *, network: int, scopes: int) -> int:
    """A set of rules, as a descriptor: for each path the rights that hold at and below it."""
    attributes = struct.pack("QQQ", handled, network, scopes)
    size = 24 if scopes else 16 if network else 8
    ruleset = _call(_LANDLOCK_CREATE, attributes, size, 0)
    for path, rights in rules:
        at = os.open(path, os.O_PATH | os.O_CLOEXEC)
        beneath_path = 1
        _call(_LANDLOCK_ADD, ruleset, beneath_path, struct.pack("=Qi", rights & handled, at), 0)
        os.close(at)
    return ruleset


def landlock_enter(ruleset: int) -> None:
    """Hold this process to a set of rules for good."""
    _call(_LANDLOCK_RESTRICT, ruleset, 0)
