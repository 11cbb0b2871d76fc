"""A bloodstain: the warning that is made when something ended badly. Pure.

It says under which conditions, what was decided, and what went wrong: one episode is enough, because the next one would
cost as much. What it is about fades three times slower and is recalled before its like (`fact_rules`, `recall_rules`),
and at the end of a life it crosses before anything but anti-knowledge.

Rules: one episode makes one, however often it is judged. It speaks in names of executors, forms of requests and kinds
of errors; what was said stays in the episode. It is told to whoever may be told of the episode.
"""

from datetime import datetime

from metnos.core.canon import sha256_hex
from metnos.grimoire.appraisal import NO_OUTCOME, Outcome, affect, is_irreversible, outcome_of, steps_of
from metnos.grimoire.domain import Domain
from metnos.grimoire.episode import Episode
from metnos.grimoire.extract import canonical_of, quoted
from metnos.grimoire.fact import Decay, Fact, Kind

TAG = "bloodstain"
DISLIKED = "it was disliked, and cannot be taken back"
UNDONE = "it had to be taken back"
FAILED = "it failed with {kind}"
HARMED = "it failed with {kind}, after something that cannot be taken back"
BADLY = "it ended badly"
_SURE = 0.6  # as far as the gate lets anything be believed at first
_STEPS = 8  # of a decision: more is a story


def is_due(episode: Episode, outcome: Outcome = NO_OUTCOME) -> bool:
    """Whether it ended badly: the owner had to take it back, or what was done for good was disliked or came to nothing.

    A step that failed and did no harm is none, and neither is a bad word about what could be taken back and was not:
    both happen every day, and are learnt from with their like. What was marked once stays so.
    """
    if episode.bloodstain:
        return True
    after = outcome_of(episode.payload, outcome)
    if after.feedback is True:
        return False
    hurt = after.feedback is False or any(not step["ok"] for step in steps_of(episode.payload))
    return after.undone or (hurt and is_irreversible(episode.payload))


def of(episode: Episode, outcome: Outcome, domain: Domain, now: datetime) -> Fact:
    """The warning that an episode leaves."""
    form, decision, wrong = canonical_of(episode), decided(episode), went_wrong(episode, outcome)
    text = told(form, decision, wrong, domain.key_of(episode))
    return Fact(
        id=f"0{sha256_hex(f'{TAG} {episode.id}'.encode())[:25].upper()}",
        kind=Kind.WARNING,
        text=text,
        domain=domain.key_of(episode),
        confidence=_SURE,
        quality=_SURE,
        provenance=episode.provenance,
        decay=Decay.STRATEGIC,
        created=now,
        reinforced=now,
        applied=now,
        subject=f"{TAG}: {form or domain.key_of(episode)}: {' '.join(decision)}",
        value=wrong,
        data={
            "warning": text,
            "conditions": {"canonical": form, "domain": domain.key_of(episode)},
            "decision": decision,
            "wrong": wrong,
        },
        sources=(episode.id,),
        episode_count=1,
        scope=episode.scope,
        sender=episode.sender,
        pad=affect(episode, outcome),
        bloodstain=True,
        tags=(TAG,),
    )


def decided(episode: Episode) -> list[str]:
    """Which executors were taken, in order."""
    return [step["executor"] for step in steps_of(episode.payload)][:_STEPS]


def went_wrong(episode: Episode, outcome: Outcome) -> str:
    """What went wrong, in one of few ways to say it."""
    failed = next((step["kind"] or "failed" for step in steps_of(episode.payload) if not step["ok"]), "")
    later = outcome_of(episode.payload, outcome)
    if later.undone:
        return UNDONE
    if later.feedback is False:
        return DISLIKED
    said = HARMED if is_irreversible(episode.payload) else FAILED
    return said.format(kind=failed) if failed else BADLY


def told(form: str, decision: list[str], wrong: str, about: str) -> str:
    """In words."""
    how = ", then ".join(decision) or "what was done"
    when = f"for requests of the form {quoted(form)}" if form else f"about {quoted(about)}"
    return f"Ended badly: {how} {when}: {wrong}."
