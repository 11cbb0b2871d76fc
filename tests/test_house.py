"""The house itself: layers, public API, what is shipped, and what must never be written into a file."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import metnos
from support import ROOT

TYPES = "TYPE_CHECKING"
LINT = Path(sys.executable).with_name("lint-imports")


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINT), "--no-cache"],
        cwd=root,
        env={"PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """The packages of this house with next to nothing in them: the real tree is linted by `make lint`."""
    for folder in [path.parent.relative_to(ROOT) for path in (ROOT / "src").glob("*/**/__init__.py")]:
        if len(folder.parts) <= 3:
            (tmp_path / folder).mkdir(parents=True)
            (tmp_path / folder / "__init__.py").touch()
    for module in ("app/house.py", "core/ids.py", "law/audit.py", "store/db.py"):
        assert (ROOT / "src/metnos" / module).exists()
        (tmp_path / "src/metnos" / module).touch()
    (tmp_path / "src/metnos/__init__.py").write_text("import metnos.app.house\n")  # which the contract allows by name
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("metnos/core/ids.py", "import metnos.store.db", "Imports go downward only"),
        ("metnos/store/db.py", "def f():\n    from metnos.law import audit", "Imports go downward only"),
        ("metnos/core/ids.py", f"import typing\nif typing.{TYPES}:\n    import metnos.app", "Imports go downward only"),
        ("metnos/newcomer.py", "x = 1", "Imports go downward only"),
        ("metnos/core/ids.py", "import styx", "metnos never imports styx"),
        ("styx/hub.py", "import metnos.store.db", "styx imports only metnos.core"),
        ("styx/hub.py", "import metnos.core.ids", None),
    ],
)  # fmt: skip
def test_a_wrong_import_breaks_the_contract(skeleton: Path, file: str, line: str, contract: str | None) -> None:
    (skeleton / "src" / file).write_text(f"{line}\n")
    done = lint(skeleton)
    if contract is None:
        assert done.returncode == 0, done.stdout
    else:
        assert done.returncode != 0
        assert f"{contract} BROKEN" in done.stdout or "newcomer" in done.stdout


def test_the_version_is_three_numbers() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", metnos.__version__)


@pytest.mark.slow
def test_the_wheel_holds_what_is_needed_and_nothing_else(tmp_path: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    line = [
        uv,
        "build",
        "-q",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "-o",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(line, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for path in (ROOT / "src" / "metnos").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT / "src").as_posix() in names
    assert not [name for name in names if not name.startswith(("metnos/", f"metnos-{metnos.__version__}.dist-info/"))]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def committed() -> list[Path]:
    line = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def test_locks_name_no_host() -> None:
    for path in (ROOT / "lock").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "://" not in text
        assert "--index-url" not in text
        assert text.count("--hash=sha256:") > 20


def test_no_file_names_a_path_of_this_machine() -> None:
    home = str(Path.home().parent)  # the tests' own home lies in a temporary folder of this machine
    for path in committed():
        content = path.read_bytes()
        assert str(ROOT).encode() not in content, path
        assert home.encode() not in content, path


def test_texts_and_names_are_compared_within_bounds_alone() -> None:
    """Comparing as the standard library does takes minutes for a text that was made for it."""
    sources = (ROOT / "src" / "metnos").rglob("*.py")
    users = {str(path.relative_to(ROOT / "src/metnos")) for path in sources if "import difflib" in path.read_text()}
    inside = {each for each in users if each.startswith("executors/builtin/")}  # in the sandbox, with a limit
    assert users - inside == {"core/nearest.py"}
