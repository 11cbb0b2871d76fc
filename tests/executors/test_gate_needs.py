"""What a manifest can declare: refused while undeclared, accepted once it is, and never more than was declared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.gate_cases import FILES, NOTHING, rules
from metnos.executors.gate import Declared, infer
from metnos.executors.gate_needs import normal
from tables import try_each

EXAMPLE = Declared(hosts=("*.example.org",))
LS = Declared(programs=("/bin/ls",))

# the rule, code that needs it, a declaration that waives it, and one that does not
NEEDS = [
    ("undeclared-read", "open('/srv/x').read()", Declared(read=("/srv/**",)), Declared(read=("/srv/y",))),
    ("undeclared-read", "p = '/etc' + '/hosts'", Declared(read=("/etc/hosts",)), FILES),
    ("undeclared-read", "import os\np = os.path.join('/etc', 'hosts')", Declared(read=("/etc/**",)), FILES),
    ("undeclared-read", "from pathlib import Path\np = Path('/var') / 'log' / 'x'", Declared(read=("/var/**",)), FILES),
    ("undeclared-read", "x = f'/home/{name}/notes'", Declared(read=("/home/**",)), Declared(read=("/srv/**",))),
    ("undeclared-read", "x = '/home/{}'.format(name)", Declared(read=("/home/**",)), Declared(read=("/srv/**",))),
    ("undeclared-read", "import glob\nglob.glob(pattern)", FILES, NOTHING),
    ("undeclared-read", "open(args['path'])", FILES, NOTHING),
    ("undeclared-write", "open(name, 'w')", FILES, Declared(read=("/**",))),
    ("undeclared-write", "path.write_text('x')", FILES, NOTHING),
    ("undeclared-write", "import os\nos.remove(x)", FILES, Declared(read=("/**",))),
    ("undeclared-write", "import shutil\nshutil.rmtree(x)", FILES, NOTHING),
    ("undeclared-write", "import os\nlist(map(os.remove, x))", FILES, Declared(read=("/**",))),
    ("undeclared-read", "list(map(open, x))", FILES, NOTHING),
    ("undeclared-program", "import os\nf(os.execv)", LS, NOTHING),
    ("undeclared-write", "ctx.trash(x)", FILES, NOTHING),
    ("undeclared-host", "u = 'https://api.example.org/x'", EXAMPLE, Declared(hosts=("example.com",))),
    ("undeclared-host", "u = 'https://a.' + 'example.org'", EXAMPLE, Declared(hosts=("example.com",))),
    ("undeclared-program", "import subprocess\nsubprocess.run(['ls'])", LS, Declared(programs=("/bin/cat",))),
    ("undeclared-call", "ctx.call('find_files', {})", Declared(calls=("find_files",)), Declared(calls=("move_files",))),
    ("undeclared-model", "ctx.chat('x')", Declared(model=True), NOTHING),
    ("undeclared-system", "ctx.system('disks')", Declared(system=("disks",)), Declared(system=("host",))),
    ("undeclared-system", "import os\nos.environ['HOME']", Declared(system=("host",)), Declared(system=("disks",))),
    ("undeclared-library", "import pypdf", Declared(libraries=("pypdf",)), Declared(libraries=("lxml",))),
]  # fmt: skip


@try_each(("rule", "source", "enough", "wrong"), NEEDS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_need_is_refused_until_it_is_declared(rule: str, source: str, enough: Declared, wrong: Declared) -> None:
    assert rules(source) == {rule}
    assert rules(source, wrong) == {rule}
    assert rules(source, enough) == set()


HTTP = Declared(hosts=("*",), methods=("GET",))


def test_http_needs_the_method_and_some_host() -> None:
    assert rules("ctx.http('GET', url)") == {"undeclared-host", "undeclared-method"}
    assert rules("ctx.http('GET', url)", HTTP) == set()
    assert rules("ctx.http('POST', url)", HTTP) == {"undeclared-method"}
    assert rules("ctx.http(method, url)", HTTP) == set(), "the broker checks what is computed"


TEMPORARY = [
    "open('/tmp/x', 'w')",
    "import os, tempfile\nd = tempfile.mkdtemp()\nopen(os.path.join(d, 'x'), 'wb')",
    "import pathlib, tempfile\nwith tempfile.TemporaryDirectory() as d:\n    (pathlib.Path(d) / 'x').write_bytes(b'')",
    "from pathlib import Path\nPath('/tmp/x').unlink()",
    "from pathlib import Path\nbase = Path('/tmp')\n(base / name).write_text('x')",
]  # fmt: skip


@pytest.mark.parametrize("source", TEMPORARY)
def test_the_private_tmp_needs_no_declaration(source: str) -> None:
    assert rules(source) == set()


DIRECT = [
    "open('/home/x/notes', 'w')",
    "from pathlib import Path\nPath('~/notes').write_text('x')",
    "import os\nos.remove('/srv/x')",
    "def run(args, ctx):\n    open(args['path'], 'w')",
    "def run(args, ctx):\n    import shutil\n    target = args['to']\n    shutil.move(x, target)",
]


@pytest.mark.parametrize("source", DIRECT)
def test_a_change_past_ctx_is_refused_whatever_is_declared(source: str) -> None:
    assert "direct-write" in rules(source, Declared(read=("/**", "~/**"), write=("/**", "~/**")))


def test_forbidden_paths_and_climbing_are_refused_whatever_is_declared() -> None:
    everything = Declared(read=("/**", "~/**"))
    assert rules("p = '/etc/shadow'", everything) == {"forbidden-path"}
    assert rules("p = '~/.ssh/id_ed25519'", everything) == {"forbidden-path"}
    assert "traversal" in rules("p = '../../../etc/passwd'", everything)
    assert rules("p = '/etc/hosts'", everything) == set()
    assert rules("p = '../notes'", everything) == set()


def test_words_that_only_look_like_paths_and_addresses_pass() -> None:
    assert rules("'''See /etc/passwd and http://example.org'''\nx = 'a /etc b'") == set()
    assert rules("NS = 'http://www.w3.org/1999/xhtml'\ny = '/text()'\nz = '/'") == set()


def test_inference_grants_what_is_benign_and_never_the_system() -> None:
    found = infer(
        "import pypdf, subprocess\nsubprocess.run(['ls'])\nopen(x)\nopen('/etc/hosts')\nu = 'https://example.org/'"
    )
    assert found == Declared(
        read=("~/**",), hosts=("example.org",), programs=("*", "ls"), libraries=("pypdf",)
    )  # fmt: skip
    assert infer("u = 'http://10.0.0.1/'").hosts == ()
    assert infer("not python at all") == Declared()


@given(st.lists(st.sampled_from(["..", ".", "a", "b", ""]), max_size=8))
def test_a_written_path_has_one_form(parts: list[str]) -> None:
    path = normal("/" + "/".join(parts))
    assert path == normal(path)
    assert path.startswith("/")
    assert not {"..", "."} & set(path.split("/"))
