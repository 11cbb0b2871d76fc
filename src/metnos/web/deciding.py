"""A question of the inbox, shown so that somebody can decide who has never read a line about Metnos.

Rules: what speaks for it comes first, then what it may do and may never do, how it was tried, the code, and whatever
else is known. Pure: it sorts what the API says into parts; the template shows each kind of part in one way. Nothing
that the question holds is left out but what is of use to programs only.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.web import words

ACT, DIRECTION, ACTIVATION, MEMORY = "act", "direction", "activation", "memory"
KINDS = {
    ACT: "something to do",
    DIRECTION: "something to learn",
    ACTIVATION: "a new executor",
    MEMORY: "something to remember for good",
    "archival": "something to let go",
    "dormancy": "an executor to put away",
    "extinction": "an executor to revoke",
    "skill": "a skill from elsewhere",
}
_YES = {
    ACT: "Yes, do it",
    DIRECTION: "Yes, learn it",
    ACTIVATION: "Let it live",
    MEMORY: "Yes, remember it",
    "archival": "Yes, let it go",
    "dormancy": "Yes, put it away",
    "extinction": "Yes, revoke it",
    "skill": "Yes, remember it",
}
_CODE = "executor.py"
_CHECKS = {  # what else was looked at, in words; what only says that it is well written is not worth a line
    "static gate": "nothing in its code that no executor may do",
    "capabilities used": "it uses nothing that it does not declare",
    "capabilities declared": "and declares nothing that it does not use",
    "description: words": "what it says of itself is what its code does",
    "candour": "it does not look whether it is being tried",
    "likeness": "nothing that you have does the same",
    "equality": "it does what the sequence did, on every run that was recorded",
    "mutation": "its tests notice mistakes that are put into its code",
}
_WAYS = {
    "direct": "Metnos thought of it, because something was missing again and again.",
    "indirect": "Metnos thought of it, because a sequence is used again and again.",
    "repair": "Metnos thought of it, because an executor that it made keeps failing.",
    "external": "A request of yours could not be finished without it.",
    "owner": "You asked for it.",
    "imported": "It was brought from elsewhere.",
}
_DIRECTION = (
    "Metnos makes it, tries it in a sandbox, and shows you what came out.",
    "Nothing of it runs for you before you say yes to that, too.",
)
_UNTRUSTED = (
    "Strikes, fitness and what you allowed the old version for good: the new one starts without.",
    "The old version is kept, and one command puts it back as it is.",
)
_TOLD = frozenset(
    {"name", "version", "purpose", "why", "turns", "failures", "may", "effect", "never", "tests", "instead", "cost",
     "before", "changes", "difference", "checks", "files", "proposal", "way", "direction", "need", "evidence", "uses",
     "days", "preview", "effects", "principal", "turn", "now", "executor", "args", "reversal", "needs", "above",
     "whole", "text", "diff", "base", "made", "digest", "then", "because", "description", "version before",
     "state before", "difference of tests", "saved seconds"}
)  # fmt: skip
_FRAME = frozenset(
    {"id", "kind", "title", "state", "digest", "needs_yes", "yes_count", "asked_by", "asked_at", "expires_at",
     "answered_at", "answered_by", "reason", "body", "kind_words", "yeses"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a question. ``kind`` says how it is shown: lines, diff, code, pairs, tests or rules."""

    title: str
    kind: str
    lines: tuple[Any, ...] = ()
    text: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question, sorted into parts; ``field`` and ``text`` are what of it can be edited, if anything."""

    id: str
    kind: str
    words: str
    yes: str
    waits: bool
    second: bool  # whether the next yes is the second one
    parts: tuple[Part, ...]
    field: str = ""
    text: str = ""

    @property
    def groups(self) -> list[list[Part]]:
        """The parts as they stand beside one another: short ones together, each other by itself."""
        found: list[list[Part]] = []
        for part in self.parts:
            if found and part.kind == found[-1][-1].kind == "lines":
                found[-1].append(part)
            else:
                found.append([part])
        return found


def question(item: Mapping[str, Any]) -> Question:
    """An answer of ``GET /api/inbox/{id}`` in parts."""
    body = body_of(item)
    kind = str(item.get("kind", ""))
    parts = tuple(part for part in _parts(kind, body) if part.lines or part.text)
    waits = item.get("state") == "waiting"
    name, text = _editable(kind, body) if waits else ("", "")
    return Question(
        id=str(item.get("id", "")),
        kind=kind,
        words=str(item.get("kind_words") or KINDS.get(kind, kind)),
        yes=_YES.get(kind, "Yes"),
        waits=waits,
        second=waits and int(item.get("yes_count") or 0) > 0,
        parts=parts,
        field=name,
        text=text,
    )


def body_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """What a question says, whether it stands in its body or beside it; names are words with spaces."""
    inner = item.get("body")
    found = dict(inner) if isinstance(inner, Mapping) else {}
    found |= {key: value for key, value in item.items() if key not in _FRAME and key not in found}
    return {str(key).replace("_", " "): value for key, value in found.items() if value not in (None, "", [], {})}


def _parts(kind: str, body: Mapping[str, Any]) -> Iterator[Part]:
    if kind in (DIRECTION, ACTIVATION):
        yield Part("Why", "lines", tuple(_why(body)))
        yield Part("What broke", "lines", tuple(_each(body.get("failures"))))
        yield from _activation(body) if kind == ACTIVATION else [Part("What a yes means", "lines", _DIRECTION)]
    else:
        yield from _act(body)
    yield Part("Also", "pairs", tuple((name, words.plain(value)) for name, value in body.items() if name not in _TOLD))


def _act(body: Mapping[str, Any]) -> Iterator[Part]:
    """Acts, and every question that says what it is about in a few words."""
    told = [body.get(name) for name in ("purpose", "description", "text", "because")]
    rules = body.get("why")
    yield Part("", "lines", tuple(str(each) for each in told if each))
    if isinstance(rules, str):
        yield Part("Why", "lines", (rules,))
    yield Part("What it would do", "diff", tuple(map(str, _each(body.get("preview")))))
    yield Part("What changes", "diff", tuple(str(body.get("diff") or "").splitlines()))
    after = [f"It {body['reversal']}." if body.get("reversal") else "", str(body.get("then") or "")]
    yield Part("And afterwards", "lines", tuple(filter(None, after)))
    yield Part("What it needs", "lines", tuple(map(str, _each(body.get("needs")))))
    if body.get("args"):
        given = body["args"] if isinstance(body["args"], Mapping) else {"args": body["args"]}
        yield Part("What it is given", "pairs", tuple((name, words.plain(value)) for name, value in given.items()))
    if not isinstance(rules, str):
        yield Part("Which rule asks", "rules", tuple(_rule(each) for each in _each(rules)), folded=True)
    yield from _files(body)


def _activation(body: Mapping[str, Any]) -> Iterator[Part]:
    before = body.get("version before", "")
    changes = tuple(map(str, _each(body.get("changes"))))
    compared = f"Compared with {before}, which is {body.get('state before', '')}"
    yield Part(compared if before else "What changes", "lines", changes)
    if before:
        yield Part("What does not come along", "lines", _UNTRUSTED)
    effect = (f"It {body['effect']}.",) if body.get("effect") else ()
    yield Part("What it may do", "lines", (*map(str, _each(body.get("may"))), *effect))
    yield Part("What it may never do", "lines", tuple(map(str, _each(body.get("never")))))
    instead = tuple(f"{name}: you are asked later whether to put it away" for name in _each(body.get("instead")))
    yield Part("What it would do the work of", "lines", instead)
    yield from _tests(body)
    yield Part("What making it took", "lines", tuple(map(str, _each(body.get("cost")))))
    yield Part("What changed of its code", "diff", tuple(str(body.get("difference") or "").splitlines()))
    yield Part("What changed of its tests", "diff", tuple(str(body.get("difference of tests") or "").splitlines()))
    yield from _files(body)


def _tests(body: Mapping[str, Any]) -> Iterator[Part]:
    tests = [each for each in _each(body.get("tests")) if isinstance(each, Mapping)]
    good = sum(bool(each.get("passed")) for each in tests)
    lines: list[tuple[bool, str]] = [
        (bool(each.get("passed")), f"{each.get('name', '')}: {each.get('given', '')} → {each.get('expected', '')}")
        for each in tests
    ]
    lines += [(True, _CHECKS[gate]) for gate in _each(body.get("checks")) if gate in _CHECKS]
    title = f"How it was tried: {good} of {len(tests)} tests passed, in a sandbox" if tests else "How it was looked at"
    yield Part(title, "tests", tuple(lines))


def _files(body: Mapping[str, Any]) -> Iterator[Part]:
    """Its files; the code is open where no difference shows it."""
    files = body.get("files")
    for name, text in files.items() if isinstance(files, Mapping) else ():
        yield Part(str(name), "code", text=str(text), folded=name != _CODE or bool(body.get("difference")))


def _why(body: Mapping[str, Any]) -> Iterator[str]:
    yield from filter(None, (_WAYS.get(str(body.get("way", ""))), str(body.get("evidence") or "")))
    yield from map(str, _each(body.get("why")))
    if isinstance(body.get("saved seconds"), int | float):
        yield f"It would have saved about {body['saved seconds']:g} seconds of planning."


def _editable(kind: str, body: Mapping[str, Any]) -> tuple[str, str]:
    """What of a question can be edited, under the name that the API knows: arguments, words, or code."""
    if kind == ACT:
        return "args", words.pretty(body.get("args") or {})
    if kind == MEMORY and body.get("text"):
        return "text", str(body["text"])
    files = body.get("files")
    if kind == ACTIVATION and isinstance(files, Mapping) and _CODE in files:
        return "code", str(files[_CODE])
    return "", ""


def _rule(step: Any) -> tuple[str, str, str]:
    """One of the policy's steps."""
    if isinstance(step, Mapping):
        step = [step.get(key, "") for key in ("step", "verdict", "reason")]
    said = [*map(str, step if isinstance(step, list | tuple) else [step]), "", "", ""]
    return said[0], said[1].replace("_", " "), said[2]


def _each(value: Any) -> Iterable[Any]:
    if value is None or value == "":
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)
