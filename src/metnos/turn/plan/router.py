"""The planner that needs no language model: from a request to steps, one question, or an honest no.

A request is taken apart into clauses; each clause to the executor that its words speak for, or else to the one that
the ranker is sure of; each executor gets its arguments, and the steps before it that can give them.

Rules: what nobody named is asked for, never guessed. What is quoted or named is data. A negated clause does nothing.
Where nothing fits, it says so, says what is nearest, and names what is missing in the words of the vocabulary. The
same request gives the same plan. Does not guarantee that an executor succeeds, or that it may run: every step still
needs a permit.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from metnos.fastpath.language import language
from metnos.fastpath.slots import Slot, extract
from metnos.turn.plan import chain_tables, fill_files, fill_reckon, fill_small, fill_text, narrowing, objects, phrases
from metnos.turn.plan import pending as waiting
from metnos.turn.plan.chain import extend
from metnos.turn.plan.chain_goal import made_if_missing
from metnos.turn.plan.chain_state import Chain, Last, Scene
from metnos.turn.plan.clauses import Clause, pattern_classes, split
from metnos.turn.plan.fill import fill
from metnos.turn.plan.fill_files import Ground
from metnos.turn.plan.intents import Intent, intents, known, lines
from metnos.turn.plan.lexicon import THING, VERB, fold, spelled, words
from metnos.turn.plan.patterns import word_list
from metnos.turn.plan.rank import Ranker
from metnos.turn.plan.records import REQUEST, Candidate, Kind, Plan, Step, Tool, Wish
from metnos.turn.plan.records import Path as Way
from metnos.turn.plan.wish import summary, wish
from metnos.turn.reach import Reaching

__all__ = ["Last", "Router", "fill"]

LONGEST = 1500  # characters of a request that is no note; more is a text, and not what to do with it
LEAST_SCORE = 1.5  # below it a line explains less of the clause than it leaves over
LEAST_COVER = 0.4  # of the words that say something
# How sure the ranker must be: of what grew later, of what has lines that did not fit, and where the verb is unknown.
SURE, SURE_KNOWN, SURE_STRANGE = 0.5, 0.9, 0.95
IGNORING = 0.9  # what a plan is worth that leaves words of the request out of account
NEAR, NEAREST = 3, 0.35  # how many executors are named as nearest, and how near they must be at least


_ORDINALS = (*word_list("ordinals"), *word_list("ordinals_it"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with what was read from it."""

    text: str
    slots: tuple[Slot, ...]
    ranked: tuple[Candidate, ...]
    fit: float  # by the request alone
    language: str
    reach: Reaching | None = None


