"""The arithmetic of the benchmark of compression: what is cut, what is drawn at random, and what counts as lost."""

import importlib
import random
from pathlib import Path
from types import ModuleType

import pytest

from metnos.context.tokens import estimated

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ("Ada bought a red bicycle in Pisa", "Nobody knows why the bridge closed")


@pytest.fixture
def compress(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.compress")


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.compress_data")


def test_truncation_keeps_the_beginning_and_random_deletion_any_words(compress: ModuleType) -> None:
    counts = estimated()
    cut = compress._cut(TEXTS, 8, counts)
    assert compress._shown(TEXTS, cut).startswith("Ada bought a red bicycle")
    assert not cut[1]
    drawn = compress._deleted(TEXTS, 8, counts, random.Random(1))
    for spans in (cut, drawn):
        assert 5 <= counts.count(compress._shown(TEXTS, spans)) <= 8
    assert compress._shown(TEXTS, drawn) != compress._shown(TEXTS, cut)


def test_only_telling_words_of_the_evidence_count_as_lost(compress: ModuleType, data: ModuleType) -> None:
    case = data.Case("Where did Ada buy it?", TEXTS, (0,), frozenset({"pisa"}))
    counts = estimated()
    whole = [[(0, len(text))] for text in TEXTS]
    for spans, evidence, answers in ((whole, 0, 0), ([[(0, 10)], []], 60, 100), ([[], whole[1]], 100, 100)):
        lost = compress.Lost()
        compress._note(lost, case, TEXTS, spans, counts, 10)
        assert lost.evidence == [pytest.approx(evidence)]
        assert lost.answers == [answers]


def test_the_plain_retrieval_finds_the_turn_with_the_words(data: ModuleType) -> None:
    index = data._Index([data.words(text) for text in (*TEXTS, "Ada slept")])
    assert index.best(data.words("Who closed the bridge?"), 1) == [1]
    assert index.best(data.words("Ada and her bicycle"), 2) == [0, 2]
