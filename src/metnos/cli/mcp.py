"""``metnos mcp``: serve the Model Context Protocol, and use tools of other servers as executors."""

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import confirm, counted, inert, json_option, note, print_json, print_table
from metnos.core.errors import UsageError

if TYPE_CHECKING:
    from metnos.app import App
    from metnos.app.servers import Planned, Wish
    from metnos.executors.mcp.offered import Offered
    from metnos.executors.mcp.servers import Server

_OUTSIDE = (
    "A server is a program of your choice. It runs outside the sandbox, with your rights, and nobody can hold it to"
    " what you declare here. What you declare decides how often you are asked."
)


@click.group(invoke_without_command=True)
@click.pass_context
def mcp(ctx: click.Context) -> int:
    """Serve MCP clients, and use tools of MCP servers.

    Alone it serves on standard input and output, for clients that are configured with ["metnos", "mcp"].
    """
    return int(ctx.invoke(serve)) if ctx.invoked_subcommand is None else FINE


@mcp.command()
@click.pass_obj
def serve(choice: Choice) -> int:
    """Speak MCP on standard input and output until the client goes. Over HTTP: metnos serve."""
    import asyncio

    from metnos.api.mcp.mount import stdio  # a second: only whoever serves pays it

    if sys.stdin is None or sys.stdin.isatty():
        note('This is for programs: configure an MCP client with the command ["metnos", "mcp"]. Ctrl-D ends it.')
    app = open_app(choice)
    try:
        asyncio.run(stdio(lambda: contextlib.nullcontext(app), Path.cwd()))
    finally:
        app.close()
    return FINE


@mcp.command(context_settings={"ignore_unknown_options": False})
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARG...]")
@click.option("--url", default="", help="The address of a server that is spoken to over HTTP.")
@click.option(
    "--env", "env", multiple=True, metavar="VAR=PLACE", help="A variable for it: VAR=env:X, =keyring:X or =file:X."
)
@click.option("--key", default="", metavar="PLACE", help="Where its secret is, for --url: env:X, keyring:X or file:X.")
@click.option("--tool", "tools", multiple=True, help="Only this tool; may be given several times. Default: all.")
@click.option("--reads", "reading", multiple=True, metavar="TOOL", help="This tool only reads. All others may act.")
@click.option("--as", "names", multiple=True, metavar="TOOL=NAME", help="The name of its executor.")
@click.option(
    "--may", "may", multiple=True, metavar="WHAT", help="It may net:HOST, read:FOLDER/** or change:FOLDER/**."
)
@click.option("--plain", is_flag=True, help="Keep out all that the server says of its tools.")
@click.option("--again", is_flag=True, help="Look at a server anew that was added before, and take what it offers now.")
@click.pass_obj
def add(choice: Choice, /, name: str, command: tuple[str, ...], again: bool, **given: Any) -> int:
    """Start a server, look at its tools, and make executors of them once you have typed its name. Only a person can.

    Each tool may change things for good, and needs two yeses for every call, unless you say that it only reads.
    """
    from metnos.app import servers as adding

    person.require("add a server")
    app = open_app(choice)
    server, wish = _server(app, name, command, again, given), _wish(given)
    offered = adding.look(app, server, named=bool(command or given["url"]))
    if not offered:
        raise UsageError(f"{name} offers no tools", fix="Check its command.")
    if not wish.reading and sys.stdin is not None and sys.stdin.isatty():
        wish = _asked(offered, wish)
    planned = adding.plan(app, server, offered, wish)
    _show(planned)
    possible = [each for each in planned if each.files is not None]
    if not possible:
        note("nothing can be made of it")
        return FAILED
    click.echo(_OUTSIDE)
    by = person.confirm("add a server", f"Add {name} and sign {counted(len(possible), 'executor')}?", name)
    made = adding.add(app, server, planned, by, typed=name)
    for each in made:
        click.echo(f"{each.name}: {each.state or 'not made'}{f' ({inert(each.said)})' if each.said else ''}")
    return FINE if any(each.state for each in made) else FAILED


@mcp.command(name="list")
@json_option
@click.pass_obj
def list_(choice: Choice, as_json: bool) -> None:
    """List the servers that were added."""
    from metnos.app import servers as adding

    app = open_app(choice)
    found = adding.servers(app).all().values()
    rows = [
        (
            each.name,
            each.url or " ".join(each.command),
            len(adding.made_of(app, each.name)),
            "yes" if adding.is_confirmed(app, each) else "no",
        )
        for each in found
    ]
    columns = ("name", "starts", "executors", "confirmed")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif rows:
        print_table(columns, rows)
    else:
        click.echo("There is none. Add one: metnos mcp add NAME -- COMMAND ...")


@mcp.command()
@click.argument("name")
@json_option
@click.pass_obj
def show(choice: Choice, name: str, as_json: bool) -> None:
    """Show what is started for a server, and which executors were made of its tools. Starts nothing."""
    from metnos.app import servers as adding
    from metnos.executors import words

    app = open_app(choice)
    server = adding.servers(app).get(name)
    made = adding.made_of(app, name)
    sure = adding.is_confirmed(app, server)
    if as_json:
        told = {tool: {"executor": each.name, "state": str(each.state)} for tool, each in made.items()}
        print_json({**server.data(), "confirmed": sure, "tools": told})
        return
    _print_start(server)
    if not sure:
        note(f"nobody confirmed it as it stands here, so it is not started: metnos mcp confirm {name}")
    for tool, each in made.items():
        click.secho(f"\n{each.name} {each.version}  {each.state}", bold=True, nl=False)
        click.echo(f"  of the tool {inert(tool)}")
        for line in words.capabilities(each.executor.manifest) if each.executor else ():
            click.echo(f"  {inert(line)}")


