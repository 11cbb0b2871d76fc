"""A hundred thousand episodes in each engine: taking in, searching, memory and the cost of being started.

Each engine has a process for filling and, because memory is what is asked about, a fresh one for searching. A query is
asked for ten; a round is the median, or the 95th percentile, of single calls. Baselines: what the engine itself does
for the very same query, with nothing around it (for SQLite the side index and the FTS5 statement, for LanceDB its own
search for ids). Of a whole recall, embedding left out, the baseline is the two bare queries in it, for as many as it
asks for: words as the store asks for them, frequent ones left out, and only of what the viewer may see; the nearest
likewise, except that the side index of SQLite knows no conditions. Of taking in singly it is the same rows by bare
statements into the same tables, as safe on the disk, every other one. What the index misses is counted by exact
search. Vectors are made (`bench.episodes_made`): real ones differ in how alike they are, so that is a figure about
this data.

``python -m bench.episodes EPISODES [DIMENSIONS [ENGINE]]`` tries it with others, and keeps nothing.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from bench import episodes_made as made
from bench import runner, scratch
from bench.runner import Measure, compare
from metnos.core.clock import SystemClock, to_text
from metnos.core.embedding import Space
from metnos.grimoire import episodes_rows
from metnos.grimoire.episode import Episode, Viewer, Where
from metnos.grimoire.episodes import ENGINES, Engine, open_episodes
from metnos.grimoire.episodes_search import HAS_TAG, Common, words_of
from metnos.grimoire.question import read
from metnos.grimoire.recall import Recall
from metnos.grimoire.recall_rules import Rules
from metnos.grimoire.vectors import scores as exact_scores
from metnos.store.db import Database
from metnos.store.file import open_connection

PURPOSE = "100,000 episodes in SQLite and in LanceDB: capture, recall against the bare engine, memory, start"

_EPISODES, _DIM = 100_000, 512
_K, _CALLS, _WORDS, _SINGLE, _EXACT = 10, 100, 20, 300, 100
_ROUNDS, _BUDGET_S = 7, 15.0
# Set by the specification.
_MOST_RATIO, _MOST_MB, _MOST_BATCH_US, _MOST_SINGLE_US = 1.5, 350.0, 1_000.0, 5_000.0
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LANCE_CPU_THREADS", "RAYON_NUM_THREADS"), "1")
_SEEN = Where(visible_to=Viewer())  # what nearly every recall asks for
_RECALL = Rules()


@dataclass(frozen=True, slots=True)
class Bare:
    """An engine with nothing around it: the ten nearest, the ten best by words, and what one recall asks for."""

    nearest: Callable[[made.Vectors], Any]
    words: Callable[[str], Any]
    asked: Callable[[str, made.Vectors], Any]


class Ready:
    """An embedder that has embedded already: what it does costs nothing."""

    def __init__(self, space: Space, vectors: made.Vectors) -> None:
        self.space = space
        self._vectors = vectors
        self.place = 0

    def embed(self, texts: Sequence[str]) -> made.Vectors:
        return self._vectors[self.place : self.place + len(texts)]


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    return at_scale(_EPISODES, _DIM, ENGINES)


def at_scale(episodes: int, dim: int, engines: Sequence[str], most_mb: float = _MOST_MB) -> list[Measure]:
    measures: list[Measure] = []
    for engine in engines:
        with scratch.folder() as folder:
            for part in ("fill", "start", "search"):
                measures += _elsewhere(part, engine, folder, episodes, dim)
    return [replace(each, limit=most_mb) if each.name.endswith(": RSS") else each for each in measures]


def _elsewhere(part: str, engine: str, folder: Path, episodes: int, dim: int) -> list[Measure]:
    """One part in a process of its own."""
    command = [sys.executable, "-m", "bench.episodes", "part", part, engine, str(folder), str(episodes), str(dim)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env={**os.environ, **_ONE_THREAD})
    if done.returncode:
        raise runner.BenchError(f"{part} with {engine} failed; what it said is above")
    return [Measure(**{**each, "subjects": tuple(each["subjects"]), "baselines": tuple(each["baselines"])})
            for each in json.loads(done.stdout.splitlines()[-1])]  # fmt: skip


# -- the parts


def fill(engine: str, folder: Path, episodes: int, dim: int) -> list[Measure]:
    """Take in everything, a thousand at a time, then a few singly; bring the indexes up to date."""
    store = open_episodes(folder / "episodes", engine, SystemClock())
    space = made.space(dim)
    batches = []
    for block, vectors in made.blocks(episodes, dim):
        began = time.perf_counter()
        store.add(block, vectors, space)
        batches.append((time.perf_counter() - began) * 1e6 / len(block))
    began = time.perf_counter()
    store.tend()
    tended = time.perf_counter() - began
    singly, barely = _singly(store, engine, folder, episodes, space)
    store.tend()
    store.close()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    last = batches[-10:]
    return [
        Measure(f"{engine}: capture in batches", "us/episode", tuple(last), limit=_MOST_BATCH_US,
                note=f"a thousand a commit, with vectors; the last ten thousand; of all {median(batches):.0f}"),
        Measure(f"{engine}: capture singly", "us/episode", tuple(singly), limit=_MOST_SINGLE_US,
                note=f"one a commit, on the disk, with {episodes:,} there"),
        *([Measure(f"{engine}: capture singly, against bare statements", "us/episode", singly[: len(barely)], barely,
                   note="baseline: the same rows, words and vector by bare statements, on the disk, every other one")]
          if barely else []),
        Measure(f"{engine}: tend", "s", (tended,), note="indexes from nothing, one thread"),
        Measure(f"{engine}: filling, peak RSS", "MB", (_peak(),), note="with the index built in the same process"),
        Measure(f"{engine}: on the disk", "MB", (size / 1e6,)),
    ]  # fmt: skip


def _singly(
    store: Engine, engine: str, folder: Path, first: int, space: Space
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Microseconds of each that was taken in by itself, and, in SQLite every other one, by bare statements."""
    bare = _bare_insert(folder / "episodes") if engine == "sqlite" else None
    ours: list[float] = []
    theirs: list[float] = []
    for block, vectors in made.blocks(_SINGLE, space.dim, start=first):
        for place, each in enumerate(block):
            if bare is not None and place % 2:
                theirs.append(bare(each, vectors[place]))
                continue
            began = time.perf_counter()
            store.add([each], vectors[place : place + 1], space)
            ours.append((time.perf_counter() - began) * 1e6)
    return tuple(ours), tuple(theirs)


