"""What there is at the end of a life, gathered from every store of a workspace for `metnos.life.legacy`.

Rules: reads only. Private is whatever a person said or was told here: episodes that are not the agent's own, every
message, the owner's files and notes. Secrets are what the key files and the settings' keys hold. The words that say
nothing of anybody are those that the house itself is made of: its vocabulary, its lexicon, the names and arguments of
its executors, and the words of its domain pack.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.app import adjusting, inheriting, profiles
from metnos.core import settings
from metnos.core.canon import canonical_json
from metnos.core.clock import from_text
from metnos.core.errors import MetnosError, TestamentError, UsageError
from metnos.core.workspace import LONG_MEMORY
from metnos.executors import vocabulary
from metnos.executors.outcome import KINDS
from metnos.executors.signature import Origin
from metnos.fastpath.canonical import canonical
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Episode, Scope
from metnos.grimoire.episodes import ANY
from metnos.grimoire.fact import Fact
from metnos.grimoire.question import FUNCTION_WORDS
from metnos.grimoire.stem import stem
from metnos.grimoire.strings import strings
from metnos.law import audit_line, audit_log
from metnos.life import inheritance_rules, profile
from metnos.life.barrier_scan import Known, words
from metnos.life.legacy import Estate
from metnos.life.testament import MOST_EPISODES, Habit, Link
from metnos.mnestome import lists
from metnos.models import keys
from metnos.turn.plan import lexicon

if TYPE_CHECKING:
    from metnos.app.house import App

_ALL = 1_000_000  # facts: more than a memory holds
_BATCH = 500
_OWN_PROFILE = "own"  # what a profile of the owner's is called elsewhere: its name is their word
_NOTE = 1 << 20  # characters of one note
_OURS = (Scope.AGENT, Scope.SHARED)
# Words of the sentences that Metnos itself makes, and small words of both languages.
_HOUSE = (
    "a about above after again all always an and answer answers any are as ask at bad be because before below best"
    " better both but by call can cause causes check code different does each early easy empty end enough error every"
    " failed fails fast faster few find first follows for form found from full get give go good hard hardly has have"
    " help high how however if in instead is it item items keep keeps kind known large last later least less like"
    " list little lives long longer low made make many may more most much must name names near need never new next no"
    " not nothing number numbers of often old on once one only open or order other out over own page pages part parts"
    " question questions quick rather ready reason request requests result results retry right rule rules safe same"
    " seconds several should simple size slow slower small some something sooner sort start step steps still stop"
    " sure take takes task tasks than that the then there they thing things this timeout times to together too tool"
    " tools true try turn turns twice two under until up use useful usually value values very wait warning warnings"
    " was way ways went what when which while whole with without work works wrong yes"
    " al alla che chi come con da dei del della di dopo e ed gli i il in la le lo ma nel nella non o per piu prima"
    " quando se si su un una"
)


@dataclass(frozen=True, slots=True)
class Life:
    """What was counted of a life. ``bytes_`` is what was said and learnt, as it is stored, without indexes."""

    born: datetime
    ticks: int
    episodes: int
    facts: int
    mnests: int
    bytes_: int
    surprising: tuple[str, ...]


def estate(app: "App", died: datetime, release: Sequence[str]) -> Estate:
    """Everything that may or may not cross."""
    line = inheriting.lineage(app)
    facts = [fact_rules.faded(fact, died) for fact in all_facts(app)]
    episodes, chosen = released(app, release)
    descents = line.descents()
    return Estate(
        key=app.seat.signer.public,
        died=died,
        facts=facts,
        links=_links(app),
        mnests=lists.listing(app.catalog.db, died),
        known=known(app),
        private=partial(private, app, frozenset(each.id for each in episodes)),
        episodes=episodes,
        released=chosen,
        descents=descents,
        proofs={fact.id: line.proof(fact) for fact in facts if fact.id in descents},
    )


def all_facts(app: "App") -> list[Fact]:
    return sorted(app.grimoire.facts.find(standings=(), count=_ALL), key=lambda fact: fact.id)


def released(app: "App", ids: Sequence[str]) -> tuple[list[Episode], frozenset[str]]:
    """The episodes that the owner lets go, and the ids of all that they let go. Raises on what is not there."""
    episodes = app.grimoire.episodes.get(list(ids))
    found = {each.id for each in episodes} | {each.id for each in app.grimoire.facts.get(list(ids))}
    missing = [each for each in ids if each not in found]
    if missing:
        raise UsageError(
            f"there is no episode and no fact {missing[0]!r}", fix="Look for it: metnos memory search WORDS"
        )
    if len(episodes) > MOST_EPISODES:
        raise UsageError(f"at most {MOST_EPISODES} episodes can be released", fix="Choose the ones that taught most.")
    return episodes, frozenset(found)


def lived(app: "App", died: datetime) -> Life:
    """What was counted of this life."""
    facts, episodes, size = all_facts(app), 0, 0
    surprise: dict[str, list[float]] = {}
    for episode in every(app):
        episodes += 1
        size += len(episode.text.encode()) + len(canonical_json(dict(episode.payload)))
        surprise.setdefault(episode.domain, []).append(episode.curiosity)
    size += sum(len(fact.text.encode()) + len(canonical_json(dict(fact.data))) for fact in facts)
    common = known(app)
    told = {each: sum(many) / len(many) for each, many in surprise.items() if each and len(many) > 2}
    ranked = sorted(told.items(), key=lambda item: (-item[1], item[0]))
    mean = sum(told.values()) / len(told) if told else 0.0
    return Life(
        born=born(app, died),
        ticks=_ticks(app),
        episodes=episodes,
        facts=len(facts),
        mnests=len(lists.listing(app.catalog.db, died)),
        bytes_=size,
        surprising=tuple(each for each, much in ranked if much > mean and common.all_common(each))[:5],
    )


def born(app: "App", otherwise: datetime) -> datetime:
    """When this agent was founded: the first line of its audit says so."""
    for month in audit_log.months(app.workspace.audit)[:1]:
        for raw in audit_log.raw_lines(audit_log.path_of(app.workspace.audit, month).read_bytes()):
            line = audit_line.parse(raw, month)
            if line is not None:
                return min(from_text(line.ts), otherwise)
    return otherwise


def _ticks(app: "App") -> int:
    last = app.living.vitality.last()
    return last.tick if last else 0


def every(app: "App") -> Iterator[Episode]:
    """Every episode, in order."""
    after = 0
    while some := app.grimoire.episodes.select(ANY, after=after, count=_BATCH):
        after = some[-1].seq
        yield from some


def _links(app: "App") -> list[Link]:
    rows = app.grimoire.db.query("SELECT src, dst, relation, weight FROM fact_links ORDER BY src, dst, relation")
    return [Link(src, dst, relation, max(0.0, min(1e6, weight))) for src, dst, relation, weight in rows]


def executors(app: "App") -> list[str]:
    """Those that did not come with Metnos and can be used."""
    return sorted(each.name for each in app.catalog.usable() if each.origin is not Origin.BUILTIN)


def profile_name(app: "App") -> str:
    """The profile that this agent lived by, as it may be told."""
    name = app.settings.life.profile
    return name if (profile.SHIPPED / f"{name}.toml").is_file() else _OWN_PROFILE


def habits(app: "App") -> tuple[Habit, ...]:
    """Settings that say how this agent worked, as far as they are other than the defaults, with how long they held.
    Choices and numbers alone: in a text the owner's own words could stand, and none could be offered."""
    before = inheriting.lineage(app).habits()
    found = []
    for each in adjusting.sheet(app):
        plain = each.type in inheritance_rules.PLAIN and isinstance(each.value, bool | int | float | str)
        if not plain or each.value == each.default or each.secret or not inheritance_rules.is_heritable(each.name):
            continue
        was = before.get(each.name)
        found.append(Habit(each.name, each.value, was.held + 1 if was and was.value == each.value else 1))
    return tuple(found[:32])


