"""What has vectors of its texts: episodes and facts, seen alike by whoever exchanges all vectors at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from metnos.core.embedding import Space
from metnos.grimoire.episodes import ANY, Episodes
from metnos.grimoire.facts import Facts

if TYPE_CHECKING:
    from metnos.core.embedding import Vectors


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a store, at its place in the order of taking in."""

    seq: int
    id: str
    text: str


class Vectored(Protocol):
    """A store whose vectors can be exchanged."""

    @property
    def space(self) -> Space | None: ...

    def texts(self, after: int, count: int) -> list[Text]:
        """In order of ``seq``, after this one."""
        ...

    def texts_of(self, ids: Sequence[str]) -> dict[str, str]:
        """Those of these that are still there, as they read now."""
        ...

    def count(self) -> int: ...

    def replace_vectors(self, batches: "Iterator[tuple[Sequence[str], Vectors]]", space: Space) -> None:
        """All or nothing. What no batch names has no vector afterwards."""
        ...

    def missing(self, count: int) -> list[Text]:
        """Texts that have no vector."""
        ...

    def put_vectors(self, ids: Sequence[str], vectors: "Vectors", space: Space) -> None: ...


@dataclass(frozen=True, slots=True)
class OfEpisodes:
    """The episodes, as something whose vectors can be exchanged."""

    episodes: Episodes

    @property
    def space(self) -> Space | None:
        return self.episodes.space

    def texts(self, after: int, count: int) -> list[Text]:
        return [Text(each.seq, each.id, each.text) for each in self.episodes.select(ANY, after=after, count=count)]

    def texts_of(self, ids: Sequence[str]) -> dict[str, str]:
        return {each.id: each.text for each in self.episodes.get(ids)}

    def count(self) -> int:
        return self.episodes.count()

    def replace_vectors(self, batches: "Iterator[tuple[Sequence[str], Vectors]]", space: Space) -> None:
        self.episodes.replace_vectors(batches, space)

    def missing(self, count: int) -> list[Text]:
        return [Text(each.seq, each.id, each.text) for each in self.episodes.missing_vectors(count)]

    def put_vectors(self, ids: Sequence[str], vectors: "Vectors", space: Space) -> None:
        self.episodes.put_vectors(ids, vectors, space)


@dataclass(frozen=True, slots=True)
class OfFacts:
    """The facts, as something whose vectors can be exchanged. What was pruned needs none any more."""

    facts: Facts

    @property
    def space(self) -> Space | None:
        return self.facts.space

    def texts(self, after: int, count: int) -> list[Text]:
        sql = "SELECT seq, id, text FROM facts WHERE seq > ? AND standing <> 'pruned' ORDER BY seq LIMIT ?"
        return [Text(*row) for row in self.facts.db.query(sql, (after, count))]

    def texts_of(self, ids: Sequence[str]) -> dict[str, str]:
        return {each.id: each.text for each in self.facts.get(ids)}

    def count(self) -> int:
        return int(self.facts.db.query("SELECT count(*) FROM facts WHERE standing <> 'pruned'")[0][0])

    def replace_vectors(self, batches: "Iterator[tuple[Sequence[str], Vectors]]", space: Space) -> None:
        self.facts.replace_vectors(((ids, list(vectors)) for ids, vectors in batches), space)

    def missing(self, count: int) -> list[Text]:
        return [Text(0, each.id, each.text) for each in self.facts.missing_vectors(count)]

    def put_vectors(self, ids: Sequence[str], vectors: "Vectors", space: Space) -> None:
        self.facts.put_vectors(ids, list(vectors), space)
