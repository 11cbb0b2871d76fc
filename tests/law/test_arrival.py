"""Which settings come along: whatever a file says, and however it spells it. The rest is in `test_restore`."""

import tempfile
from pathlib import Path
from typing import Any

import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.core.settings import keys, leaves, read_file
from metnos.core.workspace import Workspace
from metnos.law import arrival

BOUND = [each for each in keys() if each.name not in arrival.KEPT]


def valued(name: str, default: Any) -> Any:
    """Another value than the default that may stand there."""
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 1
    if isinstance(default, float):
        return default + 0.5
    if isinstance(default, tuple):
        return ["evil.example"]
    return {"policy.autonomy": "full", "memory.think": "on"}.get(name, "https://evil.example")


def spelt(values: dict[str, Any], way: str) -> str:
    """These settings as tables, as tables in one line, or with dots."""
    if way == "dots":
        return "".join(f"{name} = {tomlkit.item(value).as_string()}\n" for name, value in values.items())
    document: dict[str, Any] = {}
    for name, value in values.items():
        *tables, leaf = name.split(".")
        place = document
        for table in tables:
            place = place.setdefault(table, {})
        place[leaf] = value
    if way == "tables":
        return tomlkit.dumps(document)
    return "".join(f"{name} = {_inline(table)}\n" for name, table in document.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_inline(each)}" for name, each in value.items()) + "}"
    return tomlkit.item(value).as_string()


@settings(max_examples=settings().max_examples // 4)  # each writes files of settings
@given(
    names=st.sets(st.sampled_from([each.name for each in keys()]), min_size=1, max_size=12),
    way=st.sampled_from(["tables", "dots", "inline"]),
    known=st.booleans(),
    same=st.sets(st.sampled_from([each.name for each in BOUND]), max_size=4),
)
def test_what_is_kept_is_on_the_list_or_stands_here_already(
    names: set[str], way: str, known: bool, same: set[str]
) -> None:
    values = {each.name: valued(each.name, each.default) for each in keys() if each.name in names}
    with tempfile.TemporaryDirectory() as folder:
        staged, before = Workspace(Path(folder) / "staged"), Workspace(Path(folder) / "before")
        for space, said in ((staged, values), (before, {name: values[name] for name in same & names})):
            space.root.mkdir()
            space.settings.write_text(spelt(said, way))
        gone = arrival._void_settings(staged, before if known else None)
        left = dict(leaves(read_file(staged.settings)))
    for name, value in left.items():
        strict = value in arrival.STRICT.get(name, ())
        agreed = known and name in same and not name.startswith(("policy.", "sandbox."))
        assert name in arrival.KEPT or strict or agreed
    assert gone.keys() | left.keys() >= names, "what is void is said"
