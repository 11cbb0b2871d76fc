"""Following a chain: its new blocks become episodes, at every gamma beat.

Rules: what was read is marked after it is remembered, and an event that is remembered already is not taken in again, so
a process that dies in between reads a block twice and remembers it once. It begins with the newest block, not with the
past. Each beat reads only so many blocks; whoever was away for very long begins again near the head, and the blocks
that were left out are counted. A head far behind what was read is a chain begun anew: it is followed from there.
Capture needs no language model and no embedder.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from metnos.core.ids import UlidMaker
from metnos.grimoire import appraisal
from metnos.grimoire.domain import event_of as kind_of
from metnos.grimoire.episode import Episode, Where
from metnos.grimoire.mind import Mind
from metnos.life import chain_rules, triage
from metnos.life.chain import Head
from metnos.life.chain_rules import Transaction
from metnos.life.event import Event, episode_of
from metnos.life.heartbeat import Came, Places
from metnos.life.triage import Known, Triaged, TriageRules


class Reads(Protocol):
    """A chain, as far as following it needs one."""

    def head(self) -> Head: ...

    def transactions(self, block: int, chain: int) -> Sequence[Transaction]: ...


@dataclass(frozen=True, slots=True)
class FollowRules:
    """The numbers, chosen."""

    confirmations: int = 2  # blocks to stay behind the newest
    blocks: int = 32  # read in one beat: a chain with a block a second, three times over
    behind: int = 1000  # blocks: further behind, the present is worth more than what was missed
    lately: int = 50  # episodes that say what is common at a protocol, as in `capture`


class Following:
    """Follows one chain for one memory."""

    def __init__(
        self,
        chain: Reads,
        mind: Mind,
        places: Places,
        rules: FollowRules | None = None,
        chosen: TriageRules = triage.RULES,
    ) -> None:
        self._chain = chain
        self._mind = mind
        self._places = places
        self._rules = rules or FollowRules()
        self._triage = chosen
        self._ids = UlidMaker(mind.clock)

    def capture(self) -> Came:
        """Read what is new; what came of it."""
        head, pack = self._chain.head(), self._mind.pack()
        source, newest = f"chain {head.chain}", head.block - self._rules.confirmations
        first, skipped = self._first(source, newest)
        counts: Counter[str] = Counter(skipped=skipped)
        curious = 0.0
        for block in range(first, min(newest, first + self._rules.blocks - 1) + 1):
            sent = self._chain.transactions(block, head.chain)
            kept = self._remember([chain_rules.event_of(each, pack) for each in sent])
            self._places.put(source, block)
            counts.update(blocks=1, events=len(sent), remembered=len(kept))
            curious = max([curious, *(each.curiosity for each in kept)])
        return Came({name: count for name, count in counts.items() if count}, curious, counts["remembered"])

    def _first(self, source: str, newest: int) -> tuple[int, int]:
        """The first block to read, and how many are left out before it."""
        read = self._places.get(source)
        if read is None or read - newest > self._rules.blocks:
            # So far back no chain goes: it was begun anew, or whoever named that block lied. What was read is known.
            return max(newest, 0), 0
        skipped = max(0, newest - read - self._rules.behind)
        return read + 1 + skipped, skipped

    def _remember(self, events: Sequence[Event]) -> list[Triaged]:
        pack = self._mind.pack()
        judged = triage.triage(events, self._known(events), pack, self._triage)
        kept = triage.keep(judged, self._triage)
        self._mind.episodes.add([self._episode(each) for each in kept], None, None)
        return kept

    def _episode(self, judged: Triaged) -> Episode:
        made = episode_of(judged.event, self._ids(), self._mind.pack(), judged.curiosity)
        return replace(made, pad=appraisal.affect(made))

    def _known(self, events: Sequence[Event]) -> Mapping[str, Known]:
        """What is common and what is usual at each protocol."""
        return {about: self._known_of(about) for about in sorted({event.about for event in events})}

    def _known_of(self, about: str) -> Known:
        before = self._mind.episodes.select(Where(domains=(about,)), count=self._rules.lately, newest_first=True)
        return Known(Counter(kind_of(each) for each in before), self._mind.usual(about))
