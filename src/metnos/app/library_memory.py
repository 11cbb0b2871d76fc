"""`Grimoire`: a memory for any agent loop, as a Python object.

    >>> from metnos import Grimoire
    >>> with Grimoire(folder) as memory:
    ...     spare = memory.remember("The spare key is under the blue flower pot.", tags=["house"])
    ...     said = memory.remember("The boiler was serviced in May.")
    ...     [found.text for found in memory.recall("Where is the spare key?")]
    ['The spare key is under the blue flower pot.']

Rules: what is remembered stays on this machine and needs no language model. A folder of its own needs neither
executors nor a sandbox, and nothing that acts is loaded. In a workspace it is that workspace's own memory, with its
settings, its inbox and its audit. Processes may share a folder, also beside a running daemon.

Does not guarantee that what is recalled is true, nor that it is safe to follow: texts are data (see `Grimoire.prompt`).
"""

import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from metnos.app.library_alone import Alone
from metnos.app.library_records import Forgotten, Learnt, Memory, memory_of, together
from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock, SystemClock
from metnos.core.embedding import Embedder
from metnos.core.errors import Refused, UsageError
from metnos.core.ids import UlidMaker
from metnos.core.workspace import Workspace
from metnos.grimoire import capture
from metnos.grimoire.appraisal import IMPORTANCE, REMEMBER
from metnos.grimoire.consent import waits
from metnos.grimoire.domain import MEASURES
from metnos.grimoire.episode import Episode, Mark, Provenance, Viewer, Where
from metnos.grimoire.fact import Fact, Standing
from metnos.grimoire.mind import Mind
from metnos.law.principal import Channel, of_account

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.grimoire.exchange import Exchange

LONGEST = 20_000  # characters of one memory; a longer text belongs into a file
_MOST = 100  # memories of one question
_SECONDS = 30.0
_EACH = 600  # characters of one memory in a prompt
_OWNER = Viewer()


