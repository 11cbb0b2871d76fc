"""Settings, and the one place that reads the environment.

Order: ``METNOS_*`` variables win over ``metnos.toml``, which wins over the defaults below;
``METNOS_STORE__BUSY_TIMEOUT_S`` is the variable for ``store.busy_timeout_s``.

Rules: an unknown key or a value that does not fit is an error that names the nearest known key, never a silent default;
the description of a field is its documentation, and ``docs/configuration.md`` and a new workspace's ``metnos.toml`` are
written from it.
"""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from metnos.core.canon import canonical_path
from metnos.core.errors import SettingsError, UsageError
from metnos.core.workspace import Workspace

S = TypeVar("S", bound="Sheet")

_PREFIX = "METNOS_"
HOME_VARIABLE = "METNOS_HOME"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoreSettings(_Section):
    busy_timeout_s: Annotated[float, Field(gt=0, le=600)] = Field(
        10.0, description="How long a write waits for another process before it gives up, in seconds."
    )


class AuditSettings(_Section):
    checkpoint_every: Annotated[int, Field(ge=1, le=10_000)] = Field(
        64, description="After how many lines the audit signs a checkpoint with the agent's key."
    )


class BackupSettings(_Section):
    folder: str = Field(
        "",
        description="Where backups go when no place is named. Empty: a folder `metnos-backups` beside the workspace.",
    )


class DiskSettings(_Section):
    warn_free_mb: Annotated[int, Field(ge=0)] = Field(
        1024, description="Below this many free megabytes `metnos doctor` turns yellow."
    )
    need_free_mb: Annotated[int, Field(ge=0)] = Field(
        100, description="Below this many free megabytes `metnos doctor` turns red."
    )


class SandboxSettings(_Section):
    bwrap: str = Field("", description="The bubblewrap program to use. Empty: the one found on PATH.")
    timeout_s: Annotated[float, Field(gt=0, le=600)] = Field(
        20.0, description="How long the sandbox probe may take before it counts as failed, in seconds."
    )


class PolicySettings(_Section):
    autonomy: Literal["read_only", "supervised", "full"] = Field(
        "supervised", description="What may happen without asking: `read_only`, `supervised` or `full`."
    )
    approval_hours: Annotated[float, Field(gt=0, le=720)] = Field(
        24.0, description="How long a question in the inbox waits for an answer before it counts as *no*, in hours."
    )
    undo_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        30, description="For how many days what was changed can be taken back."
    )


class ExecutorSettings(_Section):
    cpu_s: Annotated[float, Field(gt=0, le=600)] = Field(5.0, description="CPU seconds that one call may use.")
    ram_mb: Annotated[int, Field(ge=64, le=16_384)] = Field(256, description="Memory that one call may use, in MB.")
    wall_s: Annotated[float, Field(gt=0, le=3600)] = Field(30.0, description="How long one call may take, in seconds.")
    output_mb: Annotated[int, Field(ge=1, le=256)] = Field(8, description="How large one reply may be, in MB.")
    writes: Annotated[int, Field(ge=0)] = Field(1000, description="How many changes one executor may make in a day.")
    write_mb: Annotated[int, Field(ge=0)] = Field(1024, description="How much one executor may write in a day, in MB.")
    strikes: Annotated[int, Field(ge=1, le=100)] = Field(
        3, description="After how many faults of its own within 24 hours an executor is quarantined."
    )
    births: Annotated[int, Field(ge=0)] = Field(3, description="How many new executors may become active in a day.")
    active: Annotated[int, Field(ge=0)] = Field(
        20, description="How many executors that are not built in may be active."
    )
    warm: Annotated[int, Field(ge=0, le=16)] = Field(
        2, description="How many sandboxes wait ready-made while Metnos keeps running. 0: each is made when needed."
    )


class ModelSettings(_Section):
    url: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="Base address of an OpenAI-compatible server, such as `http://127.0.0.1:11434/v1`. "
        "Empty: no language model, which is fine.",
    )
    name: str = Field("", description="Which of the server's models to use. Empty: the first that it lists.")
    timeout_s: Annotated[float, Field(gt=0, le=600)] = Field(
        3.0, description="How long `metnos doctor` waits for the model's server, in seconds."
    )


