"""The settings for whoever shows and changes them: each with what it may be, and where its value comes from.

Rules: where a key is kept is told by its kind only (``file:…``), because people put the key itself there by mistake.
What could open the house from elsewhere is changed at the terminal and nowhere else: which programs are run, who may
come in, and where requests and memories go, unless that is at home and no key would go along. What an address brings
along that could be a secret is not shown. A level is never raised beyond that of whoever raises it. What protects the
owner from what happens in their name (how much may be done, spent and made, what is kept and backed up, how long one is
asked) is changed with the level full: whoever is only to act with a yes must not take the fence down first. A script
changes none of all this, but may lower the level. `App.set_setting` asks `refuse` of every change, and every secret is
stored by `store_secret`, so that a new command cannot forget to ask.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel

from metnos.core import setting_guards as guards
from metnos.core import settings
from metnos.core.errors import Refused
from metnos.core.sections import Settings
from metnos.law.audit_line import Entry
from metnos.law.principal import Autonomy, Channel, Principal, lower
from metnos.models import address, keys

if TYPE_CHECKING:
    from metnos.app.house import App

_PROVIDER, _ELSEWHERE = ".provider", "anthropic"
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it is in force."""

    name: str
    value: Any
    default: Any
    origin: str  # `default`, `file` or `environment`
    type: str  # `text`, `choice`, `yes or no`, `whole number`, `number`, `list`
    choices: tuple[str, ...]
    bounds: str
    description: str
    secret: bool  # it points to a key: where that lies is told, and not its name
    terminal: bool  # it is changed at the terminal only
    variable: str


def sheet(app: "App") -> list[Setting]:
    """Every setting, in the order in which it is documented, as the file and the environment say now."""
    loaded = settings.load(app.workspace.settings)
    return [_setting(loaded, key) for key in settings.keys()]  # noqa: SIM118 -- a function of that name


def change(app: "App", name: str, text: str, by: Principal) -> Any:
    """Set one of them, as far as ``by`` may; returns the value as it may be shown."""
    settings.require_key(name)
    return shown(name, app.set_setting(name, text, by))


def refuse(app: "App", name: str, text: str, by: Principal) -> None:
    """Raise `Refused` if ``by`` may not set this."""
    if by.channel is not Channel.TERMINAL and (guards.at_terminal_only(name) or _leads_out(app, name, text)):
        raise Refused(f"`{name}` is changed to that at the terminal only", fix=f"Type: metnos config set {name} VALUE")
    if name == guards.LEVEL and text in tuple(Autonomy) and lower(by.level, Autonomy(text)) is not Autonomy(text):
        raise Refused(
            f"{by} has the level {by.level} and cannot allow more", fix=f"Type: metnos config set {name} {text}"
        )
    if guards.is_limit(name) and name != guards.LEVEL and by.level is not Autonomy.FULL:
        raise Refused(
            f"`{name}` protects you, and {by} has the level {by.level}",
            fix=f"Use a device with the level full, or type: metnos config set {name} VALUE",
        )
    if not by.may_answer and needs_person(app, name, text):
        raise Refused(
            f"only a person may set `{name}` to that, and {by} is none",
            fix=f"Type at a terminal: metnos config set {name} VALUE",
        )


def store_secret(app: "App", kind: str, name: str, secret: str, by: Principal, *, keyring: bool) -> str:
    """Keep the key of a server or of a bot, which only a person may; returns what the settings say for it.

    ``kind`` is the line of the audit, which names the place and never the key.
    """
    if by.channel is not Channel.TERMINAL or not by.may_answer:
        raise Refused("only a person may store a key", fix=f"Type at a terminal: metnos model key {name}")
    keys.check(name, secret)
    names = {"name": name, "place": "keyring" if keyring else "file", "channel": by.channel, "sender": by.sender}
    with app.audit.act(Entry(kind, names)):
        if keyring:
            return keys.store_in_keyring(name, secret)
        return keys.store_in_file(name, secret, app.workspace.keys)


def value_of(sheet_: Any, name: str) -> Any:
    """The value of a setting in a sheet."""
    for part in name.split("."):
        sheet_ = getattr(sheet_, part)
    return sheet_


def needs_person(app: "App", name: str, text: str) -> bool:
    """Whether a script may not set this: it raises the level, moves a fence, opens a door, or leads out of the home."""
    if name == guards.LEVEL and text in tuple(Autonomy):
        return lower(Autonomy(text), Autonomy(app.settings.policy.autonomy)) is not Autonomy(text)
    return guards.needs_person(name) or _leads_out(app, name, text) or _is_billed(app, name)


def _leads_out(app: "App", name: str, text: str) -> bool:
    """Whether what is asked and remembered would leave the home, or a key would go where it was not meant for."""
    if not guards.leads_out(name):
        return False
    if name.endswith(_PROVIDER):
        return text == _ELSEWHERE
    return _has_key(app, name) or (bool(text) and not address.at_home(text))


def _is_billed(app: "App", name: str) -> bool:
    """Whether another model would be asked of a server that the owner has a key for."""
    return guards.names_model(name) and _has_key(app, name)


def _has_key(app: "App", name: str) -> bool:
    section = name.rpartition(".")[0]
    return bool(value_of(settings.load(app.workspace.settings).settings, f"{section}.key"))


def shown(name: str, value: Any) -> Any:
    """A value as it may be shown."""
    if guards.is_key(name) and isinstance(value, str) and value:
        return f"{value.partition(':')[0]}:…"
    if isinstance(value, str) and "://" in value and any(each in value for each in "?#@"):
        return address.shown(value)
    return list(value) if isinstance(value, tuple) else value


def _setting(loaded: settings.Loaded, key: settings.Key) -> Setting:
    kind, choices, bounds = _shape(key.name)
    return Setting(
        name=key.name,
        value=shown(key.name, value_of(loaded.settings, key.name)),
        default=shown(key.name, key.default),
        origin=loaded.origin(key.name),
        type=kind,
        choices=choices,
        bounds=bounds,
        description=key.description,
        secret=guards.is_key(key.name),
        terminal=guards.at_terminal_only(key.name),
        variable=key.variable,
    )


@cache
def _shape(name: str) -> tuple[str, tuple[str, ...], str]:
    """Its type in a word, what may be chosen, and between which bounds."""
    model: type[BaseModel] = Settings
    *sections, leaf = name.split(".")
    for section in sections:
        inner = model.model_fields[section].annotation
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            raise AssertionError("a section is a model")
        model = inner
    field = model.model_fields[leaf]
    kind: Any = field.annotation
    choices = tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()
    words = {bool: "yes or no", int: "whole number", float: "number", str: "text"}
    bounds = [f"{said} {getattr(each, short):,}" for each in field.metadata for short, said in _BOUNDS.items()
              if isinstance(getattr(each, short, None), int | float)]  # fmt: skip
    return "choice" if choices else words.get(kind, "list"), choices, ", ".join(bounds)
