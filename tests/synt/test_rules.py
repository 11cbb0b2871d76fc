"""The numbers of synt."""

from hypothesis import given
from hypothesis import strategies as st

from metnos.core.sections import ExecutorSettings
from metnos.synt.rules import SyntRules


def test_the_numbers_of_the_specification() -> None:
    rules = SyntRules()
    assert (rules.repairs, rules.rejections, rules.tests, rules.failing) == (2, 3, 3, 1)
    assert (rules.birth_s, rules.birth_mb) == (30.0, 256)


@given(st.floats(0.1, 600), st.integers(64, 16_384), st.floats(0.1, 3600))
def test_a_birth_never_gets_more_than_it_may_nor_more_than_the_owner_allows(
    cpu_s: float, ram_mb: int, wall_s: float
) -> None:
    settings = ExecutorSettings(cpu_s=cpu_s, ram_mb=ram_mb, wall_s=wall_s)
    bounded = SyntRules().bounded(settings)
    assert (bounded.wall_s, bounded.ram_mb, bounded.cpu_s) == (min(wall_s, 30.0), min(ram_mb, 256), min(cpu_s, 5.0))
    assert bounded.output_mb == settings.output_mb


def test_the_limits_of_likeness_are_in_order() -> None:
    rules = SyntRules().likeness
    assert rules.code_near < rules.code_same < rules.code_certain < 1
    assert rules.words_near < rules.words_same < 1
    assert rules.vectors_near < rules.vectors_same < 1
    assert SyntRules().mutation.least <= SyntRules().mutation.most
    assert 0 < SyntRules().mutation.share < 1
