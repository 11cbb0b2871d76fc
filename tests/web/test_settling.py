"""Settings as fields of a form."""

import pytest

from metnos.web import settling


def made(**facts: object) -> settling.Setting:
    return settling.setting(
        {"name": "turn.show", "type": "text", "value": "", "default": "", "source": "default"} | facts
    )


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [("yes or no", True, "true"), ("whole number", 20, "20"), ("number", 5.0, "5"), ("number", 0.05, "0.05"),
     ("list", ["a", "b"], "a, b"), ("text", None, ""), ("text", "04:00", "04:00")],
)  # fmt: skip
def test_a_value_is_shown_as_it_would_be_typed(kind: str, value: object, shown: str) -> None:
    assert made(type=kind, value=value).value == shown


def test_choices_are_in_words_and_stay_what_they_are() -> None:
    level = made(name="policy.autonomy", type="choice", choices=["read_only", "full", "new_one"])
    assert level.choices == ("read_only", "full", "new_one")
    assert level.word("read_only").startswith("only look")
    assert level.word("new_one") == "new one"
    assert made(type="yes or no").word("false") == "no"
    assert made(type="text").word("a_b") == "a_b"


@pytest.mark.parametrize(("source", "locked", "changed"), [("default", 0, 0), ("file", 0, 1), ("environment", 1, 0)])
def test_only_the_environment_locks_and_only_the_file_is_a_change_of_yours(
    source: str, locked: int, changed: int
) -> None:
    one = made(source=source)
    assert (one.locked, one.changed) == (bool(locked), bool(changed))


def test_the_first_group_that_fits_holds_and_open_ones_come_first() -> None:
    names = ("memory.admission.kind", "memory.use", "zzz.odd", "policy.autonomy")
    found = settling.groups([{"name": name} for name in names])
    assert [(group.open, [each.name for each in group.settings]) for group in found] == [
        (True, ["policy.autonomy"]), (True, ["memory.use"]), (False, ["memory.admission.kind"]), (False, ["zzz.odd"]),
    ]  # fmt: skip


def test_what_one_has_to_say_of_a_model_comes_first() -> None:
    names = ("threads", "key", "url", "name", "provider")
    given = [{"name": f"models.fast.{name}"} for name in names] + [{"name": "models.retries"}]
    found = [each.name.rsplit(".", 1)[-1] for each in settling.of_model(given, "fast")]
    assert found == ["provider", "url", "name", "key", "threads"]


def test_marks_of_the_documentation_are_left_out_and_nothing_else() -> None:
    about = made(description="It counts as *no*, see `a*b`. 7*7*7", bounds="at most 1,000.0, more than 0.05")
    assert about.description == "It counts as no, see a*b. 7*7*7"
    assert about.bounds == "at most 1,000, more than 0.05"
