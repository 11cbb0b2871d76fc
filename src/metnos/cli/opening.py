"""Opening the workspace for a command, and telling the owner what was noticed on the way."""

from metnos.app import App
from metnos.cli import Choice
from metnos.cli.output import note
from metnos.core.errors import MetnosError, WorkspaceError
from metnos.law.constitution import MODIFIED, Standing


def open_app(choice: Choice) -> App:
    app = App.open(choice.workspace())
    if app.standing is Standing.MODIFIED:
        note(f'SOUL.md was edited since the last start; the audit now says "{MODIFIED}"')
    if (stop := app.own.halt()) is not None:
        note(f"nothing acts: {stop.why}. {stop.fix}")
    return app


def look_after(choice: Choice) -> None:
    """Open it as far as it can be, for commands that must work on a broken workspace: what is broken is said."""
    try:
        open_app(choice)
    except WorkspaceError:
        raise
    except MetnosError as error:
        note(error.what)
