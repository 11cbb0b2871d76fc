from pathlib import Path
import pytest
from executors.samples import write_sample
from metnos.app import App
from turn.scripted import reopened
from turn.turning import take

MANIFEST = """\
name = "count_headings"
version = "1.0.0"
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
args = { path = "~/notes.md" }
[[examples]]
say = "how many headings are in ~/docs/plan.md"
args = { path = "~/docs/plan.md" }
"""
SOURCE = '''\
def run(args, ctx):
    with open(args["path"], encoding="utf-8") as file:
        text = file.read()
    if "broken" in text:
        ctx.fail("failed", "it cannot")
    return {"entries": [{"headings": sum(line.startswith("#") for line in text.splitlines())}]}
'''
TESTS = '''
[[test]]
name = "counts"
args = { path = "{box}/a.md" }
files = { "a.md" = "# x" }
expect = { count = 1 }
'''

def test_it(equipped: App, tmp_path: Path) -> None:
    (tmp_path/"home"/"a.md").write_text("# one\n# two\n")
    app, _ = reopened(equipped, model=False, policy__autonomy="full", turn__planner="router")
    write_sample(app.workspace.executors, "count_headings", manifest=MANIFEST, source=SOURCE, tests=TESTS)
    app.catalog.sign("count_headings", "a test")
    for text in ("count the headings of ~/a.md", "how many headings are in ~/a.md"):
        t = take(app, text)
        print(t.trace.state, [s.executor for s in t.trace.steps], t.trace.answer, t.trace.plan)
        for c in t.trace.candidates: print("   ", c)
    (tmp_path/"home"/"a.md").write_text("# one broken\n# two\n")
    t = take(app, "count the headings of ~/a.md")
    print(t.trace.state, [(s.executor,s.kind,s.ok) for s in t.trace.steps], t.trace.answer, t.trace.plan)
    assert 0
