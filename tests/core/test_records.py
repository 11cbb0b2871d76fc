from metnos.core.records import Check, Level


def test_a_check_is_made_by_its_colour() -> None:
    assert Check.green("a", "fine") == Check("a", Level.GREEN, "fine", "")
    assert Check.yellow("a", "so so", "do x").level is Level.YELLOW
    assert Check.red("a", "broken", "do y") == Check("a", Level.RED, "broken", "do y")
