"""Code that would never end or never have enough, beside code that looks like it and ends."""

from executors.gate_cases import FILES, rules
from tables import try_each

PAIRS = [
    ("endless", "while True:\n    x = 1", "while True:\n    if f():\n        break"),
    (
        "endless",
        "while 1:\n    for x in y:\n        break",
        "while 1:\n    for x in y:\n        return_ = 1\n    break",
    ),
    ("endless", "i = 0\nwhile i < 10:\n    print(i)", "i = 0\nwhile i < 10:\n    i += 1"),
    ("endless", "import itertools\nfor i in itertools.count():\n    x = i", "for i in range(5):\n    x = i"),
    ("endless", "def f(n):\n    return f(n - 1)", "def f(n):\n    return f(n - 1) if n else 0"),
    ("endless", "def f():\n    f()\n    f()", "def f(n):\n    if n:\n        f(n - 1)"),
    ("endless", "for x in items:\n    items.append(x)", "for x in items:\n    others.append(x)"),
    ("endless", "import time\ntime.sleep(10**6)", "import time\ntime.sleep(0.1)"),
    ("bomb", "x = 'A' * 10**9", "x = 'A' * 1000"),
    ("bomb", "x = [0] * (1 << 32)", "x = [0] * 1000"),
    ("bomb", "x = 'A' * 10000 * 10000 * 10000", "x = 2 * 3 * 4"),
    ("bomb", "x = 9 ** 9 ** 9 ** 9", "x = 2 ** 64"),
    ("bomb", "x = bytearray(10**10)", "x = bytearray(10)"),
    ("bomb", "for i in range(10**12):\n    pass", "for i in range(10**3):\n    pass"),
    (
        "deadlock",
        "import threading\na = threading.Lock()\nb = threading.Lock()\n"
        "def f():\n    with a:\n        with b: pass\ndef g():\n    with b:\n        with a: pass",
        "import threading\na = threading.Lock()\nb = threading.Lock()\n"
        "def f():\n    with a:\n        with b: pass\ndef g():\n    with a, b: pass",
    ),
    ("deadlock", "lock.acquire()", "lock.acquire()\nlock.release()"),
]


@try_each(("rule", "attack", "twin"), PAIRS)
def test_what_never_ends_is_refused_and_what_does_is_not(rule: str, attack: str, twin: str) -> None:
    assert rule in rules(attack, FILES)
    assert rules(twin, FILES) == set()


def test_a_loop_that_empties_a_list_passes() -> None:
    assert rules("def f():\n    waiting = ['']\n    while waiting:\n        waiting.pop()") == set()
    assert rules("waiting, found = [''], []\nwhile waiting:\n    found.append(waiting.pop())") == set()


def test_a_loop_that_an_exception_ends_passes() -> None:
    assert rules("try:\n    while True:\n        next(items)\nexcept StopIteration:\n    pass") == set()
    assert rules("def f():\n    while True:\n        yield 1") == set()


def test_names_that_are_made_of_one_another_do_not_keep_the_gate_itself() -> None:
    names = [f"v{number}" for number in range(20)]
    made = "".join(f"{name} = args[{name!r}]\n{name} = {' + '.join(names)}\n" for name in names)
    assert "undeclared-write" in rules(f"{made}open(v0 + v1, 'w').write('x')")
