"""Words that say which files are meant are heeded, said, or a reason to do nothing; never dropped."""

from typing import Any

import pytest

from metnos.turn.plan.lexicon import load
from metnos.turn.plan.records import Kind
from suite import Repeat
from tables import try_each
from turn.plan.asking import tools
from turn.plan.routing import calls, route

ENGLISH = (
    "empty hidden small tiny new big large huge heavy old recent ancient other same identical different useless extra"
    " superfluous broken unused corrupt blurry important private temporary secret previous modified changed downloaded"
    " saved created edited updated received stored long short plain full raw expired some several various first backup"
    " weather running"
).split()
ITALIAN = (
    "vuoti nascosti piccoli grandi nuovi vecchi recenti grossi enormi pesanti minuscoli altri stessi uguali identici"
    " diversi inutili superflui corrotti inutilizzati importanti privati temporanei segreti precedenti modificati"
    " cambiati scaricati salvati creati aggiornati ricevuti pieni scaduti rotti doppi duplicati antichi simili"
).split()
PHOTOS = "*.jpg|*.jpeg|*.png|*.heic|*.gif|*.webp"
NARROW = {"pattern", "min_size", "max_size", "newer_than_days", "older_than_days", "limit", "only_extra"}
# What words mean that lead to a noun for files and do not say which of them are meant.
LEADING = {
    "all",
    "each",
    "what",
    "where",
    "count",
    "howmuch",
    "about",
    "inside",
    "now",
    "it",
    "files",
    "folders",
    "images",
}


def said(text: str) -> tuple[Kind, dict[str, Any], str]:
    plan = route(text)
    return plan.kind, dict(plan.steps[0].args) if plan.steps else {}, " ".join((plan.say, *plan.notes))


CHANGES = (
    *(f"{verb} the {word} {noun} in ~/inbox{to}" for word in ENGLISH
      for verb, noun, to in (("delete", "files", ""), ("move", "pictures", " to ~/b"), ("delete", "folders", ""))),
    *(f"{verb} {noun} {word} in ~/inbox{to}" for word in ITALIAN
      for verb, noun, to in (("cancella", "i file", ""), ("sposta", "i file", " in ~/b"), ("cancella", "i pdf", ""))),
    *(f"cancella i {word} file in ~/inbox" for word in ("vecchi", "nuovi", "piccoli", "grandi", "altri", "stessi")),
)  # fmt: skip


def test_nothing_is_changed_by_a_word_that_is_not_heeded() -> None:
    def is_heeded(request: str) -> bool:
        kind, args, _ = said(request)
        plain = args.get("pattern") in (None, PHOTOS, "*.pdf")
        return kind is not Kind.STEPS or not plain or bool(NARROW & args.keys() - {"pattern"})

    assert len(CHANGES) > 250
    assert [each for each in CHANGES if not is_heeded(each)] == []


LOOKS = (
    *(f"find the {word} files in ~/inbox" for word in ENGLISH), *(f"find {word} photos in ~/inbox" for word in ENGLISH),
    *(f"trova i file {word} in ~/inbox" for word in ITALIAN), *(f"elenca i pdf {word} in ~/inbox" for word in ITALIAN),
)  # fmt: skip


def test_nothing_is_left_out_of_an_answer_without_a_word() -> None:
    def is_said(request: str) -> bool:
        kind, args, words = said(request)
        looks = [executor for executor, _ in calls(route(request))][:1] in (["find_files"], ["list_folders"])
        word = next(each for each in request.split() if each in {*ENGLISH, *ITALIAN})
        plain = args.keys() <= {"path", "pattern", "kind"} and args.get("pattern") in (None, PHOTOS, "*.pdf")
        if word in {"some", "several", "various"}:
            return True  # whoever asks to see some does not mind more
        return kind is not Kind.STEPS or not looks or not plain or word in words

    assert len(LOOKS) > 150
    assert [each for each in LOOKS if not is_said(each)] == []


@pytest.mark.slow
@pytest.mark.repeated
def test_no_word_of_the_lexicon_is_dropped_where_photos_are_deleted(repeat: Repeat) -> None:
    """Each fourth of them, and with `--soak` all."""
    dropped = []
    words = [first for first, them in load().phrases.items() if any(len(phrase) == 1 for phrase, _ in them)]
    for word in (each for part in repeat("fourths of the lexicon", suite=1, soak=4) for each in words[part::4]):
        plan = route(f"delete the {word} photos in ~/inbox")
        meant = load().longest([word], 0)[1]
        if plan.kind is not Kind.STEPS or LEADING & meant.keys() or "" in meant or set(meant.values()) <= {"light"}:
            continue
        narrow = any(NARROW & args.keys() - {"pattern"} or word in str(args) for _, args in calls(plan))
        other = not str(calls(plan)[0][1].get("pattern", "")).startswith("*.jpg")
        dropped += [] if narrow or other or word.startswith("doc") else [word]
    assert dropped == []


