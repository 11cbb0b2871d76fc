import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from support import tool

advisories = tool("advisories")

LOCK = "alpha==1.5.0 \\\n    --hash=sha256:" + "a" * 64 + "\nbeta==2.0rc1 ; sys_platform == 'nowhere'\n"


def entry(*events: dict[str, str], name: str = "alpha", **more: Any) -> dict[str, Any]:
    """An invented advisory."""
    part = {"package": {"ecosystem": "PyPI", "name": name}, "ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}
    return {"id": "EXAMPLE-1", "modified": "2026-01-01T00:00:00Z", "summary": "a hole", "affected": [part]} | more


def look(data: Any, tmp_path: Path) -> int:
    (tmp_path / "lock.txt").write_text(LOCK)
    (tmp_path / "data.json").write_text(data if isinstance(data, str) else json.dumps(data))
    return advisories.main([str(tmp_path / "data.json"), str(tmp_path / "lock.txt")])


def test_a_locked_version_that_is_affected_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert look(entry({"introduced": "0"}, {"fixed": "1.5.1"}), tmp_path) == advisories.FOUND
    assert capsys.readouterr().out == "alpha 1.5.0: EXAMPLE-1 (fixed in 1.5.1): a hole\n"


@pytest.mark.parametrize(
    ("events", "affected"),
    [
        ([{"introduced": "0"}], True),
        ([{"introduced": "1.5"}], True),
        ([{"introduced": "1.5.1"}], False),
        ([{"introduced": "0"}, {"fixed": "1.5"}], False),
        ([{"fixed": "1.6"}, {"introduced": "1.0"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.5.0"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.4.9"}], False),
        ([{"introduced": "1.5.0"}, {"last_affected": "1.5.0"}], True),
        ([{"introduced": "1.4"}, {"last_affected": "1.4"}], False),
        ([{"introduced": "0"}, {"fixed": "1.0"}, {"introduced": "1.4"}, {"fixed": "2.0"}], True),
        ([{"introduced": "0"}, {"limit": "1.5"}], False),
        ([{"introduced": "0"}, {"limit": "*"}], True),
        ([{"introduced": "1.5.0rc1"}, {"fixed": "1.5.0.post1"}], True),
    ],
)
def test_a_range_covers_what_lies_between_its_events(events: list[dict[str, str]], affected: bool) -> None:
    assert advisories.is_affected("1.5.0", entry(*events)["affected"][0]) is affected


_VERSION = st.integers(0, 6)


@given(_VERSION, _VERSION, _VERSION)
def test_between_introduction_and_fix(begun: int, fixed: int, version: int) -> None:
    part = entry({"introduced": f"1.{begun}"}, {"fixed": f"1.{fixed}"})["affected"][0]
    wanted = begun <= version < fixed if begun < fixed else version >= begun
    assert advisories.is_affected(f"1.{version}", part) is wanted


@pytest.mark.parametrize("listed", ["1.5.0", "1.5", "v1.5.0", "1.5.0.0"])
def test_a_listed_version_is_affected_however_it_is_written(listed: str) -> None:
    part = {"package": {"ecosystem": "PyPI", "name": "alpha"}, "versions": ["not one", listed]}
    assert advisories.is_affected("1.5.0", part) is True
    assert advisories.is_affected("1.5.1", part) is False


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]},
        {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "one"}]}]},
        {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1", "fixed": "2"}]}]},
        {"ranges": [{"type": "ECOSYSTEM", "events": [{"begins": "1"}]}]},
    ],
)
def test_what_cannot_be_decided_counts(part: dict[str, Any], tmp_path: Path) -> None:
    assert advisories.is_affected("1.5.0", part) is None
    named = {"package": {"ecosystem": "PyPI", "name": "alpha"}, **part}
    assert look(entry() | {"affected": [named]}, tmp_path) == advisories.FOUND


def test_a_version_that_is_none_counts() -> None:
    assert advisories.is_affected("odd version", entry({"introduced": "0"})["affected"][0]) is None


@pytest.mark.parametrize(
    "data",
    [
        entry({"introduced": "0"}, withdrawn="2026-01-02T00:00:00Z"),
        entry({"introduced": "0"}, name="gamma"),
        [entry({"introduced": "9"}), entry({"introduced": "0"}, name="gamma")],
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(data: Any, tmp_path: Path) -> None:
    assert look(data, tmp_path) == advisories.FINE


def test_names_are_compared_as_packages_are_and_other_machines_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert look([entry({"introduced": "0"}, name="Beta")] * 2, tmp_path) == advisories.FOUND
    assert capsys.readouterr().out.count("beta 2.0rc1") == 1


@pytest.mark.parametrize(
    "data",
    ["", "{", "[]", "{}", '{"id": 1, "modified": ""}', '{"id": "EXAMPLE-1"}', "[" * 9999,
     '{"id": "EXAMPLE-1", "modified": "x", "affected": [{"package": {"ecosystem": "PyPI"}}]}',
     '{"id": "EXAMPLE-1", "modified": "x", "affected": [{"package": {"ecosystem": "npm", "name": "alpha"}}]}'],
)  # fmt: skip
def test_data_that_says_nothing_is_no_good_news(data: str, tmp_path: Path) -> None:
    assert look(data, tmp_path) == advisories.UNREADABLE


def test_a_folder_and_a_zip_are_read_whole(tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text(LOCK)
    folder = tmp_path / "data" / "PyPI"
    folder.mkdir(parents=True)
    (folder / "1.json").write_text(json.dumps(entry({"introduced": "9"})))
    (folder / "2.json").write_text(json.dumps(entry({"introduced": "1"})))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    for data in (tmp_path / "data", tmp_path / "all.zip"):
        assert advisories.main([str(data), str(tmp_path / "lock.txt")]) == advisories.FOUND
    (folder / "3.json").write_text("broken")
    assert advisories.main([str(tmp_path / "data"), str(tmp_path / "lock.txt")]) == advisories.UNREADABLE
    assert advisories.main([str(tmp_path / "nothing"), str(tmp_path / "lock.txt")]) == advisories.UNREADABLE


def test_versions_are_ordered_as_packages_order_them() -> None:
    assert Version("1.10") > Version("1.9")
    assert advisories.is_affected("1.10", entry({"introduced": "1.9"}, {"fixed": "1.11"})["affected"][0]) is True
