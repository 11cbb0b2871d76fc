"""Forgetting because the owner says so: what would go, and then really taking it out.

What goes: the episodes meant, with vectors and words; facts that came from them alone, that quote them, that were made
of such facts, or that say what is to be forgotten; links, edges and uses of those; Metnos's lines of them in the
playbook and its history; questions about them; and, by what the caller brings, the turns that the episodes were drawn
from or that say it, which a turn may do without its episode: in what it found, or was reminded of. A fact that has
other sources stays, loses those that go, and is believed less by their share.

Rules: a query means every text that holds it, whatever its case and blanks; it is no search by meaning, which would
take what nobody meant. What the owner wrote into a file by hand is theirs and stays, and the report names the file.
Episodes go last, so that a run that was interrupted can be repeated and finds the rest. Only counts are returned, for
the audit.

Does not reach backups, exports, or copies that were made by hand.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock
from metnos.core.errors import UsageError
from metnos.core.workspace import LONG_MEMORY
from metnos.grimoire.episode import Episode
from metnos.grimoire.episodes import ANY, Episodes
from metnos.grimoire.fact import Fact
from metnos.grimoire.fact_rules import floor
from metnos.grimoire.facts import Facts
from metnos.grimoire.playbook import Playbook
from metnos.grimoire.somatic import Somatic
from metnos.grimoire.strings import strings
from metnos.grimoire.usefulness import Usefulness
from metnos.store.db import Transaction

Says = Callable[[str], bool]
Saying = Callable[[Says], Sequence[str]]  # the turns that say it, by their sources
Turns = Callable[[Sequence[str]], int]  # takes the content out of turns, by the sources of episodes; how many
Questions = Callable[[Collection[str], Says], int]  # the same for questions: by evidence, by words

_LEAST = 3  # characters of a query: fewer are in everything
_BATCH = 2000
_QUOTATION = re.compile(r'"([^"\n]{8,})"|“([^”\n]{8,})”')
_QUOTED = 12  # characters from which on a text of a fact is a quotation, and no word that many use


@dataclass(frozen=True, slots=True)
class Plan:
    """What would go (ids), which facts would lose some of their sources, and which of the owner's files say it too."""

    query: str
    episodes: tuple[str, ...]
    facts: tuple[str, ...]
    weakened: tuple[str, ...]
    sources: tuple[str, ...]
    yours: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.episodes or self.facts or self.sources)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was taken out. ``traces`` is 1 if somebody was reading, so that the store's log could not be emptied yet."""

    episodes: int = 0
    vectors: int = 0
    facts: int = 0
    weakened: int = 0
    links: int = 0
    edges: int = 0
    recalls: int = 0
    lines: int = 0
    versions: int = 0
    questions: int = 0
    turns: int = 0
    typed: int = 0
    traces: int = 0

    def counts(self) -> dict[str, int]:
        """For the audit: names and numbers."""
        return asdict(self)


