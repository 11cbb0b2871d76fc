"""The numbers of synt: how often a draft may be mended, what its tests must show, and when it is too like another.

Rules: every limit stands here once, with the reason or the place it comes from. Whoever builds one for an owner lowers
what the sandbox may use, and never raises it.
"""

from dataclasses import dataclass
from enum import StrEnum

from metnos.core.sections import ExecutorSettings


class Stage(StrEnum):
    """Who makes a part of a draft, and so who mends it."""

    NAMING = "naming"
    SIGNATURE = "signature"
    TESTS = "tests"
    DESCRIPTION = "description"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class LikenessRules:
    """When a draft or a need is what exists already. Shares of one; measured on the built-ins against one another."""

    code_same: float = 0.60  # of runs of code, with the same powers: two built-ins share up to 0.26, one renamed all
    code_certain: float = 0.95  # with other powers: copying and moving share 0.88
    code_near: float = 0.40  # beyond this the one grew from the other
    words_same: float = 0.85  # of a purpose by words: two built-ins that take and give alike reach 0.65
    words_near: float = 0.50
    vectors_same: float = 0.94  # of a purpose by an embedder: the same said in other words
    vectors_near: float = 0.80
    keys_same: float = 0.75  # of the names of what it takes and gives; alone this says nothing


@dataclass(frozen=True, slots=True)
class MutationRules:
    """How a draft's tests are put to the proof."""

    most: int = 12  # mutants of a draft: each costs sandboxes, and the share settles long before
    least: int = 4  # even of a draft that is slow: fewer say nothing
    budget_s: float = 40.0  # of sandbox time for all of them, after what the tests took on the draft itself
    share: float = 0.40  # to be noticed of those that do not break down: built-ins 0.75, tests that look away 0.29
    cpu_s: float = 2.0  # of one run, or less: a mutant that loops for ever is dead the sooner


@dataclass(frozen=True, slots=True)
class SyntRules:
    """What synt goes by."""

    repairs: int = 2  # of one stage, with the error (the specification of synt)
    rejections: int = 3  # in all; then it is abandoned and said (DESIGN 7)
    tests: int = 3  # at least (DESIGN 7; docs/executors.md)
    failing: int = 1  # of them with an input that fails
    most_tests: int = 40  # twice what the most thorough built-in has; each costs a sandbox
    tests_kb: int = 256  # of all tests with their files: ten times the largest of a built-in
    birth_s: float = 30.0  # wall clock of a birth test (DESIGN 7)
    birth_mb: int = 256  # its memory (DESIGN 7)
    birth_cpu_s: float = 5.0  # its CPU (DESIGN 7)
    mutation: MutationRules = MutationRules()
    likeness: LikenessRules = LikenessRules()

    def bounded(self, settings: ExecutorSettings) -> ExecutorSettings:
        """The settings under which a draft is tried: what the owner allows, and never more than a birth may have."""
        return settings.model_copy(
            update={
                "wall_s": min(settings.wall_s, self.birth_s),
                "ram_mb": min(settings.ram_mb, self.birth_mb),
                "cpu_s": min(settings.cpu_s, self.birth_cpu_s),
            }
        )