class ModelsSettings(_Section):
    main: ModelSettings = Field(default_factory=ModelSettings, description="The model that plans.")


class Sheet(_Section):
    """Everything the owner can set."""

    store: StoreSettings = Field(default_factory=StoreSettings, description="The one door to SQLite.")
    audit: AuditSettings = Field(default_factory=AuditSettings, description="The hash-chained log.")
    backup: BackupSettings = Field(default_factory=BackupSettings, description="Backups of the whole workspace.")
    disk: DiskSettings = Field(default_factory=DiskSettings, description="How much free disk is enough.")
    sandbox: SandboxSettings = Field(default_factory=SandboxSettings, description="The walls around executors.")
    policy: PolicySettings = Field(default_factory=PolicySettings, description="What may happen without asking.")
    executors: ExecutorSettings = Field(default_factory=ExecutorSettings, description="Limits of every executor.")
    models: ModelsSettings = Field(default_factory=ModelsSettings, description="Language models; none is needed.")


class Settings(Sheet, BaseSettings):
    """The sheet with the environment over it."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 -- the library names its arguments
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # The file comes in as init values; a variable set for one command must win over it.
        return env_settings, init_settings


@dataclass(frozen=True, slots=True)
class Key:
    """One setting, as its documentation shows it."""

    name: str
    kind: str
    default: Any
    description: str

    @property
    def variable(self) -> str:
        return _PREFIX + self.name.upper().replace(".", "__")


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


def load(path: Path) -> Loaded:
    """The settings in force: the file at ``path`` if it is there, and the environment over it."""
    in_file = read_file(path)
    in_environment = _variables()
    settings = validate(Settings, in_file, path)
    origins = dict.fromkeys((name for name, _ in leaves(in_file)), "file")
    return Loaded(settings, origins | dict.fromkeys(in_environment, "environment"))


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


def validate(model: type[S], data: Mapping[str, Any], path: Path) -> S:
    """``data`` as settings, or an error that names the first thing wrong with it and where it stands."""
    try:
        return model(**data)
    except ValidationError as error:
        raise _explain(error.errors()[0], path) from error


def keys(model: type[BaseModel] = Sheet, prefix: str = "") -> Iterator[Key]:
    """Every setting, in the order in which it is documented."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{prefix}{name}.")
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
    close = difflib.get_close_matches(name, [key.name for key in keys()], n=1, cutoff=0.5)
    return f"Did you mean `{close[0]}`?" if close else "`metnos config show` lists them all."


def home_folder() -> Path:
    """The owner's home."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise SettingsError("this account has no home folder", fix="Name a workspace with --workspace.") from error


def _variables() -> tuple[str, ...]:
    """The names of the settings that the environment sets."""
    known = {key.name for key in keys()}
    found = []
    for variable in sorted(os.environ):
        # The library reads variables whatever their letter case, so they are checked whatever it is.
        if not variable.upper().startswith(_PREFIX) or variable == HOME_VARIABLE:
            continue
        name = variable[len(_PREFIX) :].lower().replace("__", ".")
        if name not in known:
            raise SettingsError(f"the environment variable {variable} sets nothing", fix=nearest(name))
        found.append(name)
    return tuple(found)


def _explain(error: ErrorDetails, path: Path) -> SettingsError:
    name = ".".join(str(part) for part in error["loc"])
    variable = _PREFIX + name.upper().replace(".", "__")
    where = f"the environment variable {variable}" if variable in os.environ else f"{path}"
    if error["type"] == "extra_forbidden":
        return SettingsError(f"{where}: there is no setting `{name}`", fix=nearest(name))
    found = error["msg"][0].lower() + error["msg"][1:]
    return SettingsError(
        f"{where}: `{name}` does not fit: {found}", fix="docs/configuration.md says what may stand there."
    )
