import os
from pathlib import Path

import pytest

from executors.samples import sample_files, write_sample
from metnos.core.errors import ExecutorError
from metnos.executors import folder


def wrong(executors: Path, name: str = "find_files") -> list[str]:
    content = folder.read(executors, name)
    assert content is not None
    return [problem.wrong for problem in content.strange]


def test_the_known_files_are_read(tmp_path: Path) -> None:
    home = write_sample(tmp_path)
    (home / "journal.jsonl").write_text("{}\n")
    content = folder.read(tmp_path, "find_files")
    assert content == folder.Content("find_files", sample_files(), ())
    assert not content.signed


def test_nothing_there(tmp_path: Path) -> None:
    assert folder.read(tmp_path, "find_files") is None
    assert folder.read(tmp_path / "none", "find_files") is None
    assert folder.names(tmp_path / "none") == []


def test_strange_things_are_named_and_not_opened(tmp_path: Path) -> None:
    home = write_sample(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (home / "executor.py").unlink()
    (home / "executor.py").symlink_to(secret)
    (home / "tests.toml").unlink()
    os.link(secret, home / "tests.toml")
    (home / "manifest.toml").unlink()
    os.mkfifo(home / "manifest.toml")
    (home / "signature").mkdir()
    (home / "journal.jsonl").symlink_to(secret)
    (home / "__pycache__").mkdir()
    (home / "né\n").write_text("x")
    content = folder.read(tmp_path, "find_files")
    assert content is not None
    assert content.files == {}
    assert sorted(problem.wrong for problem in content.strange) == [
        "added", "added", "kind:manifest.toml", "kind:signature", "link:executor.py", "link:journal.jsonl",
        "link:tests.toml",
    ]  # fmt: skip


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    real = write_sample(tmp_path / "elsewhere")
    (tmp_path / "executors").mkdir()
    (tmp_path / "executors" / "find_files").symlink_to(real)
    assert wrong(tmp_path / "executors") == ["link:find_files"]
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere")
    assert wrong(tmp_path / "linked") == ["link:linked"]
    (tmp_path / "elsewhere" / "read_files").write_text("a file")
    assert wrong(tmp_path / "elsewhere", "read_files") == ["link:read_files"]


def test_a_file_replaced_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_sample(tmp_path)
    real, opened = os.open, []

    def replace_once(path: str, *arguments: int, **more: int) -> int:
        descriptor = real(path, *arguments, **more)
        if path == "executor.py" and not opened:
            opened.append(path)
            (home / "executor.py").unlink()
            (home / "executor.py").write_bytes(b"new")
        return descriptor

    monkeypatch.setattr(os, "open", replace_once)
    content = folder.read(tmp_path, "find_files")
    assert content is not None
    assert (content.files["executor.py"], content.strange) == (b"new", ())


def test_sizes_are_bounded(tmp_path: Path) -> None:
    home = write_sample(tmp_path)
    (home / "executor.py").write_bytes(b"#" * (256 * 1024 + 1))
    assert wrong(tmp_path) == ["size:executor.py"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_files_of_others_are_refused(tmp_path: Path) -> None:
    home = write_sample(tmp_path)
    os.chown(home / "executor.py", 12345, -1)
    os.chown(home, 12345, -1)
    assert wrong(tmp_path) == ["owner", "owner:executor.py"]


def test_putting_leaves_nothing_else_behind(tmp_path: Path) -> None:
    home = write_sample(tmp_path)
    folder.put(tmp_path, "find_files", "signature", b"one")
    folder.put(tmp_path, "find_files", "signature", b"two")
    content = folder.read(tmp_path, "find_files")
    assert content is not None
    assert (content.files["signature"], content.strange, content.signed) == (b"two", (), True)
    assert list((tmp_path / folder.STAGING).iterdir()) == []
    assert (home / "signature").stat().st_mode & 0o777 == 0o600
    with pytest.raises(ExecutorError, match="cannot be written"):
        folder.put(tmp_path, "read_files", "signature", b"one")
    assert list((tmp_path / folder.STAGING).iterdir()) == []


def test_placing_replaces_all_but_the_journal(tmp_path: Path) -> None:
    folder.place(tmp_path, "find_files", {"executor.py": b"one"})
    home = tmp_path / "find_files"
    (home / "journal.jsonl").write_text("{}\n")
    (home / "added").write_text("x")
    folder.place(tmp_path, "find_files", sample_files())
    assert {path.name for path in home.iterdir()} == {*sample_files(), "journal.jsonl"}
    assert (home / "journal.jsonl").read_text() == "{}\n"
    assert list((tmp_path / folder.STAGING).iterdir()) == []
    assert home.stat().st_mode & 0o777 == 0o700


def test_placing_over_a_link_leaves_what_it_leads_to(tmp_path: Path) -> None:
    other = write_sample(tmp_path / "elsewhere")
    (tmp_path / "find_files").symlink_to(other)
    folder.place(tmp_path, "find_files", sample_files(version="2.0.0"))
    assert not (tmp_path / "find_files").is_symlink()
    assert (other / "manifest.toml").read_bytes() == sample_files()["manifest.toml"]


def test_without_an_exchange_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.core.files.exchange", lambda *_: False)
    folder.place(tmp_path, "find_files", {"executor.py": b"one"})
    folder.place(tmp_path, "find_files", {"executor.py": b"two"})
    assert (tmp_path / "find_files" / "executor.py").read_bytes() == b"two"
    assert list((tmp_path / folder.STAGING).iterdir()) == []


def test_names_and_sweeping(tmp_path: Path) -> None:
    write_sample(tmp_path)
    (tmp_path / folder.STAGING / "left").mkdir(parents=True)
    (tmp_path / "README").write_text("x")
    assert folder.names(tmp_path) == ["find_files"]
    folder.sweep(tmp_path)
    assert not (tmp_path / folder.STAGING).exists()