@mcp.command(name="confirm")
@click.argument("name")
@click.pass_obj
def confirm_(choice: Choice, name: str) -> int:
    """Let a server be started as it stands now, once you have typed its name. Only a person can.

    A server that you add is confirmed at once. One that came with a backup, or whose command, address or variables were
    changed in mcp.json, is not started before.
    """
    from metnos.app import servers as adding

    app = open_app(choice)
    server = adding.servers(app).get(name)
    if adding.is_confirmed(app, server):
        click.echo(f"{name} is confirmed already.")
        return FINE
    _print_start(server)
    click.echo(_OUTSIDE)
    by = person.confirm("confirm a server", f"Let {name} be started as it stands here?", name)
    app.confirmations.confirm(name, server.digest, by)
    click.echo(f"{name} is confirmed.")
    return FINE


@mcp.command()
@click.argument("name")
@json_option
@click.pass_obj
def tools(choice: Choice, name: str, as_json: bool) -> None:
    """Start a server and list what it offers now, and what changed since you agreed to it. Calls nothing."""
    from metnos.app import servers as adding

    app = open_app(choice)
    server = adding.servers(app).get(name)
    made = adding.made_of(app, name)
    rows = []
    for each in adding.look(app, server):
        look = made.get(each.name)
        tool = look.executor.manifest.capabilities.mcp.call if look and look.executor else None
        stands = "not taken" if tool is None else "as agreed" if tool.pin == each.pin(server) else "CHANGED"
        rows.append((each.name, look.name if look else "", stands, each.summary))
    if as_json:
        print_json([dict(zip(("tool", "executor", "stands", "says"), row, strict=True)) for row in rows])
        return
    print_table(("tool", "executor", "stands", "says of itself"), rows)
    if any(row[2] == "CHANGED" for row in rows):
        note(f"what changed is not called. If it is right: metnos mcp add {name} --again")


@mcp.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def remove(choice: Choice, name: str, yes: bool) -> None:
    """Forget a server, and put away the executors that were made of its tools."""
    from metnos.app import servers as adding

    app = open_app(choice)
    adding.servers(app).get(name)
    if not yes:
        confirm(f"Remove {name}?")
    gone = adding.remove(app, name)
    click.echo(f"Removed. Put away: {', '.join(gone) or 'nothing'}")


def _print_start(server: "Server") -> None:
    rows: list[tuple[str, object]] = [("starts", server.url or shlex.join(server.command))]
    rows += [("variable", f"{variable} from {place}") for variable, place in server.env.items()]
    rows += [("secret", server.key)] if server.key else []
    print_table(("", ""), rows)


def _server(app: "App", name: str, command: tuple[str, ...], again: bool, given: dict[str, Any]) -> "Server":
    from metnos.app import servers as adding
    from metnos.executors.mcp.servers import Server, checked

    known = adding.servers(app).all()
    if name in known and not again:
        raise UsageError(f"there is a server {name} already", fix=f"metnos mcp add {name} --again, or remove it first")
    if again and not (command or given["url"]):
        return adding.servers(app).get(name)
    env = dict(_pair(text, "--env") for text in given["env"])
    return checked(Server(name, command, given["url"], env, given["key"]))


def _wish(given: dict[str, Any]) -> "Wish":
    from metnos.app.servers import Wish

    kinds: dict[str, list[str]] = {"net": [], "read": [], "change": []}
    for text in given["may"]:
        kind, _, target = text.partition(":")
        if kind not in kinds or not target:
            raise UsageError(f"{text!r} is nothing that can be declared", fix="net:HOST, read:~/a/** or change:~/a/**")
        kinds[kind].append(target)
    return Wish(
        tools=given["tools"],
        reading=given["reading"],
        names=dict(_pair(text, "--as") for text in given["names"]),
        reads=tuple(kinds["read"]),
        changes=tuple(kinds["change"]),
        hosts=tuple(kinds["net"]),
        plain=given["plain"],
    )


def _asked(offered: "list[Offered]", wish: "Wish") -> "Wish":
    """Ask about each tool, at the terminal: whether it is wanted, and whether it only reads."""
    from dataclasses import replace

    taken, reading = [], []
    for each in offered:
        if wish.tools and each.name not in wish.tools:
            continue
        click.secho(inert(each.name), bold=True)
        click.echo(f"  it says of itself: {inert(each.summary) or 'nothing'}")
        said = click.prompt(
            "  may it change or send something?", type=click.Choice(["reads", "acts", "skip"]), default="acts"
        )
        if said != "skip":
            taken.append(each.name)
        if said == "reads":
            reading.append(each.name)
    if not taken:
        raise UsageError("no tool was taken", fix="Nothing was changed.")
    return replace(wish, tools=tuple(taken), reading=tuple(reading))


def _show(planned: "list[Planned]") -> None:
    from metnos.executors import words

    for each in planned:
        click.secho(f"{inert(each.tool)} → {each.name or '?'}", bold=True)
        if each.files is None:
            click.echo(f"  cannot be taken: {inert(each.problem)}")
            continue
        read = each.read()
        click.echo(f"  {inert(read.purpose)}")
        for line in (*words.capabilities(read), f"effect: {words.effect(read)}"):
            click.echo(f"  {inert(line)}")


def _pair(text: str, option: str) -> tuple[str, str]:
    left, separator, right = text.partition("=")
    if not separator or not left or not right:
        raise UsageError(f"{option} {text!r} has no =", fix=f"{option} A=B")
    return left, right
