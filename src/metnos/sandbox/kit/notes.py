"""The notes: Markdown files in the workspace.

Rules: a note is a plain file with a printable name that ends in ``.md``; links are none. Does not read them.
"""

from pathlib import Path


def files_in(workspace: str) -> list[Path]:
    """Every note, in the order of the disk."""
    folder = Path(workspace) / "notes"
    if not folder.is_dir():
        return []
    plain = [path for path in folder.glob("*.md") if path.is_file() and not path.is_symlink()]
    # Names that are no text (they hold what is not printable) were not made here, and could not be told.
    return [path for path in plain if path.name.isprintable()]
