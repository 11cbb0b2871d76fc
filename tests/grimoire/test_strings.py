from metnos.grimoire.strings import strings


def test_every_text_at_any_depth_is_found_and_nothing_else() -> None:
    value = {"a": ["b", {"c": ("d", 1, None)}], "e": 2.5}
    assert list(strings(value)) == ["a", "b", "c", "d", "e"]
    assert list(strings(value, keys=False)) == ["b", "d"]
    assert list(strings(7)) == []
