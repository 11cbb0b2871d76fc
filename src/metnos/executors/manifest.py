"""The manifest: what an executor is called, takes, gives, may do, and how what it does is taken back.

Rules: a manifest is read whole or refused with an error that names the field and what to do; a producer can change
nothing, and says so; a mutator names the pattern by which it is reversed; what cannot be reversed is called
``irreversible``, never something milder. Does not guarantee that the code keeps to it: the sandbox and the broker do.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, get_args

from jsonschema_rs import Draft202012Validator
from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator, model_validator

from metnos.core.canon import canonical_json
from metnos.core.errors import ExecutorFailed, ManifestError
from metnos.core.sections import ExecutorSettings
from metnos.executors import arguments, vocabulary
from metnos.executors.arguments import PathArgument
from metnos.executors.capabilities import Capabilities, Limits, Part, Quotas

Library = Literal["pypdf", "openpyxl", "PIL", "docx", "lxml", "trafilatura", "metnos_kit"]
LIBRARIES: tuple[str, ...] = get_args(Library)
MAX_CHARACTERS = 64 * 1024

_FIX = "docs/executors.md describes every field."


class Kind(StrEnum):
    """Whether a call can change anything."""

    PRODUCER = "producer"
    MUTATOR = "mutator"


class Reversal(StrEnum):
    """How what a call did is taken back."""

    NOTHING = "nothing"
    MOVE_BACK = "move_back"
    REMOVE_CREATED = "remove_created"
    RESTORE_CONTENT = "restore_content"
    RESTORE_TRASHED = "restore_trashed"
    IRREVERSIBLE = "irreversible"


class Example(Part):
    """A request and the call that answers it."""

    say: str = Field(min_length=1, max_length=200, description="What a person might say.")
    args: dict[str, Any] = Field(default_factory=dict, description="The arguments of the call that answers it.")


class Manifest(Part):
    """One executor's manifest, checked."""

    name: str = Field(
        description="`verb_object` or `verb_object_qualifier`, from the vocabulary; also the folder's name."
    )
    version: str = Field(pattern=r"^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$",
                         description="Three numbers, such as `1.0.0`.")  # fmt: skip
    purpose: str = Field(min_length=1, max_length=200, description="What it is for, in one line.")
    kind: Kind = Field(description="`producer` (gives entries and changes nothing) or `mutator` (changes something).")
    libraries: tuple[Library, ...] = Field(
        (), description=f"Libraries of the sandbox that the code imports, of: {', '.join(LIBRARIES)}."
    )
    affinity: tuple[Annotated[str, Field(min_length=1, max_length=40)], ...] = Field(
        (), max_length=40, description="Words that a request for it may use."
    )
    reversal: Reversal = Field(
        description="How it is taken back: `nothing` (producers), `move_back`, `remove_created`, `restore_content`, "
        "`restore_trashed` or `irreversible`."
    )
    covers: tuple[tuple[Annotated[str, Field(min_length=1, max_length=64)], ...], ...] = Field(
        (), max_length=20, description="Sequences of other executors that one call of it takes the place of."
    )
    args: dict[str, Any] = Field(
        default_factory=dict,
        validate_default=True,
        description="JSON Schema of the arguments: each has a type and a description, and `x-path` marks a path.",
    )
    output: dict[str, Any] = Field(description="JSON Schema of one entry (producer) or one result (mutator).")
    capabilities: Capabilities = Field(default_factory=Capabilities, description="The most it may ever do.")
    quotas: Quotas = Field(default_factory=Quotas, description="Limits lower than those of the settings.")
    examples: tuple[Example, ...] = Field(min_length=1, max_length=20, description="Requests with the calls they mean.")

    # -- reading

    @field_validator("name")
    @classmethod
    def _known_words(cls, value: str, info: ValidationInfo) -> str:
        # What is signed keeps its name, even when a later vocabulary has dropped one of its words.
        if info.context and info.context.get("signed") and vocabulary.is_name(value):
            return value
        return str(vocabulary.parse_name(value))

    @field_validator("purpose")
    @classmethod
    def _one_line(cls, value: str) -> str:
        if value != value.strip() or not value.isprintable():
            raise ManifestError("`purpose` must be one plain line")
        return value

    @field_validator("args")
    @classmethod
    def _args(cls, value: dict[str, Any]) -> dict[str, Any]:
        return arguments.check_args(value)

    @field_validator("output")
    @classmethod
    def _output(cls, value: dict[str, Any]) -> dict[str, Any]:
        return arguments.check_output(value)

    @model_validator(mode="after")
    def _fits_together(self) -> "Manifest":
        for check in (_check_paths, _check_kind, _check_reversal, _check_calls, _check_examples):
            check(self)
        return self

    # -- arguments and replies

    @cached_property
    def paths(self) -> tuple[PathArgument, ...]:
        """Which arguments are paths."""
        return arguments.path_arguments(self.args)

    def paths_in(self, args: Mapping[str, Any]) -> Iterator[tuple[PathArgument, str]]:
        """Every path that these arguments name, with the argument that names it."""
        for argument in self.paths:
            value = args.get(argument.name)
            if value is not None:
                yield from ((argument, each) for each in (value if argument.many else (value,)))

    def validate_args(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with defaults filled in, or `ExecutorFailed` of kind ``invalid`` that lists every problem."""
        return arguments.fill(self.args, args, self._args_checker, self.name)

    def check_entry(self, entry: Any) -> None:
        """Whether one entry is as the manifest says; raises `ExecutorFailed` if not."""
        self.check_entries([entry])

    def check_entries(self, entries: Sequence[Any]) -> None:
        """Whether all entries are as the manifest says; raises `ExecutorFailed` that names the first that is not."""
        if self._entries_checker.is_valid(list(entries)):
            return
        error = next(iter(self._entries_checker.iter_errors(list(entries))))
        position, *path = error.instance_path
        place = ".".join(map(str, path))
        said = f"`{place}`" if place else "it"
        raise ExecutorFailed(
            f"{self.name} gave what its manifest does not describe: in entry {int(position) + 1}, {said} breaks"
            f" the rule {error.kind.name!r}"
        )

    def limits(self, defaults: ExecutorSettings) -> Limits:
        """What one call, and one day, may use under these settings."""
        return self.quotas.limits(defaults)

    @property
    def result_key(self) -> str:
        """Where the reply's list stands: ``entries`` of a producer, ``results`` of a mutator."""
        return "entries" if self.kind is Kind.PRODUCER else "results"

    @property
    def is_quiet(self) -> bool:
        """Whether a call leaves everything as it is and tells nobody."""
        can = self.capabilities
        speaks = can.net.http or can.executor.call or can.model.chat or can.mcp.call
        return self.kind is Kind.PRODUCER and not speaks

    @property
    def words(self) -> vocabulary.Name:
        """The name taken apart."""
        return vocabulary.Name(*self.name.split("_"))

    def canonical(self) -> bytes:
        """The one byte string of what the manifest says, whatever its spelling; fields not written are not in it."""
        return canonical_json(self.model_dump(mode="json", exclude_unset=True))

    @cached_property
    def _args_checker(self) -> Draft202012Validator:
        return arguments.compile_schema(self.args)

    @cached_property
    def _entries_checker(self) -> Draft202012Validator:
        return arguments.compile_schema({"type": "array", "items": self.output})


def parse(
    text: str, *, where: str = "manifest.toml", defaults: ExecutorSettings | None = None, signed: bool = False
) -> Manifest:
    """The manifest in ``text``; ``where`` names it in errors, ``defaults`` are what its quotas may not exceed."""
    if len(text) > MAX_CHARACTERS:
        raise ManifestError(f"{where} is too large to be a manifest", fix=f"Keep it below {MAX_CHARACTERS} characters.")
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ManifestError(f"{where} is not valid TOML: {error}", fix="Mend that line.") from error
    try:
        manifest = Manifest.model_validate(data, context={"signed": signed})
    except ManifestError as error:
        raise ManifestError(f"{where}: {error.what}", fix=error.fix or _FIX) from error
    except ValidationError as error:
        raise _explain(error, where) from error
    over = manifest.quotas.above(defaults) if defaults else ""
    if over:
        most = getattr(defaults, over)
        raise ManifestError(
            f"{where}: `quotas.{over}` asks for more than the settings allow ({most})", fix="A quota may only lower it."
        )
    return manifest


def fields(model: type[BaseModel] = Manifest, prefix: str = "") -> list[tuple[str, str, Any, str]]:
    """Every field with its dotted name, type, default (``...`` when it must be given) and description, for the docs."""
    listed: list[tuple[str, str, Any, str]] = []
    for name, field in model.model_fields.items():
        inner, many = _inner_model(field.annotation)
        if inner is None:
            default = ... if field.is_required() else field.get_default(call_default_factory=True)
            listed.append((f"{prefix}{name}", _type_name(field.annotation), default, field.description or ""))
        else:
            listed += fields(inner, f"{prefix}{name}{'[]' if many else ''}.")
    return listed


def _inner_model(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The table that stands behind a field, if one does, and whether it is a list of them."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate, candidate is not annotation and Ellipsis in get_args(annotation)
    return None, False


def _type_name(annotation: Any) -> str:
    inner = [each for each in get_args(annotation) if each not in (type(None), Ellipsis)]
    if getattr(annotation, "__origin__", None) is tuple:
        return f"list of {_type_name(inner[0])}"
    if getattr(annotation, "__origin__", None) is Literal:
        return "text"
    if inner and getattr(annotation, "__origin__", None) is not dict:
        return _type_name(inner[0])
    plain = {str: "text", bool: "true or false", int: "whole number", float: "number"}
    return (
        "text" if isinstance(annotation, type) and issubclass(annotation, StrEnum) else plain.get(annotation, "table")
    )


def _explain(error: ValidationError, where: str) -> ManifestError:
    """The first problem, in words."""
    found = error.errors()[0]
    name = ".".join(str(part) for part in found["loc"])
    if found["type"] == "extra_forbidden":
        return ManifestError(f"{where}: there is no field `{name}`", fix=_FIX)
    if found["type"] == "missing":
        return ManifestError(f"{where}: the field `{name}` is missing", fix=_FIX)
    said = found["msg"].removeprefix("Value error, ")
    return ManifestError(f"{where}: `{name}` does not fit: {said[:1].lower()}{said[1:]}", fix=_FIX)


def _check_paths(manifest: Manifest) -> None:
    allowed = manifest.capabilities.fs
    for argument in manifest.paths:
        # Whoever calls others may hand a path on to one of them, which has scopes of its own.
        if not getattr(allowed, argument.mode) and not manifest.capabilities.executor.call:
            raise ManifestError(
                f"`args.properties.{argument.name}` is a path to {argument.mode},"
                f" but there is no `capabilities.fs.{argument.mode}`",
                fix=f"Declare the scopes: fs.{argument.mode} = [...]",
            )


def _check_kind(manifest: Manifest) -> None:
    can = manifest.capabilities
    if manifest.kind is Kind.MUTATOR:
        if not can.can_change:
            raise ManifestError("a mutator needs a capability to change something", fix="Or make it a producer.")
        return
    forbidden = (
        ("capabilities.fs.write", can.fs.write),
        ("capabilities.net.http.methods beyond GET, HEAD and OPTIONS", can.unsafe_methods),
        ("capabilities.shell.exec", can.shell.exec),
        ("capabilities.mcp.call with acts", can.acts_elsewhere),
    )
    for name, declared in forbidden:
        if declared:
            raise ManifestError(f"a producer changes nothing, so it cannot have `{name}`", fix="Make it a mutator.")


def _check_reversal(manifest: Manifest) -> None:
    if (manifest.kind is Kind.PRODUCER) != (manifest.reversal is Reversal.NOTHING):
        raise ManifestError(
            f"`reversal` cannot be {manifest.reversal.value!r} for a {manifest.kind.value}",
            fix='A producer has "nothing"; a mutator names how it is taken back, or "irreversible".',
        )
    can = manifest.capabilities
    if (can.unsafe_methods or can.shell.exec or can.acts_elsewhere) and manifest.reversal is not Reversal.IRREVERSIBLE:
        raise ManifestError(
            "what programs do and what other machines are told cannot be taken back",
            fix='Set reversal = "irreversible".',
        )


def _check_calls(manifest: Manifest) -> None:
    if manifest.name in manifest.capabilities.executor.call:
        raise ManifestError("an executor cannot call itself", fix="Remove it from executor.call.")


def _check_examples(manifest: Manifest) -> None:
    for number, example in enumerate(manifest.examples, start=1):
        try:
            manifest.validate_args(example.args)
        except ExecutorFailed as error:
            raise ManifestError(f"`examples` number {number} cannot be called: {error.what}", fix=error.fix) from error
