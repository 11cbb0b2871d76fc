"""Declared against used: too little and too much, each with a word that can be acted on."""

from metnos.executors import gate, manifest
from metnos.executors.gate_code import Code
from metnos.synt import gates_capabilities
from metnos.synt.draft import toml
from synt.specimens import MANIFEST, changed
from tables import try_each

PATH = {"type": "string", "x-path": "read", "description": "A file."}
TARGET = {"type": "string", "x-path": "write", "description": "A file."}
ADDRESS = {"type": "string", "format": "uri", "description": "A page."}

NOTES = {"fs": {"read": ["{workspace}/notes/**"]}}
BOTH = ["GET", "HEAD"]


def surplus(body: str, capabilities: dict[str, object], head: str = "", **changes: object) -> list[str]:
    read = manifest.parse(toml(changed(MANIFEST, capabilities=capabilities, **changes)))
    return gates_capabilities.surplus(Code(f"{head}\n\ndef run(args, ctx):\n    {body}\n"), read)


def writing(**more: object) -> dict[str, object]:
    return {"kind": "mutator", "reversal": "restore_content", "args__properties__to": TARGET, **more}


FAR = {"kind": "mutator", "reversal": "irreversible"}


class TestTooMuch:
    @try_each(
        ("body", "capabilities", "changes", "said"),
        [
            ("return args['texts']", {"fs": {"read": ["~/**"]}}, {}, "never reads"),
            ("return args['path'].upper()", {"fs": {"read": ["~/**"]}}, {"args__properties__path": PATH}, "x-path"),
            ("return open(args['to']).read()", {"fs": {"write": ["~/**"]}}, writing(), "fs.write, but the code never"),
            ("return 1", {"net": {"http": {"hosts": ["a.example"]}}}, {}, "never calls ctx.http"),
            ("return ctx.http('GET', args['u'])", {"net": {"http": {"hosts": ["a.example"], "methods": BOTH}}}, {},
             "the HTTP method HEAD"),
            ("return ctx.http('GET', 'https://a.example/x')", {"net": {"http": {"hosts": ["*"]}}}, {}, "every host"),
            ("return 1", {"shell": {"exec": {"allow": ["/usr/bin/git"]}}}, FAR, "never starts it"),
            ("return ctx.call('find_files', {})", {"executor": {"call": ["find_files", "read_files"]}}, {},
             "executor.call of read_files"),
            ("return 1", {"model": {"chat": True}}, {}, "never calls ctx.chat"),
            ("return ctx.system('host')", {"system": {"read": ["host", "disks"]}}, {}, "system.read of disks"),
            ("return open('/srv/a').read()", {"fs": {"read": ["/srv/**", "~/**"]}}, {}, "~/**, but the code names no"),
            ("return open(args['x']).read()", NOTES, {}, "never uses ctx.workspace"),
            ("c = ctx\n    return c.chat('x')", {"model": {"chat": True}}, {}, "never calls ctx.chat"),
        ],
    )  # fmt: skip
    def test_is_named(self, body: str, capabilities: dict[str, object], changes: dict[str, object], said: str) -> None:
        (problem,) = surplus(body, capabilities, **changes)
        assert said in problem
        assert "declare" in problem

    def test_a_library_that_is_not_imported(self) -> None:
        (problem,) = surplus("return 1", {}, libraries=["lxml"])
        assert "the library lxml" in problem


class TestEnough:
    @try_each(
        ("head", "body", "capabilities", "changes"),
        [
            ("", "return open(args['path']).read()", {"fs": {"read": ["~/**"]}}, {"args__properties__path": PATH}),
            ("import os", "return os.listdir(args['path'])", {"fs": {"read": ["/**"]}},
             {"args__properties__path": PATH}),
            ("from metnos_kit import texts", "return texts.read(args['path'])", {"fs": {"read": ["~/**"]}},
             {"args__properties__path": PATH, "libraries": ["metnos_kit"]}),
            ("from metnos_kit import table_writing", "return table_writing.save(args['to'], ctx)",
             {"fs": {"write": ["~/**"]}}, writing(libraries=["metnos_kit", "openpyxl"])),
            ("from metnos_kit import notes", "return notes.files_in(ctx.workspace)",
             {"fs": {"read": ["{workspace}/notes/**"]}}, {"libraries": ["metnos_kit"]}),
            ("", "ctx.write(args['to'], 'x')", {"fs": {"write": ["~/**"]}}, writing()),
            ("", "return ctx.http(args['m'], args['u'])", {"net": {"http": {"hosts": ["*"], "methods": BOTH}}},
             {"args__properties__u": ADDRESS}),
            ("", "return ctx.call(args['name'], {})", {"executor": {"call": ["find_files", "read_files"]}}, {}),
            ("", "return 1", {}, {}),
        ],
    )  # fmt: skip
    def test_is_enough(self, head: str, body: str, capabilities: dict[str, object], changes: dict[str, object]) -> None:
        assert surplus(body, capabilities, head, **changes) == []

    def test_part_of_the_kit_that_reads_nothing_asks_for_nothing(self) -> None:
        head = "from metnos_kit import patterns"
        changes = {"libraries": ["metnos_kit"]}
        (problem,) = surplus("return patterns.guarded('x')", {"fs": {"read": ["~/**"]}}, head, **changes)
        assert "never reads" in problem


def test_too_little_is_said_with_the_line() -> None:
    findings = gate.inspect("def run(args, ctx):\n    return ctx.chat('x')\n", gate.Declared(), tools=False)
    assert gates_capabilities.lacking(findings) == [
        "line 2: ctx.chat, which is not declared (undeclared-model): do without it, or declare it"
    ]
    assert all(gates_capabilities.is_need(each) for each in findings)
    hostile = gate.inspect("def run(args, ctx):\n    return eval('x')\n", gate.Declared(), tools=False)
    assert gates_capabilities.lacking(hostile) == []
