"""The list of packages is complete, and nothing that a record says adds to it."""

import importlib.metadata
import os
import re
from pathlib import Path
from typing import get_args

import pytest

from metnos.core.errors import SandboxError
from metnos.executors.manifest import Library
from metnos.sandbox import packages
from metnos.sandbox.packages import PACKAGES, find_packages


def requirements(name: str) -> set[str]:
    """What this package says that it needs on this machine, without extras that were not asked for."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    waiting = [Requirement(name)]
    while waiting:
        wanted = waiting.pop()
        plain = re.sub(r"[-_.]+", "_", wanted.name).lower()
        if plain in found and not wanted.extras:
            continue
        found.add(plain)
        for text in importlib.metadata.requires(wanted.name) or []:
            inner = Requirement(text)
            if any(inner.marker is None or inner.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)):
                waiting.append(inner)
    return found


def test_every_library_of_a_manifest_is_listed_and_no_other() -> None:
    assert set(PACKAGES) == set(get_args(Library))


@pytest.mark.parametrize("library", [name for name in PACKAGES if name != "metnos_kit"])
def test_a_library_comes_with_everything_that_it_needs(library: str) -> None:
    listed = PACKAGES[library]
    assert requirements(listed[0]) <= set(listed)
    assert {library} <= {name for _, name in find_packages([library])}


def test_only_what_is_named_is_found() -> None:
    assert find_packages([]) == find_packages(["metnos_kit"]) == []
    names = {name for _, name in find_packages(["PIL"])}
    assert {name.partition("-")[0].partition(".")[0] for name in names} == {"PIL", "pillow"}
    everything = {name for _, name in find_packages(PACKAGES)}
    assert not everything & {"metnos", "keyring", "cli", "pip", "httpx", "openai", "numpy", "..", "", "_metnos.pth"}
    assert not [name for name in everything if name.endswith((".pth", ".egg-link"))]
    assert all(Path(source).exists() for source, _ in find_packages(PACKAGES))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(packages, "_sites", lambda: (str(tmp_path / "site"),))
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


def install(site: Path, package: str, *paths: str) -> None:
    metadata = site / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "RECORD").write_text("".join(f"{path},sha256=x,1\n" for path in paths))
    for path in paths:
        if not path.startswith(("/", ".")):
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).touch()


def test_a_record_leads_nowhere_else(site: Path) -> None:
    install(site, "lxml", "lxml/etree.py", "../secret", "/etc/passwd", "../../.ssh/id", "metnos/law/x.py", ".", "")
    install(site, "keyring", "keyring/core.py")
    (site.parent / "secret").touch()
    assert find_packages(["lxml"]) == [(str(site / "lxml"), "lxml")]


def test_a_package_that_leads_to_something_private_is_refused(site: Path, tmp_path: Path) -> None:
    install(site, "lxml", "lxml.py")
    private = tmp_path / ".ssh"
    private.mkdir()
    (private / "lxml.py").touch()
    (site / "lxml.py").unlink()
    (site / "lxml.py").symlink_to(private / "lxml.py")
    with pytest.raises(SandboxError):
        find_packages(["lxml"])


def test_what_is_installed_later_is_found(site: Path) -> None:
    assert find_packages(["lxml"]) == []
    install(site, "lxml", "lxml/etree.py")
    os.utime(site, ns=(1, 1))
    assert find_packages(["lxml"]) == [(str(site / "lxml"), "lxml")]
