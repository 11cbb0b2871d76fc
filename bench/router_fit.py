"""How the weights in `metnos.turn.plan.rank` were found: ``python -m bench.router_fit [--data DIR]`` prints them.

Order: a conditional logit (what makes the right tool win among those offered) over the `multiple` set, over requests
of both sets among 50 tools, and over requests for the built-in executors. Fit: a logistic regression (is the best tool
meant at all) over right tools against those of the `irrelevance` set and the best tool for requests that none covers.
Only items of even position are used. A signal whose weight comes out with the wrong sign is left out, because it then
stands in for another one. Ridge keeps the weights small. Everything is repeated without the embedder.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import router_data as data
from bench.router_data import Item
from metnos.models.embed import Embedder
from metnos.models.embed_builtin import Builtin
from metnos.models.embed_cache import Cached
from metnos.turn.plan.rank import Ranker
from metnos.turn.plan.rank_rules import SIGNALS

Floats = NDArray[Any]
Group = tuple[Floats, Floats, float]  # tools x signals, which of them are right, how much it counts

_AGAINST = {"stray", "conflict"}  # signals that speak against a tool
_FREE = {"told"}  # may be either: it only says where zero is for tools with examples
_RIDGE = 3.0
_CROWD = 50  # tools beside one another
_WRONG_SHARE = 0.1  # of the other tools of an item when whether anything fits is fitted: they nearly fit
_REQUEST_SHARE = 2.0  # there are fewer requests than items, and they are what the router is for


def order(groups: Sequence[Group]) -> dict[str, float]:
    """Weights by which the right tool comes first."""
    used = [name for name in SIGNALS if name not in _FREE]
    return _signed(used, lambda names: _conditional(groups, [SIGNALS.index(name) for name in names]))


def fit(rows: Floats, right: Floats, shares: Floats) -> dict[str, float]:
    """Weights by which a right tool is told from one that only came first; with `bias`."""

    def solve(names: list[str]) -> Floats:
        return _logistic(rows[:, [SIGNALS.index(name) for name in names]], right, shares)

    found = _signed(list(SIGNALS), lambda names: solve(names)[:-1])
    return found | {"bias": float(solve(list(found))[-1])}


def _signed(names: list[str], solve: Callable[[list[str]], Floats]) -> dict[str, float]:
    while True:
        weights = solve(names)
        wrong = [n for n, w in zip(names, weights, strict=True) if n not in _FREE and (w > 0) == (n in _AGAINST)]
        if not wrong:
            return dict(zip(names, map(float, weights), strict=True))
        worst = max(wrong, key=lambda name: abs(weights[names.index(name)]))
        names = [name for name in names if name != worst]


def _conditional(groups: Sequence[Group], columns: list[int]) -> Floats:
    scale = np.concatenate([rows for rows, _, _ in groups])[:, columns].std(axis=0) + 1e-3
    scaled = [(rows[:, columns] / scale, right, share) for rows, right, share in groups]

    def loss(weights: Floats) -> tuple[float, Floats, Floats]:
        value, slope, bend = 0.5 * _RIDGE * weights @ weights, _RIDGE * weights, _RIDGE * np.eye(len(weights))
        for rows, right, share in scaled:
            raised = np.exp((rows @ weights) - (rows @ weights).max())
            chance = raised / raised.sum()
            good = chance * right / (chance @ right)
            mean = chance @ rows
            value -= share * float(np.log(chance @ right))
            slope = slope - share * (good @ rows - mean)
            bend = bend + share * ((rows * chance[:, None]).T @ rows - np.outer(mean, mean))
        return float(value), slope, bend

    found: Floats = _newton(loss, len(columns)) / scale
    return found


def _logistic(rows: Floats, right: Floats, shares: Floats) -> Floats:
    scale = rows.std(axis=0) + 1e-3
    scaled = np.c_[rows / scale, np.ones(len(rows))]
    ridge = _RIDGE * np.eye(scaled.shape[1])
    ridge[-1, -1] = 1e-6

    def loss(weights: Floats) -> tuple[float, Floats, Floats]:
        sums = scaled @ weights
        chance = 1 / (1 + np.exp(-sums))
        value = float(shares @ (np.logaddexp(0, sums) - right * sums) + 0.5 * weights @ ridge @ weights)
        slope = scaled.T @ (shares * (chance - right)) + ridge @ weights
        return value, slope, (scaled * (shares * chance * (1 - chance))[:, None]).T @ scaled + ridge

    found: Floats = _newton(loss, scaled.shape[1]) / np.r_[scale, 1.0]
    return found


def _newton(loss: Callable[[Floats], tuple[float, Floats, Floats]], size: int) -> Floats:
    weights = np.zeros(size)
    value, slope, bend = loss(weights)
    for _ in range(200):
        step = np.linalg.solve(bend, slope)
        length = 1.0
        while length > 1e-6 and loss(weights - length * step)[0] > value:
            length /= 2
        weights = weights - length * step
        before, (value, slope, bend) = value, loss(weights)
        if before - value < 1e-7:
            break
    return weights


# -- the data


def groups(sets: dict[str, list[Item]], embedder: Embedder | None) -> list[Group]:
    """What `order` is fitted on."""
    both = [item for item in (*sets["multiple"], *sets["simple_python"]) if not item.kept]
    crowd = data.crowded(both, [item for each in sets.values() for item in each], _CROWD)
    small = [item for item in sets["multiple"] if not item.kept]
    asked = [item for item in data.requests() if item.right and not item.kept]
    ranker = Ranker(asked[0].tools, embedder)
    made = [(*_rows(item, Ranker(item.tools, embedder)), 1.0) for item in (*small, *crowd)]
    return made + [(*_rows(item, ranker), _REQUEST_SHARE) for item in asked]


def cases(sets: dict[str, list[Item]], embedder: Embedder | None, weights: dict[str, float]) -> tuple[Floats, ...]:
    """What `fit` is fitted on: rows, whether right, shares."""
    rows: list[Floats] = []
    right: list[float] = []
    shares: list[float] = []
    for item in (item for each in sets.values() for item in each if not item.kept):
        found, good = _rows(item, Ranker(item.tools, embedder))
        for row, is_good in zip(found, good, strict=True):
            rows.append(row)
            right.append(is_good)
            shares.append(1.0 if is_good or not item.right else _WRONG_SHARE)
    asked = [item for item in data.requests() if not item.kept]
    ranker = Ranker(asked[0].tools, embedder)
    none = sum(not item.right for item in asked)
    for item in asked:
        found, good = _rows(item, ranker)
        best = int(np.argmax(found @ np.array([weights.get(name, 0.0) for name in SIGNALS])))
        if good[best] or not item.right:
            rows.append(found[best])
            right.append(good[best])
            shares.append(_REQUEST_SHARE if item.right else _REQUEST_SHARE * (len(asked) - none) / none)
    return np.array(rows), np.array(right), np.array(shares)


def _rows(item: Item, ranker: Ranker) -> tuple[Floats, Floats]:
    right = np.array([tool.name in item.right for tool in item.tools], dtype=float)
    return ranker.signals(item.text, item.slots), right


def _shown(name: str, weights: dict[str, float]) -> str:
    return (
        f"{name} = {{{', '.join(f'{each!r}: {value:.2f}' for each, value in weights.items() if abs(value) >= 0.005)}}}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.router_fit", description="Fit the weights of the ranking.")
    parser.add_argument("--data", type=Path, default=data.DATA, metavar="DIR")
    chosen: Any = parser.parse_args(arguments)
    sets = {name: data.items(chosen.data, name) for name in ("multiple", "simple_python", "irrelevance")}
    for suffix, embedder in (("", Cached(Builtin(), 200_000)), ("_of_words", None)):
        weights = order(groups(sets, embedder))
        print(_shown(f"order{suffix}", weights))
        print(_shown(f"fit{suffix}", fit(*cases(sets, embedder, weights))))


if __name__ == "__main__":
    main()
