"""``python tests/story/record.py [--anew]`` plays the month with the real local model and records what it says.

What was recorded before is kept as far as it is still asked for; ``--anew`` asks everything again. The model is the
file that `metnos model get` fetched. It takes a few minutes on one core. What is recorded replaces what was there only
if the whole story came to its end.
"""

import os
import sys
from pathlib import Path

import pytest

# Read by `conftest.py`: where the model's file is, and whether what was recorded before is asked again.
SWITCH, ANEW = "STORY_MODEL", "STORY_ANEW"


def record(anew: bool) -> int:
    from metnos.models import pins

    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here.parent))
    from story.recording import FILE, MODEL, STAGED, TRIED

    os.environ[SWITCH] = str(pins.find_file(MODEL))
    os.environ[ANEW] = "yes" if anew else ""
    FILE.parent.mkdir(exist_ok=True)
    code = pytest.main(["-n0", "-q", "-s", "--no-header", "-p", "no:cacheprovider", str(here / "test_month.py")])
    if code == 0:
        STAGED.replace(FILE)
        TRIED.unlink(missing_ok=True)
    elif STAGED.exists():
        with TRIED.open("ab") as file:  # the next attempt need not ask this again
            file.write(STAGED.read_bytes())
        STAGED.unlink()
    return int(code)


if __name__ == "__main__":
    sys.exit(record("--anew" in sys.argv[1:]))
