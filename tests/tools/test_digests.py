import json
from pathlib import Path

from executors.samples import write_sample
from support import ROOT, tool


def test_the_list_of_shipped_digests_is_what_would_be_written_now() -> None:
    digests = tool("digests")
    written = ROOT / "src" / "metnos" / "executors" / "builtin" / "digests.json"
    assert written.read_text(encoding="utf-8") == digests.digests(), "run `make docs`"


def test_every_file_of_every_builtin_is_in_it(tmp_path: Path) -> None:
    digests = tool("digests")
    write_sample(tmp_path)
    (tmp_path / "read_files").mkdir()  # a folder that is none yet
    digests.BUILTIN = tmp_path
    digests.ROOT = tmp_path
    digests.main()
    measured = json.loads((tmp_path / "digests.json").read_text())
    assert {name: sorted(files) for name, files in measured.items()} == {
        "find_files": ["executor.py", "manifest.toml", "tests.toml"]
    }
    assert digests.digests() == (tmp_path / "digests.json").read_text(), "the list itself is not in the list"
