"""What is there already, what comes near it, and what is new."""

import ast
import builtins
import itertools
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.test_builtin import NAMES, load
from metnos.core.embedding import Space
from metnos.executors import vocabulary
from metnos.synt import likeness
from metnos.synt.draft import Draft
from metnos.synt.likeness import Kinship, Profile, code_likeness, judge, of_draft, of_executor, of_need
from metnos.synt.need import Need, Way
from metnos.synt.rules import LikenessRules
from synt.specimens import builtin, draft
from tables import try_each

KNOWN = [of_executor(load(name)) for name in NAMES]
WORDS = vocabulary.load()
FREE = sorted(set(map("_".join, itertools.product(WORDS.verbs, WORDS.objects))) - set(NAMES))
# What is asked for in so many words, and what stands to it; what nothing does is new, or at most an extension.
THERE = {
    "convert CSV to JSON": "convert_tables",
    "convert units of length": "convert_units",
    "days between dates": "compute_dates",
}
NOT_THERE = (
    *("title-case texts", "slugify texts", "extract e-mail addresses", "extract ISO dates", "count word frequencies"),
    *("sum a CSV column by group", "find duplicate lines", "wrap text at a width", "parse durations to seconds"),
    *("validate IBANs", "roman numerals both ways", "mask credit-card numbers", "merge JSON objects"),
    *("sort version strings", "extract Markdown headings", "rename files by pattern (preview)"),
    "summarise a folder by file type",
)


class Meanings:
    """An embedder for which texts of the same first word mean the same."""

    space = Space("first-word", "1", "-", 64)

    def embed(self, texts: list[str]) -> Any:
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[crc32(text.split()[0].lower().encode()) % 64] = 1.0
        return rows


def renamed(one: Draft, name: str) -> Draft:
    return Draft(name, one.manifest.replace(f'name = "{one.name}"', f'name = "{name}"', 1), one.code, one.tests)


def in_other_words(one: Draft, name: str) -> Draft:
    """The same program with other names throughout, and another purpose."""

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            kept = node.id in {"ctx", "args"} or hasattr(builtins, node.id) or node.id in imported
            return node if kept else ast.Name(f"{node.id}_x", node.ctx)

        def visit_arg(self, node: ast.arg) -> ast.arg:
            return node if node.arg in {"ctx", "args"} else ast.arg(f"{node.arg}_x")

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            node.name = node.name if node.name == "run" else f"{node.name}_x"
            return self.generic_visit(node)

    tree = ast.parse(one.code)
    imported = {alias.asname or alias.name for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)
                for alias in each.names}  # fmt: skip
    purpose = one.read().purpose
    other = renamed(one, name)
    code = ast.unparse(ast.fix_missing_locations(Rename().visit(tree)))
    return Draft(name, other.manifest.replace(purpose, "Do a thing of another sort."), code, one.tests)


@pytest.mark.parametrize("name", NAMES)
class TestBuiltins:
    def test_are_there_under_their_own_name(self, name: str) -> None:
        found = judge(of_draft(builtin(name)), KNOWN)
        assert (found.kinship, found.name) == (Kinship.EXISTS, name)

    def test_are_there_under_another_free_name(self, name: str) -> None:
        other = FREE[crc32(name.encode()) % len(FREE)]
        found = judge(of_draft(renamed(builtin(name), other)), KNOWN)
        assert (found.kinship, found.name) == (Kinship.EXISTS, name)
        assert "its code is that of" in found.reason

    def test_are_there_with_every_name_in_the_code_and_the_purpose_changed(self, name: str) -> None:
        found = judge(of_draft(in_other_words(builtin(name), FREE[0])), KNOWN)
        assert (found.kinship, found.name) == (Kinship.EXISTS, name)

    def test_are_not_one_another(self, name: str) -> None:
        others = [each for each in KNOWN if each.name != name]
        assert judge(next(each for each in KNOWN if each.name == name), others).kinship is not Kinship.EXISTS


class TestNeeds:
    @pytest.mark.parametrize(("text", "name"), THERE.items())
    def test_that_a_built_in_meets(self, text: str, name: str) -> None:
        found = judge(of_need(Need(text, Way.OWNER)), KNOWN)
        assert (found.kinship, found.name) == (Kinship.EXISTS, name)
        assert f"{name} does that" in found.reason

    @try_each("text", NOT_THERE)
    def test_that_nothing_meets(self, text: str) -> None:
        assert judge(of_need(Need(text, Way.OWNER)), KNOWN).kinship is not Kinship.EXISTS

    def test_by_a_name_in_other_words(self) -> None:
        found = judge(of_need(Need("whatever", Way.DIRECT, name="locate_file")), KNOWN)
        assert (found.kinship, found.name) == (Kinship.EXISTS, "find_files")

    def test_of_one_word_say_too_little(self) -> None:
        assert judge(of_need(Need("Convert.", Way.OWNER)), KNOWN).kinship is Kinship.NEW


class TestDrafts:
    def test_of_something_new(self) -> None:
        found = judge(of_draft(draft()), KNOWN)
        assert found.kinship is Kinship.NEW
        assert judge(of_draft(draft()), []).kinship is Kinship.NEW

    def test_of_the_same_verb_and_object_extend(self) -> None:
        found = judge(of_draft(draft(name="find_files_age", purpose="Find files older than a day.")), KNOWN)
        assert (found.kinship, found.name) == (Kinship.EXTENDS, "find_files")

    def test_of_the_same_meaning_and_keys_exist_and_of_other_keys_do_not(self) -> None:
        one = of_draft(draft())
        twin = Profile("clean_text", "Format prose nicely.", (), one.takes, one.gives, "def run(a, b): 1", one.kind)
        assert judge(one, [twin]).kinship is Kinship.NEW
        found = judge(one, [twin], embedder=Meanings())
        assert (found.kinship, found.name) == (Kinship.EXISTS, "clean_text")
        other = Profile("clean_text", twin.purpose, (), frozenset("ab"), frozenset("cd"), twin.source, one.kind)
        assert judge(one, [other], embedder=Meanings()).kinship is Kinship.EXTENDS


class TestCode:
    @given(st.sampled_from(KNOWN), st.sampled_from(KNOWN))
    def test_likeness_is_a_share_and_the_same_both_ways(self, one: Profile, other: Profile) -> None:
        alike = code_likeness(one.source, other.source)
        assert 0 <= alike <= 1
        assert alike == code_likeness(other.source, one.source)
        assert code_likeness(one.source, one.source) == 1

    def test_what_is_no_python_is_like_nothing(self) -> None:
        assert code_likeness("def run(", "def run(") == 0

    def test_copying_is_not_moving(self) -> None:
        copy, move = (next(each for each in KNOWN if each.name == name) for name in ("copy_files", "move_files"))
        assert code_likeness(copy.source, move.source) > LikenessRules().code_same
        assert judge(copy, [move]).kinship is Kinship.EXTENDS

    def test_comments_and_docstrings_change_nothing(self) -> None:
        source = KNOWN[0].source
        assert code_likeness(source, f'"""Other words."""\n# a comment\n{source}') == pytest.approx(1, abs=0.05)
        assert likeness.code_likeness(source, "") == 0
