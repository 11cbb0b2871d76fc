"""Retiring an agent: what it would mean, doing it, and going on with it. `dying` has the steps.

Rules: nothing is accepted before everything that the owner named was found. Nothing else keeps an agent from being
retired, a memory that cannot be read included. An agent that was retired takes no more requests, and its workspace
stays as it is, for whoever wants to look.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from metnos.app import dying, estate
from metnos.app.retired import left_at, thanatopsis
from metnos.core.errors import UsageError
from metnos.life import legacy, testament_file
from metnos.life.cause import Cause
from metnos.life.legacy import Gathered
from metnos.life.testament import SUFFIX, Opened
from metnos.life.thanatopsis import Death, Progress, Thanatopsis, Wishes, given_up, quiet

if TYPE_CHECKING:
    from metnos.app.house import App

_SAME_DAY = 100  # testaments that may lie beside one another with one name and day

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outlook:
    """What retiring would do, before anybody says yes."""

    to: Path
    gathered: Gathered
    executors: tuple[str, ...]
    open_work: dict[str, int]
    grants: int
    telling: bool  # whether a webhook is told
    model: str  # that will be asked, if there is one
    offered: tuple[tuple[str, str], ...]  # episodes that could be released: id, and how they begin


@dataclass(frozen=True, slots=True)
class Retired:
    """What became of it."""

    death: Death
    path: Path
    opened: Opened


# -- before


def default_target(app: "App") -> Path:
    """Where a testament goes when no place is named: beside the workspace, under a name that is free. A life that its
    clocks end must not be kept from leaving anything by a file that lies there."""
    root = app.workspace.root
    name = f"{root.name}-{app.clock.now():%Y-%m-%d}"
    names = (f"{name}{SUFFIX}", *(f"{name}-{number}{SUFFIX}" for number in range(2, _SAME_DAY)))
    paths = (root.parent / each for each in names)
    return next((path for path in paths if not path.exists() and not path.is_symlink()), root.parent / names[0])


def outlook(app: "App", to: Path | None = None, release: Sequence[str] = ()) -> Outlook:
    """What would happen. Changes nothing."""
    _refuse_missing(app, release)
    chat = _seen(lambda: dying.model(app), lambda _why: None)
    return Outlook(
        to=_free(to or default_target(app)),
        gathered=_seen(lambda: legacy.gather(estate.estate(app, app.clock.now(), release)), _nothing),
        executors=_seen(lambda: tuple(estate.executors(app)), lambda _why: ()),
        open_work=_seen(lambda: dying.open_work(app), lambda _why: {}),
        grants=len(app.grants.active()),
        telling=bool(app.settings.life.webhook),
        model=chat.name if chat else "",
        offered=_seen(lambda: _offered(app), lambda _why: ()),
    )


def _seen(look: Callable[[], T], otherwise: Callable[[str], T]) -> T:
    """What there is to see, or what stands for it if it cannot be read: an owner may retire a damaged agent, too."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 -- a border: a damaged memory raises anything
        return otherwise(given_up(error))


def _nothing(why: str) -> Gathered:
    return Gathered((), (), (), (), (), {f"all that it learnt, because {why}": 1}, {})


def _refuse_missing(app: "App", release: Sequence[str]) -> None:
    """Raise on what is to be released and is not there. Who releases nothing needs no memory that can be read."""
    if release:
        estate.released(app, release)


def _offered(app: "App", most: int = 5) -> tuple[tuple[str, str], ...]:
    """The episodes that mattered most."""
    top = sorted(estate.every(app), key=lambda each: (-(each.importance or 0.0), each.id))[:most]
    return tuple((each.id, " ".join(each.text.split())[:80]) for each in top)


def _free(target: Path) -> Path:
    if target.exists() or target.is_symlink():
        raise UsageError(f"{target} is there already", fix="Name another file: metnos life retire --to FILE")
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {target.parent}", fix="Make it, or name another file: --to FILE")
    return target.absolute()


# -- doing it


def retire(
    app: "App",
    cause: Cause = Cause.OWNER,
    to: Path | None = None,
    release: Sequence[str] = (),
    progress: Progress = quiet,
) -> Retired:
    """End this life, or go on with its end: then what was wished first holds, but for ``to`` if it is named."""
    way, first = thanatopsis(app), None
    if way.death() is None:
        _refuse_missing(app, release)
        wishes = Wishes(str(_free(to or default_target(app))), tuple(dict.fromkeys(release)))
        way.accept(cause, wishes)
    elif to is not None:
        first = partial(_elsewhere, way, to.absolute())
    return result(way.go_on(dying.steps(app), progress, first))


def _elsewhere(way: Thanatopsis, to: Path, death: Death) -> None:
    if "leave" in death.done:  # somewhere else, or it was lost since: the store still has it
        dying.leave(death, to)
    way.move(str(to))


def result(death: Death) -> Retired:
    """What a finished death left."""
    return Retired(death, left_at(death), testament_file.unpack(dying.left(death)))
