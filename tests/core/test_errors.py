import inspect
import re

from metnos.core import errors


def tree() -> dict[str, str]:
    """Class and parent of every error, as the classes say."""
    classes = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    return {each.__name__: each.__bases__[0].__name__ for each in classes}


def drawn() -> dict[str, str]:
    """Class and parent of every error, as the docstring draws them."""
    parents: list[str] = []
    found = {}
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ((?:[│ ]   )*)(?:[├└]── )?(\w+) {2,}\S", line)
        if match:
            depth = len(match.group(1)) // 4 + ("── " in line)
            parents[depth:] = [match.group(2)]
            found[match.group(2)] = parents[depth - 1] if depth else "Exception"
    return found


def test_the_drawing_in_the_docstring_is_the_tree() -> None:
    assert drawn() == tree()


def test_a_message_says_what_happened_and_then_what_to_do() -> None:
    error = errors.StoreFull("the disk is full", fix="Free some space.")
    assert str(error) == "the disk is full\nFree some space."
    assert str(errors.StoreFull("the disk is full")) == "the disk is full"
