"""An executor of the owner's for tests of selection: it counts headings, and fails where the file says so."""

from pathlib import Path

from executors.samples import write_sample
from metnos.app import App
from signing import sign
from turn.scripted import reopened
from turn.turning import Taken, take

NAME = "count_headings"
ASK = "count the headings of ~/a.md"

MANIFEST = """\
name = "count_headings"
version = "{version}"
purpose = "Count the headings of a Markdown file."
kind = "producer"
affinity = ["count the headings", "how many headings", "headings of a file"]
reversal = "nothing"

[args]
required = ["path"]
[args.properties.path]
type = "string"
x-path = "read"
description = "The file to look into."

[output]
type = "object"
required = ["headings"]
[output.properties.headings]
type = "integer"

[capabilities]
fs.read = ["/**"]

[[examples]]
say = "count the headings of ~/notes.md"
args = {{ path = "~/notes.md" }}
"""
SOURCE = """\
def run(args, ctx):
    with open(args["path"], encoding="utf-8") as file:
        text = file.read()
    if "broken" in text:
        ctx.fail("failed", "it cannot")
    return {"entries": [{"headings": sum(line.startswith("#") for line in text.splitlines())}]}
"""
TESTS = """\
[[test]]
name = "counts"
args = { path = "{box}/a.md" }
files = { "a.md" = "# x" }
expect = { count = 1 }
"""


def counting(app: App, **settings: str) -> App:
    """The same workspace with the executor, if it is not there yet, and without a language model."""
    opened, _ = reopened(app, model=False, policy__autonomy="full", turn__planner="router", **settings)
    if NAME not in opened.catalog.names():
        write(opened)
    return opened


def write(app: App, version: str = "1.0.0") -> None:
    manifest = MANIFEST.format(version=version)
    write_sample(app.workspace.executors, NAME, manifest=manifest, source=SOURCE, tests=TESTS)
    sign(app, NAME, "a test")


def count(app: App, *, broken: bool = False) -> Taken:
    """Ask for headings: of a file that can be read, or of one that cannot."""
    (Path.home() / "a.md").write_text("# broken\n" if broken else "# one\n# two\n")
    return take(app, ASK)
