"""A memory that watches markets, and events to watch."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from metnos.core.clock import Clock, MovableClock
from metnos.core.embedding import Embedder
from metnos.core.ids import UlidMaker
from metnos.grimoire import memory_schema
from metnos.grimoire.domain import Domain
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.mind import Mind
from metnos.grimoire.question import Span
from metnos.life import pack
from metnos.life.event import Event, episode_of
from metnos.life.heartbeat import Places
from metnos.life.schema import MIGRATIONS
from metnos.store.db import Database

DEFI = pack.read("defi")


class Watching(Mind):
    """A memory with the pack `defi`, and no embedder."""

    def __init__(self, folder: Path, clock: MovableClock) -> None:
        self.db = Database(folder / "grimoire.db", memory_schema.MIGRATIONS, clock=clock)
        self.episodes = open_episodes(folder / "episodes", "sqlite", clock)
        self.life = Database(folder / "life.db", MIGRATIONS, clock=clock)
        self.places = Places(self.life, clock)
        self._folder, self._clock, self._ids = folder, clock, UlidMaker(clock)

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def root(self) -> Path:
        return self._folder

    @property
    def embedder(self) -> Embedder | None:
        return None

    def dates(self, text: str, now: datetime) -> Iterator[tuple[str, Span]]:
        return iter(())

    def asks(self, text: str) -> bool:
        return text.endswith("?")

    def pack(self) -> Domain:
        return DEFI

    def sees(self, kind: str, value: float = 1.0, *, about: str = "pool", curiosity: float = 0.3) -> str:
        """Take one event in; its episode's id."""
        self._clock.move(timedelta(seconds=12))
        key = self._ids()
        payload = {"protocol": about, "value_eth": value, "gas_used": 21_000, "gas_price_gwei": 10.0}
        event = Event(kind, about, f"chain 1 {key}", self._clock.now(), f"{kind} at {about}: {value:g} ETH", payload)
        self.episodes.add([episode_of(event, key, DEFI, curiosity)], None, None)
        return key
