"""Writes ``src/metnos/executors/builtin/digests.json``: what every file of every built-in executor is.

``make docs`` runs it; a test fails when the file differs from what this would write.
"""

import json
from pathlib import Path

from metnos.executors.builtins import DIGESTS, measure

ROOT = Path(__file__).parents[1]
BUILTIN = ROOT / "src" / "metnos" / "executors" / "builtin"


def digests() -> str:
    """The content of the file."""
    measured = measure(BUILTIN) if BUILTIN.is_dir() else {}
    return json.dumps(measured, indent=2, sort_keys=True) + "\n"


def main() -> None:
    BUILTIN.mkdir(exist_ok=True)
    path = BUILTIN / DIGESTS
    path.write_text(digests(), encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
