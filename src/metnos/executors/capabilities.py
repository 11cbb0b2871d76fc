"""What an executor may ever do, as its manifest declares it, and how much of it.

The tables of TOML are nested (``fs.read`` is ``{"fs": {"read": ...}}``), and so are these. Rules: what is not declared
is not allowed; quotas can lower what the settings allow and never raise it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from metnos.core.sections import ExecutorSettings
from metnos.executors import scope, vocabulary

Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))


class Part(BaseModel):
    """A table of the manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Fs(Part):
    read: tuple[str, ...] = Field((), max_length=32, description="Scopes of paths that may be read.")
    write: tuple[str, ...] = Field((), max_length=32, description="Scopes of paths that may be changed.")

    @field_validator("read", "write")
    @classmethod
    def _scopes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(scope.check(text) for text in value)


class Http(Part):
    hosts: tuple[str, ...] = Field(
        min_length=1, max_length=64, description="Hosts that may be asked: `example.org`, `*.example.org` or `*`."
    )
    methods: tuple[Method, ...] = Field(
        ("GET",),
        min_length=1,
        description="HTTP methods that may be used. Others than GET, HEAD and OPTIONS change things.",
    )

    @field_validator("hosts")
    @classmethod
    def _patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(scope.canonical_pattern(text) for text in value)


class Net(Part):
    http: Http | None = Field(None, description="Web requests, through the broker.")


class Exec(Part):
    allow: tuple[str, ...] = Field(
        min_length=1, max_length=32, description="Programs that may be started, each by its whole path."
    )

    @field_validator("allow")
    @classmethod
    def _programs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            if not text.startswith("/") or text.endswith("/") or scope.BELOW in scope.check(text):
                raise ValueError(f"{text!r} is not the whole path of a program")
        return value


class Shell(Part):
    exec: Exec | None = Field(None, description="Programs of the machine, inside the sandbox.")


class Calls(Part):
    call: tuple[str, ...] = Field((), max_length=32, description="Other executors that may be called.")

    @field_validator("call")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            if not vocabulary.is_name(text):
                raise ValueError(f"{text!r} is not the name of an executor")
        return value


class Model(Part):
    chat: bool = Field(False, description="Whether the language model may be asked.")


class System(Part):
    read: tuple[Literal["processes", "disks", "host"], ...] = Field(
        (), description="Facts about the machine that may be read: `processes`, `disks`, `host`."
    )


class Tool(Part):
    server: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$", description="Which MCP server: see `metnos mcp list`.")
    tool: str = Field(pattern=r"^[A-Za-z0-9_./-]{1,128}$", description="Which of its tools; no other.")
    starts: str = Field(pattern=r"^[0-9a-f]{64}$", description="Digest of the server's command or address.")
    pin: str = Field(pattern=r"^[0-9a-f]{64}$", description="Digest of that and of all the server says of the tool.")
    acts: bool = Field(True, description="Whether, as the owner declared, it may change or send something.")
    reads: tuple[str, ...] = Field((), max_length=32, description="Scopes that the owner declared it reads.")
    changes: tuple[str, ...] = Field((), max_length=32, description="Scopes that the owner declared it changes.")
    hosts: tuple[str, ...] = Field((), max_length=32, description="Hosts that the owner declared it speaks to.")

    @field_validator("reads", "changes")
    @classmethod
    def _scopes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(scope.check(text) for text in value)

    @field_validator("hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(scope.canonical_host(text) for text in value)

    @property
    def target(self) -> str:
        """What a need and a grant call it."""
        return f"{self.server}/{self.tool}"


class Mcp(Part):
    call: Tool | None = Field(None, description="One tool of an MCP server, through the broker.")


class Capabilities(Part):
    """Everything that an executor may ever do."""

    fs: Fs = Field(default_factory=Fs, description="Files and folders.")
    net: Net = Field(default_factory=Net, description="The network.")
    shell: Shell = Field(default_factory=Shell, description="Programs of the machine.")
    executor: Calls = Field(default_factory=Calls, description="Other executors.")
    model: Model = Field(default_factory=Model, description="The language model.")
    system: System = Field(default_factory=System, description="Facts about the machine.")
    mcp: Mcp = Field(default_factory=Mcp, description="A tool of an MCP server.")

    def names(self) -> tuple[str, ...]:
        """The capabilities that are declared, such as ``fs.read``, in the order of the manifest."""
        return tuple(self._declared())

    def _declared(self) -> Iterator[str]:
        for table in type(self).model_fields:
            part = getattr(self, table)
            for name in type(part).model_fields:
                if getattr(part, name):
                    yield f"{table}.{name}"

    @property
    def unsafe_methods(self) -> tuple[str, ...]:
        """The declared HTTP methods that change something elsewhere."""
        http = self.net.http
        return tuple(method for method in http.methods if method not in SAFE_METHODS) if http else ()

    @property
    def can_change(self) -> bool:
        """Whether anything outside could ever be different after a call, by itself or through another executor."""
        return self.changes_itself or bool(self.executor.call)

    @property
    def changes_itself(self) -> bool:
        """Whether anything could be different after a call without another executor's doing."""
        return bool(self.fs.write or self.unsafe_methods or self.shell.exec or self.acts_elsewhere)

    @property
    def acts_elsewhere(self) -> bool:
        """Whether a tool of an MCP server may change something, which nobody here can take back."""
        return self.mcp.call is not None and self.mcp.call.acts


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call, and one day, may use: the lower of what the manifest and the settings say."""

    cpu_s: float
    ram_mb: int
    wall_s: float
    output_mb: int
    writes: int
    write_mb: int


class Quotas(Part):
    """Limits that an executor sets itself. Each may only lower what the settings allow."""

    cpu_s: Annotated[float, Field(gt=0)] | None = Field(None, description="CPU seconds that one call may use.")
    ram_mb: Annotated[int, Field(ge=64)] | None = Field(None, description="Memory that one call may use, in MB.")
    wall_s: Annotated[float, Field(gt=0)] | None = Field(None, description="How long one call may take, in seconds.")
    writes: Annotated[int, Field(ge=0)] | None = Field(None, description="How many changes it may make in a day.")
    write_mb: Annotated[int, Field(ge=0)] | None = Field(None, description="How much it may write in a day, in MB.")

    def limits(self, defaults: ExecutorSettings) -> Limits:
        """What is in force under these settings."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        lowest = {name: value for name, value in own.items() if value is not None and value < getattr(defaults, name)}
        return Limits(
            cpu_s=lowest.get("cpu_s", defaults.cpu_s),
            ram_mb=lowest.get("ram_mb", defaults.ram_mb),
            wall_s=lowest.get("wall_s", defaults.wall_s),
            output_mb=defaults.output_mb,
            writes=lowest.get("writes", defaults.writes),
            write_mb=lowest.get("write_mb", defaults.write_mb),
        )

    def above(self, defaults: ExecutorSettings) -> str:
        """The first quota that asks for more than the settings allow, or an empty string."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            if value is not None and value > getattr(defaults, name):
                return name
        return ""
