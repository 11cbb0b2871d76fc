"""A manifest in plain words."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from executors.calls import READ, manifest, mutating
from metnos.executors import words
from metnos.executors.manifest import Reversal

# One way to declare each capability, and what the owner must then be told.
DECLARED: dict[str, tuple[dict[str, Any], str]] = {
    "fs.read": ({"fs": {"read": ["~/**", "/srv/x"]}}, "read ~/**, /srv/x"),
    "fs.write": ({"fs": {"write": ["~/box/**"]}}, "change ~/box/**"),
    "net.http": (
        {"net": {"http": {"hosts": ["a.example", "*.b.example"], "methods": ["GET", "POST"]}}},
        "speak to a.example, *.b.example on the web (GET, POST)",
    ),
    "shell.exec": ({"shell": {"exec": {"allow": ["/usr/bin/true", "/usr/bin/ls"]}}}, "run /usr/bin/true, /usr/bin/ls"),
    "executor.call": ({"executor": {"call": ["find_files"]}}, "call find_files"),
    "model.chat": ({"model": {"chat": True}}, "ask the language model"),
    "system.read": ({"system": {"read": ["disks", "host"]}}, "look at this machine's disks, host"),
}


@given(st.sets(st.sampled_from(sorted(DECLARED))))
def test_every_capability_is_named_and_no_other(names: set[str]) -> None:
    tables: dict[str, Any] = {}
    for name in sorted(names):
        for table, inner in DECLARED[name][0].items():
            tables[table] = tables.get(table, {}) | inner
    changes = {"fs.write", "net.http", "shell.exec", "executor.call"} & names
    read = mutating(capabilities=tables) if changes else manifest({}, tables)
    wanted = [DECLARED[name][1] for name in DECLARED if name in names]
    assert words.capabilities(read) == (wanted or ["do nothing but compute"])


def test_paths_that_a_call_names_are_said_to_be_such() -> None:
    read = manifest({"path": READ}, {"fs": {"read": ["~/**"]}})
    assert words.capabilities(read) == ["read what a call names, within ~/**"]
    both = mutating(args={"path": READ}, capabilities={"fs": {"read": ["~/**"], "write": ["{workspace}/notes/**"]}})
    assert words.capabilities(both) == ["read what a call names, within ~/**", "change {workspace}/notes/**"]


def test_every_reversal_has_words_of_its_own() -> None:
    can = {"fs": {"write": ["~/**"]}}
    patterns = [each for each in Reversal if each is not Reversal.NOTHING]
    said = {each: words.effect(mutating(each.value, capabilities=can)) for each in patterns}
    said[Reversal.NOTHING] = words.effect(manifest())
    assert len(set(said.values())) == len(Reversal)
    assert "cannot be undone" in said[Reversal.IRREVERSIBLE]
    assert all("undo " in said[each] for each in patterns if each is not Reversal.IRREVERSIBLE)


def test_lines_come_in_order_and_only_if_there_is_something_to_say() -> None:
    assert words.describe(manifest()) == [("may", "do nothing but compute"), ("effect", "changes nothing")]
    full = manifest({}, {"model": {"chat": True}}, quotas={"cpu_s": 1, "writes": 5}, libraries=["pypdf", "lxml"])
    assert words.describe(full) == [
        ("may", "ask the language model"),
        ("effect", "changes nothing"),
        ("quotas", "cpu_s 1.0, writes 5"),
        ("libraries", "pypdf, lxml"),
    ]
