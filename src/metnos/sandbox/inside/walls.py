"""Builds the walls around one call and steps inside them for good.

Two halves. `prepare` needs no knowledge of the call and is done ahead of time: a root of its own, holding the system's
libraries and one Python, all read-only, and a bounded private /tmp. `confine` comes with the call: it adds what that
may read, leaves the old root behind, gives up every right and sets the limits. After it there is nothing of the host in
this mount namespace but what was named, and no way to get a right back. Any failure on the way ends the process: code
must not run inside half a wall.
"""

from __future__ import annotations

import os
import stat

from metnos.sandbox.inside import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing it would double the time of a cold start
    from typing import Any

HOST = "/host"  # where the zygote sees the machine; no child does
_NEW_ROOT = "/new"
_EMPTY_FILE = "/.empty"
_AS_IT_IS = 0
_SYSTEM_FLAGS = kernel.READ_ONLY | kernel.NO_SETUID | kernel.NO_DEVICES
_MASK_FLAGS = _SYSTEM_FLAGS | kernel.NO_PROGRAMS
_ROOT_BYTES, _ROOT_FILES, _TMP_FILES = 4 << 20, 65536, 8192

# Landlock's rights (linux/landlock.h): reading files and folders, and everything a version knows.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _DEVICE_IOCTL = 1, 2, 4, 8, 1 << 15
_ALL_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL = (1 << 16) - 1
_TMP_RIGHTS = _ALL & ~(_EXECUTE | _DEVICE_IOCTL | 1 << 6 | 1 << 11)  # no devices are made there


def furnish(config: dict[str, Any]) -> None:
    """Once, in the zygote: cover what is not to be seen and install the filter that every child has from its birth."""
    for folder in config["hidden"]:
        if os.path.isdir(folder):
            _cover(folder)
    if config["filter"]:
        kernel.filter_calls(config["filter"])


def prepare(config: dict[str, Any]) -> int | None:
    """A root for one child, and the rules that will hold in it. Still has the rights to mount; knows no call yet."""
    kernel.mount_tmpfs(_NEW_ROOT, size=_ROOT_BYTES, files=_ROOT_FILES, mode="0755")
    for path in config["system"]:
        _attach("/", path, path, _AS_IT_IS, owners=None)  # bubblewrap made these read-only
    for path, target in config["links"]:
        os.symlink(target, _NEW_ROOT + path)
    _make_empty_file(_NEW_ROOT + _EMPTY_FILE)
    _make_folder(_NEW_ROOT + "/dev")
    _attach("/", "/dev/null", "/dev/null", _AS_IT_IS, owners=None)
    _make_folder(_NEW_ROOT + "/tmp")
    kernel.mount_tmpfs(_NEW_ROOT + "/tmp", size=config["tmp_bytes"], files=_TMP_FILES, mode="1777")
    rules = _landlock_rules(_NEW_ROOT, []) if config["landlock"] else None
    if config["drop_rights"]:
        kernel.forbid_new_rights()
    return rules


def confine(config: dict[str, Any], walls: dict[str, Any], owners: int | None, rules: int | None) -> None:
    """Add what this call may see, step inside, and give everything else up."""
    _show(config, walls, owners)
    if config["new_root"]:
        kernel.enter_root(_NEW_ROOT)
        kernel.restrict_mount("/", config["root_flags"])
    os.chdir("/tmp")
    if config["uid"] is not None:
        _become(config["uid"])
    if config["drop_rights"]:
        kernel.drop_capabilities()
    kernel.die_with_parent()
    if rules is not None:
        # Programs need the right to be executed, which the rules made ahead of time do not give.
        with_programs = _landlock_rules("", walls["programs"]) if walls["programs"] else None
        kernel.landlock_enter(rules if with_programs is None else with_programs)
        os.close(rules)
    for which, most in walls["limits"].items():
        kernel.limit(which, most)
    if walls["filter"]:
        kernel.filter_calls(walls["filter"])


def _show(config: dict[str, Any], walls: dict[str, Any], owners: int | None) -> None:
    """Add what this call names to its root, and cover what is private in it."""
    for path in walls["folders"]:
        _make_folder(_NEW_ROOT + path)
    for path in walls["binds"]:
        _attach(HOST, path, path, config["data_flags"], owners)
    for path in walls["masks"]:
        _mask(path)
    for path, target in walls["beside"]:
        _attach(HOST, path, target, _SYSTEM_FLAGS, owners=None)
    _show_programs(walls["programs"])


