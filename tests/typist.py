"""A person at the terminal, for commands that run in this process: types what they are asked to.

What the terminal itself is about (who is a person, what was typed too early, what a pipe is) is tested on real ones:
`cli.test_person`.
"""

import re

import pytest

from metnos.cli import person

_ASKED = re.compile(r"Type (\S+) to go on: $")


def sit_down(patch: pytest.MonkeyPatch) -> list[str]:
    """Have a person there as long as the patch lasts; returns the prompts that they are shown."""
    shown: list[str] = []

    def typed(prompt: str, _seconds: float) -> str:
        shown.append(prompt)
        asked = _ASKED.search(prompt)
        assert asked is not None, prompt
        return f"{asked[1]}\n"

    patch.setattr(person, "is_at_terminal", lambda: True)
    patch.setattr(person, "read_line", typed)
    return shown
