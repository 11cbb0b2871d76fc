"""Which body is right, and which expectation is: bodies and cases that a model wrote, held against each other. Pure.

A small model writes a correct function more often than it reckons a correct result in its head. So several bodies are
written, some of them without sight of the cases, and all are run on all cases in the sandbox. Rules:

- What was observed, and what follows from the arguments, is never changed: a body that breaks it is wrong.
- Another case keeps its expectation unless bodies agree on something else, be it a refusal, and are two more than those
  that meet it: then that is expected instead, and the case says how many agreed. If nobody agrees, the case goes.
- A case with an error goes as well if the body that meets the most of the others does not refuse it: what a model
  thinks should be refused need not be.
- Cases that were changed or went may never be more than those that were met as they stood, unless three functions that
  were written differently stand behind all changes, or four if no case at all was met: where fewer agree, nobody is
  believed. The case is disputed: whoever wrote it looks again first, because a wrong expectation is more frequent than
  two functions that are wrong alike.
- At least two cases with entries must remain, else there is nothing to judge by.

Does not guarantee that what several bodies agree on is right: one model can make one mistake twice. The owner sees how
each case came about.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metnos.core.canon import canonical_json
from metnos.synt.rules import Stage
from metnos.synt.sketch import Case, Rejection

_DIGITS = 12  # in which numbers have to agree: what is beyond depends on the order of reckoning
_LEAST = 2  # cases with entries, and bodies that agree
_MANY = 3  # different bodies that agree, to be believed against most cases; one more against all


@dataclass(frozen=True, slots=True)
class Result:
    """What a body gave for one case: entries, or an error of that kind; a ``fault`` is neither."""

    entries: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    fault: str = ""

    @property
    def key(self) -> bytes | None:
        """By what two results are the same; none for a fault, which agrees with nothing."""
        if self.fault:
            return None
        return canonical_json([self.error] if self.error else [_even(dict(each)) for each in self.entries])


def _even(value: Any) -> Any:
    """A value in which 2.0 is 2, and two ways to reckon 0.1 * 3 give the same, as for whoever compares numbers."""
    if isinstance(value, dict):
        return {key: _even(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_even(each) for each in value]
    if isinstance(value, float) and math.isfinite(value):
        rounded = float(f"{value:.{_DIGITS}g}")
        return int(rounded) if rounded.is_integer() else rounded
    return value


@dataclass(frozen=True, slots=True)
class Judged:
    """The best body, by its place, and the cases as they stand now.

    ``unmet``: a case that even this body does not meet, and what it gave. ``disputed``: others gave the same there.
    """

    body: int
    cases: tuple[Case, ...]
    stood: tuple[Case, ...] = ()  # those that it meets as they were written
    unmet: tuple[Case, Result] | None = None
    disputed: bool = False


def judge(cases: Sequence[Case], results: Sequence[Sequence[Result]], bodies: Sequence[str] = ()) -> Judged:
    """``results`` has a row for each body, with a result for each case. Raises `Rejection` if too little remains.

    ``bodies`` are the functions themselves: two that were written alike are no more than one where many are wanted.
    """
    columns = [[row[place] for row in results] for place in range(len(cases))]
    revised = [_revised(case, given) for case, given in zip(cases, columns, strict=True)]
    changed = [old != new for old, new in zip(cases, _plain(revised), strict=True) if not old.error]
    held = len(changed) - sum(changed)
    if sum(changed) > held and _behind(cases, revised, columns, bodies) < (_MANY if held else _MANY + 1):
        # Nobody is believed: the best body is told what it does not meet.
        revised = [new if old.error else old for old, new in zip(cases, revised, strict=True)]
    kept = [(place, case) for place, case in enumerate(revised) if case is not None]
    if sum(not case.error for _, case in kept) < _LEAST:
        raise Rejection(Stage.TESTS, _unclear(cases, results))
    guessed = {place for place, case in enumerate(cases) if case.error and not case.is_fixed}
    best = max(range(len(results)), key=lambda body: (*_merits(kept, guessed, results[body]), -body))
    kept = [(place, case) for place, case in kept if place not in guessed or _meets(case, results[best][place])]
    wrong = next((place for place, case in kept if not _meets(case, results[best][place])), None)
    final = tuple(_exactly(case, results[best][place]) for place, case in kept)
    stood = tuple(cases[place] for place, case in kept if not case.error and _meets(cases[place], results[best][place]))
    if wrong is None:
        return Judged(best, final, stood)
    given = results[best][wrong]
    alike = sum(row[wrong].key == given.key for row in results)
    disputed = given.key is not None and not given.error and alike >= _LEAST and not cases[wrong].is_fixed
    return Judged(best, final, stood, (cases[wrong], given), disputed)


def _merits(kept: Sequence[tuple[int, Case]], guessed: Collection[int], row: Sequence[Result]) -> tuple[int, int]:
    """How many cases a body meets that are more than a guess of what should be refused, and how many of all."""
    met = [place for place, case in kept if _meets(case, row[place])]
    return sum(place not in guessed for place in met), len(met)


def meets_all(cases: Sequence[Case], row: Sequence[Result]) -> bool:
    """Whether a body that gave this meets every case; what it gave beyond them does not count."""
    return all(_meets(case, given) for case, given in zip(cases, row, strict=False))


def _behind(
    cases: Sequence[Case],
    revised: Sequence[Case | None],
    columns: Sequence[Sequence[Result]],
    bodies: Sequence[str],
) -> int:
    """How many different functions stand behind every expectation that was changed; none if one is unknown."""
    behind = set(bodies)
    for old, new, given in zip(cases, revised, columns, strict=True):
        if new is None and not old.error:
            return 0  # nobody knows what is right there
        if old.error or new is None or replace(new, agreed=0) == old:
            continue
        key = Result(new.entries, new.error).key
        behind &= {body for body, each in zip(bodies, given, strict=False) if each.key == key}
    return len(behind)


def _plain(cases: Sequence[Case | None]) -> list[Case | None]:
    """Without the count of who agreed: for telling whether anything else changed."""
    return [None if case is None else replace(case, agreed=0) for case in cases]


def _revised(case: Case, given: Sequence[Result]) -> Case | None:
    met = sum(_meets(case, each) for each in given)
    if case.is_fixed or (case.error and met):
        return replace(case, agreed=met)
    if case.error:
        return None
    votes = Counter(each.key for each in given if each.key is not None and not _meets(case, each))
    key, count = votes.most_common(1)[0] if votes else (None, 0)
    if count < met + _LEAST:
        return replace(case, agreed=met) if met else None
    chosen = next(each for each in given if each.key == key)
    return replace(case, entries=chosen.entries, error=chosen.error, agreed=count)


def _exactly(case: Case, given: Result) -> Case:
    """With the numbers to the last digit as the best body has them, where it is met: a birth test compares exactly."""
    return case if case.is_fixed or case.error or not _meets(case, given) else replace(case, entries=given.entries)


def _meets(case: Case, given: Result) -> bool:
    return given.key == Result(case.entries, case.error).key


def _unclear(cases: Sequence[Case], results: Sequence[Sequence[Result]]) -> str:
    faults = [each.fault for row in results for each in row if each.fault]
    said = f"; one said: {faults[0]}" if faults else ""
    return f"of {len(cases)} cases too few could be confirmed by running the function{said}"
