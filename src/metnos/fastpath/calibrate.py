"""How far matches can be believed: fitted from all forms, each predicted by the others, and from what really happened.

Rules: each form is predicted by the others (a known request) and by the forms of other paths only (a new kind of
request, which can only be answered wrongly; such ones count as the share of requests that is expected to be new). What
was recorded counts beside it, and in the place of it where it is about the same form. The result depends on what is
given, never on its order, and needs no random numbers.

Does not guarantee anything to an owner whose requests change from one day to the next: calibrate again, and count what
was undone.
"""

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metnos.fastpath.neighbours import Neighbours
from metnos.fastpath.records import Form
from metnos.fastpath.rules import Calibration, Curve, Factory, Rules, Verdict, may_answer, novelty_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metnos.fastpath.risk import Outcomes

    Vectors = NDArray[np.float32]

__all__ = ["Calibration", "Curve", "Evidence", "Factory", "Rules", "Verdict", "calibrate", "may_answer"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One prediction that was held against what happened: a shadow that agreed or not, a hit that was undone or liked.

    ``score`` is that of the match; ``path`` is what was predicted; ``canonical`` is the form of the request.
    """

    score: float
    exact: bool
    right: bool
    weight: float = 1.0
    path: str = ""
    canonical: str = ""


def calibrate(
    forms: Sequence[Form],
    vectors: "Vectors | None",
    evidence: Sequence[Evidence] = (),
    *,
    delta: float | None = None,
    factory: Factory | None = None,
    rules: Rules | None = None,
) -> Calibration:
    """Fit what is known. Without vectors only exact matches are judged."""
    rules, factory = rules or Rules(), factory or Factory()
    delta = rules.delta if delta is None else delta
    exact = _by_form([each for each in evidence if each.exact])
    base: dict[str, Any] = {
        "delta": delta,
        "confidence": rules.confidence,
        "exact_count": factory.count + len(exact),
        "exact_wrong": factory.wrong + sum(exact),
        "paths": len({form.path for form in forms}),
        "novelty": novelty_share(forms, rules),
    }
    if vectors is None:
        return Calibration(**base, why="only the same words are recognised: there is no embedder")
    if base["paths"] < rules.least_paths:
        return Calibration(
            **base, why=f"too little was seen: {base['paths']} paths, and {rules.least_paths} are needed"
        )
    from metnos.fastpath.risk import least_margin

    told = [each for each in evidence if not each.exact]
    outcomes, known, wrong = _outcomes(Neighbours(forms, vectors, rules), told, base["novelty"], rules)
    base |= {"known": known, "wrong": wrong}
    if not known or not outcomes.right.any():
        return Calibration(**base, why="too little was seen: no request was asked in two ways")
    curve, bounded = least_margin(outcomes, delta, rules.confidence)
    if bounded is None:
        why = f"{known:.0f} past requests do not show yet that fewer than {100 * delta:g} % of answers would be wrong"
        return Calibration(**base, curve=curve, why=why)
    above = outcomes.margins >= bounded.threshold
    coverage = float(outcomes.weights[above].sum() / outcomes.weights.sum())
    return Calibration(
        **base,
        curve=curve,
        threshold=bounded.threshold,
        risk=bounded.risk,
        bound=bounded.bound,
        coverage=coverage,
        why="",
    )


def _by_form(evidence: Sequence[Evidence]) -> list[float]:
    """The share that was wrong, form by form: the same request a hundred times proves as much as once."""
    told: dict[tuple[str, str], list[Evidence]] = {}
    for at, each in enumerate(evidence):
        told.setdefault((each.path, each.canonical or str(at)), []).append(each)
    return [
        sum(each.weight for each in group if not each.right) / max(1e-9, sum(each.weight for each in group))
        for _, group in sorted(told.items())
    ]


def _outcomes(
    near: Neighbours, told: Sequence[Evidence], novelty: float, rules: Rules
) -> tuple["Outcomes", float, float]:
    """Everything whose outcome is known; how much of it is about known requests, and how much of that was wrong."""
    import numpy as np

    from metnos.fastpath.risk import Outcomes

    forms_of = Counter(form.path for form in near.forms)
    recorded = {each.canonical for each in told if each.canonical}
    rows: list[tuple[float, bool, float, str]] = []
    new: list[tuple[float, str]] = []
    for row in _sample(near.forms, rules.most_left_out):
        form = near.forms[row]
        others, strangers = near.left_out(row)
        if others is not None and forms_of[form.path] > 1 and form.canonical not in recorded:
            rows.append((others.margin, others.path == form.path, 1.0, form.path))
        if strangers is not None:
            new.append((strangers.margin, form.path))
    rows += [(max(0.0, each.score), each.right, each.weight, each.path) for each in told]
    known = sum(weight for _, _, weight, _ in rows)
    wrong = sum(weight for _, right, weight, _ in rows if not right)
    # The new ones weigh together what their share of all requests is.
    each_new = known * novelty / (1 - novelty) / max(1, len(new))
    rows += [(margin, False, each_new, path) for margin, path in new]
    rows.sort()
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    margins, right, weights, groups = (np.array(each) for each in columns)
    return Outcomes(margins, right.astype(bool), weights, groups), known, wrong


def _sample(forms: Sequence[Form], most: int) -> list[int]:
    """The rows to leave out in turn: all, or so many that neither their order nor their age has chosen."""
    rows = range(len(forms))
    if len(forms) <= most:
        return list(rows)
    return sorted(rows, key=lambda row: (zlib.crc32(f"{forms[row].path} {forms[row].canonical}".encode()), row))[:most]
