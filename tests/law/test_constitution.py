import inspect
import os
from pathlib import Path

import pytest

from metnos import app, cli
from metnos.core.clock import MovableClock, SystemClock
from metnos.core.errors import ConstitutionError
from metnos.core.workspace import Workspace
from metnos.law import constitution, schema
from metnos.law.audit_log import backwards
from metnos.law.constitution import Standing
from metnos.store.db import Database
from support import at_once, kinds
from tables import try_each


def edit(workspace: Workspace, old: str, new: str) -> None:
    text = workspace.soul.read_text()
    assert old in text
    workspace.soul.write_text(text.replace(old, new))


def test_the_four_laws_in_order(opened: app.App) -> None:
    laws = opened.constitution.laws
    assert [(law.number, law.name) for law in laws] == [
        (0, "perimeter"), (1, "non-harm"), (2, "informed obedience"), (3, "traceability"),
    ]  # fmt: skip
    assert laws[0].text.startswith("Metnos does not act beyond the boundaries of the home.")
    assert all("\n" not in law.text and "<!--" not in law.text for law in laws)


def test_it_is_pinned_when_the_workspace_is_founded(workspace: Workspace, clock: MovableClock) -> None:
    assert kinds(workspace)[-1] == "constitution pinned"
    assert app.App.open(workspace, clock).standing is Standing.KEPT


def test_a_hand_edit_is_noticed_at_the_next_start_and_recorded_once(workspace: Workspace, clock: MovableClock) -> None:
    before = app.App.open(workspace, clock).constitution
    edit(workspace, "double approval", "triple approval")
    assert app.App.open(workspace, clock).standing is Standing.MODIFIED
    assert kinds(workspace)[-1] == "constitution modified"
    line = next(backwards(workspace.audit))
    after = constitution.read(workspace.soul)
    assert line.entry.digests == {"soul": after.soul, "laws": after.digest, "soul_before": before.soul}
    assert app.App.open(workspace, clock).standing is Standing.KEPT
    assert kinds(workspace).count("constitution modified") == 1


def test_an_edit_of_a_comment_counts_too_and_shows_that_the_laws_are_the_same(
    workspace: Workspace, clock: MovableClock
) -> None:
    before = constitution.read(workspace.soul)
    edit(workspace, "No command changes this file.", "No command changes this file!")
    after = app.App.open(workspace, clock)
    assert after.standing is Standing.MODIFIED
    assert after.constitution.digest == before.digest
    assert after.constitution.soul != before.soul


def test_an_edit_is_not_hidden_by_losing_the_store(workspace: Workspace, clock: MovableClock) -> None:
    edit(workspace, "double approval", "no approval")
    for path in workspace.law.glob("law.db*"):
        path.unlink()
    assert app.App.open(workspace, clock).standing is Standing.MODIFIED
    assert kinds(workspace)[-1] == "constitution modified"


def test_losing_the_store_alone_is_no_edit(workspace: Workspace, clock: MovableClock) -> None:
    for path in workspace.law.glob("law.db*"):
        path.unlink()
    assert app.App.open(workspace, clock).standing is Standing.PINNED


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("## Law 0: perimeter", "## Old Law 0: perimeter", "found: 1, 2, 3"),
        ("## Law 1: non-harm", "## Law 4: non-harm", "found: 0, 4, 2, 3"),
        ("## Law 2: informed obedience", "## Law 1: informed obedience", "found: 0, 1, 1, 3"),
        ("## Law 3: traceability", "Some text", "found: 0, 1, 2"),
    ],
)
def test_a_constitution_that_lacks_a_law_stops_everything(
    workspace: Workspace, clock: MovableClock, old: str, new: str, says: str
) -> None:
    edit(workspace, old, new)
    with pytest.raises(ConstitutionError) as caught:
        app.App.open(workspace, clock)
    assert says in caught.value.what
    assert "metnos init" in caught.value.fix


def test_a_law_without_a_text_is_no_law() -> None:
    with pytest.raises(ConstitutionError, match=r"Law 1 in SOUL\.md has no text"):
        constitution.parse("## Law 0: a\nx\n## Law 1: b\n-\n## Law 2: c\nx\n## Law 3: d\nx\n")


