"""The head of every prompt: the Laws, who the agent is, what the owner wrote down for it. The only trusted part.

It is made of the owner's own files, the Laws first, and of nothing else, so it is the same to the byte from turn to
turn until the owner edits one of them: servers keep what they worked out of it. Comments in the files are for people
and are left out, and so is a file that says nothing.

Rules: the Laws stand whole. Every other file has a bound, and a part that does not fit ends at a line and says so. What
Metnos itself learned (the learned section of PLAYBOOK.md) is no word of the owner's and is not in here: it may stand
in a prompt only as fenced data.
"""

import re
from pathlib import Path

from metnos.context.fence import plain
from metnos.core.workspace import LONG_MEMORY, Workspace
from metnos.law import constitution

MOST_EACH = 1200  # characters of one file besides the Laws; a small model reads some thirty tokens a second
MOST = 4000  # characters of all of them together
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LEARNED = re.compile(r"^## Learned\s*$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CUT = "(more in the file)"


def build(workspace: Workspace) -> str:
    """The head for this workspace. Raises `ConstitutionError` if there are no Laws to put first."""
    laws = constitution.read(workspace.soul).laws
    parts = ["\n".join(f"Law {law.number}, {law.name}: {law.text}" for law in laws)]
    left = MOST
    for name in LONG_MEMORY[1:]:
        said = _said(workspace.root / name)[: max(left, 0)]
        if said:
            shown = _bounded(said, min(MOST_EACH, left))
            parts.append(f"{name.removesuffix('.md')}\n{shown}")
            left -= len(shown)
    return plain("\n\n".join(parts))


def _said(path: Path) -> str:
    """What a file says: without comments, headings that nothing follows, and what Metnos learned by itself."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # the doctor says that it is missing; a turn goes on without it
    body = _LEARNED.sub("", _COMMENT.sub("", text.replace("\r\n", "\n")))
    kept: list[str] = []
    for line in (line.rstrip() for line in reversed(body.split("\n"))):
        heads_nothing = line.startswith("#") and (not kept or kept[-1].startswith("#"))
        is_title = line.startswith("# ")
        if line and not heads_nothing and not is_title:
            kept.append(line)
    return "\n".join(reversed(kept))


def _bounded(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    whole = text[:most].rpartition("\n")[0]
    return f"{whole}\n{_CUT}".lstrip("\n")
