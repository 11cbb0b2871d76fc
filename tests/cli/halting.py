"""``metnos`` that sends itself a signal the moment it shows something, however fast it runs."""

import os
import sys

from metnos import cli


def main() -> int:
    """Send the signal ``HALT_BY`` once ``HALT_AT`` is written to the terminal."""
    text, number, write = os.environ["HALT_AT"], int(os.environ["HALT_BY"]), sys.stderr.write
    sent: list[str] = []

    def watch(said: str) -> int:
        written = write(said)
        if text in said and not sent:
            sent.append(said)
            sys.stderr.flush()
            os.kill(os.getpid(), number)
        return written

    sys.stderr.write = watch  # type: ignore[method-assign, assignment]
    return cli.main()