def start(engine: str, folder: Path, episodes: int, dim: int) -> list[Measure]:  # noqa: ARG001 -- as the others
    """What a process pays before its first answer."""
    began, cpu = time.perf_counter(), time.process_time()
    store = open_episodes(folder / "episodes", engine, SystemClock())
    store.nearest(made.queries(1, dim)[0], _K)
    took, spent = time.perf_counter() - began, time.process_time() - cpu
    return [
        Measure(
            f"{engine}: to the first answer", "ms", (took * 1e3,), note=f"libraries and all; CPU {spent * 1e3:.0f} ms"
        )
    ]


def search(engine: str, folder: Path, episodes: int, dim: int) -> list[Measure]:
    store = open_episodes(folder / "episodes", engine, SystemClock())
    before = _resident()
    vectors, questions = made.queries(_CALLS, dim), made.questions(_WORDS)
    ready = Ready(made.space(dim), vectors)
    remembering = Recall(store, None, ready, SystemClock())

    def recalled(place: int) -> object:
        ready.place = place
        return remembering.recall(questions[place], Viewer())

    for vector in vectors:
        store.nearest(vector, _K, _SEEN)
    for text in questions:
        store.matching(text, _K, _SEEN)
    for place in range(_WORDS):
        recalled(place)
    seen = _resident()
    rows = made_rows(episodes + _SINGLE, dim)
    hits = [[each.id for each in store.nearest(vector, _K)] for vector in vectors[:_EXACT]]
    found = recall(hits, rows, vectors)
    del rows
    bare = (_bare_sqlite if engine == "sqlite" else _bare_lance)(folder / "episodes")
    ours = [_each(lambda place: store.nearest(vectors[place], _K), share) for share in (0.5, 0.95)]
    theirs = [_each(lambda place: bare.nearest(vectors[place]), share) for share in (0.5, 0.95)]
    seen_only = _each(lambda place: store.nearest(vectors[place], _K, _SEEN), 0.5)
    words = _each(lambda place: store.matching(questions[place], _K), 0.5, _WORDS)
    bare_words = _each(lambda place: bare.words(questions[place]), 0.5, _WORDS)
    whole = _each(recalled, 0.5, _WORDS)
    asked = _each(lambda place: bare.asked(questions[place], vectors[place]), 0.5, _WORDS)
    measures = [
        _against(f"{engine}: nearest, p50", ours[0], theirs[0], _MOST_RATIO, "baseline: the engine's own search"),
        _against(f"{engine}: nearest, p95", ours[1], theirs[1], None, "the same"),
        _against(f"{engine}: nearest of what the owner may see, p50", seen_only, theirs[0], None, "the same baseline"),
        _against(f"{engine}: by words, p50", words, bare_words, _MOST_RATIO, "baseline: the engine's own statement"),
        _against(f"{engine}: recall, p50", whole, asked, _MOST_RATIO,
                 f"a whole recall without facts and embedding; baseline: the engine's own two queries in it, the"
                 f" {_RECALL.by_words} best by words, frequent ones left out as the store does, of what may be seen,"
                 f" and the {_RECALL.by_meaning} nearest{' of all' if engine == 'sqlite' else ''}"),
        Measure(f"{engine}: nearest not found", "share of ten", (1 - found,), note=f"of {_EXACT} exact searches"),
        Measure(
            f"{engine}: RSS", "MB", (seen,), limit=_MOST_MB, note=f"of the process that searches; {before:.0f} before"
        ),
    ]  # fmt: skip
    store.close()
    return measures


