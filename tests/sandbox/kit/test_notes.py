from pathlib import Path

from metnos.sandbox.kit import notes


def test_only_plain_files_with_plain_names_are_notes(tmp_path: Path) -> None:
    assert notes.files_in(str(tmp_path)) == []
    folder = tmp_path / "notes"
    (folder / "folder.md").mkdir(parents=True)
    for name in ("a.md", "b.txt", "odd\n.md", "reminders.jsonl"):
        (folder / name).write_text("")
    (folder / "link.md").symlink_to(folder / "a.md")
    assert notes.files_in(str(tmp_path)) == [folder / "a.md"]