class Grimoire:
    """What is remembered in one place: ``path`` is a folder, which is made if need be, or a workspace.

    ``embedder`` finds by meaning: ``"builtin"`` comes with Metnos and needs no network (it takes a second to load, when
    it is first needed), ``None`` finds by words alone, and anything else with `space` and `embed` is used as it is. In
    a workspace the settings choose it, unless it is ``None``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        embedder: Literal["builtin"] | Embedder | None = "builtin",
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._ids = UlidMaker(self._clock)
        self._app: App | None = None
        self._alone: Alone | None = None
        folder = Path(path).expanduser().absolute()
        workspace = _workspace(folder)
        if workspace is None:
            self._alone = Alone(folder, _embedder(embedder), self._clock)
            self._mind: Mind = self._alone
        else:
            self._open(workspace, embedder)
        self._ours = True

    @classmethod
    def of(cls, app: "App") -> "Grimoire":
        """The memory of a workspace that is open already, and is closed elsewhere."""
        made = cls.__new__(cls)
        made._clock, made._ids = app.clock, UlidMaker(app.clock)
        made._app, made._alone, made._mind, made._ours = app, None, app.grimoire, False
        return made

    def _open(self, workspace: Workspace, embedder: Literal["builtin"] | Embedder | None) -> None:
        from metnos.app.house import App

        if embedder not in ("builtin", None):
            raise UsageError(
                "this is a workspace, and its settings choose the embedder", fix="metnos config set embed.kind …"
            )
        self._app = app = App.open(workspace, self._clock)
        if embedder is None:
            app.__dict__["embedder"] = None  # as if the settings said so, for this object alone
        self._mind = app.grimoire

    # -- telling

    def remember(
        self,
        text: str,
        *,
        tags: Iterable[str] = (),
        importance: float | None = None,
        when: datetime | None = None,
        about: str = "",
        measures: Mapping[str, float] | None = None,
        session: str = "",
        source: str = "",
        trusted: bool = True,
        pinned: bool = False,
    ) -> Memory:
        """Remember a text, word for word; it can be recalled at once.

        ``importance`` from 0 to 1 is judged from the text if it is not said. ``when`` is now, or when it happened.
        ``about`` names what it is about: what is about the same is learnt from together. ``measures`` are numbers that
        belong to it. ``session`` is the conversation: what was said beside something is found with it. ``source`` is
        what it was taken from, such as the id of a message: the same source twice is remembered once. What the owner
        did not say (a page, the answer of a tool, another agent) is not ``trusted``: it can be recalled, is believed
        less, and never becomes something that acts.

            >>> with Grimoire(folder, embedder=None) as memory:
            ...     kept = memory.remember("Rent is due on the first.", importance=0.9, tags=["money"])
            ...     kept.kind, kept.tags
            ('note', ('money',))
        """
        words = _checked(text)
        payload: dict[str, Any] = {}
        if importance is not None:
            payload[IMPORTANCE] = _share(importance)
        if measures:
            payload[MEASURES] = {str(name): float(value) for name, value in measures.items()}
        key = _key(source) if source else self._ids()
        told = capture.note(words, key, self._moment(when), [str(tag) for tag in tags])
        made = replace(
            told,
            payload=payload,
            importance=payload.get(IMPORTANCE),
            domain=about,
            session=session,
            source=source or told.source,
            pinned=pinned,
        )
        if not trusted:
            made = replace(made, kind="observation", provenance=Provenance.QUERY, tags=_own(made))
        known = self._mind.episodes.get([key]) if source else []
        return _shown(known[0] if known else self._mind.take_in(made))

    # -- asking

    def recall(
        self,
        query: str,
        k: int = 5,
        *,
        tags: Iterable[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        session: str = "",
        facts: bool = True,
    ) -> list[Memory]:
        """What answers a question, the best first, and nothing if nothing does.

        ``tags``, ``since``, ``until`` and ``session`` narrow it down to such episodes; then no ``facts`` are given,
        because these have none of it. A time that the question itself speaks of ("last week") is understood.

            >>> with Grimoire(folder, embedder=None) as memory:
            ...     kept = memory.remember("The wifi password is on the router.")
            ...     found = memory.recall("what is the wifi password?")[0]
            ...     found.text, sorted(found.factors)
            ('The wifi password is on the router.', ['affect', 'importance', 'recency', 'relevance'])
        """
        if not query.strip():
            raise UsageError("nothing was asked", fix="Say what to recall.")
        count = max(1, min(int(k), _MOST))
        where = Where(
            tags=tuple(str(tag) for tag in tags),
            since=None if since is None else self._moment(since),
            until=None if until is None else self._moment(until),
            sessions=(session,) if session else (),
        )
        narrow = where != Where()
        wanted = count if facts and not narrow else 0
        viewer = replace(_OWNER, session=session)
        found = self._mind.recall(query[:LONGEST], viewer, count=count, facts=wanted, where=where)
        return [_plain(each) for each in together(found.episodes, found.facts, count)]

    def prompt(self, query: str, k: int = 5) -> str:
        """What answers a question as a piece of text for a language model, and nothing if nothing does.

        It is fenced: whatever a memory says stands there as data, and cannot end its fence or speak as somebody else.
        """
        from metnos.context.fence import fence

        found = self.recall(query, k)
        if not found:
            return ""
        lines = [f"{each.when.astimezone():%Y-%m-%d}: {' '.join(each.text.split())[:_EACH]}" for each in found]
        return fence("\n".join(dict.fromkeys(lines)), "memory", _MOST * _EACH)

    def get(self, memory_id: str) -> Memory | None:
        """One memory by its id."""
        found: list[Episode] | list[Fact] = self._mind.episodes.get([memory_id]) or self._mind.facts.get([memory_id])
        return _shown(found[0]) if found else None

    def facts(self, k: int = 100, *, waiting: bool = False) -> list[Memory]:
        """What was learnt, the most believed first.

        Facts about a person count only when the owner agrees. ``waiting`` lists those, for `agree` and `refuse`.
        """
        if waiting:
            held = self._mind.facts.find(standings=(Standing.QUARANTINED,), count=k)
            return [_shown(each) for each in held if waits(each)]
        return [_shown(each) for each in self._mind.facts.find(visible_to=_OWNER, count=k)]

    def __len__(self) -> int:
        """How many episodes are remembered."""
        return self._mind.episodes.count()

    def __bool__(self) -> bool:
        """An empty memory is a memory, too."""
        return True

    # -- what became of it

    def helped(self, *ids: str) -> None:
        """These memories were used, and it went well: the one thing that makes a memory stronger."""
        now = self._clock.now()
        self._mind.episodes.mark([Mark(each, used=1, used_at=now) for each in ids])
        self._mind.facts.helped(ids)

    def harmed(self, *ids: str) -> None:
        """These memories were used, and it went badly. Facts are believed less; what happened stays what happened."""
        self._mind.facts.harmed(ids)

    def learn(self, seconds: float = _SECONDS) -> Learnt:
        """Distil what several episodes have in common into facts, and let fade what nothing confirms.

        Takes at most so many seconds of processor time, and goes on the next time if that was not enough.
        """
        if self._alone is not None:
            return Learnt(*self._alone.learn(seconds))
        from metnos.app import remembering

        done = remembering.curate(self._required(), now=True)
        return Learnt(not done.message and not done.stopped, dict(done.counts), done.message)

    def agree(self, memory_id: str) -> bool:
        """The owner agrees that a fact about them is kept; says whether it waited for that.

        Only of a memory in a folder of its own. In a workspace a person says so: ``metnos inbox list``.
        """
        return self._answerable().agree(memory_id)

    def refuse(self, memory_id: str) -> bool:
        """The owner does not want a fact known: it goes, and is not learnt again. In a workspace a person says so."""
        return self._answerable().facts.unwanted([memory_id]) > 0

    def pin(self, memory_id: str, pinned: bool = True) -> None:
        """Keep a memory from fading, or let it fade again."""
        found = self._mind.facts.get([memory_id])
        if found:
            self._mind.facts.put(replace(found[0], pinned=pinned))
        elif self._mind.episodes.get([memory_id]):
            self._mind.episodes.mark([Mark(memory_id, pinned=pinned)])
        else:
            raise UsageError(f"there is no memory {memory_id!r}", fix="Use the id of what was recalled.")

    def forget(self, *ids: str, words: str = "") -> Forgotten:
        """Take memories out for good: these, or everything that holds these words, and what was learnt from it alone.

        Only of a memory in a folder of its own. In a workspace a person forgets, with every turn and question that says
        it: ``metnos memory forget``; here that raises `Refused`. Exports and backups are out of reach.

            >>> with Grimoire(folder, embedder=None) as memory:
            ...     kept = memory.remember("The safe opens with 4711.")
            ...     memory.forget(words="safe opens").episodes, memory.recall("how does the safe open?")
            (1, [])
        """
        if not ids and not words.strip():
            raise UsageError("nothing was named", fix="Give ids, or words=…")
        if self._alone is not None:
            gone = self._alone.forget(words, ids)
            return Forgotten(gone.episodes, gone.facts)
        from metnos.app import keeping

        app = self._required()
        by = of_account(Channel.LIBRARY)
        keeping.refuse_forgetting(app, by)
        gone = keeping.forget(app, keeping.forgetting(app).plan(words, ids), by)
        return Forgotten(gone.episodes, gone.facts, gone.turns)

    # -- out and in

    def export(self, path: str | os.PathLike[str]) -> dict[str, int]:
        """Everything that is remembered, in a new file of JSON lines (packed if it ends in ``.zst``); how much."""
        return self._exchange().export(Path(path))

    def take_in(self, path: str | os.PathLike[str]) -> dict[str, int]:
        """What such a file holds, as far as it is not here; how much of it.

        Unless this very agent signed it, what comes in is a stranger's word: it is found, and steers nothing.
        """
        if self._app is not None:
            from metnos.app import keeping

            return keeping.take_in(self._app, Path(path)).counts()
        return self._exchange().take_in(Path(path)).counts()

    def _exchange(self) -> "Exchange":
        from metnos.grimoire.exchange import Exchange

        signer = self._app.seat.signer if self._app is not None else None  # a memory alone has no key
        return Exchange(self._mind.episodes, self._mind.facts, self._mind.playbook.history, self._clock, signer)

    # -- the end

    def close(self) -> None:
        """Let go of every file. Later use opens them again."""
        if self._alone is not None:
            self._alone.close()
        elif self._app is not None and self._ours:
            self._app.close()

    def __enter__(self) -> "Grimoire":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside

    def _moment(self, when: datetime | None) -> datetime:
        """A time with a zone; without one it is meant in the machine's own."""
        return self._clock.now() if when is None else when.astimezone()

    def _required(self) -> "App":
        if self._app is None:
            raise AssertionError("asked only in a workspace")
        return self._app

    def _answerable(self) -> Alone:
        if self._alone is None:
            raise Refused(
                "in a workspace a person answers in the inbox, and a program does not",
                fix="Type at a terminal: metnos inbox list",
            )
        return self._alone


