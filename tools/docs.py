"""Writes the documentation that is made from code: whole pages, and parts of ``docs/executors.md`` between markers.

``make docs`` runs it; a test fails when a file differs from what this would write.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from metnos.cli import cli
from metnos.core.settings import Key, keys
from metnos.executors import folder, manifest, vocabulary, words
from metnos.executors.manifest import Kind, Manifest

ROOT = Path(__file__).parents[1]
BUILTIN = ROOT / "src" / "metnos" / "executors" / "builtin"
_MADE = "<!-- Made from the code by `make docs`. Edit the code, not this file. -->"
_BEGIN, _END = "<!-- {}: made by `make docs` -->", "<!-- end of {} -->"
# How a page shows a command: as a terminal of this width would, with the options that the program itself takes.
SHOWN: dict[str, Any] = {"terminal_width": 100, "max_content_width": 100, "help_option_names": ["-h", "--help"]}


def configuration() -> str:
    """Every setting with its variable, type, default and meaning."""
    lines = [
        "# Configuration", "", _MADE, "",
        "Settings live in `metnos.toml` in the workspace (`metnos config path` prints where). Every one has a default,"
        " so the file may be empty or missing.", "",
        "- `metnos config show` lists every setting in force and where it comes from.",
        "- `metnos config set KEY VALUE` changes one and leaves the rest of the file, comments included, as it is."
        " What raises the level, moves a limit, opens a door or sends anything out of the home only a person sets.",
        "- An environment variable wins over the file, which wins over the default. It gives no power: it can lower"
        " `policy.autonomy` and not raise it, and what only a person may set has none.",
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
                  f"Type {key.kind}, default `{json.dumps(key.default)}`, {_named(key)}.", ""]  # fmt: skip
    return "\n".join(lines)


def _named(key: Key) -> str:
    return f"variable `{key.variable}`" if key.variable else "no variable"


def commands() -> str:
    """Every command with its help, as it prints it."""
    lines = [
        "# Commands", "", _MADE, "",
        "Exit codes: **0** fine, **1** the thing failed, **2** the command line is wrong, **3** it waits for your"
        " approval, **130** interrupted. Answers go to standard output, everything else to standard error. Everything"
        " that lists something takes `--json`. Colours and tables appear on a terminal; a pipe gets plain text.", "",
    ]  # fmt: skip
    for path, command in _walk(cli, "metnos"):
        command._help_option = None  # click remembers the first one, which may be of another context than ours
        context = click.Context(command, info_name=path, **SHOWN)
        lines += [f"## `{path}`", "", "```text", command.get_help(context).strip(), "```", ""]
    return "\n".join(lines)


def _walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, **SHOWN)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(inner, f"{path} {name}")


def builtins() -> str:
    """Every built-in executor: what it is for, its kind, what it may do and how it is taken back."""
    read = [_manifest(home) for home in sorted(BUILTIN.iterdir()) if (home / folder.MANIFEST).is_file()]
    lines = [
        "# The built-in executors", "", _MADE, "",
        f"{len(read)} executors come with Metnos. `metnos init` puts them into the workspace and signs them; a newer"
        " version replaces an older one and leaves the state that you gave it. `metnos executor show NAME` shows one"
        " with its arguments, `metnos executor run NAME --help` the arguments alone.", "",
        "*May* is the most it may ever do; one call gets to see only what it names. Whether a call is asked about is"
        " decided by the policy ([policy.md](policy.md)). How to write one: [executors.md](executors.md).", "",
    ]  # fmt: skip
    lines += ["## Producers: they change nothing", ""]
    lines += _table(("executor", "purpose", "may"), [_row(each) for each in read if each.kind == Kind.PRODUCER])
    lines += ["", "## Mutators: they change something", ""]
    changing = [(*_row(each), words.effect(each)) for each in read if each.kind == Kind.MUTATOR]
    lines += [*_table(("executor", "purpose", "may", "effect"), changing), ""]
    return "\n".join(lines)


def executors() -> str:
    """The page about executors, with its made parts made anew."""
    text = (ROOT / "docs" / "executors.md").read_text(encoding="utf-8")
    text = _put(text, "manifest fields", _fields())
    known = vocabulary.load()
    for kind in ("verbs", "objects", "qualifiers"):
        listed = getattr(known, kind).values()
        text = _put(text, kind, _table((kind[:-1], "meaning"), [(f"`{word.text}`", word.means) for word in listed]))
    return text


def _row(each: Manifest) -> tuple[str, str, str]:
    return f"`{each.name}`", each.purpose, "; ".join(words.capabilities(each)).replace("*", "\\*")


def _manifest(home: Path) -> Manifest:
    return manifest.parse((home / folder.MANIFEST).read_text(encoding="utf-8"), where=home.name)


def _fields() -> list[str]:
    rows = [(f"`{name}`", kind, _default(default), said) for name, kind, default, said in manifest.fields()]
    return _table(("field", "type", "default", "meaning"), rows)


def _default(value: Any) -> str:
    if value is ...:
        return "must be given"
    return "none" if value is None or value in ((), {}) else f"`{json.dumps(value)}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    shown = [[str(cell).replace("|", "\\|") for cell in row] for row in (head, ["---"] * len(head), *rows)]
    return [f"| {' | '.join(row)} |" for row in shown]


def _put(text: str, name: str, lines: Sequence[str]) -> str:
    """The page with these lines between the two markers of that name."""
    begin, end = _BEGIN.format(name), _END.format(name)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"docs/executors.md lacks the markers of {name!r}")
    return "\n".join((f"{before}{begin}", "", *lines, "", f"{end}{after}"))


MADE = {
    "docs/configuration.md": configuration,
    "docs/commands.md": commands,
    "docs/builtins.md": builtins,
    "docs/executors.md": executors,
}


def main() -> None:
    for name, make in MADE.items():
        (ROOT / name).write_text(make(), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