@try_each(("text", "expected"), [
    ("find empty files in ~/inbox", {"path": "~/inbox", "max_size": "0"}),
    ("delete the empty files in ~/inbox", {"path": "~/inbox", "max_size": "0", "depth": 1}),
    ("delete the files in ~/inbox that are empty", {"path": "~/inbox", "max_size": "0", "depth": 1}),
    ("cancella i file vuoti in ~/inbox", {"path": "~/inbox", "max_size": "0", "depth": 1}),
    ("delete the empty pdfs in ~/inbox", {"path": "~/inbox", "pattern": "*.pdf", "max_size": "0"}),
    ("quanti file vuoti ci sono in ~/inbox?", {"path": "~/inbox", "max_size": "0"}),
    ("find the hidden files in ~/inbox", {"path": "~/inbox", "hidden": True, "pattern": ".*"}),
    ("delete the hidden files in ~/inbox", {"path": "~/inbox", "hidden": True, "pattern": ".*"}),
    ("sposta i pdf nascosti di ~/inbox in ~/b", {"path": "~/inbox", "hidden": True, "pattern": ".*.pdf"}),
    ("find large files in ~/inbox", {"path": "~/inbox", "order": "largest"}),
    ("find small pictures in ~/inbox",
     {"path": "~/inbox", "order": "smallest", "pattern": PHOTOS}),
    ("trova i file vecchi in ~/inbox", {"path": "~/inbox", "order": "oldest"}),
    ("trova i file più vecchi di 30 giorni in ~/inbox", {"path": "~/inbox", "older_than_days": 30}),
    ("delete the files downloaded before 2026-01-01 in ~/inbox",
     {"path": "~/inbox", "depth": 1, "older_than_days": 318.5}),
])  # fmt: skip
def test_what_can_be_told_exactly_is_looked_for(text: str, expected: dict[str, Any]) -> None:
    kind, args, _ = said(text)
    assert (kind, args) == (Kind.STEPS, expected)


@try_each(("text", "word"), [
    ("delete the small files in ~/inbox", '"small"'), ("cancella i file nuovi in ~/inbox", '"nuovi"'),
    ("delete everything in ~/inbox that is old", '"old"'), ("empty files in ~/inbox", '"empty"'),
    ("delete the empty folders in ~/inbox", '"empty"'), ("delete 3 files in ~/inbox", '"3"'),
    ("delete some files in ~/inbox", '"some"'), ("delete half the files in ~/inbox", '"half"'),
    ("delete the file in ~/inbox", '"the file"'), ("copy the new files from ~/inbox to ~/b", '"new"'),
    ("find the files in ~/inbox that are unused and delete them", '"unused"'),
    ("find empty folders in ~", '"empty"'), ("trova le cartelle vuote in ~/inbox", '"vuote"'),
    ("find the other files in ~/inbox and delete them", '"other"'),
])  # fmt: skip
def test_it_says_which_word_it_cannot_tell(text: str, word: str) -> None:
    plan = route(text)
    assert (plan.kind, plan.steps) == (Kind.NOTHING, ())
    assert word in plan.say


@pytest.mark.parametrize("text", [
    "which files in ~/inbox are empty?", "are there empty files in ~/inbox?", "all empty files in ~/inbox",
    "quali file in ~/inbox sono vuoti?", "show me the empty files in ~/inbox", "do I have empty files in ~/inbox?",
])  # fmt: skip
def test_a_question_about_empty_files_deletes_none(text: str) -> None:
    plan = route(text)
    assert [(executor, args.get("max_size")) for executor, args in calls(plan)] == [("find_files", "0")]
    assert plan.notes == ()


@pytest.mark.parametrize(("text", "days"), [
    ("delete the files in ~/inbox created before 2025", {"older_than_days": 683.5}),
    ("delete the files in ~/inbox created after 2024", {"newer_than_days": 683.5}),
    ("delete the files in ~/inbox changed since October", {"newer_than_days": 45.5}),
    ("cancella i file di ~/inbox modificati dopo il 2024", {"newer_than_days": 683.5}),
    ("delete the files in ~/inbox created in 2025", {"newer_than_days": 683.5, "older_than_days": 318.5}),
])  # fmt: skip
def test_before_and_after_a_stretch_of_days_are_not_the_days(text: str, days: dict[str, float]) -> None:
    args = said(text)[1]
    assert {name: value for name, value in args.items() if name.endswith("_days")} == days


def test_an_order_without_a_measure_is_said() -> None:
    assert "largest" in " ".join(route("find large files in ~/inbox").notes)


@try_each("text", [
    "throw away the empty folder ~/x", "delete the old draft.txt", "delete the big picture ~/a.png",
    "empty the folder ~/inbox", "svuota la cartella ~/inbox", "move a.txt into the new folder ~/b",
    "delete all the files in ~/inbox", "delete my files in ~/inbox",
])  # fmt: skip
def test_before_what_is_named_a_word_only_describes(text: str) -> None:
    assert route(text).kind is Kind.STEPS


@pytest.mark.parametrize("text", ["delete the folders in ~/inbox", "cancella le cartelle in ~/inbox"])
def test_folders_in_a_folder_are_not_the_folder(text: str) -> None:
    kind, args, _ = said(text)
    assert (kind, args) == (Kind.STEPS, {"path": "~/inbox", "depth": 1, "kind": "folder"})


def test_one_folder_in_a_folder_is_asked_for() -> None:
    assert route("delete the folder in ~/inbox").kind is not Kind.STEPS


def test_files_and_folders_are_both() -> None:
    assert said("delete all files and folders in ~/inbox")[1] == {"path": "~/inbox", "depth": 1, "kind": "any"}


def test_what_files_are_like_is_an_argument_of_the_executor() -> None:
    assert {"max_size", "hidden", "order", "pattern"} <= set(tools()["find_files"].properties)
