"""A question of the inbox in parts, so that somebody can decide who has never read a line about Metnos.

Rules: what speaks for it comes first, then what it may do and may never do, how it was tried, the code, and whatever
else is known. Pure: it sorts what a question holds, and a face shows each kind of part in one way. Everything that
comes from a request, a model or another instance is text and never obeyed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.law.inbox import ACT, ACTIVATION, ADOPTION, DIRECTION, Item

KINDS = {  # what a question is about, in words
    ACT: "something to do",
    DIRECTION: "something to learn",
    ACTIVATION: "a new executor",
    ADOPTION: "an executor of yours",
    "memory": "something to remember for good",
    "archival": "something to let go",
    "dormancy": "an executor to put away",
    "extinction": "an executor to revoke",
    "skill": "a skill from elsewhere",
    "default": "a setting that was inherited",
}
LINES, DIFF, CODE, PAIRS, TESTS, RULES = "lines", "diff", "code", "pairs", "tests", "rules"
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
_GROWING_TOLD = frozenset(
    {"name", "version", "purpose", "why", "turns", "failures", "may", "effect", "never", "tests", "instead", "cost",
     "before", "version before", "state before", "changes", "difference", "difference of tests", "checks", "files",
     "proposal", "way", "direction", "need", "evidence", "uses", "days", "saved seconds", "executor", "reason"}
)  # fmt: skip
_TOLD = frozenset(
    {"purpose", "description", "text", "because", "why", "preview", "diff", "reversal", "then", "needs", "args",
     "files", "effects", "principal", "turn", "now", "executor", "direction", "proposal", "above", "whole", "cwd",
     "base", "made", "digest", "tainted", "wants"}
)  # fmt: skip
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

_TAINTED = "You did not name this place, or the plan was made after reading someone else's text."


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a question. ``kind`` says how it is shown.

    Of `LINES` and `DIFF` each line is text; of `PAIRS` a name and a value; of `TESTS` whether it passed, and which it
    was; of `RULES` a step of the policy, what it says, and why. `CODE` has ``text``; ``folded`` is what is shown only
    to whoever wants to see it.
    """

    title: str
    kind: str
    lines: tuple[Any, ...] = ()
    text: str = ""
    folded: bool = False


def parts(item: Item, rules: Iterable[tuple[str, str, str]] = (), reversal: str = "") -> list[Part]:
    """A question, whole. ``rules`` and ``reversal`` are what the policy and the manifest say of an act now."""
    if item.kind in (DIRECTION, ACTIVATION, ADOPTION):
        found = [*_growing(item.kind, item.body), _also(item.body, _GROWING_TOLD)]
    else:
        found = [*_act(item.body, tuple(rules), reversal), _also(item.body, _TOLD)]
    return [part for part in found if part.lines or part.text]


def _growing(kind: str, body: Mapping[str, Any]) -> Iterator[Part]:
    yield _lines("Why", _why(body))
    yield _lines("What broke", body.get("failures", ()))
    if kind == DIRECTION:
        yield _lines("What a yes means", _DIRECTION)
    else:
        yield from _activation(body)


def _activation(body: Mapping[str, Any]) -> Iterator[Part]:
    before = body.get("version before", "")
    if before:
        yield _lines(f"Compared with {before}, which is {body.get('state before', '')}", body.get("changes", ()))
        yield _lines("What does not come along", _UNTRUSTED)
    else:
        yield _lines("What changes", body.get("changes", ()))
    effect = f"It {body['effect']}." if body.get("effect") else ""
    yield _lines("What it may do", (*body.get("may", ()), effect))
    yield _lines("What it may never do", body.get("never", ()))
    later = (f"{name}: you are asked later whether to put it away" for name in body.get("instead", ()))
    yield _lines("What it would do the work of", later)
    yield from _tests(body)
    yield _lines("What making it took", (body.get("cost", ""),))
    yield _diff("What changed of its code", body.get("difference"))
    yield _diff("What changed of its tests", body.get("difference of tests"))
    yield from _files(body, fold=bool(body.get("difference")))


def _tests(body: Mapping[str, Any]) -> Iterator[Part]:
    tests = [each for each in body.get("tests", ()) if isinstance(each, Mapping)]
    if not tests:
        return
    good = sum(bool(each.get("passed")) for each in tests)
    lines = [
        (bool(each.get("passed")), f"{each.get('name', '')}: {each.get('given', '')} → {each.get('expected', '')}")
        for each in tests
    ]
    lines += [(True, _CHECKS[gate]) for gate in body.get("checks", ()) if gate in _CHECKS]
    yield Part(f"How it was tried: {good} of {len(tests)} tests passed, in a sandbox", TESTS, tuple(lines))


def _why(body: Mapping[str, Any]) -> Iterator[str]:
    said = body.get("why", ())
    yield _WAYS.get(str(body.get("way", "")), "")
    yield str(body.get("evidence", ""))
    yield from [said] if isinstance(said, str) else map(str, said)
    if body.get("saved seconds"):
        yield f"It would have saved about {body['saved seconds']:g} seconds of planning."


def _act(body: Mapping[str, Any], rules: tuple[tuple[str, str, str], ...], reversal: str) -> Iterator[Part]:
    """Acts, and every question that says what it is about in a few words."""
    yield _lines("", (body.get(name, "") for name in ("purpose", "description", "text", "because")))
    yield _lines("Why", (*_each(body.get("why")), _TAINTED if body.get("tainted") else ""))
    yield _diff("What it would do", "\n".join(map(str, body.get("preview", ()))))
    yield _diff("What changes", body.get("diff"))
    yield _lines("And afterwards", (f"It {reversal}." if reversal else "", body.get("then", "")))
    yield _lines("What it needs", body.get("needs", ()))
    args = body.get("args")
    given = args.items() if isinstance(args, Mapping) else ()
    yield Part("What it is given", PAIRS, tuple((str(name), plain(value)) for name, value in given))
    yield Part("Which rule asks", RULES, rules, folded=True)
    yield from _files(body, fold=True)


def _files(body: Mapping[str, Any], *, fold: bool) -> Iterator[Part]:
    """Its files; the code is open where no difference shows it."""
    for name, text in dict(body.get("files", {})).items():
        yield Part(str(name), CODE, text=str(text), folded=fold or name != _CODE)


def _also(body: Mapping[str, Any], told: frozenset[str]) -> Part:
    return Part("Also", PAIRS, tuple((name, plain(value)) for name, value in body.items() if name not in told))


def _lines(title: str, lines: Iterable[Any]) -> Part:
    return Part(title, LINES, tuple(dict.fromkeys(str(line) for line in lines if line)))


def _diff(title: str, text: Any) -> Part:
    return Part(title, DIFF, tuple(str(text or "").splitlines()))


def _each(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def plain(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