class Forgetting:
    """Forgets, in one memory. ``root`` is the folder of the owner's files."""

    def __init__(
        self,
        episodes: Episodes,
        facts: Facts,
        playbook: Playbook,
        root: Path,
        clock: Clock,
        *,
        saying: Saying = lambda _: (),
        turns: Turns = lambda _: 0,
        questions: Questions = lambda _ids, _says: 0,
    ) -> None:
        self._episodes = episodes
        self._facts = facts
        self._playbook = playbook
        self._root = root
        self._uses = Usefulness(facts.db, clock)
        self._markers = Somatic(facts.db, clock)
        self._saying_too = saying
        self._turns = turns
        self._questions = questions

    def plan(self, query: str = "", ids: Sequence[str] = ()) -> Plan:
        """What would go if everything that holds ``query``, and these episodes and facts, were forgotten."""
        says = holds(query)
        named = self._episodes.get(ids)
        found = {each.id: each for each in (*named, *self._saying(says, bool(query)))}
        going = self._going(set(found), found, {*ids}, says)
        touched = self._touched(list(found))
        drawn = (each.source for each in found.values() if each.source)
        return Plan(
            query=query,
            episodes=tuple(found),
            facts=tuple(sorted(going)),
            weakened=tuple(sorted(touched - going)),
            sources=tuple(dict.fromkeys([*drawn, *(self._saying_too(says) if query else ())])),
            yours=tuple(self._yours(says)) if query else (),
        )

    def forget(self, plan: Plan) -> Forgotten:
        """Take out what a plan names, and what says it by now."""
        says, memories = holds(plan.query), [*plan.episodes, *plan.facts]
        book = self._playbook.forget(plan.facts, says)
        with self._facts.db.write() as tx:
            tx.query("PRAGMA secure_delete = ON")
            links, edges = _count(tx, plan.facts)
            recalls = self._uses.forget(plan.sources, memories)
            self._markers.forget([*plan.sources, *plan.episodes])
            if plan.query:
                _take_out_happenings(tx, says)
            weakened = [self._facts.put(each, tx=tx) for each in self._weaker(plan)]
        facts = self._facts.remove(plan.facts)
        questions = self._questions([*memories, *plan.sources], says)
        turns = self._turns(plan.sources)
        vectors = len(self._episodes.vectors_of(plan.episodes))
        episodes = self._episodes.remove(plan.episodes)
        (busy, *_) = self._facts.db.first("PRAGMA wal_checkpoint(TRUNCATE)") or (0,)
        return Forgotten(
            episodes=episodes,
            vectors=vectors,
            facts=facts,
            weakened=len(weakened),
            links=links,
            edges=edges,
            recalls=recalls,
            lines=book.lines,
            versions=book.versions,
            questions=questions,
            turns=turns,
            traces=int(busy),
        )

    # -- what is meant

    def _saying(self, says: Says, asked: bool) -> Iterator[Episode]:
        """Every episode that says it; looks at all of them, because words alone would miss parts of words."""
        after = 0
        while asked and (some := self._episodes.select(ANY, after=after, count=_BATCH)):
            after = some[-1].seq
            yield from (each for each in some if any(map(says, _texts_of(each))))

    def _going(self, gone: set[str], episodes: Mapping[str, Episode], ids: set[str], says: Says) -> set[str]:
        """The facts that go with these episodes, or are named, or say it; and those that were made of such."""
        facts = self._facts.find(standings=(), count=-1)
        alone = set(self._facts.derived_only_from(list(gone))) if gone else set()
        going = {
            fact.id
            for fact in facts
            if fact.id in ids or fact.id in alone or any(map(says, _words_of(fact))) or self._quotes(fact, episodes)
        }
        while more := {fact.id for fact in facts if fact.id not in going and going & set(strings(fact.data))}:
            going |= more
        return going

    def _quotes(self, fact: Fact, episodes: Mapping[str, Episode]) -> bool:
        """Whether a fact holds words of an episode that goes, which no other of its sources holds."""
        among = [each for each in fact.sources if each in episodes]
        if not among:
            return False
        rest = [
            _plain(each.text) for each in self._episodes.get([each for each in fact.sources if each not in episodes])
        ]
        texts = [_plain(episodes[each].text) for each in among]
        shared = (
            piece if piece in text else text
            for piece in _pieces(fact)
            for text in texts
            if piece in text or (len(text) >= _QUOTED and text in piece)
        )
        return any(not any(words in text for text in rest) for words in shared)

    def _touched(self, episodes: Sequence[str]) -> set[str]:
        rows = self._facts.db.query(
            "SELECT DISTINCT fact FROM fact_sources WHERE episode IN (SELECT value FROM json_each(?))",
            (canonical_json(list(episodes)).decode(),),
        )
        return {fact for (fact,) in rows}

    def _weaker(self, plan: Plan) -> Iterator[Fact]:
        """Facts without the sources that go, believed less by the share of these."""
        gone = set(plan.episodes)
        for fact in self._facts.get(plan.weakened):
            kept = tuple(each for each in fact.sources if each not in gone)
            lost = len(fact.sources) - len(kept)
            if lost:
                total = max(fact.episode_count, len(fact.sources))
                belief = max(fact.confidence * (total - lost) / total, min(fact.confidence, floor(fact)))
                yield replace(fact, sources=kept, episode_count=max(0, fact.episode_count - lost), confidence=belief)

    def _yours(self, says: Says) -> Iterator[str]:
        for name in LONG_MEMORY:
            path = self._root / name
            try:
                content = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            ours = {line.words for line in self._playbook.lines()} if name == "PLAYBOOK.md" else set()
            if any(says(line) and line.strip().lstrip("-*+ ") not in ours for line in content.splitlines()):
                yield name


# -- texts


def holds(query: str) -> Says:
    """Whether a text holds what is to be forgotten; nothing is held by any."""
    wanted = _plain(query)
    if query and len(wanted) < _LEAST:
        raise UsageError(
            f"{query!r} is in too much", fix=f"Name at least {_LEAST} characters of what is to be forgotten."
        )
    return lambda text: bool(wanted) and wanted in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _texts_of(episode: Episode) -> Iterator[str]:
    yield from (episode.text, episode.source, episode.sender, episode.session, episode.domain, *episode.tags)
    yield from strings(episode.payload)


def _words_of(fact: Fact) -> Iterator[str]:
    yield from (fact.text, fact.subject, fact.value, fact.domain, fact.sender, *fact.tags)
    yield from strings(fact.data)


def _pieces(fact: Fact) -> Iterator[str]:
    """The parts of a fact that may be somebody's words."""
    whole = (fact.text, fact.subject, fact.value, *strings(fact.data))
    quoted = (one or other for one, other in _QUOTATION.findall(fact.text))
    for text in (*whole, *quoted):
        piece = _plain(text).strip("…. ")
        if len(piece) >= _QUOTED:
            yield piece


# -- rows


def _count(tx: Transaction, facts: Sequence[str]) -> tuple[int, int]:
    listed = canonical_json(list(facts)).decode()
    which = "IN (SELECT value FROM json_each(?1))"
    links = tx.first(f"SELECT count(*) FROM fact_links WHERE src {which} OR dst {which}", (listed,))  # noqa: S608 -- ours
    edges = tx.first(f"SELECT count(*) FROM causal WHERE fact {which}", (listed,))  # noqa: S608 -- as above
    return int(links[0]) if links else 0, int(edges[0]) if edges else 0


def _take_out_happenings(tx: Transaction, says: Says) -> None:
    """A domain is a name, and a name can be what is to be forgotten."""
    rows = tx.query("SELECT id, data FROM happenings")
    tx.execute_many("DELETE FROM happenings WHERE id = ?", [(key,) for key, data in rows if says(data)])
