"""Small TOML files that the owner may write: profiles and packs. One way to find, read and refuse them.

Rules: a file of the owner's in the workspace wins over the shipped one of the same name, so a shipped one is copied and
changed and never edited. An unknown key, or a value that does not fit, is an error that names the file and the place;
nothing is guessed. A file is data: nothing in it is run.
"""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from metnos.core.errors import SettingsError

LARGEST = 256 * 1024  # bytes: a page of settings, many times over


class Strict(BaseModel):
    """A table in which nothing may stand that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


T = TypeVar("T", bound=Strict)


def find(what: str, name: str, shipped: Path, own: Path | None) -> Path:
    """The file of that name: the owner's, else the shipped one."""
    for folder in (own, shipped):
        if folder is not None and (folder / f"{name}.toml").is_file():
            return folder / f"{name}.toml"
    known = sorted({path.stem for folder in (own, shipped) if folder is not None for path in folder.glob("*.toml")})
    raise SettingsError(f"there is no {what} called {name!r}", fix=f"There are: {', '.join(known)}.")


def read(path: Path, model: type[T]) -> T:
    """The file, checked."""
    try:
        if path.stat().st_size > LARGEST:
            raise SettingsError(f"{path} is larger than {LARGEST // 1024} KB", fix="Shorten it.")
        table: T = _parse(path.read_text(encoding="utf-8"), model)
        return table
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}", fix="Mend that line.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        found = first["msg"].removeprefix("Value error, ")
        raise SettingsError(
            f"{path}: `{place}` does not fit: {found[0].lower()}{found[1:]}",
            fix="docs/profiles.md says what may stand there.",
        ) from error


@lru_cache(maxsize=32)
def _parse(text: str, model: type[T]) -> T:
    """Every turn asks for the same few files again, and reading TOML takes longer than most of what it does."""
    data: dict[str, Any] = tomllib.loads(text)
    return model.model_validate(data)
