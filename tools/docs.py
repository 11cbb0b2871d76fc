"""Writes the documentation that is generated from code: ``docs/configuration.md`` and ``docs/commands.md``.

``make docs`` runs it; a test fails when a file differs from what this would write.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from metnos.cli import cli
from metnos.core.settings import keys

ROOT = Path(__file__).parents[1]
_MADE = "<!-- Made from the code by `make docs`. Edit the code, not this file. -->"


def configuration() -> str:
    """Every setting with its variable, type, default and meaning."""
    lines = [
        "# Configuration", "", _MADE, "",
        "Settings live in `metnos.toml` in the workspace (`metnos config path` prints where). Every one has a default,"
        " so the file may be empty or missing.", "",
        "- `metnos config show` lists every setting in force and where it comes from.",
        "- `metnos config set KEY VALUE` changes one and leaves the rest of the file, comments included, as it is.",
        "- An environment variable wins over the file, which wins over the default.",
        "- An unknown key, in the file or as a `METNOS_*` variable, is an error that names the nearest known one.", "",
        "Which workspace is used: `--workspace FOLDER`, else `METNOS_HOME`, else `$XDG_DATA_HOME/metnos`, else"
        " `~/.local/share/metnos`.", "",
    ]  # fmt: skip
    section = ""
    for key in keys():
        table, _, _ = key.name.rpartition(".")
        if table != section:
            lines += [f"## `[{table}]`", ""]
            section = table
        lines += [f"### `{key.name}`", "", key.description, "",
                  f"Type {key.kind}, default `{json.dumps(key.default)}`, variable `{key.variable}`.", ""]  # fmt: skip
    return "\n".join(lines)


def commands() -> str:
    """Every command with its help, as it prints it."""
    lines = [
        "# Commands", "", _MADE, "",
        "Exit codes: **0** fine, **1** the thing failed, **2** the command line is wrong, **130** interrupted. Answers"
        " go to standard output, everything else to standard error. Everything that lists something takes `--json`."
        " Colours and tables appear on a terminal; a pipe gets plain text.", "",
    ]  # fmt: skip
    for path, command in _walk(cli, "metnos"):
        context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
        lines += [f"## `{path}`", "", "```text", command.get_help(context).strip(), "```", ""]
    return "\n".join(lines)


def _walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(inner, f"{path} {name}")


MADE = {"docs/configuration.md": configuration, "docs/commands.md": commands}


def main() -> None:
    for name, make in MADE.items():
        (ROOT / name).write_text(make(), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
