"""The fast paths of a workspace: what turns teach them, what speaks against them, and what they earn at night.

Rules: reads closed turns, feedback and undos; everything can be done again at any time and counts once. A path is
learnt from what a planner did and what went well, never from its own answers. What the owner took back, refused or
disliked is held against the path that did it, at once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.errors import ManifestError, StoreError
from metnos.executors import vocabulary
from metnos.fastpath import adjacent, cover, playbook, promote, states
from metnos.fastpath.calibrate import Evidence
from metnos.fastpath.heard import Heard
from metnos.fastpath.log import PROJECTION, UNSURE, Log, Pass, path_id
from metnos.fastpath.mask import mask
from metnos.fastpath.memory import Meaning, Memory
from metnos.fastpath.records import FastPath, Mark, Match
from metnos.fastpath.rules import FACTORY, may_answer
from metnos.fastpath.saying import plain
from metnos.fastpath.schema import L1, L2
from metnos.fastpath.shape import Unresolved, learn
from metnos.grimoire.medium import Facts
from metnos.grimoire.trace import Desired, Kept, State, Trace
from metnos.law.audit_line import Entry
from metnos.mnestome.record import record_turn
from metnos.models.embed import Embedder
from metnos.night.jobs import Done
from metnos.turn.plan.records import REQUEST, Kind
from metnos.turn.plan.records import Path as Way
from metnos.turn.shortcut import mark_of

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.models.embed import Vectors

NOT_LEARNT = "turn not learnt from"
_FAR = adjacent.LONGEST  # turns that are looked back to for a chain


@dataclass(frozen=True, slots=True)
class _Meaning:
    """An embedder as fast paths know it."""

    embedder: Embedder

    @property
    def space(self) -> str:
        space = self.embedder.space
        return sha256_hex(canonical_json([space.model, space.version, space.preprocess_hash, space.dim]))

    def embed(self, texts: Iterable[str]) -> "Vectors":
        return self.embedder.embed(list(texts))


def memory(app: "App") -> Memory:
    """What is known of fast paths, ready to be asked."""
    logs = (Log(app.catalog.db, L1), Log(app.multi_tool_db, L2))
    return Memory(app.catalog.db, logs, partial(_meaning, app), FACTORY)


def _meaning(app: "App") -> Meaning | None:
    return _Meaning(app.embedder) if app.embedder is not None else None


# -- learning from turns


def catch_up(app: "App", again: int) -> int:
    """Work every turn in that was not worked in yet; returns how many."""
    one, many = app.fast.logs
    offered = app.medium.pending(PROJECTION, again=again)
    if len(many.unapplied(offered)) == len(offered) > len(one.unapplied(offered)):
        app.medium.offer_again(PROJECTION)  # the file of sequences was lost, and nothing else was
        offered = app.medium.pending(PROJECTION, again=again)
    fresh = {*one.unapplied(offered), *many.unapplied(offered)}
    todo = [turn for turn in offered if turn in fresh]
    learner = _Learner(app, one, many) if todo and app.settings.fastpath.use != "off" else None
    for turn in todo:
        trace = app.medium.load(turn)
        if learner is not None:
            learner.learn(trace)
        for log in (one, many):
            log.skip(turn, trace.closed)  # also what is never learnt from: it would be waited for, or learnt later
    app.medium.applied(PROJECTION, *offered)
    return len(todo)


@dataclass(slots=True)
class _Learner:
    """Works turns in, one after another."""

    app: "App"
    one: Log
    many: Log
    touched: set[str] = field(default_factory=set)

    def learn(self, trace: Trace) -> None:
        """The same as `turn`, for what nobody foresaw: a turn that cannot be learnt from must not stop the others."""
        try:
            self.turn(trace)
        except StoreError:
            raise  # busy, or full: the next time
        except Exception as error:  # noqa: BLE001 -- a border: traces hold what models and owners wrote
            self.app.audit.append(Entry(NOT_LEARNT, {"turn": trace.id, "error": type(error).__name__}))

    def turn(self, trace: Trace) -> None:
        """All that a turn teaches. Whatever was cut short can be done again: each part of it counts once."""
        self.touched.clear()
        self._hold_against(trace)
        link = _link(self.app, trace)
        if link is not None and link.ok:
            self._adjacent(link)
        passed = self._passed(trace, link) if link is not None and link.ok else None
        if passed is not None:
            log = self.one if len(passed.marks) == 1 else self.many
            log.record(passed)
            self.touched.add(_id_of(passed))
        settle(self.app, self.touched, trace.id)

    def _hold_against(self, trace: Trace) -> None:
        """What became of a prediction, and of an answer that a path gave."""
        said: Mapping[str, Any] = trace.plan.get("fast") or {}
        held = self.app.fast.path(said.get("path", ""))
        if held is None or not said.get("steps") or trace.state in (State.CANCELLED, State.REHEARSED):
            return
        log, path = held
        note = partial(
            log.note, path.id, trace.id, trace.closed, form=said["form"], probability=said["probability"],
            score=said["score"], exact=said["exact"],
        )  # fmt: skip
        self.touched.add(path.id)
        if trace.path == Way.FAST:
            saved = max(0.0, path.plan_ms - float(trace.plan.get("ms", 0.0)))
            note("hit", saved_ms=saved, saved_usd=path.plan_usd)
            return
        if said.get("fell_back"):
            note("fell_back")  # why it did is in the turn: events are never forgotten, and so hold nothing of requests
        if trace.path == Way.ROUTER and trace.plan.get("kind") == Kind.NOTHING:
            return  # fixed rules that know nothing of a request say nothing about what it means either
        same = trace.plan.get("kind") == Kind.STEPS and trace.plan.get("steps") == said["steps"]
        note("agree" if same else "disagree", reason="" if said.get("sure", True) else UNSURE)

    def _passed(self, trace: Trace, link: adjacent.Turned) -> Pass | None:
        if trace.path == Way.FAST or self._covered(link.marks):
            return None
        found = learn(link.plan, link.heard, link.here)
        if isinstance(found, Unresolved):
            return None
        return Pass(
            turn=trace.id,
            ts=trace.closed,
            form=link.heard.form,
            said=link.said,
            marks=link.marks,
            shape=found.shape,
            constants=found.constants,
            plan_ms=link.plan_ms,
            plan_usd=link.plan_usd,
        )

    def _adjacent(self, link: adjacent.Turned) -> None:
        """A turn that goes on with the one before it, and so perhaps ends a chain."""
        links, last = [link], link.last
        while last and len(links) < _FAR:
            before = self.app.medium.load(last)
            found = _link(self.app, before)
            if found is None:
                break
            links.insert(0, found)
            last = found.last
        joined = [mark for each in adjacent.chain(links) for mark in each.marks]
        if joined and not self._covered(joined) and adjacent.record(self.many, links):
            self.touched.update(path.id for path in self.many.paths() if path.marks == tuple(joined))

    def _covered(self, marks: Iterable[Mark]) -> str:
        return cover.covered([mark.name for mark in marks], covers(self.app))


def _link(app: "App", trace: Trace) -> adjacent.Turned | None:
    """A turn as something to learn from; nothing if it is none."""
    plan, tools, first = trace.plan, app.toolbox.kit().tools, _first(app, trace)
    steps = plan.get("steps") or ()
    if (
        trace.kept is not Kept.WHOLE
        or first.kept is not Kept.WHOLE
        or plan.get("kind") != Kind.STEPS
        or plan.get("cut")
        or not steps
    ):
        return None
    # What needs words of a model, rests on content, or was assumed and said so, is not done without thinking.
    if plan.get("open") or plan.get("tainted") or plan.get("notes") or _answers_a_question(app, plan):
        return None
    marks = tuple(mark_of(tools[step["executor"]]) for step in steps if step["executor"] in tools)
    used = {step.executor: step.version for step in trace.steps}
    heard = Heard.from_data(first.text, first.slots, first.asked)
    if (
        heard is None
        or len(marks) < len(steps)
        or any(used.get(each.name, each.version) != each.version for each in marks)
    ):
        return None
    return adjacent.Turned(
        turn=trace.id,
        ts=trace.closed,
        conversation=trace.conversation,
        heard=heard,
        said=mask(trace.text, heard.slots),
        marks=marks,
        plan=tuple(step["args"] for step in steps),
        ok=trace.state is State.DONE and all(step.ok for step in trace.steps) and bool(trace.steps),
        here=first.cwd,
        last=str(plan.get("last", "")),
        plan_ms=float(first.plan.get("ms", 0.0)),
        plan_usd=sum(call.usd for call in first.calls if call.purpose == "plan"),
    )


def _first(app: "App", trace: Trace) -> Trace:
    """The turn in which it was asked and planned, of one that went on after a yes."""
    while trace.continues:
        trace = app.medium.load(trace.continues)
    return trace


def _answers_a_question(app: "App", plan: Mapping[str, Any]) -> bool:
    last = plan.get("last")
    return bool(last) and app.medium.load(str(last)).state is State.QUESTION


def _id_of(passed: Pass) -> str:
    return path_id([mark.name for mark in passed.marks], passed.shape)


# -- judging


def settle(app: "App", paths: Iterable[str], turn: str = "") -> list[states.Change]:
    """Let the states of these paths follow from what happened to them."""
    calibration, tools, now = app.fast.calibration, app.toolbox.kit().tools, app.clock.now()
    delta, wanted = app.settings.fastpath.wrong_share, list(paths)

    def may(path: FastPath) -> tuple[bool, str]:
        """Whether an answer in words that were used before would be right often enough, or one by meaning could be."""
        exact = Match(path.id, "", calibration.probability(0.0, exact=True), exact=True, score=0.0)
        verdict = may_answer(exact, calibration, path, delta)
        return (True, verdict.why) if verdict.may else (calibration.threshold is not None, verdict.why)

    def mark(name: str) -> Mark | None:
        return mark_of(tools[name]) if name in tools else None

    rules = states.Judge(delta, may, partial(cover.covered, covers=covers(app)), mark)
    return [change for log in app.fast.logs for change in states.settle(log, wanted, rules, now, turn)]


def hold_against(app: "App") -> list[str]:
    """Demote every path whose answer the owner undid, refused or disliked; says which. What was liked counts too."""
    blamed = dict.fromkeys(app.medium.disliked(), "you said that an answer of it was not right")
    blamed |= dict.fromkeys(app.undo.undone_turns(), "what it did was undone")
    blamed |= dict.fromkeys(_refused(app), "you said no to what it was about to do")
    # What was done after a yes that came later is a turn of its own; the answer was given in the first.
    blamed |= {first: blamed[turn] for turn, first in app.medium.first_of(list(blamed)).items()}
    now, found, failed = app.clock.now(), list[str](), list[str]()
    for log in app.fast.logs:
        for turn, path, kind in log.of_turns(blamed):
            if kind == "pass" and log.note(path, turn, now, "fail", reason=blamed[turn]):
                failed.append(path)
            elif kind == "hit" and states.was_wrong(log, path, turn, now, blamed[turn]):
                found.append(path)
        for turn, path, kind in log.of_turns(app.medium.liked()):
            if kind == "hit":
                log.note(path, turn, now, "good")
    if failed:
        settle(app, failed)
    return found


def _refused(app: "App") -> list[str]:
    """Turns in which the owner said no."""
    return [turn for turn, item in app.medium.asked_about(Way.FAST) if app.inbox.was_refused(item)]


def covers(app: "App") -> cover.Covers:
    """Which sequences each executor takes the place of."""
    return {tool.name: tool.covers for tool in app.toolbox.kit().tools.values() if tool.covers}


# -- at night


def nightly(app: "App") -> Done:
    """Let everything that was seen and said decide which paths may answer."""
    now, logs = app.clock.now(), app.fast.logs
    blamed = hold_against(app)
    reviewed = playbook.review(app.catalog.db, logs, _playbook(app), now)
    before = now - timedelta(days=app.settings.memory.keep_days)
    gone = sum(log.prune(before) for log in logs)
    every = [path.id for log in logs for path in log.paths()]
    fitted = app.fast.calibrate(_evidence(app), app.settings.fastpath.wrong_share, now)
    moved = settle(app, every)
    counts = {
        "paths": len(every),
        "demoted for an answer": len(blamed),
        "reviewed": len(reviewed),
        "moved": len(moved),
        "forgotten": gone,
    }
    return Done(fitted.why or f"recognises {fitted.coverage:.0%} of known requests by meaning", counts)


def promote_pipelines(app: "App") -> Done:
    """Wish for an executor in the place of every sequence that is used so often that it deserves one."""
    log, now = app.fast.logs[1], app.clock.now()
    ready = promote.ready(log, partial(_is_free, app))
    for each in ready:
        # What it would take is what the request gives, so the request is what would feed it.
        wish = Desired(each.name, REQUEST, "", each.signature)
        record_turn(app.catalog.db, Facts(f"pipeline {each.path}", now, State.DONE, (), (wish,), ()))
        promote.offered(log, each, now)
    return Done(counts={"offered": len(ready)})


def _is_free(app: "App", name: str) -> bool:
    """Whether an executor could be called so: by the vocabulary, and because none is."""
    try:
        vocabulary.parse_name(name)
    except ManifestError:
        return False
    return name not in app.catalog.names()


def _evidence(app: "App") -> list[Evidence]:
    """Every prediction whose outcome is known: what planners did, and what the owner said of answers."""
    return [
        Evidence(each.score, each.exact, each.right, path=each.path, canonical=plain(each.form))
        for log in app.fast.logs
        for each in log.judged()
    ]


def _playbook(app: "App") -> str:
    try:
        return (app.workspace.root / "PLAYBOOK.md").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
