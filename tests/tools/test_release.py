import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from metnos.core import sign
from support import ROOT, tool

release = tool("release")
locked = tool("locked")

PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "small"
version = "1.2.3"
license = "Apache-2.0"
requires-python = ">=3.11"
dependencies = ["Alpha>=1"]
[tool.hatch.build.targets.wheel]
packages = ["small"]
"""
LOCK = "".join(f"{name}==1.0 \\\n    --hash=sha256:{name[0] * 64}\n" for name in ("alpha", "beta"))

# What CycloneDX 1.6 requires of the fields that are used here, in our own words.
TEXT = {"type": "string", "minLength": 1}
COMPONENT = {
    "type": "object",
    "required": ["type", "name"],
    "properties": {
        "type": {"enum": ["application", "library"]}, "bom-ref": TEXT, "name": TEXT, "version": TEXT,
        "scope": {"enum": ["required", "optional", "excluded"]},
        "purl": {"type": "string", "pattern": "^pkg:pypi/[a-z0-9][a-z0-9.-]*@[^@\\s]+$"},
        "licenses": {"type": "array", "items": {"type": "object", "required": ["license"]}},
        "properties": {
            "type": "array",
            "items": {"type": "object", "required": ["name", "value"], "properties": {"name": TEXT, "value": TEXT},
                      "additionalProperties": False},
        },
    },
    "additionalProperties": False,
}  # fmt: skip
PARTS = {
    "type": "object",
    "required": ["bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"],
    "properties": {
        "bomFormat": {"const": "CycloneDX"},
        "specVersion": {"const": "1.6"},
        "serialNumber": {"pattern": "^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
        "version": {"type": "integer", "minimum": 1},
        "metadata": {
            "type": "object",
            "required": ["timestamp", "component"],
            "properties": {"timestamp": {"type": "string", "format": "date-time"}, "component": COMPONENT},
            "additionalProperties": False,
        },
        "components": {"type": "array", "items": COMPONENT, "minItems": 1},
        "dependencies": {
            "type": "array",
            "items": {"type": "object", "required": ["ref"], "properties": {"ref": TEXT}},
        },
    },
    "additionalProperties": False,
}


def check_parts(found: dict[str, Any]) -> None:
    jsonschema_rs.Draft7Validator(PARTS, validate_formats=True).validate(found)
    refs = [found["metadata"]["component"]["bom-ref"], *(each["bom-ref"] for each in found["components"])]
    assert len(set(refs)) == len(refs)
    assert [each["ref"] for each in found["dependencies"]] == refs
    assert {ref for each in found["dependencies"] for ref in each.get("dependsOn", ())} <= set(refs)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project with one commit."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")
        monkeypatch.setenv(f"GIT_{name}_DATE", "2026-01-02T03:04:06Z")
    root = tmp_path / "project"
    for name, text in {
        "pyproject.toml": PROJECT, "small/__init__.py": "", "small/page.html": "<p>", "lock/run.txt": LOCK,
        ".gitignore": "ignored\n", "run.sh": "#!/bin/sh\n",
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "run.sh").chmod(0o755)
    for line in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *line], cwd=root, check=True)
    return root


@pytest.fixture
def key(tmp_path: Path) -> Path:
    sign.make_keys(tmp_path / "release.key", tmp_path / "release.pub")
    return tmp_path / "release.key"


def wrong(folder: Path, key: Path) -> list[str]:
    return list(release.verify_release(folder, sign.load_signer(key).public))


@pytest.mark.slow
def test_a_release_is_built_twice_listed_signed_and_verified(project: Path, tmp_path: Path, key: Path) -> None:
    (project / "ignored").write_text("must not be in it")
    made = release.build(project, tmp_path / "made")
    assert [path.name for path in made] == [
        "small-1.2.3-py3-none-any.whl", "small-1.2.3.cdx.json", "small-1.2.3.tar.gz", "SHA256SUMS",
    ]  # fmt: skip
    parts = json.loads(made[1].read_text())
    check_parts(parts)
    assert parts["metadata"]["timestamp"] == "2026-01-02T03:04:06+00:00"
    assert parts["dependencies"][0]["dependsOn"] == ["pkg:pypi/alpha@1.0"]
    folder = tmp_path / "made"
    assert wrong(folder, key) != []  # not signed yet
    public = release.sign_release(folder, key, project)
    assert list(release.verify_release(folder, public)) == []
    names = subprocess.run(["tar", "tzf", str(made[2])], capture_output=True, text=True, check=True).stdout
    assert "small/page.html" in names
    assert "ignored" not in names
    again = release.build(project, tmp_path / "again")  # at another time, in another folder
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in made]
    for attack in attacks(folder):
        assert attack(), attack
        assert list(release.verify_release(folder, public)) != []


def attacks(folder: Path) -> Iterator[Any]:
    """Changes to a release, each taken back."""
    wheel, sums, signature = next(folder.glob("*.whl")), folder / "SHA256SUMS", folder / "SHA256SUMS.sig"
    before = {path: path.read_bytes() for path in folder.iterdir()}

    def write(path: Path, content: bytes) -> Any:
        return lambda: path.write_bytes(content) or True

    yield write(wheel, before[wheel] + b" ")
    wheel.write_bytes(before[wheel])
    yield write(folder / "more.whl", b"")
    (folder / "more.whl").unlink()
    yield lambda: wheel.unlink() is None
    wheel.write_bytes(before[wheel])
    yield write(sums, before[sums].replace(b"0", b"1"))
    yield write(sums, b"")
    sums.write_bytes(before[sums])
    yield write(signature, b"00" * 64)
    yield write(signature, b"\xff")


@pytest.mark.slow
def test_two_builds_that_differ_are_no_release(project: Path, tmp_path: Path) -> None:
    (project / "pyproject.toml").write_text(PROJECT + '[tool.hatch.build.hooks.custom]\npath = "hook.py"\n')
    (project / "hook.py").write_text(
        "import os\nfrom hatchling.builders.hooks.plugin.interface import BuildHookInterface\n"
        "class Hook(BuildHookInterface):\n"
        "    def initialize(self, version, build_data):\n"
        "        open(os.path.join(self.root, 'small', 'where.py'), 'w').write(repr(self.root))\n"
    )
    subprocess.run(["git", "add", "."], cwd=project, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "two"], cwd=project, check=True)
    with pytest.raises(release.ReleaseError, match="differ"):
        release.build(project, tmp_path / "made")
    assert list((tmp_path / "made").iterdir()) == []


def test_only_a_commit_is_released_and_only_into_an_empty_folder(project: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "old.whl").touch()
    with pytest.raises(release.ReleaseError, match="not empty"):
        release.build(project, tmp_path / "full")
    (project / "small" / "more.py").touch()
    with pytest.raises(release.ReleaseError, match="in no commit"):
        release.build(project, tmp_path / "made")


def test_a_key_in_the_checkout_or_open_to_others_signs_nothing(project: Path, tmp_path: Path, key: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text("")
    inside = project / "release.key"
    os.link(key, inside)
    with pytest.raises(release.ReleaseError, match="checkout"):
        release.sign_release(tmp_path, inside, project)
    key.chmod(0o644)
    with pytest.raises(release.KeyFileError):
        release.sign_release(tmp_path, key, project)
    assert not (tmp_path / "SHA256SUMS.sig").exists()


def test_a_key_is_made_once_and_never_in_the_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["key", str(tmp_path / "release.key")]) == 0
    assert re.search(r"[0-9a-f]{64}", capsys.readouterr().out)
    assert (tmp_path / "release.key").stat().st_mode & 0o077 == 0
    assert release.main(["key", str(tmp_path / "release.key")]) == 1
    assert release.main(["key", str(ROOT / "build" / "release.key")]) == 1
    assert not (ROOT / "build" / "release.key").exists()


def test_the_parts_of_this_very_lock() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = list(locked.read_all((ROOT / "lock" / "run.txt").read_text()))
    found = release.list_parts(project, "0.1.0", iter(lines), 1_800_000_000)
    check_parts(found)
    assert len(found["components"]) == len(lines)
    direct = {ref.partition("@")[0] for ref in found["dependencies"][0]["dependsOn"]}
    assert len(direct) == len(project["dependencies"])  # each by its name: one may be locked for several machines
    assert release.list_parts(project, "0.1.0", iter(lines[::-1]), 1_800_000_000) == found
    assert all(each["properties"] for each in found["components"])
