"""A turn as an episode: faithful, without a judgement, and without a language model.

Rules: what was asked is kept word for word, what was answered only as far as it says how it ended. An answer that was
made of memories is left out: what was recalled must never be taken in again as news. One turn makes one episode, which
has its id, so that taking it in again changes nothing. What was only rehearsed, and what has no words left, makes none.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from metnos.grimoire.appraisal import REMEMBER, Known, curiosity, signature
from metnos.grimoire.domain import Domain
from metnos.grimoire.episode import Episode, Provenance, Scope, Where
from metnos.grimoire.episodes import Episodes
from metnos.grimoire.evidence import Baseline
from metnos.grimoire.strings import strings
from metnos.grimoire.trace import Kept, State, Trace
from metnos.law.principal import OWN_PROGRAMS, Channel

_ANSWER = 400  # characters: enough to say how it ended
_ARGUMENT = 300  # characters: a longer one is content, which is in the trace
_FEW = 3  # texts in a list that somebody may have said
_NEAREST = 3
_BEFORE = 50  # episodes of the same domain that are looked at to say what is usual
_TALK = "talk"  # the domain of what needed no executor

OWNER = "owner"  # whoever sits at the machine, by whatever login
_AT_HOME = frozenset({Channel.TERMINAL, Channel.WEB, *OWN_PROGRAMS})  # where the owner's account speaks, and no other

IsIrreversible = Callable[[str], bool]


def episode_of(
    trace: Trace, is_irreversible: IsIrreversible = lambda _name: False, question: Trace | None = None
) -> Episode | None:
    """The episode of a turn; none if there is nothing to remember.

    ``question`` is the turn before, if this one answered what it asked back: both together are one request.
    """
    if trace.state is State.REHEARSED or trace.kept is not Kept.WHOLE or not trace.text.strip():
        return None
    own = is_owner(trace.channel)
    return Episode(
        id=trace.id,
        ts=trace.asked,
        text=f"{question.text}\n{_text(trace)}" if question else _text(trace),
        source=trace.id,
        payload=_payload(trace, is_irreversible, question),
        sender=sender_of(trace.channel, trace.sender),
        session=trace.conversation,
        scope=Scope.OWNER if own else Scope.SENDER,
        domain=domain_of([step.executor for step in trace.steps]),
        tags=trace.tags,
    )


def is_owner(channel: str) -> bool:
    """Whether what comes this way is the owner's own. Others may write on a channel that reaches further."""
    return channel in _AT_HOME


def sender_of(channel: str, sender: str) -> str:
    """Whose memories they are. A name on one channel is not the same name on another, and nobody is called owner."""
    return OWNER if is_owner(channel) else f"{channel}:{sender}"


def surprise(episode: Episode, episodes: Episodes, baselines: Mapping[str, Baseline], domain: Domain) -> float:
    """How curious an episode makes, against what is known where it is taken in."""
    alike = episodes.get([hit.id for hit in episodes.matching(episode.text, _NEAREST)])
    before = episodes.select(Where(domains=(episode.domain,)), count=_BEFORE, newest_first=True)
    mark = signature(episode)
    known = Known(
        texts=tuple(each.text for each in alike),
        seen=len(before),
        alike=sum(signature(each) == mark for each in before),
        baselines=baselines,
    )
    return curiosity(episode, known, domain.measured(episode))


def note(text: str, key: str, ts: datetime, tags: Sequence[str] = ()) -> Episode:
    """What the owner told to remember."""
    return Episode(
        id=key,
        ts=ts,
        text=text,
        source=f"note {key}",
        kind="note",
        tags=(REMEMBER, *tags),
        provenance=Provenance.OWNER,
    )


def _text(trace: Trace) -> str:
    answer = "" if _is_recalled(trace) else " ".join(trace.answer.split())[:_ANSWER]
    return f"{trace.text}\n{answer}" if answer else trace.text


def _is_recalled(trace: Trace) -> bool:
    """Whether an answer is what was remembered: told as it was, or by a model that had nothing else to go by."""
    shown = [memory for memory in trace.memories if not memory.get("steered")]
    return any(memory.get("told") for memory in shown) or (bool(shown) and not trace.steps)


def answers(trace: Trace, before: Trace | None) -> bool:
    """Whether a turn did what the one before had asked back about."""
    if before is None or before.state is not State.QUESTION or not trace.steps:
        return False
    asked = str(before.plan.get("missing", "")).partition(".")[0]
    return any(step.executor == asked for step in trace.steps)


def _payload(trace: Trace, is_irreversible: IsIrreversible, question: Trace | None) -> dict[str, Any]:
    flows = _flows(trace)
    return {
        "canonical": question.canonical if question else trace.canonical,
        "slots": particulars([*(question.slots if question else ()), *trace.slots]),
        "state": str(trace.state),
        "path": trace.path,
        "steps": [
            {
                "executor": step.executor,
                "args": {name: value for name, value in step.args.items() if _is_small(value)},
                "ok": step.ok,
                "kind": step.kind,
                "ms": round(step.wall_ms, 1),
                "irreversible": is_irreversible(step.executor),
                "flowed": sorted(name for name in step.args if (step.executor, name) in flows),
            }
            for step in trace.steps
        ],
        "cost_ms": round(sum(step.wall_ms for step in trace.steps), 1),
        "usd": sum(call.usd for call in trace.calls),
        "continues": trace.continues,
        "language": trace.language,
    }


def _flows(trace: Trace) -> set[tuple[str, str]]:
    """Arguments, each with its executor, that the plan took from what another step found: nobody chose those."""
    return {
        (str(step.get("executor")), name)
        for step in trace.plan.get("steps", ())
        if isinstance(step, Mapping) and isinstance(step.get("args"), Mapping)
        for name, value in step["args"].items()
        if any("{{" in text for text in strings(value))
    }


def domain_of(executors: Sequence[str]) -> str:
    """What a turn was about: the object of its last executor, which its name says after the verb."""
    if not executors:
        return _TALK
    verb, _, rest = executors[-1].partition("_")
    return rest.partition("_")[0] or verb


def particulars(slots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The particulars by kind, numbered where there are several: `path`, `path 2`."""
    named: dict[str, Any] = {}
    for slot in slots:
        kind, value = str(slot.get("kind", "")), slot.get("value")
        if kind and isinstance(value, int | float | str) and _is_small(value):
            count = 1 + sum(name.partition(" ")[0] == kind for name in named)
            named[kind if count == 1 else f"{kind} {count}"] = value
    return named


def _is_small(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= _FEW and all(isinstance(each, str) and _is_small(each) for each in value)
    return isinstance(value, int | float | str) and len(str(value)) <= _ARGUMENT
