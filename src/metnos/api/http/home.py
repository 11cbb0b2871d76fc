"""Whose memories a request may see: the owner's on a page of their own, a program its own and what is shared."""

from typing import Annotated

from fastapi import Depends

from metnos.api.http.inside import Forbidden, Who
from metnos.grimoire.capture import is_owner, sender_of
from metnos.grimoire.episode import Viewer
from metnos.law.principal import Principal


def viewer(who: Who) -> Viewer:
    """As turns see whoever asks."""
    return Viewer(sender_of(who.channel, who.sender), is_owner=is_owner(who.channel))


def _at_home(who: Who) -> Principal:
    if not is_owner(who.channel):
        raise Forbidden("this is shown to the owner alone", fix="Look at it on the page, or at the terminal.")
    return who


TheViewer = Annotated[Viewer, Depends(viewer)]
AtHome = Annotated[Principal, Depends(_at_home)]
