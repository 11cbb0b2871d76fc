"""Judge by every name of a path what something runs or obeys by itself.

Rules: a path is what any of its names says, and what MCP servers are started from runs, too. In the folder of notes,
which no other program reads, only what runs wherever it lies counts: a note may be called as the files are that agents
obey. Says nothing of names that it is not given (`aliases.Aliases.all_names`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from metnos.law.guarded import program_folders, runs_anywhere, what_runs

STARTED_FROM = "what MCP servers are started from"


@dataclass(frozen=True, slots=True)
class SelfRunning:
    """``started`` is what MCP servers are started from, ``notes`` the notes as spelled and where they lie."""

    started: tuple[Path, ...] = ()
    notes: tuple[Path, ...] = ()

    @classmethod
    def beside(cls, notes: Path, started: Iterable[Path] = ()) -> "SelfRunning":
        # Not by names that links of a home give it: there other programs look.
        return cls(tuple(sorted(started)), tuple(dict.fromkeys((notes, notes.resolve()))))

    def find(self, names: Iterable[Path | str]) -> str | None:
        """What a path with these names is, if something runs or obeys it by itself."""
        return next(filter(None, (self._find_by(str(name)) for name in names)), None)

    def is_started(self, names: Iterable[Path | str]) -> bool:
        """Whether MCP servers are started from a path with these names."""
        return any(_is_within(str(name), str(start)) for name in names for start in self.started)

    def places_below(self, folder: Path) -> frozenset[str]:
        """What in a folder is run where it lies, so that it must not go away unseen."""
        places = {*map(str, self.started), *program_folders()}
        return frozenset(place for place in places if place.startswith(f"{folder}/"))

    def _find_by(self, name: str) -> str | None:
        if any(_is_within(name, str(start)) for start in self.started):
            return STARTED_FROM
        for notes in self.notes:
            if _is_within(name, str(notes)):
                return runs_anywhere(name[len(str(notes)) :])
        return what_runs(name)


def _is_within(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


NOTHING_KNOWN = SelfRunning()