class Router:
    """Tools, ready to be planned with."""

    def __init__(self, ranker: Ranker, tools: Sequence[Tool], *, home: Path, exists: Callable[[Path], bool]) -> None:
        self._ranker = ranker
        self._tools = {tool.name: tool for tool in tools}
        self._home = home
        self._exists = exists

    def route(
        self,
        text: str,
        *,
        now: datetime,
        cwd: Path,
        last: Last | None = None,
        pending: Plan | None = None,
        reach: Reaching | None = None,
        before: Sequence[str] = (),
    ) -> Plan:
        """What is to be done about a request. ``before``: the executors of the turn before that succeeded, in order;
        ``reach`` says what they, and later the steps of the plan itself, make likely."""
        said, text = text, spelled(text)
        plan = self._route(text, now=now, cwd=cwd, last=last, pending=pending, reach=reach, before=before)
        if said == text or not plan.steps:
            return plan
        meant = {"said": said.split()[0], "meant": text.split()[0]}
        return replace(plan, notes=(phrases.note("spelled", meant, plan.language), *plan.notes))

    def _route(
        self,
        text: str,
        *,
        now: datetime,
        cwd: Path,
        last: Last | None,
        pending: Plan | None,
        reach: Reaching | None,
        before: Sequence[str],
    ) -> Plan:
        spoken = language(text[:LONGEST])
        if len(text) > LONGEST and not fill_text.swallows(text):
            asked = Asked(text, (), (), 0.0, spoken)
            return self._plan(asked, Kind.NOTHING, say=phrases.say("too_long", spoken), certainty=1.0)
        slots = tuple(filter(_is_said, extract(text, now=now, home=self._home, cwd=cwd)))
        scene = Scene(self._tools, Ground(cwd, self._home, self._exists), now, spoken, last)
        if pending is not None and pending.kind is Kind.QUESTION:
            answered = self._answered(pending, text, slots, scene)
            if answered is not None:
                return answered
        ranked = self._ranker.rank(text, slots=slots)
        asked = Asked(text, slots, ranked, self._ranker.fit(ranked, text, slots=slots), spoken, reach)
        asked = self._after(asked, before)
        talk = phrases.talk(text, len(self._tools))
        if talk is not None:
            return self._plan(replace(asked, language=talk[1]), Kind.NOTHING, say=talk[0], certainty=1.0)
        return self._routed(asked, scene)

    def _routed(self, asked: Asked, scene: Scene) -> Plan:
        chain = Chain(scene)
        left: list[Clause] = []
        certain: list[float] = []
        refused = False
        for clause in split(asked.text, asked.slots, fill_text.swallows):
            if clause.negated:
                refused = True
                chain.note("negated", clause=clause.text)
            elif made_if_missing(chain, clause):
                pass
            elif (sure := self._clause(chain, clause, asked)) is not None:
                certain.append(sure)
            elif chain.refusal is not None:
                phrase, word = chain.refusal
                say = phrases.say(phrase, asked.language, word=word)
                return self._plan(asked, Kind.NOTHING, say=say, certainty=0.9)
            elif clause.head is not None or clause.slots or any(word.unknown for word in clause.words):
                left.append(clause)
                break  # what follows may depend on it
        if not chain.steps:
            return self._no_steps(asked, left, refused, part=chain.part)
        # For whoever plans again: what may come next if something is left, else what may take the last step's place.
        asked = self._after(asked, _executors(chain) if left else _executors(chain)[:-1])
        return self._steps(asked, chain, left, min(certain))

    def _clause(self, chain: Chain, clause: Clause, asked: Asked) -> float | None:
        """Add the steps of one clause, and say how certain that is; nothing if none fits."""
        clause = fill_files.grounded(clause, chain.scene.ground)
        decided = self._decided(clause)
        if decided is not None and decided.executor == "set_reminders":
            again = fill_text.repeats(clause.text, clause.slots)
            chain.refused = ("repeats", again) if again else None
        if chain.refused:
            return None
        if decided is not None:
            extend(chain, clause, decided)
            return 0.95
        before, held = len(chain.steps), chain.held()
        certainty = self._meant(chain, clause, asked)
        if certainty is not None and self._is_about_another(chain, clause, before):
            chain.take_back(held)
            chain.part = True
            return None
        chain.refused = _missed(clause, chain.steps[before:]) if certainty is not None else None
        if chain.refused:
            return None
        if certainty is not None and self._left_over(chain, clause, before):
            certainty *= IGNORING
        return None if chain.refusal else certainty

    def _is_about_another(self, chain: Chain, clause: Clause, before: int) -> bool:
        """Whether files would be changed as a whole and the clause speaks of something else: a part, a property."""
        steps = chain.steps[before:]
        taken = [word for word in fill_files.named(clause) if word in fold(str([step.args for step in steps]))]
        if any(step.executor == "find_duplicates" and "paths" in step.args for step in steps):
            taken += [word.text for word in clause.words if word.means("duplicates")]
        given = fold(str([step.args.get("replacement") for step in steps]))
        taken += [word.text for word in clause.words if word.unknown and word.text in given]
        taken += narrowing.heeded(clause, steps)
        fed = before > 0 or any("{{last." in str(step.args) for step in steps)
        for step in steps:
            found = objects.foreign(clause, step.executor, taken, fed=fed)
            if found is None:
                continue
            if found.unknown and not clause.have("file") and clause.have("folder"):
                chain.unsure = found.raw  # of a folder it may be files that are meant
            return True
        return False

    def _meant(self, chain: Chain, clause: Clause, asked: Asked) -> float | None:
        """The steps of a clause by its words, or else by the ranker."""
        if chain_tables.fits(clause, clause.slots, chain):
            chain_tables.build(clause, clause.slots, chain)
            return 0.85
        if not chain.steps and clause.back and chain.scene.last is not None:
            chain.classes |= pattern_classes(str(chain.scene.last.args.get("pattern", "*")))
        found = intents(clause, self._tools, before=frozenset(chain.classes))
        if found and found[0].score >= LEAST_SCORE and found[0].covers >= LEAST_COVER:
            chain.hedged = clause.hedge(mutates=self._tools[found[0].executor].mutates)
            if chain.hedged:
                return None
            extend(chain, clause, narrowing.instead(clause, found[0]))
            return _certainty(found, asked.fit)
        guess = self._guess(clause, self._nearest(chain, clause, asked))
        if guess is None:
            return None
        extend(chain, clause, guess)
        chain.note("guess", executor=guess.executor)
        return guess.covers

    def _after(self, asked: Asked, context: Sequence[str]) -> Asked:
        """The same request, with the tools in the order that it has after these executors."""
        weight = asked.reach(context) if asked.reach and context else None
        if weight is None:
            return asked
        return replace(asked, ranked=self._ranker.rank(asked.text, slots=asked.slots, weight=weight))

    def _nearest(self, chain: Chain, clause: Clause, asked: Asked) -> Asked:
        """What a guess is made from: of a later clause its own words, where the step before it makes something likely.

        Whatever that changes, the guess is never surer than by the words of the whole request alone.
        """
        text, slots, ranked = asked.text, asked.slots, asked.ranked
        weight = asked.reach(_executors(chain)) if asked.reach and chain.steps else None
        if weight is not None:
            text, slots = clause.text, clause.slots
            ranked = self._ranker.rank(text, slots=slots, weight=weight)
        return replace(asked, ranked=ranked, fit=min(asked.fit, self._ranker.fit(ranked, text, slots=slots)))

    def _left_over(self, chain: Chain, clause: Clause, before: int) -> bool:
        """Whether words are left that no step takes into account: said, and where files are to be changed, refused."""
        steps = chain.steps[before:]
        taken = fold(str([step.args for step in steps]))
        held = [word for word in fill_files.named(clause) if word in taken]
        if held and any(step.executor == "find_files" for step in steps):
            chain.note("named", words=", ".join(dict.fromkeys(held)))
        elif held and any(step.executor == "search_text" for step in steps) and not clause.said("words", "text"):
            chain.note("inside", words=", ".join(dict.fromkeys(held)))
        counted = _ORDINALS if any("pages" in step.args for step in steps) else ()
        unknown = [word for word in clause.words if word.unknown and word.text not in counted]
        heeded = narrowing.heeded(clause, steps)
        unknown = [word for word in unknown if word.text not in taken and word.text not in heeded]
        left = [word for word in unknown if not any(word.text.startswith(each) for each in held)]
        found = any(step.executor == "find_files" for step in steps)
        mutates = any(self._tools[step.executor].mutates for step in steps)
        narrow = narrowing.unheeded(clause, steps, changes=mutates)
        which = (fill_files.which(clause, left) if found else "") or next(iter(narrow), "")
        chain.vague = chain.vague or which or (left[0].raw if left and found and not mutates else "")
        answers = [step.executor for step in steps][-1:] == ["find_files"]  # a list of all of them would be no answer
        if (chain.vague and mutates and (which or before)) or (narrow and answers):
            chain.unsure = chain.vague
        elif left and mutates and chain.missing == "find_files.path":
            chain.unsure = left[0].raw  # neither where nor which: too little is understood to ask for more
        elif left or narrow:
            chain.note("ignored", words=", ".join(dict.fromkeys((*(word.raw for word in left), *narrow))))
        return bool(left or narrow)

    def _decided(self, clause: Clause) -> Intent | None:
        """What the first words or the whole of a clause decide alone."""
        name = fill_text.executor_of(clause.text)
        if name is None and (fill_reckon.conversion(clause.text) or fill_reckon.half(clause.text)):
            name = "convert_units"
        if name is None and fill_reckon.expression(clause.text) is not None:
            name = "compute_numbers"
        return Intent(name, {}, 9.0, 1.0) if name in self._tools and name is not None else None

    def _guess(self, clause: Clause, asked: Asked) -> Intent | None:
        """The ranker's first, if it is sure enough: surer where the executor has lines that did not fit."""
        if not asked.ranked:
            return None
        tool = asked.ranked[0].tool
        if tool.name not in known():
            return Intent(tool.name, {}, 0.0, asked.fit) if asked.fit >= SURE and clause.stranger is None else None
        enough = SURE_KNOWN if clause.stranger is None else SURE_STRANGE
        if tool.mutates or asked.fit < enough or clause.hedge(mutates=False):
            return None
        named = frozenset().union(*(line.names for line in lines() if line.executor == tool.name))
        foreign = any((word.of_kind(VERB) or word.of_kind(THING)) and not word.means(*named) for word in clause.words)
        lacks = fill(tool, clause.text, clause.slots)[1]
        return None if foreign or lacks else Intent(tool.name, {}, 0.0, asked.fit)

    def _steps(self, asked: Asked, chain: Chain, left: Sequence[Clause], certainty: float) -> Plan:
        steps = tuple(chain.steps)
        wishes = self._wishes(left, steps[-1].executor, chain.classes, part=chain.part)
        if left and any(self._tools[step.executor].mutates for step in steps):
            return self._unmet(asked, left, wishes, steps)
        if left:
            chain.note("left_out", clause=left[0].text)
        notes = tuple(phrases.note(name, words, asked.language) for name, words in chain.notes)
        if chain.missing:
            return self._question(asked, steps, chain.missing, certainty, notes)
        say = (
            phrases.nothing(summary(left[0]), (), wishes[0].name if wishes else None, asked.language, _names(steps))
            if left
            else ""
        )
        return self._plan(asked, Kind.STEPS, steps=steps, say=say, wishes=wishes, certainty=certainty, notes=notes)

    def _no_steps(self, asked: Asked, left: Sequence[Clause], refused: bool, *, part: bool) -> Plan:
        if refused and not left:
            return self._plan(asked, Kind.NOTHING, say=phrases.say("negated", asked.language), certainty=0.9)
        return self._unmet(asked, left, self._wishes(left, REQUEST, part=part), ())

    def _unmet(self, asked: Asked, left: Sequence[Clause], wishes: tuple[Wish, ...], done: tuple[Step, ...]) -> Plan:
        """An honest no: what is missing, and what is nearest."""
        near = [each.tool.name for each in asked.ranked[:NEAR] if each.score >= NEAREST]
        missing = wishes[0].name if wishes else None
        what = left[0].text if left else ""
        say = phrases.nothing(what, near, missing, asked.language, _names(done))
        plan = self._plan(asked, Kind.NOTHING, say=say, wishes=wishes, certainty=1.0 - asked.fit)
        return replace(plan, unmet=bool(left))

    def _wishes(
        self, left: Sequence[Clause], source: str, about: Iterable[str] = (), *, part: bool
    ) -> tuple[Wish, ...]:
        found = (wish(clause, source, self._tools, about, part=part) for clause in left[:1])
        return tuple(each for each in found if each is not None)

    def _question(
        self, asked: Asked, steps: tuple[Step, ...], missing: str, certainty: float, notes: tuple[str, ...] = ()
    ) -> Plan:
        say = phrases.question(missing, self._tools.get(missing.rpartition(".")[0]), asked.language)
        return self._plan(asked, Kind.QUESTION, steps=steps, say=say, missing=missing, certainty=certainty, notes=notes)

    def _answered(self, plan: Plan, text: str, slots: Sequence[Slot], scene: Scene) -> Plan | None:
        """The plan that was asked about with the answer in it; nothing if the text is no answer."""
        if waiting.gives_up(text):
            say = phrases.say("negated", plan.language)
            return replace(plan, kind=Kind.NOTHING, steps=(), say=say, missing="", notes=())
        if plan.missing == "set_reminders.when" and (again := fill_text.repeats(text, slots)):
            say = phrases.say("repeats", plan.language, word=again)
            return replace(plan, kind=Kind.NOTHING, steps=(), say=say, missing="", notes=())
        found = waiting.complete(plan, text, slots, scene)
        if found is None:
            return None
        steps, lacks = found
        if not lacks:
            return replace(plan, kind=Kind.STEPS, steps=steps, say="", missing="")
        say = phrases.question(lacks, self._tools.get(lacks.rpartition(".")[0]), plan.language)
        return replace(plan, steps=steps, say=say, missing=lacks)

    def _plan(
        self,
        asked: Asked,
        kind: Kind,
        *,
        steps: tuple[Step, ...] = (),
        say: str = "",
        missing: str = "",
        wishes: tuple[Wish, ...] = (),
        certainty: float = 0.0,
        notes: tuple[str, ...] = (),
    ) -> Plan:
        return Plan(
            kind,
            Way.ROUTER,
            steps,
            say,
            missing,
            wishes,
            asked.ranked,
            round(min(1.0, max(0.0, certainty)), 3),
            asked.language,
            notes,
        )


