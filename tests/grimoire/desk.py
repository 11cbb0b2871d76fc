"""A playbook, its file, and a hand that edits it."""

from pathlib import Path

from grimoire.taught import START, fact, open_memory, put
from metnos.core.clock import MovableClock
from metnos.grimoire import playbook_marks, playbook_text, poison
from metnos.grimoire.fact import Fact
from metnos.grimoire.playbook import Playbook, Report
from metnos.grimoire.playbook_writer import founded

ONE = fact("F1", "Search the newest folder first.")
TWO = fact("F2", "Rename copies before moving them.", data={"strategy": "moving files"})


class Desk:
    """All of them together."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "PLAYBOOK.md"
        self.db = open_memory(folder)
        self.path.write_bytes(founded())
        self.book = self.open()

    def open(self) -> Playbook:
        return Playbook(self.path, self.db, MovableClock(START), lambda text: poison.screen(text).reason)

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode("utf-8", "surrogateescape")

    @text.setter
    def text(self, text: str) -> None:
        self.path.write_bytes(text.encode("utf-8", "surrogateescape"))

    @property
    def plain(self) -> str:
        """The file without its marks."""
        return playbook_marks.unmarked(self.path.read_bytes()).decode()

    def learn(self, *facts: Fact) -> Report:
        """Let facts prove themselves for as long as it takes."""
        put(self.db, *facts)
        self.book.consider(facts, 0)
        return self.book.consider(facts, 10)


def texts(lines: tuple[playbook_text.Line, ...]) -> list[str]:
    return [line.words for line in lines]
