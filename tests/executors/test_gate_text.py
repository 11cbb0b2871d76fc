"""What the characters of a source can hide."""

import base64
import hashlib

import pytest

from executors.gate_cases import rules

NOISE = base64.b64encode(b"".join(hashlib.sha256(bytes([each])).digest() for each in range(20))).decode()

PAIRS = [
    ("hidden-character", "x = 1  # \u202e reversed", "x = 1  # straight"),
    ("hidden-character", "x = 'a\u200bb'", "x = '\u0645\u06cc\u200c\u062e\u0648'"),
    ("hidden-character", "x = 'a\x07'", "x = 'a\\x07'"),
    ("hidden-code", "x = 1" + " " * 300 + "; y = 2", "x = 1\n" + " " * 300 + "\ny = 2"),
    ("look-alike", "p\u0430ssword_ = 1", "\u0438\u043c\u044f = 1"),
    ("look-alike", "\uff45\uff56\uff41\uff4c_ = 1", "evaluated = 1"),
    ("blob", f"x = '{NOISE}'", f"x = '{'word ' * 200}'"),
]


@pytest.mark.parametrize(("rule", "attack", "twin"), PAIRS)
def test_what_hides_is_refused_and_what_shows_is_not(rule: str, attack: str, twin: str) -> None:
    assert rule in rules(attack)
    assert rules(twin) == set()


def test_a_builtin_in_other_letters_is_the_builtin() -> None:
    assert "dynamic-code" in rules("\uff45\uff56\uff41\uff4c('1')")