def _is_said(slot: Slot) -> bool:
    """Whether a folder's name is a name: of *quali cartelle ci sono* the second word is none, but *Scaricati* is."""
    name, spelled = str(slot.value).rpartition("/")[2], slot.text.split()[-1]
    named = bool(slot.role) or spelled[:1].isupper()
    return slot.kind != "folder" or named or not all(word.stop for word in words(name, ()))


def _certainty(found: Sequence[Intent], fit: float) -> float:
    """From how much of the clause is explained, how far the next one is, and how well the ranker agrees."""
    behind = found[1].score if len(found) > 1 else 0.0
    margin = min(1.0, max(0.0, (found[0].score - behind) / 4.0))
    return 0.4 + 0.35 * found[0].covers + 0.15 * margin + 0.1 * fit


def _missed(clause: Clause, steps: Sequence[Step]) -> tuple[str, str] | None:
    """What the clause says that decides what comes out, and no step takes into account; with the phrase for it."""
    rows, side = chain_tables.unheeded(clause, steps), fill_small.no_side(clause, steps)
    return ("rows", rows) if rows else ("side", side) if side else None


def _executors(chain: Chain) -> list[str]:
    return [step.executor for step in chain.steps]


def _names(steps: Sequence[Step]) -> str:
    return ", ".join(dict.fromkeys(step.executor for step in steps))
