"""Which kernel calls an executor may make, by name, with their numbers on x86_64 and aarch64.

What is in none of the tables fails inside as "operation not permitted". The hostile ones end the process at once: no
honest program calls them, and a caller is dealt with as an attacker. Those in `JUDGED` work with some arguments only:
what a list does not name is refused, and so is every argument with a bit in its upper half, which the kernel drops from
a number of 32 bits after the filter has seen it.
"""

from dataclasses import dataclass

Numbers = dict[str, tuple[int | None, int | None]]


@dataclass(frozen=True, slots=True)
class ArgumentLimit:
    """One argument of a call: it is one of ``values``, or, if there are none, has no bit that ``bits`` lacks."""

    place: int
    values: tuple[int, ...] = ()
    bits: int = 0


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call that works while all its limits hold."""

    numbers: tuple[int | None, int | None]
    limits: tuple[ArgumentLimit, ...]


HARMLESS: Numbers = {
    "read": (0, 63),
    "write": (1, 64),
    "open": (2, None),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "lseek": (8, 62),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "msync": (26, 227),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pause": (34, None),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "alarm": (37, None),
    "timer_create": (222, 107),
    "timer_settime": (223, 110),
    "timer_gettime": (224, 108),
    "timer_getoverrun": (225, 109),
    "timer_delete": (226, 111),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    "eventfd": (284, None),
    "eventfd2": (290, 19),
    "signalfd": (282, None),
    "signalfd4": (289, 74),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getppid": (110, 173),
    "getpgrp": (111, None),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getgroups": (115, 158),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getpriority": (140, 141),
    "sendfile": (40, 71),
    "shutdown": (48, 210),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "copy_file_range": (326, 285),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "uname": (63, 160),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "sync_file_range": (277, 84),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "rename": (82, None),
    "renameat": (264, 38),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "creat": (85, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "link": (86, None),
    "linkat": (265, 37),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "umask": (95, 166),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "set_tid_address": (218, 96),
    "set_robust_list": (273, 99),
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "getcpu": (309, 168),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
    "restart_syscall": (219, 128),
    "close_range": (436, 436),
}

# Only for an executor whose manifest names programs.
PROGRAMS: Numbers = {
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "setpgid": (109, 154),
    "setsid": (112, 157),
}

HOSTILE: Numbers = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fsconfig": (431, 431),
    "fspick": (433, 433),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "open_by_handle_at": (304, 265),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18),
    "fanotify_init": (300, 262),
}

# Hostile too, but our own code makes them while it builds the walls; the last thing it does is to close this door.
BUILDING: Numbers = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "mount_setattr": (442, 442),
    "setgroups": (116, 159),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}

# A pair of local sockets that can only speak to one another; one for datagrams could be sent anywhere. With and without
# the flags for closing and for not blocking.
_PAIRS = tuple(kind | flags for kind in (1, 5) for flags in (0, 0x800, 0x80000, 0x80800))
# Copies, flags and locks of a descriptor, and the size of a pipe. Not signals to owners, leases and notices, which
# would hold up others who use the file, and not a larger pipe.
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1032)
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # terminal?, size, bytes waiting, blocking, close on exec
_OPTIONS_READ = (3, 4, 7, 8, 20, 21, 30, 38, 39, 66, 67)  # type, error, sizes, patience, listening?, protocol, family
_OPTIONS_SET = (20, 21, 66, 67)  # patience; not filters, credentials and sizes
# Look, wait for all, do not wait, no signal, more to come, whole length, close on exec. Not urgent bytes, which have
# been a way into the kernel.
_MESSAGE_FLAGS = 0x2 | 0x20 | 0x100 | 0x40 | 0x4000 | 0x8000 | 0x40000000
# How pages will be used, and that they are free, stay out of a fork or a dump, or guard a stack. Not pages shared with
# others or thrown out of memory: how long the next use takes would tell what others have in theirs.
_ADVICE = (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23, 102, 103)
# Everything but pages that are locked or huge, which no limit on memory counts.
_MAPPINGS = 0x1 | 0x2 | 0x10 | 0x20 | 0x40 | 0x100 | 0x800 | 0x1000 | 0x4000 | 0x8000 | 0x10000 | 0x20000 | 0x100000

JUDGED: dict[str, JudgedCall] = {
    "socketpair": JudgedCall((53, 199), (ArgumentLimit(0, (1,)), ArgumentLimit(1, _PAIRS))),
    "fcntl": JudgedCall((72, 25), (ArgumentLimit(1, _FCNTLS),)),
    "ioctl": JudgedCall((16, 29), (ArgumentLimit(1, _IOCTLS),)),
    "getsockopt": JudgedCall((55, 209), (ArgumentLimit(1, (1,)), ArgumentLimit(2, _OPTIONS_READ))),
    "setsockopt": JudgedCall((54, 208), (ArgumentLimit(1, (1,)), ArgumentLimit(2, _OPTIONS_SET))),
    "sendto": JudgedCall((44, 206), (ArgumentLimit(3, bits=_MESSAGE_FLAGS),)),
    "sendmsg": JudgedCall((46, 211), (ArgumentLimit(2, bits=_MESSAGE_FLAGS),)),
    "recvfrom": JudgedCall((45, 207), (ArgumentLimit(3, bits=_MESSAGE_FLAGS),)),
    "recvmsg": JudgedCall((47, 212), (ArgumentLimit(2, bits=_MESSAGE_FLAGS),)),
    "madvise": JudgedCall((28, 233), (ArgumentLimit(2, _ADVICE),)),
    "mmap": JudgedCall((9, 222), (ArgumentLimit(3, bits=_MAPPINGS),)),
    "renameat2": JudgedCall((316, 276), (ArgumentLimit(4, bits=0x3),)),  # not over, swap; no place left as a device
    "prlimit64": JudgedCall((302, 261), (ArgumentLimit(0, (0,)),)),  # its own
    "arch_prctl": JudgedCall((158, None), (ArgumentLimit(0, (0x1001, 0x1002, 0x1003, 0x1004)),)),  # thread registers
}

# The same, once the walls stand: building them needs others.
SEALED: dict[str, JudgedCall] = {
    "prctl": JudgedCall((157, 167), (ArgumentLimit(0, (15, 16)),)),  # a thread's name
}
