"""What something runs by itself and a call would change, though nobody named it: it is asked about and stands first."""

import zipfile
from pathlib import Path

import pytest

from executors.hands import OWNER, home, mutator, place, run
from metnos.app import App
from metnos.core.errors import Waiting
from metnos.executors.run import Call
from metnos.law.capability import Capability
from metnos.law.inbox import Item

MANY = [f"doc/{number}.txt" for number in range(80)]


def archive(*names: str) -> None:
    with zipfile.ZipFile(home() / "src.zip", "w") as packed:
        for name in names:
            packed.writestr(name, "text\n" * 5)


def asked(app: App, name: str, **args: object) -> Item:
    with pytest.raises(Waiting) as waiting:
        app.runner.run(Call(name, args, OWNER, home()))
    return app.inbox.find(waiting.value.item)


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("level", ["supervised", "full"])
@pytest.mark.parametrize("folder", ["new", "there"])
def test_an_archive_with_programs_is_asked_about_and_unpacked_whole(equipped: App, level: str, folder: str) -> None:
    (home() / "there").mkdir()
    archive(*MANY, "bin/run", "Makefile", "autostart/x.desktop")
    equipped.set_setting("policy.autonomy", level, OWNER)
    app = App.open(equipped.workspace, equipped.clock)
    item = asked(app, "extract_archives", paths=["~/src.zip"], to=f"~/{folder}")
    first = [str(line) for line in item.body["preview"][:4]]
    needs = [str(words) for words in item.body["needs"]]
    for name in ("bin", "Makefile", "autostart"):
        path = str(home() / folder / name)
        assert f"high risk, runs by itself: {path}" in first
        assert any(path in words and "high risk" in words for words in needs)
    assert not any("doc" in line for line in first[:3])
    outcome = app.runner.resume(app.inbox.approve(item.id, OWNER, seen=0))
    assert (outcome.ok, outcome.reply["failures"], outcome.reply["total"]) == (True, [], 83)
    app.close()


def test_an_archive_of_letters_is_not_asked_about_at_full(full: App) -> None:
    archive(*MANY)
    assert run(full, "extract_archives", paths=["~/src.zip"], to="~/new").reply["total"] == 80


def test_a_new_name_that_runs_is_asked_about(full: App) -> None:
    place("x.txt")
    item = asked(full, "rename_files", paths=["~/x.txt"], pattern="x.txt", replacement="Makefile")
    assert not (home() / "Makefile").exists()
    assert full.runner.resume(full.inbox.approve(item.id, OWNER, seen=0)).reply["failures"] == []
    assert (home() / "Makefile").exists()


def test_no_grant_speaks_for_what_was_found(equipped: App) -> None:
    archive("a.txt", "Makefile")
    (home() / "there").mkdir()
    equipped.grants.grant("*", Capability.FS_WRITE, str(home() / "there"), days=1, by=OWNER)
    asked(equipped, "extract_archives", paths=["~/src.zip"], to="~/there")
    assert files_below(home() / "there") == set()


def test_of_a_folder_that_runs_the_outermost_is_listed(full: App) -> None:
    archive(*(f"node_modules/p/{number}.js" for number in range(50)))
    item = asked(full, "extract_archives", paths=["~/src.zip"], to="~/new")
    assert sum("high risk" in str(line) for line in item.body["preview"]) == 1


def test_what_a_rehearsal_did_not_do_is_not_done_unasked(full: App) -> None:
    source = """
    def run(args, ctx):
        if not ctx.dry_run:
            ctx.write(args["target"] + "/Makefile", "text")
        return {"results": []}
    """
    mutator(full, source)
    (home() / "box").mkdir()
    outcome = run(full, "write_files", target="~/box")
    assert (outcome.ok, outcome.kind) == (False, "not_permitted")
    assert files_below(home() / "box") == set()
