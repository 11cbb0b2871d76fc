import subprocess
import sys

import pytest

import metnos

PUBLIC = [
    "Aged", "Agent", "Answer", "Approve", "Forgotten", "Grimoire", "Learnt", "Memory", "MetnosError", "Mnest",
    "Mnestome", "Step", "Turning", "__version__",
]  # fmt: skip


def test_the_public_names_are_these_and_each_is_there() -> None:
    assert metnos.__all__ == PUBLIC
    assert dir(metnos) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(metnos, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Wizard'"):
        _ = metnos.Wizard


def test_every_public_class_says_what_it_is() -> None:
    classes = [found for name in PUBLIC if isinstance(found := getattr(metnos, name), type)]
    assert len(classes) == len(PUBLIC) - 2
    for found in classes:
        assert found.__doc__, found
        for name, member in vars(found).items():
            if callable(member) and not name.startswith("_"):
                assert member.__doc__, f"{found.__name__}.{name}"


def test_importing_it_loads_nothing_else() -> None:
    code = "import sys, metnos; print(sorted(name for name in sys.modules if name.startswith('metnos')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "['metnos']"
