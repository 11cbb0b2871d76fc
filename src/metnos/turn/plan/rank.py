"""Which tool is meant, without a language model: every tool with what speaks for it, and how sure that is.

Signals: the request's words against the tool's (BM25F over its fields, with the concepts of the lexicon), its meaning
against purpose, name, affinity and examples (cosine), single words by meaning (so that *king* finds *monarch* and
*foto* finds *picture*), and whether the values in the request are those that the arguments need. One weighted sum of
them orders the tools; another, of the best tool alone, estimates whether anything is meant at all, so that a request
which nothing covers can be refused.

Rules: scores and fits are between 0 and 1; the same request gives the same order; without an embedder its signals are
left out and other weights are used. What is known beside the request (the mnestome) changes the order only: no score
and no fit is ever raised by it. Does not guarantee that a tool which is described badly is found.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metnos.models.embed import Embedder
from metnos.turn.plan.rank_request import Asked, Value, ask
from metnos.turn.plan.rank_rules import SIGNALS, Rules
from metnos.turn.plan.rank_tools import Shelf, shelve
from metnos.turn.plan.records import Candidate, Tool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metnos.fastpath.slots import Slot

    Floats = NDArray[Any]

__all__ = ["SIGNALS", "Ranker", "Rules", "measure", "rank_by_words"]

# A path is not among what must be given: a place may be assumed or asked for, and often is.
_OTHERS = [Value.TIME, Value.TEXT, Value.URL, Value.EMAIL]
# What a request hardly gives without meaning a tool that takes it.
_PLACED = [Value.PATH, Value.URL, Value.EMAIL, Value.TIME]
_SAME_CONCEPT = 0.9  # how alike two words of one concept are: less than one word twice


_MOST_KEPT = 4
_kept: dict[tuple[tuple[str, str], ...], "Ranker"] = {}


def rank_by_words(tools: Sequence[Tool]) -> "Ranker":
    """Make a ranker without an embedder. The last few are kept: laying out the words of all tools takes a while.

    Tools are the same if their names and digests are; without a digest nothing is kept.
    """
    key = tuple((tool.name, tool.digest) for tool in tools)
    if not all(digest for _, digest in key):
        return Ranker(tools, None)
    found = _kept.pop(key, None) or Ranker(tools, None)
    _kept[key] = found
    for old in list(_kept)[:-_MOST_KEPT]:
        _kept.pop(old, None)
    return found


class Ranker:
    """Tools, ready to be ranked. May be used by several threads."""

    def __init__(self, tools: Sequence[Tool], embedder: Embedder | None, rules: Rules | None = None) -> None:
        self._shelf = shelve(tools, embedder)
        self._embedder = embedder
        rules = rules or Rules()
        self._rules = rules
        self._order = _column(rules.order if embedder is not None else rules.order_of_words)
        self._fit = _column(rules.fit if embedder is not None else rules.fit_of_words)
        self._places = {tool.name: number for number, tool in enumerate(tools)}
        self._last: tuple[tuple[str, tuple[Slot, ...]], Floats] | None = None

    def rank(
        self, text: str, *, slots: Sequence["Slot"] = (), weight: Callable[[str], float] | None = None
    ) -> tuple[Candidate, ...]:
        """All tools, the best first. ``weight`` gives a factor for the odds of a tool, by its name: 1 says nothing."""
        import numpy as np

        found = self.signals(text, slots)
        sums = found @ self._order[:-1] + self._order[-1]
        scores = 1 / (1 + np.exp(-(sums - self._rules.centre) / self._rules.spread))
        made = [
            _candidate(tool, row, float(score), 1.0 if weight is None else max(0.0, weight(tool.name)))
            for tool, row, score in zip(self._shelf.tools, found, scores, strict=True)
        ]
        places = {each.tool.name: weighed(float(score), each.weight) for each, score in zip(made, scores, strict=True)}
        return tuple(sorted(made, key=lambda each: (-places[each.tool.name], each.tool.name)))

    def fit(self, ranked: Sequence[Candidate], text: str, slots: Sequence["Slot"] = ()) -> float:
        """How likely it is that the best candidate is really meant; abstain below `Rules.abstain`. 0 without any."""
        import numpy as np

        if not ranked:
            return 0.0
        row = self.signals(text, slots)[self._places[ranked[0].tool.name]]
        return float(1 / (1 + np.exp(-(row @ self._fit[:-1] + self._fit[-1]))))

    def signals(self, text: str, slots: Sequence["Slot"] = ()) -> "Floats":
        """Tools x `SIGNALS`, in the order in which the tools were given."""
        key = (text, tuple(slots))
        last = self._last  # read once: another thread may put its own there meanwhile
        if last is None or last[0] != key:
            last = self._last = (key, measure(self._shelf, self._embedder, ask(text, slots)))
        return last[1]


def weighed(score: float, factor: float) -> float:
    """A score with its odds multiplied: below 1 as long as it is, so that no two change places at the upper end."""
    if factor == 1.0:
        return score  # to the last bit
    return score * factor / (1 - score + score * factor) if score > 0 and factor > 0 else 0.0


def _column(weights: Mapping[str, float]) -> "Floats":
    import numpy as np

    return np.array([*(weights.get(name, 0.0) for name in SIGNALS), weights.get("bias", 0.0)])


def _candidate(tool: Tool, row: "Floats", score: float, factor: float) -> Candidate:
    said = dict(zip(SIGNALS, map(float, row), strict=True))
    return Candidate(
        tool=tool,
        score=min(score, weighed(score, factor)),  # what the request says of it, and no more
        lexical=said["lexical"],
        cosine=max(said["purpose"], said["example"]),
        affinity=max(said["affinity"], said["phrases"]),
        slots=(said["numbers"] + said["values"]) / 2 - said["stray"] - said["conflict"],
        weight=factor,
    )


def measure(shelf: Shelf, embedder: Embedder | None, asked: Asked) -> "Floats":
    """All signals of all tools for a request: tools x `SIGNALS`."""
    import numpy as np

    found = np.zeros((len(shelf.tools), len(SIGNALS)))
    if not shelf.tools:
        return found
    rows = None
    if shelf.vectors is not None and embedder is not None:
        rows = embedder.embed([asked.text, asked.core, *(unit.text for unit in asked.units)])
    alike = _alike(shelf, asked, None if rows is None else rows[2:])
    best = alike.max(axis=0, initial=0.0)
    shares = np.array([unit.weight for unit in asked.units])
    columns = {
        "name": shelf.words.names.mean(best),
        "exact": shelf.words.purposes.mean((best >= _SAME_CONCEPT).astype(float)),
        "cover": shares @ shelf.words.everything.most(alike) / max(shares.sum(), 1e-9),
        "lexical": shelf.index.scores(asked.stems(shelf.index.has)),
        "phrases": _phrases(shelf, asked),
        "told": np.array([bool(tool.examples) for tool in shelf.tools], dtype=float),
        **({} if rows is None else _meaning(shelf, rows[0], rows[1])),
        **_arguments(shelf, asked),
    }
    for name, column in columns.items():
        found[:, SIGNALS.index(name)] = column
    return found


def _alike(shelf: Shelf, asked: Asked, rows: "Floats | None") -> "Floats":
    """How alike each unit of the request is to each word of the tools: 0 not at all, 1 the same."""
    import numpy as np

    alike: Floats = np.zeros((len(asked.units), len(shelf.words.texts)))
    if rows is not None and shelf.vectors is not None:
        alike = _above(rows @ shelf.vectors.words.T, shelf.vectors.far_words)
    for row, unit in zip(alike, asked.units, strict=True):
        for concept in unit.known:
            same = shelf.words.places.get(f"={concept}")
            if same is not None:
                row[same] = np.maximum(row[same], _SAME_CONCEPT)
        same = shelf.words.places.get(unit.stem)
        if same is not None:
            row[same] = 1.0
    return alike


def _meaning(shelf: Shelf, whole: "Floats", core: "Floats") -> "dict[str, Floats]":
    """How alike the request, as it is said and with its values masked, is to the texts of the tools."""
    import numpy as np

    vectors = shelf.vectors
    assert vectors is not None  # noqa: S101 -- there are vectors of the request only if there are some of the tools
    said = vectors.texts @ whole
    masked = vectors.texts @ core
    either = _above(np.maximum(said, masked), vectors.far_texts)
    both = np.zeros_like(said)
    both[vectors.examples.rows] = (said[vectors.examples.rows] + masked[vectors.masked.rows]) / 2
    both = _above(both, vectors.far_texts)
    return {
        "purpose": vectors.purposes.mean(either),
        "title": vectors.names.mean(_above(masked, vectors.far_texts)),
        "affinity": vectors.affinities.most(either[None, :])[0],
        "example": vectors.examples.most(both[None, :])[0],
        "examples": vectors.examples.mean(both),
    }


def _above(cosines: "Floats", zero: float) -> "Floats":
    """Cosines measured from the zero of their space."""
    import numpy as np

    made: Floats = np.clip((cosines - zero) / (1 - zero), 0.0, 1.0)
    return made


def _phrases(shelf: Shelf, asked: Asked) -> "Floats":
    """What the affinity phrases say together that the request holds whole."""
    import numpy as np

    stems = {each for unit in asked.units for each in (unit.stem, *unit.stem.split())}
    held = [
        sum(says for phrase, says in phrases.items() if phrase and stems.issuperset(phrase))
        for phrases in shelf.affinity
    ]
    said: Floats = np.tanh(np.array(held, dtype=float))
    return said


def _arguments(shelf: Shelf, asked: Asked) -> "dict[str, Floats]":
    """Whether the request has the values that a tool needs, the tool a place for them, and both the same subject."""
    import numpy as np

    have = np.array(asked.values, dtype=float)
    numbers = shelf.needs[:, Value.NUMBER]
    others = shelf.needs[:, _OTHERS]
    met = np.minimum(others, have[_OTHERS]).sum(axis=1)
    agree = np.array([len(kinds & asked.kinds) for kinds in shelf.kinds])
    other = np.array([bool(asked.kinds and kinds) for kinds in shelf.kinds]) & (agree == 0)
    verbs = np.array([bool(asked.verbs & verbs) for verbs in shelf.verbs])
    return {
        "numbers": np.where(numbers > 0, np.minimum(numbers, have[Value.NUMBER]) / np.maximum(numbers, 1), 1.0),
        "values": np.where(others.sum(axis=1) > 0, met / np.maximum(others.sum(axis=1), 1), 1.0),
        "stray": ((have[_PLACED] > 0) & (shelf.places[:, _PLACED] == 0)).sum(axis=1).astype(float),
        "kind": np.minimum(agree, 1).astype(float),
        "conflict": other.astype(float),
        "verb": verbs.astype(float) if asked.verbs else np.full(len(verbs), 0.5),
    }
