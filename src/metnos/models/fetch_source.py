"""What the sources of a fetch share: the partial file that they add to, and the way they fail."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

Say = Callable[[str, int, int], None]  # source, bytes there, bytes in all


class SourceFailed(Exception):
    """Why a source did not give everything, in a few words."""


class Partial:
    """A file that holds a beginning of the whole, and only grows. One that is too long begins anew."""

    def __init__(self, file: BinaryIO, total: int, folder: Path, source: str, say: Say) -> None:
        self._file = file
        self._source = source
        self._say = say
        self.total = total
        self.folder = folder
        self.done = file.seek(0, 2)
        if self.done > total:
            self.restart()

    @property
    def missing(self) -> int:
        return self.total - self.done

    def restart(self) -> None:
        self._file.truncate(0)
        self._file.seek(0)
        self.done = 0

    def add(self, chunk: bytes) -> None:
        if len(chunk) > self.missing:
            raise SourceFailed("it holds more than it should")
        self._file.write(chunk)
        self.done += len(chunk)
        self._say(self._source, self.done, self.total)

    def flush(self) -> None:
        self._file.flush()
