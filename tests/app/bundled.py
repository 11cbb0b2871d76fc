"""Bundles from another instance, and what is done with them, for tests."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metnos.app import App, importing
from metnos.app.importing import Brought
from metnos.core.clock import Clock
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.executors.run import Call
from metnos.law import founding
from metnos.law.principal import at_terminal
from metnos.synt import bundle
from metnos.synt.draft import Draft
from signing import approve
from synt import specimens
from synt.specimens import CODE, draft

HOSTILE = CODE.replace("    entries = []\n", '    entries = []\n    open("/etc/passwd").read()\n')


def another(place: Path, clock: Clock) -> App:
    """Another instance, with a key of its own and without built-ins: it only sends."""
    workspace = Workspace(place)
    founding.found(workspace, Settings(), clock)
    return App.open(workspace, clock)


def packed(there: App, *drafts: Draft) -> Path:
    """A bundle that the other instance's key signed, whatever is in it."""
    target = there.workspace.root / f"{len(list(there.workspace.root.glob('*.bundle')))}.bundle"
    target.write_bytes(bundle.pack(drafts, there.seat.signer))
    return target


def taken(here: App, path: Path, *, again: bool = False) -> list[Brought]:
    opened, source = importing.open_bundle(here, path)
    return list(importing.take_in(here, opened.drafts, source, again=again))


def only(found: Sequence[Brought]) -> Brought:
    (one,) = found
    return one


def titled(app: App) -> Any:
    return app.runner.run(Call("format_text", {"texts": ["to be"]}, at_terminal(), Path.cwd())).reply["entries"]


def agree(app: App, question: str) -> str:
    return app.growing.answered(approve(app.inbox, question, at_terminal()))


def write(app: App, made: Draft) -> None:
    """A folder as an owner writes one."""
    place = app.catalog.folder_of(made.name)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    for name, content in made.contents().items():
        (place / name).write_bytes(content)


def other() -> dict[str, Any]:
    """The same thing under a name and with words of its own."""
    return specimens.changed(
        specimens.MANIFEST,
        name="format_lines",
        purpose="Format headings with capitals.",
        affinity=["headline"],
        examples=[{"say": "capitals for this headline", "args": {"texts": ["on the road"]}}],
    )


def caller(*parts: str) -> Draft:
    """One that calls others."""
    manifest = specimens.changed(other(), capabilities={"executor": {"call": list(parts)}})
    body = "".join(f'    ctx.call("{part}", {{"texts": args["texts"]}})\n' for part in parts)
    return draft(code=CODE.replace("    entries = []\n", f"{body}    entries = []\n"), manifest=manifest)