def _workspace(folder: Path) -> Workspace | None:
    """The workspace that a folder is, or is the memory of."""
    folder = folder.resolve()  # a link to a workspace's memory is that memory
    candidates = [folder, folder.parent] if folder.name == "memory" else [folder]
    return next((space for each in candidates if (space := Workspace(each)).exists()), None)


def _embedder(named: Literal["builtin"] | Embedder | None) -> Embedder | None:
    if named != "builtin":
        if isinstance(named, str):
            raise UsageError(f"there is no embedder {named!r}", fix='Use "builtin", None, or an object that embeds.')
        return named
    from metnos.core.sections_models import EmbedSettings
    from metnos.models import embed

    return embed.make(EmbedSettings(kind="builtin"), lambda _: "")


def _checked(text: str) -> str:
    words = text.strip()
    if not words:
        raise UsageError("there is nothing to remember", fix="Say what.")
    if len(words) > LONGEST:
        raise UsageError(f"this is longer than {LONGEST:,} characters", fix="Keep it in a file, and remember where.")
    if any(unicodedata.category(char) == "Cs" or char == "\0" for char in words):
        raise UsageError("this is no text", fix="Leave out what is no character.")
    return words


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise UsageError(f"an importance lies between 0 and 1, and {value} does not")
    return float(value)


def _key(source: str) -> str:
    """The id of what comes from a source: always the same."""
    return sha256_hex(source.encode("utf-8", "surrogatepass"))[:26].upper()


def _own(episode: Episode) -> tuple[str, ...]:
    """The tags that were given to it."""
    return tuple(tag for tag in episode.tags if tag != REMEMBER)


def _shown(of: Episode | Fact) -> Memory:
    return _plain(memory_of(of))


def _plain(memory: Memory) -> Memory:
    """Without the tag by which the house itself knows what was told."""
    return replace(memory, tags=tuple(tag for tag in memory.tags if tag != REMEMBER))
