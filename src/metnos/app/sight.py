"""What language models see, put together for a workspace: whose tokens are counted, what is telling, what was worth it.

Rules: what was learnt about words is hashed counts and can be made anew at any time; what was learnt about blocks and
factors is a few numbers. Neither holds a word.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from metnos.app import profiles
from metnos.context import quality
from metnos.context.blocks import Kind
from metnos.context.budgets import Task
from metnos.context.quality import Quality, Shown, Signal
from metnos.context.surprisal import Surprisal, general
from metnos.context.surprisal_model import Scorer
from metnos.context.tokens import Tokens, estimated, of_file
from metnos.core import files
from metnos.core.clock import to_text
from metnos.core.errors import ModelError, StoreError
from metnos.grimoire import recall_rules
from metnos.grimoire.episode import Where
from metnos.grimoire.trace import Trace
from metnos.grimoire.usefulness import Settled
from metnos.life.pack import shapes
from metnos.models.local import Local
from metnos.turn.seeing import Sight

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.grimoire.recall_rules import Rules

_QUALITY, _READ = "quality", "surprisal"  # rows of the table `progress`
_WEIGHTS = ("relevance", "recency", "importance", "affect")
_AT_ONCE = 500  # episodes that are read in one night
_PUT = "INSERT OR REPLACE INTO progress (name, value, ts) VALUES (?, ?, ?)"


def sight(app: "App") -> Sight:
    """How what a model sees is put together here."""
    return Sight(
        app.settings.models.main.context,
        partial(_tokens, app),
        partial(_surprise, app),
        lambda task: _factors(app, task),
        phase=app.living.phase,
        scorer=partial(_scorer, app),
        shapes=shapes(profiles.pack(app)),
    )


def rules(app: "App") -> "Rules":
    """The numbers of recall, with its weights as far as they were learnt."""
    base = recall_rules.Rules()
    learnt = quality.retrieval_weights(_known(app), {name: getattr(base, name) for name in _WEIGHTS})
    return replace(
        base,
        relevance=learnt["relevance"],
        recency=learnt["recency"],
        importance=learnt["importance"],
        affect=learnt["affect"],
    )


def learn(app: "App", settled: Sequence[Settled]) -> None:
    """What memories and blocks were worth, now that it is known how their turns ended."""
    known = before = _known(app)
    for turn in dict.fromkeys(each.turn for each in settled):
        told = tuple(Shown(each.memory, each.factors, each.helped > 0) for each in settled if each.turn == turn)
        trace = app.medium.load(turn)
        known = quality.learn(known, Signal(turn, _task(trace), _kinds(trace), told, _ended(app, turn)))
    if known is not before:
        _put(app, _QUALITY, json.dumps(known.as_dict(), sort_keys=True))


def read(app: "App") -> int:
    """Let the model of words read what happened since it last did; returns how many episodes."""
    after = int(_row(app, _READ) or 0)
    new = app.grimoire.episodes.select(Where(), after=after, count=_AT_ONCE)
    if not new:
        return 0
    model = _surprise(app)
    if model.full:
        model = general()
        new = app.grimoire.episodes.select(Where(), count=_AT_ONCE, newest_first=True)[::-1]
    model.add([each.text for each in new])
    files.replace(app.workspace.surprisal, model.to_bytes(), mode=files.PRIVATE_FILE)
    _put(app, _READ, str(new[-1].seq))
    return len(new)


def forget_words(app: "App") -> None:
    """Begin anew with words, after something was forgotten."""
    app.workspace.surprisal.unlink(missing_ok=True)
    with app.grimoire.db.write() as tx:
        tx.execute("DELETE FROM progress WHERE name = ?", (_READ,))


def _tokens(app: "App") -> Tokens:
    chat = app.models.tier("main")
    return of_file(chat.file) if isinstance(chat, Local) else estimated()


def _scorer(app: "App") -> Scorer | None:
    """The language model that says what is telling, if the owner wants one to. Only one that Metnos runs itself can."""
    context = app.settings.context
    if context.surprisal != "model":
        return None
    chat = app.models.tier("main")
    if not isinstance(chat, Local):
        return Scorer("a local model", _cannot_score, lambda _: 0, context.scored)
    return Scorer(chat.name, chat.score, _tokens(app).count, context.scored)


def _cannot_score(_text: str, _most: int, _seconds: float) -> NoReturn:
    raise ModelError("models.main is not a local model", kind="none", fix="Set context.surprisal to ngram.")


def _surprise(app: "App") -> Surprisal:
    try:
        return Surprisal.from_bytes(app.workspace.surprisal.read_bytes())
    except (OSError, ValueError):
        return general()  # there is none yet, or it is broken and will be made anew


def _factors(app: "App", task: Task) -> Mapping[Kind, float]:
    try:
        return quality.budget_factors(_known(app), task)
    except StoreError:
        return {}  # as at the start: a broken memory is told of elsewhere, and takes nothing away but what it knew


def _known(app: "App") -> Quality:
    kept = _row(app, _QUALITY)
    return Quality.from_dict(json.loads(kept)) if kept else Quality()


def _row(app: "App", name: str) -> str:
    found = app.grimoire.db.first("SELECT value FROM progress WHERE name = ?", (name,))
    return str(found[0]) if found else ""


def _put(app: "App", name: str, value: str) -> None:
    with app.grimoire.db.write() as tx:
        tx.execute(_PUT, (name, value, to_text(app.clock.now())))


def _task(trace: Trace) -> Task:
    return Task(trace.contexts[-1].task) if trace.contexts else Task.PLAN


def _kinds(trace: Trace) -> frozenset[Kind]:
    entries = [entry for seen in trace.contexts for entry in seen.record.get("entries", ())]
    return frozenset(Kind(entry["kind"]) for entry in entries if entry["got"])


def _ended(app: "App", turn: str) -> float | None:
    outcome = app.grimoire.outcome(turn)
    if outcome.undone:
        return -1.0
    return None if outcome.feedback is None else 1.0 if outcome.feedback else -1.0