PLAIN = "\n".join(f"## Law {number}: name\nText {number}." for number in range(4))


def test_comments_may_come_before_the_laws_and_windows_may_have_saved_it() -> None:
    for text in (PLAIN, f"<!-- ## Law 0: x -->\n# Title\n{PLAIN}", "\ufeff" + PLAIN.replace("\n", "\r\n")):
        assert [law.text for law in constitution.parse(text)] == [f"Text {number}." for number in range(4)]


@try_each(
    "text",
    [
        pytest.param("<!--\n" + PLAIN, id="everything behind an unclosed comment"),
        pytest.param("<!-- -->" + PLAIN.replace("Text 0.", "Text <!-- not --> 0."), id="comment in a Law"),
        pytest.param("```\n<!--\n```\n" + PLAIN + "\n<div hidden>\n" + PLAIN, id="a second set, hidden"),
        pytest.param("```\n" + PLAIN + "\n```", id="fenced"),
        pytest.param("~~~\n" + PLAIN, id="fenced with tildes"),
        pytest.param(PLAIN.replace("Text 0.", "Text <b hidden>0</b>."), id="html"),
        pytest.param(PLAIN.replace("## Law 0", "##  Law 0"), id="two spaces"),
        pytest.param(PLAIN + "\n## law 0: another", id="small letters"),
        pytest.param(PLAIN + "\n### Law 4: another", id="a fifth"),
        pytest.param(PLAIN.replace("Law 0", "Law \u0660"), id="another digit"),
        pytest.param(PLAIN.replace("Law 0", "Law 000"), id="many digits"),
        pytest.param(PLAIN.replace("Law 0", "Law " + "9" * 5000), id="very many digits"),
        pytest.param(PLAIN.replace("Text 0", "Text\u202e0"), id="direction"),
        pytest.param(PLAIN.replace("Text 0", "Text\u200b0"), id="zero width"),
        pytest.param(PLAIN.replace("Text 0", "Text\x1b[8m0"), id="escape"),
    ],
)
def test_a_constitution_must_read_as_a_person_reads_it(text: str) -> None:
    with pytest.raises(ConstitutionError):
        constitution.parse(text)


def test_a_forged_pin_hides_no_edit(workspace: Workspace, clock: MovableClock) -> None:
    edit(workspace, "double approval", "no approval")
    forged = constitution.read(workspace.soul)
    db = Database(workspace.law_db, schema.MIGRATIONS)
    with db.write() as tx:
        row = (forged.soul, forged.digest, "2026-11-15T12:00:00.000Z", "ab" * 64)
        tx.execute("INSERT INTO constitution (soul, laws, ts, signature) VALUES (?, ?, ?, ?)", row)
    db.close()
    assert app.App.open(workspace, clock).standing is Standing.MODIFIED
    assert kinds(workspace)[-1] == "constitution modified"


def test_a_pipe_in_its_place_does_not_hang(workspace: Workspace) -> None:
    workspace.soul.unlink()
    os.mkfifo(workspace.soul)
    with pytest.raises(ConstitutionError, match="not a file"):
        constitution.read(workspace.soul)


def test_a_missing_unreadable_or_huge_file_stops_everything(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(ConstitutionError, match="missing"):
        constitution.read(tmp_path / "SOUL.md")
    for content in (b"\xff\xfe", b"x" * 2_000_000):
        workspace.soul.write_bytes(content)
        with pytest.raises(ConstitutionError):
            constitution.read(workspace.soul)


@pytest.mark.slow
def test_many_starts_at_once_record_an_edit_once(workspace: Workspace) -> None:
    edit(workspace, "double approval", "triple approval")
    standings = at_once([lambda: app.App.open(workspace, SystemClock()).standing.value] * 6)
    assert sorted(standings) == ["kept"] * 5 + ["modified"]
    assert kinds(workspace).count("constitution modified") == 1


def test_nothing_in_the_program_changes_the_constitution() -> None:
    """No function of the module writes a file, and no command is about changing a Law."""
    source = inspect.getsource(constitution)
    assert "write_text" not in source
    assert "write_bytes" not in source
    assert "files." not in source
    for name in cli.COMMANDS:
        assert not {"law", "soul", "constitution", "suspend"} & set(name.split("-"))
