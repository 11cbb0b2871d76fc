"""Shapes that no declaration waives: each attack is refused by its rule, and its harmless twin passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.gate_cases import FILES, NOTHING, rules
from metnos.executors.gate import Declared
from tables import try_each

EVERYTHING = Declared(
    read=("/**", "~/**"), write=("/**", "~/**"), hosts=("*",), methods=("GET", "POST"), programs=("ls", "sh"),
    calls=("find_files",), model=True, system=("host", "processes", "disks"), libraries=("requests", "psutil", "yaml"),
)  # fmt: skip

PAIRS = [
    ("dynamic-code", "exec('x = 1')", "execute = 1"),
    ("dynamic-code", "f = eval\nf('1')", "import ast\nast.literal_eval('1')"),
    ("dynamic-code", "compile('1', 'x', 'eval')", "import re\nre.compile('1')"),
    ("dynamic-code", "import importlib\nimportlib.import_module('os')", "from importlib import metadata"),
    ("dynamic-code", "import types\ntypes.FunctionType(c, {})", "import types\nisinstance(f, types.FunctionType)"),
    ("dynamic-code", "import types\nf = [types.CodeType()]", "import types\nisinstance(f, (types.CodeType, int))"),
    ("dynamic-code", "import types\nmake(types.CodeType)", "import types\nprint(types.CodeType.__name__)"),
    ("dynamic-code", "import marshal", "import json"),
    ("dynamic-code", "import sys\nsys.path.insert(0, 'x')", "import sys\nsys.exit(1)"),
    ("deserialise", "import pickle\npickle.loads(x)", "import pickle\npickle.dumps(x)"),
    ("deserialise", "from pickle import loads as l\nl(x)", "from json import loads as l\nl(x)"),
    ("network", "import socket", "import ipaddress"),
    ("network", "from http import client", "from http import HTTPStatus"),
    ("network", "import urllib.request", "import urllib.parse"),
    ("network", "from http.client import HTTPSConnection", "from http.cookies import SimpleCookie"),
    ("network", "import requests", "import json"),
    ("process", "import os\nos.kill(1, 9)", "import os\nos.path.join('a', 'b')"),
    ("process", "import os\nos.fork()", "import os\nos.getcwd()"),
    ("process", "import multiprocessing", "import itertools"),
    ("threads", "import threading\nthreading.Thread(target=f)", "import threading\nlock = threading.Lock()"),
    ("native-code", "import ctypes", "import struct"),
    ("surveillance", "import psutil", "import shlex"),
    ("surveillance", "from PIL import ImageGrab", "from textwrap import fill"),
    ("interpreter", "import sys\nsys.settrace(f)", "import sys\nsys.getsizeof(f)"),
    ("interpreter", "import gc\ngc.get_objects()", "import gc\ngc.collect()"),
    ("interpreter", "import tracemalloc", "import time"),
    ("interpreter", "import sys\nsys.excepthook = f", "import sys\nprint(sys.version)"),
    ("interpreter", "import sys\nsys.modules['json'] = f", "import sys\nprint(sys.modules['json'])"),
    ("interpreter", "import sys\ndel sys.modules['json']", "import sys\nprint(len(sys.modules))"),
    ("interpreter", "import sys\nsys.path[0] = '/tmp'", "import sys\nprint(sys.path)"),
    ("interpreter", "import sys\nprint(sys._getframe(1))", "import sys\nprint(sys.version)"),
    ("self", "import metnos.core", "import math"),
    ("star-import", "from os import *", "from math import *"),
    ("module-carried", "import os\nbox = [os]", "import os\nbox = [os.sep]"),
    ("module-carried", "import os\ndef f():\n    return os", "import math\ndef f():\n    return math"),
    ("computed-name", "import os\ngetattr(os, name)", "getattr(thing, name)"),
    ("computed-name", "globals()[name]", "globals()[name] = 1"),
    ("dunder", "().__class__", "thing.__class__"),
    ("dunder", "object.__subclasses__()", "object.__init__"),
    ("dunder", "f.__globals__", "f.__name__"),
    ("dunder", "getattr(f, '__glo' + 'bals__')", "getattr(f, '__na' + 'me__')"),
    ("dunder", "'{0.__class__.__init__.__globals__}'.format(f)", "'{0.name}'.format(f)"),
    ("dunder", "import operator\noperator.attrgetter('a.__globals__')", "import operator\noperator.attrgetter('a.b')"),
    ("dunder", "print(__loader__)", "print(__name__)"),
    ("dunder", "f.__class__.__mro__", "f.__class__.__name__"),
    ("dunder", "import os\nos.__dict__", "f.__dict__"),
    ("decoded-constant", "import base64\nbase64.b64decode('aW1wb3J0IG9z')", "import base64\nbase64.b64decode(x)"),
    ("decoded-constant", "bytes.fromhex('2f6574632f706173737764')", "bytes.fromhex('89504e470d0a1a0a')"),
    ("decoded-constant", "'dwssap/cte/'[::-1]", "text[::-1]"),
    ("decoded-constant", "''.join(chr(c) for c in [111, 115, 46, 120])", "''.join(chr(c) for c in numbers)"),
    (
        "decoded-constant",
        "import codecs\ncodecs.decode('flfgrz', 'rot13')",
        "import codecs\ncodecs.decode(b'x', 'utf-8')",
    ),
]


@try_each(("rule", "attack", "twin"), PAIRS, ids=lambda text: text[:40].replace("\n", " "))
def test_an_attack_is_refused_and_its_twin_is_not(rule: str, attack: str, twin: str) -> None:
    assert rule in rules(attack)
    assert rule in rules(attack, EVERYTHING), "no declaration waives a hostile shape"
    assert rules(twin, FILES) == set()


SHELLS = [
    "import subprocess\nsubprocess.run('ls /', shell=True)",
    "import subprocess\nsubprocess.run(['sh', '-c', x])",
    "from subprocess import Popen as p\np(x, shell=flag)",
    "import subprocess\nsubprocess.run(['ls'], preexec_fn=f)",
]


@pytest.mark.parametrize("attack", SHELLS)
def test_a_shell_is_refused_even_where_programs_are_declared(attack: str) -> None:
    assert "shell" in rules(attack, EVERYTHING)
    assert rules("import subprocess\nsubprocess.run(['ls', '-l'], shell=False)", EVERYTHING) == set()


DISGUISES = [
    "import os\nos.{name}('x')",
    "import os as o\no.{name}('x')",
    "from os import {name}\n{name}('x')",
    "from os import {name} as harmless\nharmless('x')",
    "import os\nf = os.{name}\nf('x')",
    "import os\nf, g = os.{name}, 1\nf('x')",
    "import os\ngetattr(os, '{name}')('x')",
    "import os\ngetattr(os, '{head}' + '{tail}')('x')",
    "import os\ngetattr(os, ''.join(['{head}', '{tail}']))('x')",
    "import os\na = '{head}'\ngetattr(os, f'{{a}}{tail}')('x')",
    "import os\nos.__dict__['{name}']('x')",
    "import os\nvars(os)['{name}']('x')",
    "__import__('os').{name}('x')",
    "__import__('o' + 's').{name}('x')",
    "import importlib\nimportlib.import_module('os').{name}('x')",
    "import sys\nsys.modules['os'].{name}('x')",
    "import os\nlist(map(os.{name}, ['x']))",
    "import os\n(lambda f: f('x'))(os.{name})",
    "import os\n[os][0].{name}('x')",
    "import os\n(os if 1 else None).{name}('x')",
    "import os\n(o := os).{name}('x')",
    "import os\na = os\nb = a\nc = b\nc.{name}('x')",
    "import posix\nposix.{name}('x')",
    "import os\ndef f(g=os.{name}):\n    g('x')",
    "import os\n@os.{name}\ndef f(): pass",
    "import os\nclass A:\n    f = staticmethod(os.{name})",
    "if True:\n    try:\n        import os\n    finally:\n        os.{name}('x')",
    "eval('__import__(\"os\").{name}(1)')",
    "__builtins__['eval']('1')",
    "import builtins\nbuiltins.exec('1')",
    "import os\nglobals()['os'].{name}('x')",
    "__import__(module).{name}('x')",
    "exec(''.join(map(chr, [111, 115])))",
]


CAUGHT = {"process", "dynamic-code", "module-carried", "undeclared-program", "dunder", "undeclared-system"}


@try_each("disguise", DISGUISES)
def test_every_disguise_is_seen_through(disguise: str) -> None:
    assert rules(disguise.format(name="system", head="sys", tail="tem")) & CAUGHT


@given(st.sampled_from(DISGUISES), st.sampled_from(["system", "popen", "fork", "kill", "execv", "setuid"]), st.data())
def test_no_disguise_hides_a_forbidden_call(disguise: str, name: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(min_value=0, max_value=len(name)))
    source = disguise.format(name=name, head=name[:cut], tail=name[cut:])
    found = rules(source)
    assert found & CAUGHT


@given(st.sampled_from(["exec", "eval", "__import__"]))
def test_a_definition_that_never_happens_does_not_hide_a_builtin(name: str) -> None:
    assert "dynamic-code" in rules(f"if False:\n    def {name}(x): pass\n{name}('x')", NOTHING)
