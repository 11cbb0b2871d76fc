"""Taking what a file holds into a memory, as far as it may come in. See `exchange` for the rules.

It is the one other writer of rejected patterns and of the mood, which it takes over as they are.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from metnos.core.clock import Clock
from metnos.core.embedding import Space
from metnos.grimoire import causal, poison
from metnos.grimoire import exchange_strangers as strangers
from metnos.grimoire.consent import needs_consent
from metnos.grimoire.episode import Episode, Verdict
from metnos.grimoire.episodes import Episodes
from metnos.grimoire.exchange_strangers import Origin
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.facts_admit import CONSENT
from metnos.grimoire.immune import Stage, pattern
from metnos.grimoire.playbook_history import History
from metnos.store.db import Transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Taken:
    """What a file brought: how many of each kind are new; what was known, refused, held for consent or left out."""

    new: Mapping[str, int] = field(default_factory=dict)
    known: int = 0
    refused: int = 0
    held: int = 0
    without_vectors: int = 0
    unvouched: int = 0  # left out because nobody here vouches for the file
    stranger: str = ""  # whose word it is, if it is not this agent's own
    whole: bool = True  # false if it was stopped before its end

    def counts(self) -> dict[str, int]:
        """For the audit: names and numbers."""
        rest = {name: getattr(self, name) for name in _OTHERS}
        return {**self.new, **rest}


class Taking:
    """One file's way into a memory. ``origin`` is said of one that nobody here vouches for."""

    def __init__(self, episodes: Episodes, facts: Facts, history: History, origin: Origin | None, clock: Clock) -> None:
        self._episodes = episodes
        self._facts = facts
        self._history = history
        self._origin = origin
        self._clock = clock
        self._new: Counter[str] = Counter()
        self._other: Counter[str] = Counter()
        self._fresh: dict[str, Fact] = {}

    def taken(self) -> Taken:
        known, refused, held, without_vectors, unvouched = (self._other[name] for name in _OTHERS)
        whose = self._origin.sender if self._origin else ""
        return Taken(dict(+self._new), known, refused, held, without_vectors, unvouched, whose)

    # -- episodes

    def episodes(
        self,
        given: "Iterable[tuple[Episode, Vector | None, Space | None]]",
        progress: Callable[[int], None],
        stop: Callable[[], bool],
    ) -> bool:
        """Take episodes in, a batch at a time: what is there already is passed over, so a second run goes on.

        Says whether it came to the end.
        """
        waiting: list[tuple[Episode, Vector | None, Space | None]] = []
        for each, row, space in given:
            episode, vector = each, row
            if self._origin is not None:
                episode, vector = strangers.episode_of(each, self._origin, self._clock.now()), None
            fits = self._episodes.space in (None, space)
            self._other["without_vectors"] += vector is not None and not fits
            waiting.append((_judged(episode), vector if fits else None, space))
            if len(waiting) == _BATCH:
                self._add(waiting)
                waiting.clear()
                progress(self._new["episode"] + self._other["known"])
                if stop():
                    return False
        self._add(waiting)
        return True

    def _add(self, given: "Sequence[tuple[Episode, Vector | None, Space | None]]") -> None:
        """In the order of the file, so that neighbours stay neighbours; then the vectors of those that are new."""
        new = set(self._episodes.add([episode for episode, _, _ in given])) if given else set()
        self._new["episode"] += len(new)
        self._other["known"] += len(given) - len(new)
        embedded = [(each.id, row, space) for each, row, space in given if each.id in new and row is not None]
        if embedded and (space := embedded[0][2]) is not None:
            import numpy as np

            rows = np.stack([row for _, row, _ in embedded])
            self._episodes.put_vectors([key for key, _, _ in embedded], rows, space)

    # -- everything else

    def rest(self, given: Iterable[tuple[str, Any]]) -> None:
        """Take facts and all that belongs to them in, at one stroke."""
        if self._origin is not None:
            self._strangers(given, self._origin)
            return
        spoken = {(fact.kind, _plain(fact.text)) for fact in self._facts.find(standings=(), count=-1)}
        with self._facts.db.write() as tx:
            for kind, value in given:
                if kind == "fact":
                    fact, vector, space = value
                    self._fact(tx, fact, vector, space, spoken)
                elif kind == "link":
                    self._link(tx, value)
                elif kind == "barred":
                    state = self._history.state()
                    self._history.keep(tx, replace(state, barred=state.barred | set(value)))
                else:
                    self._count(kind, _ROWS[kind](tx, value))
            self._edges(tx)

    def _strangers(self, given: Iterable[tuple[str, Any]], origin: Origin) -> None:
        """Of a stranger's file, the facts: as words, and whose they are."""
        spoken = {_plain(fact.text) for fact in self._facts.find(standings=(), count=-1)}
        with self._facts.db.write() as tx:
            for kind, value in given:
                fact = strangers.fact_of(value[0], origin, self._clock.now()) if kind == "fact" else None
                if fact is None:
                    self._other["unvouched"] += 1
                elif tx.first("SELECT 1 FROM facts WHERE id = ?", (fact.id,)) or _plain(fact.text) in spoken:
                    self._other["known"] += 1
                elif self._facts.is_unwanted(fact) or poison.screen_fact(value[0]).is_poison:
                    self._other["refused"] += 1
                else:
                    self._facts.put(fact, tx=tx)
                    self._new["fact"] += 1

    def _fact(
        self, tx: Transaction, fact: Fact, vector: "Vector | None", space: Space | None, spoken: set[tuple[Kind, str]]
    ) -> None:
        if tx.first("SELECT 1 FROM facts WHERE id = ?", (fact.id,)) or (fact.kind, _plain(fact.text)) in spoken:
            self._other["known"] += 1
            return
        if self._facts.is_unwanted(fact):
            self._other["refused"] += 1
            return
        reason = poison.screen_fact(fact).reason
        if reason:
            self._other["refused"] += 1
            digest = pattern(fact.text)
            if self._facts.immune.find(digest) is None:
                self._facts.immune.remember(digest, Stage.POISON, reason, str(fact.provenance))
            return
        kept = replace(fact, contradicts=())
        if fact.standing is Standing.ACTIVE and needs_consent(fact):
            self._other["held"] += 1
            tags = tuple(dict.fromkeys((*fact.tags, CONSENT)))
            kept = replace(kept, standing=Standing.QUARANTINED, tags=tags)
        if vector is not None and (self._facts.space or self._episodes.space) not in (None, space):
            self._other["without_vectors"] += 1
            vector = None
        self._facts.put(kept, vector, space, tx)
        self._fresh[fact.id] = fact
        self._new["fact"] += 1

    def _link(self, tx: Transaction, row: tuple[Any, ...]) -> None:
        """Only between what this file brought: it must not set anything of ours aside."""
        src, dst, *_ = row
        if src not in self._fresh or dst not in self._fresh:
            self._other["known"] += 1
            return
        put = "INSERT OR REPLACE INTO fact_links (src, dst, relation, weight, ts) VALUES (?, ?, ?, ?, ?)"
        self._count("link", tx.execute(put, row))

    def _edges(self, tx: Transaction) -> None:
        """Edges as belief ranks them, now that all facts are there."""
        for fact in sorted(self._fresh.values(), key=lambda each: (each.episode_count, each.confidence, each.id)):
            if fact.kind in causal.CAUSAL:
                causal.add(tx, fact)

    def _count(self, kind: str, new: int) -> None:
        if new:
            self._new[kind] += 1
        else:
            self._other["known"] += 1


_OTHERS = ("known", "refused", "held", "without_vectors", "unvouched")


def _judged(episode: Episode) -> Episode:
    """What reads like an instruction is kept as what happened, and never becomes knowledge."""
    return replace(episode, verdict=Verdict.REJECTED) if poison.screen(episode.text).is_poison else episode


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _immune(tx: Transaction, row: tuple[Any, ...]) -> int:
    return tx.execute(
        "INSERT OR IGNORE INTO immune (digest, stage, reason, source, count, first, last) VALUES (?, ?, ?, ?, ?, ?, ?)",
        row,
    )


def _version(tx: Transaction, row: tuple[Any, ...]) -> int:
    return tx.execute(
        "INSERT INTO playbook_versions (ts, digest, by, why, text) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS"
        " (SELECT 1 FROM playbook_versions WHERE ts = ?1 AND digest = ?2)",
        row,
    )


def _mood(tx: Transaction, row: tuple[Any, ...]) -> int:
    """Only where nothing was felt yet."""
    return tx.execute("INSERT OR IGNORE INTO mood (one, pleasure, arousal, dominance, ts) VALUES (1, ?, ?, ?, ?)", row)


_ROWS = {"immune": _immune, "playbook": _version, "mood": _mood}
