"""An executor of one's own: written, tested in the sandbox, and put before its owner.

    python examples/an_executor.py [FOLDER]

Works on a scratch workspace, so nothing of yours is touched. Needs Linux with bubblewrap, as everything that acts does.
"""

import sys
import tempfile
from itertools import islice
from pathlib import Path

from metnos import Agent, MetnosError

MANIFEST = """\
name = "count_lines"
version = "1.0.0"
purpose = "Say how many lines a text file has, and which of them is the longest."
kind = "producer"
reversal = "nothing"
affinity = ["lines", "how many lines", "longest line"]

[args]
required = ["path"]

[args.properties.path]
type = "string"
x-path = "read"
description = "The file to look at."

[output]
type = "object"
required = ["path", "lines", "longest"]

[output.properties]
path = { type = "string" }
lines = { type = "integer" }
longest = { type = "integer" }

[capabilities]
fs.read = ["/**"]

[[examples]]
say = "how many lines does my diary have?"
args = { path = "~/diary.txt" }
"""

CODE = '''\
"""Says how many lines a text file has, and which is the longest."""

import os


def run(args, ctx):
    if not os.path.isfile(args["path"]):
        ctx.fail("invalid", f"{args['path']} is not a file")
    with open(args["path"], encoding="utf-8", errors="replace") as file:
        lengths = [len(line.rstrip()) for line in file]
    longest = lengths.index(max(lengths)) + 1 if lengths else 0
    return {"entries": [{"path": args["path"], "lines": len(lengths), "longest": longest}]}
'''

TESTS = """\
[[test]]
name = "counts lines and finds the longest"
files = { "a.txt" = "one\\nthree\\ntwo\\n" }
args = { path = "{box}/a.txt" }
expect = { count = 1, entries = [{ lines = 3, longest = 2 }] }

[[test]]
name = "an empty file has none"
files = { "empty.txt" = "" }
args = { path = "{box}/empty.txt" }
expect = { entries = [{ lines = 0, longest = 0 }] }

[[test]]
name = "a folder is not a file"
args = { path = "{box}" }
expect_error = "invalid"
"""


def written(folder: Path, code: str) -> Path:
    """An executor is a folder of its name with three files."""
    made = folder / "count_lines"
    made.mkdir(parents=True, exist_ok=True)
    for name, content in (("manifest.toml", MANIFEST), ("executor.py", code), ("tests.toml", TESTS)):
        (made / name).write_text(content)
    return made


def main(scratch: Path) -> None:
    diary = scratch / "diary.txt"
    diary.write_text("monday\ntuesday was long\nwednesday\n")
    with Agent(scratch / "workspace") as agent:
        print("One that reaches for the network without saying so is not taken:")
        try:
            agent.adopt(written(scratch / "drafts", CODE.replace("import os", "import os\nimport socket")))
        except MetnosError as error:
            print(f"    {error.what.splitlines()[0]}")

        print("\nThe honest one passes, and waits for a person: a program lets nothing live.")
        question = agent.app.inbox.find(agent.adopt(written(scratch / "drafts", CODE)))
        print(f"    {question.title}\n    it is {question.state}, and to be typed is: {question.word}")
        print(f"    metnos --workspace {scratch / 'workspace'} inbox approve {question.id}")

        step = agent.run("count_lines", {"path": str(diary)})
        print(f"\nUntil then it does not run: {step.message}")

        print("\nWhat the audit says, and nothing of it can be changed unnoticed:")
        for line in reversed(list(islice(agent.app.audit.newest(), 4))):
            print(f"    {line.ts}  {line.kind}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
