"""Known weaknesses, each beside code of the same shape that does not have it."""

from executors.gate_cases import FILES, rules
from tables import try_each

CHOICE = "def can():\n    return True\ndef a(): pass\ndef b(): pass\ndef c(): pass\ndef do(what):\n"
UNEVEN = CHOICE + (
    "    if what == 'a':\n        a()\n    elif what == 'b':\n        if can():\n            b()\n"
    "    elif what == 'c':\n        if can():\n            c()\n"
)
EVEN = UNEVEN.replace("        a()\n    elif", "        if can():\n            a()\n    elif")
FIND = "def find(pairs, wanted):\n    for pair in pairs:\n        if pair[0] == wanted:\n            return pair[1]\n"
VALID = "import re\ndef is_valid(text):\n    return bool(re.{how}(r'{pattern}', text))"
RAISE = "def work():\n    raise_privileges()\n    try:\n        act()\n    {end}:\n        lower_privileges()"

PAIRS = [
    ("weak-secret", "import random\ntoken = random.random()", "import secrets\ntoken = secrets.token_hex()"),
    (
        "weak-secret",
        "import random\ndef make_password():\n    return random.choice(x)",
        "import random\ncolour = random.choice(x)",
    ),
    ("weak-secret", "from random import randint as r\nkeygen = r(1, 9)", "from random import randint as r\ndie = r(6)"),
    ("weak-hash", "import hashlib\nhashlib.md5(x)", "import hashlib\nhashlib.sha256(x)"),
    ("weak-hash", "import hashlib\nhashlib.new('sha1', x)", "import hashlib\nhashlib.md5(x, usedforsecurity=False)"),
    ("secret-shown", "print(f'wrong: {password}')", "print(f'wrong: {name}')"),
    ("uneven-guard", UNEVEN, EVEN),
    (
        "uneven-guard",
        "def is_admin(): return True\ndef f(): pass\nf()",
        "def is_admin(): return True\ndef f(): is_admin()\nf()",
    ),
    ("unlowered", RAISE.format(end="except OSError"), RAISE.format(end="finally")),
    ("repeated-key", FIND + "x = [('a', 1), ('a', 2)]\nfind(x, 'a')", FIND + "x = [('a', 1), ('b', 2)]\nfind(x, 'a')"),
    ("repeated-key", FIND + "x = []\nx.append(('a', 1))\nx.append(('a', 2))\nfind(x, 'a')", "x = [('a', 1), ('a', 2)]"),
    ("repeated-key", "x = {'a': 1, 'a': 2}", "x = {'a': 1, 'b': 2}"),
    ("open-validator", VALID.format(how="match", pattern=r"\d+"), VALID.format(how="fullmatch", pattern=r"\d+")),
    ("open-validator", VALID.format(how="search", pattern=r"a"), VALID.format(how="match", pattern=r"^a$")),
    ("swapped-arguments", "def f(a, b): pass\nf(b, a)", "def f(a, b): pass\nf(a, b)"),
    ("impossible", "x = [1, 2]\ny = x[5]", "x = [1, 2]\nx.append(3)\ny = x[5]"),
    ("impossible", "x = 1 / 0", "x = 1 / 2"),
    ("impossible", "from decimal import Decimal\nDecimal(0.1)", "from decimal import Decimal\nDecimal('0.1')"),
    ("open-permission", "import os\nos.chmod(x, 0o777)", "import os\nos.chmod(x, 0o600)"),
    ("built-query", "q = f\"SELECT * FROM t WHERE n = '{n}'\"", "q = 'SELECT * FROM t WHERE n = ?'"),
    ("built-query", "q = 'DELETE FROM t WHERE n = %s' % n", "q = 'Select one of %s' % n"),
    ("built-page", "p = f'<h1>{name}</h1>'", "from html import escape\np = f'<h1>{escape(name)}</h1>'"),
]  # fmt: skip


@try_each(("rule", "weak", "twin"), PAIRS)
def test_a_weakness_is_refused_and_its_twin_is_not(rule: str, weak: str, twin: str) -> None:
    assert rule in rules(weak, FILES)
    assert rules(twin, FILES) == set()
