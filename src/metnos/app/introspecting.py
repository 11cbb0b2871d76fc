"""What Metnos proposes by itself in a workspace, and what of it reaches the owner.

Rules: two jobs of the night, each safe to repeat. *introspection* reads what turns, wishes and executors left, lets the
vaglio judge, and asks about the direction of what passes; it runs only if the owner was there since it last did. What
is asked about stands in the proposals with the reason, as does what is not. *synt* makes what was commissioned, one a
night, and puts it before the owner: the second question. No answer in time is no. Nothing in a wish, a turn or a
proposal takes the place of either yes (`metnos.synt.activation`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from metnos.app import breaking
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import to_text
from metnos.core.decay import days_between
from metnos.core.errors import ModelError
from metnos.executors import index
from metnos.fastpath import promote
from metnos.grimoire.activity import Activity
from metnos.law.inbox import DIRECTION, Item
from metnos.law.inbox import State as Answer
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.mnestome import graph, lists, proto
from metnos.night import introspect, telos
from metnos.night.introspect import Records
from metnos.night.introspect_rules import Finding, Receptor, Rules
from metnos.night.jobs import Done, Watcher
from metnos.night.notices import News
from metnos.night.vaglio import Judged, Vaglio
from metnos.night.vaglio_rules import Score, Standing, Verdict
from metnos.synt import likeness
from metnos.synt.activation import direction_digest
from metnos.synt.need import Need, Way
from metnos.synt.proposals import OPEN, Proposal, State, subject_of
from metnos.turn.plan.records import REQUEST

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.models.embed import Embedder

INTROSPECTION = Principal(Channel.NIGHT, "introspection", Autonomy.READ_ONLY)
_TURNS = 2000  # the newest that are looked at: weeks of an owner who asks a lot
_WEIGHED = 24  # proposals that one night takes up without asking about them: more nobody reads
_DUPLICATE = "duplicate"
_YEAR = timedelta(days=365)  # of uses: what was used less in a year is one too many
_UNANSWERED = "no answer in time"
_NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Tonight:
    """What introspection finds tonight, and what the vaglio says of it."""

    telos: telos.Telos
    judged: tuple[Judged, ...]


def was_active(app: "App", since: datetime | None, until: datetime) -> bool:
    """Whether the owner was there between two moments, or ever before the second."""
    there = Activity.until(app.medium.db, until)
    return bool(there.last) if since is None else there.days_after(since) > 0


# -- looking


def look(app: "App") -> Tonight:
    """What would be proposed now. Asks nobody and changes nothing."""
    rules, ends, embedder = Rules(), telos.read(app.workspace.root / telos.FILE), _embedder(app)
    found = introspect.look(_records(app), rules, embedder)
    kept = _Kept(app)
    left = [each for each in found if each.need is None or not kept.is_under_way(each.need)]
    vaglio = Vaglio(ends, embedder)
    judged = vaglio.judge(left, kept.standing, rules.most)
    asked = sum(each.is_asked for each in judged)
    for each in left:
        if each.archive and not each.dropped:
            judged.append(Judged(each, _put_away(app, vaglio, each, kept.standing(None, asked), asked < rules.most)))
            asked += judged[-1].is_asked
    return Tonight(ends, tuple(judged))


def _embedder(app: "App") -> "Embedder | None":
    """What texts are compared by, if it answers: without it words decide."""
    try:
        if app.embedder is not None:
            app.embedder.embed([telos.FILE])
    except ModelError:
        return None
    return app.embedder


def _put_away(app: "App", vaglio: Vaglio, finding: Finding, standing: Standing, room: bool) -> Score:
    """Whether to ask if something is to be put away: that serves no end, but must be welcome."""
    entry = index.current(app.catalog.db, finding.archive)
    if entry is None or app.selection.was_asked(entry.name, _DUPLICATE, to_text(app.selection.last(entry))):
        return Score(Verdict.NOT_NOW, "you were asked before")
    if room and vaglio.welcome(standing):
        return Score(Verdict.ASK, "there is one too many")
    return Score(Verdict.NOT_NOW, "asking would bother more than it is worth")


def _records(app: "App") -> Records:
    """All that introspection reads, from where it is kept."""
    db, now = app.catalog.db, app.clock.now()
    entries = index.all_current(db)
    contents = {entry.name: app.catalog.look(entry.name).executor for entry in entries}
    known = [
        introspect.known_of(
            entry, contents[entry.name], index.uses_since(db, entry.name, now - _YEAR), _toward(app, entry.name, now)
        )
        for entry in entries
    ]
    seen = [introspect.seen_of(app.medium.load(each.id)) for each in reversed(app.medium.newest(_TURNS))]
    usable = [each for each in contents.values() if each is not None and each.usable]
    return Records(
        now, tuple(_receptors(app, now)), tuple(seen), tuple(known), tuple(map(likeness.of_executor, usable))
    )


def _receptors(app: "App", now: datetime) -> Iterator[Receptor]:
    """Wishes that stand for a sequence which is used as often as it takes, and others that recur.

    A wish keeps the words that it first came with, so whether it stands for a sequence is known by what was offered.
    """
    db, log, sequences = app.catalog.db, app.fast.logs[1], set[str]()
    offered = promote.offers(log)
    for each in proto.protos(db):
        path = offered.get(each.dst) if each.src == REQUEST else None
        if path is not None and path.passes + path.hits >= promote.USES:
            sequences.add(each.id)
            used = [(event.turn, event.ts) for event in log.events(path.id) if event.kind in ("pass", "hit")]
            strength = max((_toward(app, name, now) for name in path.tools[1:]), default=0.0)
            yield introspect.sequence_of(each, path, used, strength)
    for each in proto.recurring(db, now):
        if each.id not in sequences:
            yield introspect.receptor_of(each, lists.history(db, each.id, app.past), _toward(app, each.src, now))


def _toward(app: "App", name: str, now: datetime) -> float:
    """The weight of the heaviest mnest that leads to an executor: how surely that action is taken."""
    return max((each.at(now) for each in graph.top_k_incoming(app.catalog.db, name, 1, now)), default=0.0)


class _Kept:
    """What the proposals and the inbox say of what was proposed before."""

    def __init__(self, app: "App") -> None:
        self._now = app.clock.now()
        self._all = app.growing.proposals.all()
        self._waiting = len(app.inbox.waiting())

    def of(self, need: Need) -> list[Proposal]:
        subject = subject_of(need)
        return [each for each in self._all if each.subject == subject]

    def is_under_way(self, need: Need) -> bool:
        """Whether something about it waits, is being made, lives, or goes by the same name in another way."""
        mine = self.of(need)
        lives = any(each.state is State.ACTIVE for each in mine) and need.way is not Way.REPAIR
        waits = any(each.state in OPEN and each.state is not State.WEIGHED for each in mine)
        ids = {each.id for each in mine}
        named = any(each.is_open and each.name == need.name and each.id not in ids for each in self._all if need.name)
        return lives or waits or named

    def standing(self, need: Need | None, asked: int = 0) -> Standing:
        """What the owner said before: to this, and to anything else. What was agreed to and given up counts as no."""
        subject = subject_of(need) if need is not None else ""
        refused, lately = list[float](), list[float]()
        for each in self._all:
            given_up = each.state is State.ABANDONED and bool(each.direction)
            if each.need.way.is_internal and (given_up or each.state is State.REFUSED):
                days = days_between(each.last, self._now) if each.last else 0.0
                (refused if each.subject == subject else lately).extend([days] * max(1, each.refusals))
        return Standing(tuple(refused), tuple(lately), self._waiting + asked)


# -- asking


def job(app: "App") -> Done:
    """Look, judge, and ask what is worth asking."""
    unanswered = _settle(app)
    tonight = look(app)
    asked, weighed, tidied = 0, 0, 0
    for each in tonight.judged:
        need = each.finding.need
        if each.finding.dropped:
            continue
        if need is None:
            tidied += each.is_asked and _ask_to_archive(app, each.finding)
        elif each.is_asked:
            _ask(app, need, each.score)
            asked += 1
        elif weighed < _WEIGHED:
            weighed += _note(app, need, each.score)
    counts = {
        "found": len(tonight.judged),
        "asked": asked,
        "not asked": weighed,
        "to put away": tidied,
        "unanswered": unanswered,
    }
    return Done("", {name: count for name, count in counts.items() if count or name == "found"}, _news(tonight))


def _news(tonight: Tonight) -> tuple[News, ...]:
    """That there are no ends is said when it keeps something back, and once for each state of the file."""
    if not tonight.telos.is_empty or not any(each.finding.need and not each.finding.dropped for each in tonight.judged):
        return ()
    mark = sha256_hex(canonical_json(list(tonight.telos.notes)))[:12]
    return (News("telos", f"{telos.NONE}. See: metnos synt introspect", once=f"no telos {mark}"),)


def _ask(app: "App", need: Need, score: Score) -> Item:
    """Ask the owner about a direction; the proposal has the evidence of today."""
    proposals = app.growing.proposals
    reason = f"the vaglio lets it through at {score.score:.2f}: {score.reason}"
    need = breaking.with_calls(app, need) if need.way is Way.REPAIR else need
    proposal, _ = proposals.take_up(need, reason)
    # Unless the question is there already, and only its note is missing: a process died between the two.
    if proposal.need != need and app.inbox.standing(direction_digest(proposal)) is None:
        proposal = proposals.weigh(proposal, need, reason)
    return app.growing.births.ask_direction(proposal, _why(app, need, score), asked_by=INTROSPECTION)


def _why(app: "App", need: Need, score: Score) -> list[str]:
    """Lines for the owner, beside the evidence. What stands between “ and ” may be words of requests or of a model."""
    lines = [f"It serves your end: {score.end}"]
    if not need.path and app.models.tier("main") is None:
        lines.append("Making it needs a language model, and none is configured yet: metnos model list")
    return lines


def _note(app: "App", need: Need, score: Score) -> bool:
    """Keep why something is not asked about; says whether that is new. What is refused for good is closed, once."""
    proposals = app.growing.proposals
    reason = f"{_NOT_ASKED} ({score.verdict}, {score.score:.2f}): {score.reason}"
    before = [each for each in proposals.all() if each.subject == subject_of(need)]
    if score.verdict is Verdict.NEVER:
        if any(each.state is State.ABANDONED and each.reason.startswith(_NOT_ASKED) for each in before):
            return False
        proposals.abandon(proposals.take_up(need, reason)[0], reason)
        return True
    return proposals.take_up(need, reason)[1]


def _ask_to_archive(app: "App", finding: Finding) -> bool:
    """Ask whether to put an executor away that does what another does."""
    from metnos.app import selecting  # which answers it

    entry = index.current(app.catalog.db, finding.archive)
    if entry is None:
        return False
    title = f"Archive {entry.name}: another executor does the same"
    return selecting.ask(app, entry, _DUPLICATE, title, because=finding.says, by=INTROSPECTION) is not None


def _settle(app: "App") -> int:
    """Close what the owner did not answer in time, which it counts, and carry out answers that nobody carried out."""
    proposals, births, closed = app.growing.proposals, app.growing.births, 0
    births.settle()
    for each in proposals.all((State.DIRECTION, State.DRAFTED)):
        item = births.question(each)
        if item is None or item.state is Answer.EXPIRED:
            proposals.refused(each, _UNANSWERED)
            closed += 1
        elif item.state is Answer.REFUSED:
            app.growing.refused(item, item.reason)
        elif item.kind == DIRECTION and item.state in (Answer.APPROVED, Answer.USED):
            births.agreed(item)
    app.growing.carry_out()
    return closed


# -- making


def make(app: "App", watcher: Watcher) -> Done:
    """Make one thing that was commissioned, the oldest first; sequences first, which need no language model."""
    _settle(app)
    waiting = sorted(app.growing.proposals.all((State.COMMISSIONED,)), key=lambda each: (not each.need.path, each.id))
    can = app.models.tier("main") is not None
    todo = [each for each in waiting if each.need.path or can]
    left = [each for each in waiting if each not in todo]
    news = tuple(
        News(
            "synt",
            "what you agreed to needs a language model to be made, and none is configured. See: metnos model list",
            once=f"synt without a model {each.id}",
        )
        for each in left[:1]
    )
    if watcher.stop():
        return Done("it was stopped before it began", {"left": len(waiting)}, news, stopped=bool(todo))
    if not todo:
        return Done("", {"left": len(left)} if left else {}, news)
    step = partial(_progress, watcher)
    try:
        made = app.growing.make(todo[0], step, watcher.stop)
    except ModelError as error:  # it stays commissioned: the model is to blame, and not the need
        return Done(error.what, {"left": len(waiting)}, news)
    if made.state is State.COMMISSIONED:
        return Done("it was stopped between two stages", {"left": len(waiting)}, news, stopped=True)
    told = _told(made)
    counts = {"made": int(made.state is State.DRAFTED), "given up": int(made.state is State.ABANDONED)}
    return Done("", {**counts, "left": len(waiting) - 1}, (*news, told))


def _progress(watcher: Watcher, stage: str, _what: str) -> None:
    watcher.progress(f"making an executor: {stage}", 0, 0)


def _told(made: Proposal) -> News:
    if made.state is State.DRAFTED:
        said = f"{made.name} was made and waits for your yes. See: metnos inbox list"
        return News("synt", said, once=f"made {made.digest}")
    said = f"what you agreed to could not be made. See: metnos synt show {made.id[-6:]}"
    return News("synt", said, once=f"not made {made.id}")
