"""``metnos life lineage`` as a person meets it."""

import json
from pathlib import Path

import pytest

from life.willed import a_signer, an_entry, of_generation, written
from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.grimoire.episodes import ANY
from metnos.life.inheritance import SOURCE
from metnos.life.lineage import Lineage
from support import Say


@pytest.fixture(autouse=True)
def _no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METNOS_EMBED__KIND", "none")


def test_the_first_of_a_line(say: Say, root: Path) -> None:
    ran = say("life", "lineage")
    assert ran.code == 0, ran.err
    assert "The first of its line: it inherited from nobody." in ran.out
    told = json.loads(say("life", "lineage", "--json").out)
    assert (told["generation"], told["graveyard"], told["heirlooms"]) == (0, [], [])


def test_a_line_its_graves_and_what_became_of_what_was_left(say: Say, root: Path, tmp_path: Path) -> None:
    signer = a_signer(tmp_path / "predecessor")
    entries = tuple(an_entry(number, held=3) for number in range(4))  # held so long that none is left out
    path = written(tmp_path / "left", of_generation(2, entries=entries, links=()), signer)
    say("init", "--from", str(path))
    app = App.open(Workspace(root))
    key = Lineage(app.life_db, app.clock).heirlooms()[0].fact
    app.grimoire.facts.helped([key] * 3)
    app.grimoire.learn(5.0)
    assert [each.source.partition(":")[0] for each in app.grimoire.episodes.select(ANY)] == [SOURCE]
    app.close()

    ran = say("life", "lineage", "--graveyard", "--heirlooms")
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[1].split()[0] == "3"
    assert "this agent" in lines[1]
    assert lines[2].split()[:2] == ["2", f"{signer.public[:16]}…"]
    assert "2026-01-01 to 2026-10-28" in lines[2]
    assert [line.split()[0] for line in lines[3:5]] == ["1", "0"]
    assert "Of these 1 were earned by own experience, 0 refuted, 0 faded; 0 facts are its own. 25% of what" in ran.out
    assert "Divergence from its predecessor: 0." in ran.out
    assert "What worked\n  - About what worked." in ran.out
    assert sum(line.startswith("E0 ") for line in ran.out.splitlines()) == 1
    assert "earned" in next(line for line in lines if line.startswith("E0"))

    told = json.loads(say("life", "lineage", "--json").out)
    assert told["facts"] == {"inherited": 4, "earned": 1, "refuted": 0, "faded": 0, "own": 0}
    assert told["own_share"] == 0.25
    assert [each["generation"] for each in told["graveyard"]] == [2, 1, 0]
    assert told["graveyard"][0]["reflection"]["what failed"] == ["About what failed."]
    assert told["complete"] is True