# -- what must not be told


def private(app: "App", let_go: frozenset[str]) -> Iterator[str]:
    """Everything that somebody said or was told here, but for what the owner let go."""
    for episode in every(app):
        if episode.id not in let_go and episode.scope not in _OURS:
            yield episode.text
            yield from strings(_without_forms(episode.payload), keys=False)
    for turn, text in app.medium.db.query("SELECT turn, text FROM messages"):
        if turn not in let_go:
            yield text
    for (text,) in app.medium.db.query("SELECT text FROM summaries"):
        yield text
    paths = [app.workspace.root / name for name in LONG_MEMORY if name not in ("SOUL.md", "PLAYBOOK.md")]
    for path in (*paths, *sorted(app.workspace.notes.rglob("*"))):
        yield _content(path)


def _without_forms(payload: Any) -> dict[str, Any]:
    """What was done, without the house's own words for it: the form of a request is judged word by word."""
    return {name: each for name, each in payload.items() if name not in ("canonical", "state", "path")}


def _content(path: Path) -> str:
    """What a file says. Raises if it is there and cannot be read: then nobody knows what must not be told."""
    if not path.is_file():
        return ""  # a folder, gone, or a pipe, which would be waited for without end
    try:
        with path.open(encoding="utf-8", errors="ignore") as file:
            return file.read(_NOTE)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise TestamentError(
            f"{path.name} cannot be read, so what must not be told is not known: {error.strerror}",
            fix="Make it readable, or move it away.",
        ) from error


