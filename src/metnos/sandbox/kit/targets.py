"""Where copied and moved things go: into a folder, or to a new name; nothing is ever replaced.

Rules: a name is free if nothing lies there and nothing of this call was put there; where numbers are allowed, the first
free one is added. Nothing is made or moved here: the executor asks ``ctx`` for that, and marks what was done as taken.
Does not know what lies out of reach: the broker has the last word.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

MOST_NUMBERS = 10_000


class Context(Protocol):
    """What of ``ctx`` is used here."""

    def fail(self, kind: str, message: str) -> NoReturn: ...


class Targets:
    """The new paths of one call, by its ``paths``, ``to``, ``make_folder`` and ``keep_both``."""

    def __init__(self, args: Mapping[str, Any], ctx: Context) -> None:
        self._ctx = ctx
        self._to: str = args["to"]
        self._numbered: bool = args["keep_both"]
        self.sources: list[str] = list(dict.fromkeys(args["paths"]))
        self.taken: set[str] = set()
        # The folder must be made first; or there is to be none, and the one source gets a new name.
        self.missing = self.renamed = False
        self._look(args["make_folder"])

    def _look(self, may_make: bool) -> None:
        to = Path(self._to)
        if is_folder(to):
            return
        if os.path.lexists(to):
            self._ctx.fail("exists", "`to` is a file that is there already: name a folder, or a new name")
        if may_make:
            self.missing = True
        elif len(self.sources) > 1:
            self._ctx.fail("not_found", "the folder `to` is missing: say `make_folder` to make it")
        elif not is_folder(to.parent):
            self._ctx.fail("not_found", "the folder that `to` would be in is missing")
        else:
            self.renamed = True

    def free(self, source: str, *, onto_itself: str, into_itself: str) -> str:
        """The new path of one source, that nothing has; the two messages say why a thing cannot go to itself."""
        target = self._to if self.renamed else str(Path(self._to) / Path(source).name)
        if not os.path.lexists(source):
            self._ctx.fail("not_found", "it is not there")
        if Path(target) == Path(source):
            self._ctx.fail("conflict", onto_itself)
        if Path(source) in Path(target).parents:
            self._ctx.fail("conflict", into_itself)
        return self._numbered_name(target)

    def _numbered_name(self, target: str) -> str:
        """The target, or where names may get a number the first one that is free."""
        path = Path(target)
        if self._is_free(path):
            return target
        if not self._numbered:
            self._ctx.fail("exists", f"there is something called {path.name} already: say `keep_both` to add a number")
        numbered = (path.with_name(f"{path.stem} ({number}){path.suffix}") for number in range(2, MOST_NUMBERS))
        found = next((str(other) for other in numbered if self._is_free(other)), "")
        return found or self._ctx.fail("exists", f"there are too many called {path.name} already")

    def _is_free(self, path: Path) -> bool:
        return str(path) not in self.taken and not os.path.lexists(path)


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder; out of reach is as good as not there."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False