def made_rows(count: int, dim: int) -> "dict[str, Any]":
    """Ids and vectors of everything, in half precision as they are kept."""
    rows = np.empty((count, dim), dtype=np.float16)
    for first in range(0, count, 1_000):
        many = min(1_000, count - first)
        rows[first : first + many] = made.vectors(first // 1_000, many, dim)
    return {"ids": [made.id_of(number) for number in range(count)], "rows": rows}


def recall(hits: Sequence[Sequence[str]], everything: "dict[str, Any]", vectors: made.Vectors) -> float:
    """The share of the nearest that were found."""
    parts = np.array_split(everything["rows"], 1 + len(everything["ids"]) // 20_000)
    shares = []
    for found, vector in zip(hits, vectors, strict=False):
        scores = np.concatenate([exact_scores(part, vector.astype(np.float16)) for part in parts])
        nearest = {everything["ids"][place] for place in np.argpartition(-scores, _K)[:_K]}
        shares.append(len(nearest & set(found)) / _K)
    return float(np.mean(shares))


# -- with nothing around it


def _bare_sqlite(folder: Path) -> Bare:
    connection = open_connection(folder / "episodes.db", "ro", 10.0)
    common = Common(Database(folder / "episodes.db", read_only=True))
    nearest = _bare_vectors(folder, connection)
    statement = "SELECT rowid, rank FROM episodes_text WHERE episodes_text MATCH ? ORDER BY rank LIMIT ?"
    condition = episodes_rows.condition(_SEEN, has_tag=HAS_TAG)
    seen = f"""SELECT id, rank FROM episodes_text t CROSS JOIN episodes NOT INDEXED ON seq = t.rowid
        WHERE episodes_text MATCH ? AND {condition.sql} ORDER BY rank LIMIT ?"""
    known: dict[str, str] = {}

    def words(text: str) -> Any:
        query = " OR ".join(f'"{word}"' for word in words_of(text))
        return connection.execute(statement, (query, _K)).fetchall()

    def asked(text: str, vector: made.Vectors) -> Any:
        if text not in known:  # in the first round, which only warms up
            wanted = words_of(" ".join(read(text, SystemClock().now()).words))
            known[text] = " OR ".join(f'"{word}"' for word in common.left_out_of(wanted))
        found = connection.execute(seen, (known[text], *condition.values, _RECALL.by_words)).fetchall()
        return found, nearest(vector, _RECALL.by_meaning)

    return Bare(lambda vector: nearest(vector, _K), words, asked)


def _bare_vectors(folder: Path, connection: Any) -> Callable[[made.Vectors, int], Any]:
    """The side index; before there is one, a look at every row."""
    import numkong
    from usearch.index import Index

    files = list(folder.glob("vectors-*.usearch"))
    if files:
        index: Any = Index.restore(files[0], view=True)
        index.expansion_search = 96
        return lambda vector, count: index.search(vector.astype(np.float16), count, threads=1)
    blobs = connection.execute("SELECT vector FROM vectors ORDER BY place").fetchall()
    rows = np.frombuffer(b"".join(each for (each,) in blobs), dtype=np.float16).reshape(len(blobs), -1)

    def scan(vector: made.Vectors, count: int) -> Any:
        scores = np.asarray(numkong.cdist(vector.astype(np.float16)[None, :], rows, metric="dot"))[0]
        return np.argpartition(-scores, count)[:count]

    return scan


def _bare_insert(folder: Path) -> Callable[[Episode, made.Vectors], float]:
    """Takes in an episode by bare statements; says how many microseconds they took."""
    connection = open_connection(folder / "episodes.db", "rw", 10.0)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    columns = ("embedded", *episodes_rows.COLUMNS[1:])
    statement = f"INSERT INTO episodes ({', '.join(columns)}) VALUES ({episodes_rows.marks(len(columns))})"

    def insert(episode: Episode, vector: made.Vectors) -> float:
        row = (1, *episodes_rows.to_row(episode, 0)[1:])
        half, now = vector.astype(np.float16).tobytes(), to_text(episode.ts)
        began = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        seq = connection.execute(statement, row).lastrowid
        connection.execute("INSERT INTO episodes_text (rowid, text) VALUES (?, ?)", (seq, episode.text))
        connection.execute(
            "INSERT INTO vectors (episode, space, made, vector) SELECT ?, id, ?, ? FROM spaces WHERE current = 1",
            (seq, now, half),
        )
        connection.execute("COMMIT")
        return (time.perf_counter() - began) * 1e6

    return insert


def _bare_lance(folder: Path) -> Bare:
    import lancedb
    from lancedb import query

    table: Any = lancedb.connect(folder / "lance").open_table("episodes")
    match: Any = query.MatchQuery
    condition = episodes_rows.condition(_SEEN, has_tag="").literal

    def nearest(vector: made.Vectors) -> Any:
        asked = table.search(vector, vector_column_name="vector").distance_type("cosine").nprobes(20).refine_factor(10)
        return asked.select(["id", "_distance"]).limit(_K).to_arrow()

    def words(text: str) -> Any:
        return table.search(match(text, "text"), query_type="fts").select(["id", "_score"]).limit(_K).to_arrow()

    def both(text: str, vector: made.Vectors) -> Any:
        asked = table.search(match(text, "text"), query_type="fts").where(condition, prefilter=True)
        found = asked.select(["id", "_score"]).limit(_RECALL.by_words).to_arrow()
        near = table.search(vector, vector_column_name="vector").distance_type("cosine").nprobes(20).refine_factor(10)
        near = near.where(condition, prefilter=True).select(["id", "_distance"])
        return found, near.limit(_RECALL.by_meaning).to_arrow()

    return Bare(nearest, words, both)


# -- measuring


def _each(call: Callable[[int], object], share: float, calls: int = _CALLS) -> Callable[[], float]:
    """A round of single calls; its cost is that percentile, in ms."""

    def cost() -> float:
        took = []
        for place in range(calls):
            began = time.perf_counter()
            call(place)
            took.append((time.perf_counter() - began) * 1e3)
        return float(np.quantile(took, share))

    return cost


def _against(
    name: str, ours: Callable[[], float], theirs: Callable[[], float], limit: float | None, note: str
) -> Measure:
    return compare(
        name, "ms", subject=ours, baseline=theirs, rounds=_ROUNDS, budget_s=_BUDGET_S, limit=limit, note=note
    )


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _main(arguments: list[str]) -> None:
    if arguments[0] == "part":
        _, part, engine, folder, episodes, dim = arguments
        parts = {"fill": fill, "start": start, "search": search}
        found = parts[part](engine, Path(folder), int(episodes), int(dim))
        print(json.dumps([{"name": each.name, "unit": each.unit, "subjects": each.subjects, "baselines": each.baselines,
                           "limit": each.limit, "note": each.note} for each in found]))  # fmt: skip
        return
    dimensions = int(arguments[1]) if len(arguments) > 1 else _DIM
    engines = arguments[2:] or ENGINES
    tried = SimpleNamespace(PURPOSE=PURPOSE, run=lambda _: at_scale(int(arguments[0]), dimensions, engines))
    print(runner.table(runner.measure("episodes", cast("runner.Benchmark", tried), Path())))


if __name__ == "__main__":
    _main(sys.argv[1:])
