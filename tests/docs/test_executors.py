"""The page about executors: what it shows is run, and what it lists is complete."""

import re
from pathlib import Path

import pytest

from docs import tour
from metnos.executors import birth, folder, manifest
from metnos.executors.outcome import KINDS
from metnos.executors.state import State
from metnos.sandbox.inside.context import Context, Response
from support import ROOT, tool

PAGE = (ROOT / "docs" / "executors.md").read_text(encoding="utf-8")
CONTEXT = {"dry_run": False, "limit": 1, "workspace": "", "utc_offset_s": 0, "now": 0.0}


def section(title: str) -> str:
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^\1 |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, title
    return found[2]


@pytest.mark.usefixtures("loaded_program")
def test_the_tour_is_real() -> None:
    tour.check(PAGE)


def test_every_manifest_field_has_a_description() -> None:
    for name, _, _, description in manifest.fields():
        assert description.strip(), name


def test_the_tables_of_the_page_are_found_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tool("docs")
    monkeypatch.setattr(made.manifest, "fields", lambda: [("another", "text", ..., "A field that is new.")])
    assert made.MADE["docs/executors.md"]() != PAGE


def test_every_builtin_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "builtins.md").read_text(encoding="utf-8")
    homes = [home for home in (ROOT / "src/metnos/executors/builtin").iterdir() if (home / folder.MANIFEST).is_file()]
    for home in homes:
        assert f"| `{home.name}` |" in page
    made = tool("docs")
    monkeypatch.setattr(made, "BUILTIN", tmp_path)
    assert made.builtins() != page


def test_every_library_of_the_sandbox_is_used_as_the_record_says() -> None:
    record = (ROOT / "docs" / "adr" / "0002-dependencies.md").read_text(encoding="utf-8")
    homes = ROOT / "src" / "metnos" / "executors" / "builtin"
    declared = {home.parent.name: manifest.parse(home.read_text("utf-8")) for home in homes.glob("*/manifest.toml")}
    for library in (name for name in manifest.LIBRARIES if name != "metnos_kit"):
        (row,) = re.findall(rf"^\| \S+ \| `{library}` \|.*\| (.*) \|$", record, re.MULTILINE)
        users = {name for name, read in declared.items() if library in read.libraries}
        assert set(re.findall(r"`(\w+)`", row)) == users, library


def test_everything_that_ctx_has_is_on_the_page() -> None:
    ctx = Context(None, CONTEXT)  # type: ignore[arg-type]  # nothing is asked
    listed = set(re.findall(r"^\| `ctx\.(\w+)", section("`ctx`"), re.MULTILINE))
    assert listed == {name for name in dir(ctx) if not name.startswith("_")}
    for name in vars(Response(200, {}, b"", "", truncated=False)):
        assert f"`{name}`" in section("`ctx`")


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Error classes", KINDS),
        ("States", [state.value for state in State]),
        ("The manifest", [each.value for each in manifest.Reversal]),
        ("Birth tests", birth.BirthTest.model_fields),
        ("The folder", [*folder.SIGNED, folder.SIGNATURE, folder.JOURNAL]),
    ],
)
def test_every_row_of_a_table_is_there(title: str, words: list[str]) -> None:
    for word in words:
        assert re.search(rf"^\| `{re.escape(word)}` \|", section(title), re.MULTILINE), word


def test_every_field_of_a_page_and_of_a_file_is_there() -> None:
    for word in (*birth.Page.model_fields, *birth.Content.model_fields):
        assert re.search(rf"`\{{? ?{word}\b", section("Birth tests")), word
