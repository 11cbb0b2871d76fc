"""The first code that runs inside the sandbox: gives up every right, sets limits, then runs one program of ours.

Runs under ``python -I -S`` with nothing but the standard library, and imports nothing of Metnos. Its arguments are the
uid to become (or ``-`` to stay), a JSON object of limits, and the program to run with its own arguments.
"""

import json
import os
import resource
import runpy
import sys


def give_up_rights(uid: str) -> None:
    """Become an ordinary user for good. Any failure ends the process: nothing may run with more."""
    if uid != "-":
        number = int(uid)
        os.setgroups([])
        os.setresgid(number, number, number)
        os.setresuid(number, number, number)
    if 0 in os.getresuid() or 0 in os.getresgid():
        raise SystemExit("inside the sandbox: still root")
    try:
        os.setuid(0)
    except OSError:
        return
    raise SystemExit("inside the sandbox: root can be had again")


def set_limits(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))


def main() -> None:
    uid, limits, program, *arguments = sys.argv[1:]
    give_up_rights(uid)
    set_limits(json.loads(limits))
    sys.argv = [program, *arguments]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