def owners_map(uid: int, gid: int) -> int:
    """A user namespace in which the owner's ids read as the unprivileged one, for mounts of the owner's files.

    Only root needs it: its files, bound into the sandbox, must be readable to the uid that it drops to.
    """
    reader, writer = os.pipe()
    pid = kernel.fork_into(kernel.NEW_USERS)
    if pid == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    os.close(reader)
    try:
        process = _host_process(pid)
        _write(f"{process}/uid_map", f"0 {uid} 1")
        _write(f"{process}/gid_map", f"0 {gid} 1")
        return os.open(f"{process}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(writer)
        os.waitpid(pid, 0)


def _host_process(pid: int) -> str:
    """Our child's folder in the host's /proc, where it has another number than here."""
    for name in os.listdir(f"{HOST}/proc/self/task"):
        with open(f"{HOST}/proc/self/task/{name}/children", encoding="ascii") as file:
            for child in file.read().split():
                with open(f"{HOST}/proc/{child}/status", encoding="ascii") as status:
                    numbers = next(line for line in status if line.startswith("NSpid:")).split()
                if numbers[-1] == str(pid) or str(pid) in numbers:
                    return f"{HOST}/proc/{child}"
    raise OSError("the sandbox cannot find its own child")


def _attach(root: str, path: str, place: str, flags: int, owners: int | None) -> None:
    """Bind ``path``, as ``root`` has it, to ``place`` below the new root."""
    at = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    found = kernel.open_beneath(at, path)
    os.close(at)
    is_folder = stat.S_ISDIR(os.fstat(found).st_mode)
    tree = kernel.clone_tree(found)
    if flags != _AS_IT_IS or owners is not None:
        _restrict(tree, flags, owners)
    target = _NEW_ROOT + place
    if is_folder:
        _make_folder(target)
    else:
        _make_folder(os.path.dirname(target))
        _make_empty_file(target)
    kernel.attach_tree(tree, target)
    os.close(found)
    os.close(tree)


def _restrict(tree: int, flags: int, owners: int | None) -> None:
    try:
        kernel.restrict_tree(tree, flags, owners=owners)
    except OSError:
        if owners is None:
            raise
        # A file system that cannot translate owners shows its files as they are: then only what all may read is read.
        kernel.restrict_tree(tree, flags)


def _show_programs(programs: list[str]) -> None:
    """Named programs come into sight, and nothing that lies beside them."""
    for program in programs:
        _attach(HOST, program, program, _SYSTEM_FLAGS, None)


def _cover(folder: str, mode: str = "0755") -> None:
    """Put an empty folder in its place, which cannot be written either: its owner may be who runs inside."""
    kernel.mount_tmpfs(folder, size=4096, files=2, mode=mode)
    kernel.restrict_mount(folder, _MASK_FLAGS)


def _mask(path: str) -> None:
    """Put nothing in the place of something that stays out of sight."""
    target = _NEW_ROOT + path
    if os.path.islink(target) or not os.path.exists(target):
        return
    if os.path.isdir(target):
        _cover(target, mode="0000")
        return
    at = os.open(_NEW_ROOT + _EMPTY_FILE, os.O_PATH | os.O_CLOEXEC)
    tree = kernel.clone_tree(at)
    kernel.restrict_tree(tree, _MASK_FLAGS)
    kernel.attach_tree(tree, target)
    os.close(at)
    os.close(tree)


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if 0 in os.getresuid() or 0 in os.getresgid():
        raise OSError("still root")


def _landlock_rules(root: str, programs: list[str]) -> int | None:
    version = kernel.landlock_version()
    if not version:
        return None
    handled = _ALL_BY_VERSION.get(version, _ALL)
    reading = _READ_FILE | _READ_DIR
    rules = [(root or "/", reading), (f"{root}/tmp", _TMP_RIGHTS), (f"{root}/dev/null", _READ_FILE | _WRITE_FILE)]
    if programs:
        # The loader and the libraries are executed too, by the kernel's reckoning.
        found = [path for path in (*programs, "/usr/lib", "/lib64", "/lib") if os.path.exists(path)]
        rules += [(path, _READ_FILE | _EXECUTE | (_READ_DIR if os.path.isdir(path) else 0)) for path in found]
    return kernel.landlock_rules(handled, rules, network=3 if version >= 4 else 0, scopes=3 if version >= 6 else 0)


def _make_folder(path: str) -> None:
    os.makedirs(path, mode=0o755, exist_ok=True)


def _make_empty_file(path: str) -> None:
    if not os.path.exists(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o000))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
