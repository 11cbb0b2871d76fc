"""``metnos open``: the web page, from nothing to a link.

Rules: makes the workspace if there is none, starts the daemon in the background if none runs, and prints a link that is
good once and for some minutes, if a person at a terminal wants one; a script gets the bare address. Whoever follows it
is signed in as the owner, so it is in no command line, where every account of the machine could read it: the browser
gets a file that only this account can read, and that leads on. The file goes when it was used, or at the next time.
What the daemon says goes into a file of the workspace; if it does not come up, its last words are shown.
"""

import html
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import click

from metnos import __version__
from metnos.api import service_rules
from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli.home import first_screen
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json
from metnos.core import files
from metnos.core.errors import DaemonError
from metnos.core.settings import variable
from metnos.core.workspace import Workspace
from metnos.law.principal import Autonomy, Channel, Principal

LOG = "serve.log"
_MINUTES = 10.0
_WAIT_S = 60.0
_LOOK_S = 0.1
_LAST_WORDS = 12  # lines
_NAME = "browser at the terminal"
_USED_S = 5.0  # so long it is watched whether a browser takes the link
_LEADING = "open-*.html"
_PAGE = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Metnos</title>
<meta http-equiv="refresh" content="0;url={link}"><p><a href="{link}" rel="noreferrer">Metnos</a></p>
"""


@click.command(name="open")
@click.option("--no-start", is_flag=True, help="Do not start the daemon if it does not run.")
@click.option("--no-browser", is_flag=True, help="Only print the link, also where a browser could be opened.")
@json_option
@click.pass_obj
def open_(choice: Choice, no_start: bool, no_browser: bool, as_json: bool) -> int:
    """Open the web page; starts Metnos if it does not run.

    The link signs one browser in, once, and is good for ten minutes; type the same again for another one. Only a person
    at a terminal gets one. To end what runs in the background: metnos serve --stop.
    """
    workspace = choice.workspace()
    if not workspace.exists() and not first_screen(choice, quiet=as_json):
        return FAILED
    address = _address(workspace)
    if address is None:
        if no_start:
            raise DaemonError("Metnos does not run", fix="Start it: metnos open")
        address = _start(workspace, quiet=as_json)
    if not person.principal().may_answer:
        print_json({"link": "", "address": address, "minutes": 0}) if as_json else _tell_address(address)
        return FINE
    question = "The link signs one browser in as you, and it may answer all questions. Make it?"
    by = person.confirm("sign a browser in", question)
    code = _code(choice, by)
    link = f"{address}/enter?key={code}"
    if as_json:
        print_json({"link": link, "address": address, "minutes": _MINUTES})
        return FINE
    click.echo(f"Metnos {__version__} runs in the background; `metnos serve --stop` ends it.")
    leading = None if no_browser else _show(workspace, link)
    said = "Your browser opens it. If it does not, or cannot read the file, follow this link:"
    click.echo(said if leading else "Follow this link:")
    click.echo(f"(it signs one browser in, once, within {_MINUTES:.0f} minutes)\n")
    click.secho(link, fg="cyan", bold=True)
    if leading is not None and _is_used(choice, code):
        leading.unlink(missing_ok=True)
    return FINE


def _tell_address(address: str) -> None:
    click.echo(f"Metnos {__version__} runs in the background: {address}")
    click.echo("To sign a browser in, type this at a terminal, without a pipe: metnos open")


def _code(choice: Choice, by: Principal) -> str:
    app = open_app(choice)
    try:
        days = app.settings.web.session_days
        return app.pairing.offer(Channel.WEB, Autonomy.FULL, _MINUTES, by, name=_NAME, days=days)
    finally:
        app.close()


def _address(workspace: Workspace) -> str | None:
    """Where the page of a running daemon is; none if no daemon runs."""
    from metnos.api.client import connect

    client = connect(workspace)
    if client is None:
        return None
    status = client.status()
    found = status.get("page")
    if not isinstance(found, str):
        why = "; ".join(map(str, status.get("problems") or ())) or "web.enabled is false"
        raise DaemonError(f"Metnos runs, and without its page: {why}", fix="Mend that, then: metnos serve --stop")
    return found


def _start(workspace: Workspace, *, quiet: bool) -> str:
    """Start the daemon in the background and wait until its page is there."""
    if not quiet:
        click.echo("Starting Metnos ...")
    log = workspace.run / LOG
    command = service_rules.command_to_serve(workspace.root, sys.executable)
    workspace.run.mkdir(mode=0o700, exist_ok=True)
    with open(log, "wb", opener=_private) as told:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=told, stderr=told, cwd=workspace.root, start_new_session=True
        )
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        address = _address(workspace)
        if address is not None:
            return address
        if started.poll() is not None and _address(workspace) is None:
            break
        time.sleep(_LOOK_S)
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_WORDS:]
    for line in said:
        click.echo(f"  {inert(line)}", err=True)
    raise DaemonError("Metnos did not come up", fix=f"See {log}, or run it in the foreground: metnos serve")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _show(workspace: Workspace, link: str) -> Path | None:
    """Open the link in a browser, where there is a screen; the file that leads there, if one was opened."""
    for old in workspace.run.glob(_LEADING):
        old.unlink(missing_ok=True)
    if not (variable("DISPLAY") or variable("WAYLAND_DISPLAY")):
        return None
    import webbrowser  # only where there is a screen

    leading = workspace.run / _LEADING.replace("*", secrets.token_hex(8))
    files.private_folder(workspace.run)
    files.create(leading, _PAGE.format(link=html.escape(link)).encode(), mode=files.PRIVATE_FILE)
    if webbrowser.open(leading.as_uri()):
        return leading
    leading.unlink(missing_ok=True)
    return None


def _is_used(choice: Choice, code: str) -> bool:
    """Whether a browser takes the link now; one that starts slowly still finds the file."""
    app = open_app(choice)
    try:
        deadline = time.monotonic() + _USED_S
        while app.pairing.waits(code):
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_S)
        return True
    finally:
        app.close()