def known(app: "App") -> Known:
    """The secrets of this workspace, and the words that say nothing of anybody."""
    return Known(tuple(sorted(_secrets(app))), common_words(app))


def _secrets(app: "App") -> set[str]:
    found = {line for path in sorted(app.workspace.keys.glob("*")) for line in _content(path).split() if len(line) > 7}
    found -= {app.seat.signer.public}
    for each in settings.keys():  # noqa: SIM118 -- a function of that name
        if each.name.endswith(("key", "token")):
            where = adjusting.value_of(app.settings, each.name)
            try:
                found.add(keys.find(str(where), app.workspace.keys) if where else "")
            except MetnosError:
                continue  # there is none there
    return {each for each in found if each}


def common_words(app: "App") -> frozenset[str]:
    """The words that the house is made of, also as forms of requests spell them."""
    phrases = {*_house(), *KINDS, *_of_pack(app)}
    for executor in app.catalog.usable():
        if executor.origin is Origin.BUILTIN:
            phrases.update((executor.name, *executor.manifest.args.get("properties", {})))
    return _spelt(frozenset(phrases))


@cache
def _house() -> frozenset[str]:
    """Collect the words of the lexicon and the vocabulary, which are the same in every workspace."""
    phrases = set(_HOUSE.split())
    for first, many in lexicon.load().phrases.items():
        phrases.update((first, *(piece for phrase, _ in many for piece in phrase)))
    for table in (vocabulary.load().verbs, vocabulary.load().objects, vocabulary.load().qualifiers):
        for word in table.values():
            phrases.update((word.text, *(each for many in word.synonyms.values() for each in many)))
    return frozenset(phrases)


@lru_cache(maxsize=2)  # a death asks several times, and nothing changes in between
def _spelt(phrases: frozenset[str]) -> frozenset[str]:
    """The words of phrases, in every form of theirs."""
    said = {word for phrase in phrases for word in words(phrase.replace("_", " "))}
    said |= {word for each in said for word in words(canonical(each, ()))}
    return frozenset(said | FUNCTION_WORDS | set(map(stem, said)))


def _of_pack(app: "App") -> Iterable[str]:
    try:
        pack = profiles.pack(app)
    except MetnosError:
        return ()  # a profile that cannot be read: then its words count as private
    kinds = [text for name, kind in pack.events.items() for text in (name, kind.category)]
    return (*kinds, *pack.measures, *pack.insights, *pack.categories.values(), *pack.names.values())
