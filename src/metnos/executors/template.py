"""The beginning of a new executor: three small files that already work, to be changed into what is wanted."""

from metnos.executors import vocabulary
from metnos.executors.folder import MANIFEST, SOURCE, TESTS

_MANIFEST = """\
name = "{name}"
version = "1.0.0"
purpose = "Say how many lines a text file has."
kind = "producer"          # "mutator" if it changes something
reversal = "nothing"       # how a mutator is taken back: see docs/executors.md
affinity = ["lines", "how many lines"]

[args]
required = ["path"]

[args.properties.path]
type = "string"
x-path = "read"            # a path: it is checked, and readable inside the sandbox
description = "The file to look at."

[output]
type = "object"
required = ["path", "lines"]

[output.properties.path]
type = "string"

[output.properties.lines]
type = "integer"

[capabilities]
fs.read = ["~/**"]         # the most it may ever read; a call sees only the path it names

[[examples]]
say = "how many lines does my diary have?"
args = {{ path = "~/diary.txt" }}
"""

_CODE = '''\
"""Says how many lines a text file has."""

import os


def run(args, ctx):
    if not os.path.isfile(args["path"]):
        ctx.fail("invalid", f"{args['path']} is not a file")
    with open(args["path"], "rb") as file:
        lines = sum(1 for _ in file)
    return {"entries": [{"path": args["path"], "lines": lines}]}
'''

_TESTS = """\
# {{box}} is a fresh folder that holds `files`; `expect` names what the reply must hold.
[[test]]
name = "counts lines"
files = {{ "a.txt" = "one\\ntwo\\n" }}
args = {{ path = "{{box}}/a.txt" }}
expect = {{ count = 1, entries = [{{ lines = 2 }}] }}

[[test]]
name = "an empty file has none"
files = {{ "empty.txt" = "" }}
args = {{ path = "{{box}}/empty.txt" }}
expect = {{ entries = [{{ lines = 0 }}] }}

[[test]]
name = "a folder is not a file"
args = {{ path = "{{box}}" }}
expect_error = "invalid"
"""


def files(name: str) -> dict[str, bytes]:
    """The files of a new executor of that name, which must be one of the vocabulary."""
    vocabulary.parse_name(name)
    texts = {MANIFEST: _MANIFEST.format(name=name), SOURCE: _CODE, TESTS: _TESTS.format()}
    return {file: text.encode() for file, text in texts.items()}
