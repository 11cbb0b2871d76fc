"""What learning, dreaming and forgetting did, in words: one table for everybody who tells of it."""

from collections.abc import Mapping

from metnos.grimoire.reports import Report

_NOUNS = {
    "episodes": "episode",
    "episode": "episode",
    "vectors": "vector",
    "facts": "fact",
    "fact": "fact",
    "weakened": "weakened fact",
    "links": "link",
    "edges": "causal link",
    "recalls": "use",
    "lines": "playbook line",
    "versions": "playbook version",
    "playbook": "playbook version",
    "questions": "question",
    "turns": "turn",
    "typed": "typed line",
    "facts_admitted": "new fact",
    "counterfactuals": "counterfactual",
    "recombinations": "recombination",
}
_WORDS = {
    "judged": "looked at",
    "verified": "can be learnt from",
    "rejected": "not to be learnt from",
    "changed": "seen otherwise than before",
    "facts_merged": "made surer",
    "facts_doubted": "believed little",
    "facts_contradicted": "against what is known",
    "facts_consent": "waiting for your yes",
    "facts_rejected": "not worth keeping",
    "facts_poisoned": "refused",
    "facts_known": "refused before",
    "promoted": "believed enough to be used",
    "entered": "into the playbook",
    "left": "out of the playbook",
    "faded": "faded a little",
    "pruned": "faded away",
    "expired": "out of date",
    "evicted": "let go for want of room",
    "waiting": "left for the next time",
    "dropped": "left out for good",
    "replayed": "gone through again",
    "admitted": "kept",
    "confirmed": "came true",
    "known": "known already",
    "refused": "refused",
    "held": "waiting for your yes",
    "without_vectors": "to be found by words only",
    "unvouched": "left out because nobody here vouches for them",
    "embedded": "embedded",
}
REPORTED = (
    "judged",
    "facts_admitted",
    *(name for name in _WORDS if name != "judged"),
    "counterfactuals",
    "recombinations",
)


def told(counts: Mapping[str, int]) -> str:
    """What was done, in numbers."""
    return ", ".join(_counted(name, number) for name, number in counts.items() if number)


def came_of(report: Report) -> str:
    """What a report says, in a sentence."""
    data = report.data
    if report.kind == "health":
        return "; ".join([str(data.get("state", "")), *map(str, data.get("reasons", ()))])
    return told({name: data[name] for name in REPORTED if isinstance(data.get(name), int)}) or "nothing new"


def _counted(name: str, number: int) -> str:
    if name in _WORDS:
        return f"{number} {_WORDS[name]}"
    noun = _NOUNS.get(name)
    return f"{number} {noun}{'' if number == 1 else 's'}" if noun else f"{number} {name}"
