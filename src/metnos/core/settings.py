"""Settings, and the one place that reads the environment.

Order: ``METNOS_*`` variables win over ``metnos.toml``, which wins over the defaults below;
``METNOS_STORE__BUSY_TIMEOUT_S`` is the variable for ``store.busy_timeout_s``.

Rules: an unknown key or a value that does not fit is an error that names the nearest known key, never a silent default;
the description of a field is its documentation, and ``docs/configuration.md`` and a new workspace's ``metnos.toml`` are
written from it.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from metnos.core.canon import canonical_path
from metnos.core.errors import SettingsError, UsageError
from metnos.core.nearest import nearest as like
from metnos.core.sections import PolicySettings, Settings
from metnos.core.setting_guards import LEVEL, has_variable
from metnos.core.workspace import Workspace

LEVELS: tuple[str, ...] = get_args(PolicySettings.model_fields["autonomy"].annotation)  # from least to most
_PREFIX = "METNOS_"
HOME_VARIABLE = "METNOS_HOME"


@dataclass(frozen=True, slots=True)
class Key:
    """One setting, as its documentation shows it."""

    name: str
    kind: str
    default: Any
    description: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it; empty where only a person does."""
        return _variable_of(self.name) if has_variable(self.name) else ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force and where each that is not a default came from (``file`` or ``environment``)."""

    settings: Settings
    origins: Mapping[str, str]

    def origin(self, name: str) -> str:
        return self.origins.get(name, "default")


def find_workspace(named: str | None = None) -> Workspace:
    """Which workspace is meant: the one named, else ``METNOS_HOME``, else the XDG default."""
    chosen = named or os.environ.get(HOME_VARIABLE)
    if not chosen:
        return Workspace(canonical_path(data_home() / "metnos", cwd=Path("/"), home=Path("/")))
    home = home_folder() if chosen.startswith("~") else Path("/")  # an account may have none, and not need one
    cwd = Path("/") if chosen.startswith("/") else Path.cwd()
    return Workspace(canonical_path(chosen, cwd=cwd, home=home))


def data_home() -> Path:
    """Where programs keep a person's data, by the XDG rules, which say to ignore a relative value."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return Path(named) if named.startswith("/") else home_folder() / ".local/share"


def cache_home() -> Path:
    """Where programs keep what can be fetched again, by the same rules."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if named.startswith("/") else home_folder() / ".cache"


def config_home() -> Path:
    """Where programs keep how they are set up, by the same rules."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(named) if named.startswith("/") else home_folder() / ".config"


def state_home() -> Path:
    """Where programs keep what they remember between two starts, by the same rules."""
    named = os.environ.get("XDG_STATE_HOME", "")
    return Path(named) if named.startswith("/") else home_folder() / ".local/state"


def program_path() -> str:
    """Where the system looks for programs that are called by their name alone: folders with colons between."""
    return os.environ.get("PATH", "")


def variable(name: str) -> str:
    """What the environment variable ``name`` holds, for a secret that the settings only point to; empty if unset."""
    return os.environ.get(name, "")


def load(path: Path) -> Loaded:
    """The settings in force: the file at ``path`` if it is there, and the environment over it.

    A variable gives no power: it can lower the level of autonomy and not raise it, and sets nothing that only a person
    may set.
    """
    in_file = read_file(path)
    in_environment = _variables()
    if LEVEL in in_environment:
        _refuse_higher(in_environment[LEVEL], validate(in_file, path).policy.autonomy)
    origins = dict.fromkeys((name for name, _ in leaves(in_file)), "file")
    settings = validate(_merge(in_file, in_environment), path)
    return Loaded(settings, origins | dict.fromkeys(in_environment, "environment"))


def _merge(data: dict[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Nested tables with values put in by dotted names. What is no table where one should be is left for the checks."""
    for name, value in values.items():
        *tables, last = name.split(".")
        place: Any = data
        for table in tables:
            place = place.setdefault(table, {}) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place[last] = value
    return data


def read_file(path: Path) -> dict[str, Any]:
    """The settings file as plain data; nothing at all if there is no file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} is not valid TOML: {error}", fix="Mend that line, or move the file away."
        ) from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error


def validate(data: Mapping[str, Any], path: Path) -> Settings:
    """``data`` as settings, or an error that names the first thing wrong with it and where it stands."""
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        raise _explain(error.errors()[0], path) from error


@cache
def keys() -> tuple[Key, ...]:
    """Every setting, in the order in which it is documented."""
    return tuple(_keys(Settings, ""))


def _keys(model: type[BaseModel], prefix: str) -> Iterator[Key]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys(inner, f"{prefix}{name}.")
        else:
            kind = getattr(inner, "__name__", str(inner))
            yield Key(f"{prefix}{name}", kind, field.get_default(), field.description or "")


def leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted names with their values."""
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def require_key(name: str) -> Key:
    """The setting of that name, or an error that names the nearest one."""
    known = {key.name: key for key in keys()}
    if name not in known:
        raise UsageError(f"there is no setting {name!r}", fix=nearest(name))
    return known[name]


def nearest(name: str) -> str:
    """A sentence that leads from a wrong name to the right one."""
    close = like(name, (key.name for key in keys()), cutoff=0.5)
    return f"Did you mean `{close[0]}`?" if close else "`metnos config show` lists them all."


def home_folder() -> Path:
    """The owner's home."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise SettingsError("this account has no home folder", fix="Name a workspace with --workspace.") from error


def _variable_of(name: str) -> str:
    return _PREFIX + name.upper().replace(".", "__")


def _variables() -> dict[str, str]:
    """Every setting that an environment variable sets, with its value. Upper and lower case count the same."""
    known = {key.name for key in keys()}
    found = {}
    for variable, value in sorted(os.environ.items()):
        if not variable.upper().startswith(_PREFIX) or variable == HOME_VARIABLE:
            continue
        name = variable[len(_PREFIX) :].lower().replace("__", ".")
        if name not in known:
            raise SettingsError(f"the environment variable {variable} sets nothing", fix=nearest(name))
        if not has_variable(name):
            raise _only_a_person(variable, f"metnos config set {name} VALUE")
        found[name] = value
    return found


def _refuse_higher(level: str, most: str) -> None:
    """Raise if a variable would let more happen without asking than the file does."""
    if level in LEVELS and LEVELS.index(level) > LEVELS.index(most):
        raise _only_a_person(_variable_of(LEVEL), f"metnos config set {LEVEL} {level}")


def _only_a_person(variable: str, command: str) -> SettingsError:
    what = f"the environment variable {variable} may not allow that: only a person does, at a terminal"
    return SettingsError(what, fix=f"Unset it. If you want that, type: {command}")


def _explain(error: ErrorDetails, path: Path) -> SettingsError:
    name = ".".join(str(part) for part in error["loc"])
    variable = _variable_of(name)
    where = f"the environment variable {variable}" if variable in os.environ else f"{path}"
    if error["type"] == "extra_forbidden":
        return SettingsError(f"{where}: there is no setting `{name}`", fix=nearest(name))
    found = error["msg"][0].lower() + error["msg"][1:]
    return SettingsError(
        f"{where}: `{name}` does not fit: {found}", fix="docs/configuration.md says what may stand there."
    )
