"""Whether birth tests are tests: enough of them, of more than one kind, and each one about something.

Rules: there are as many as the rules ask, and one of them has an input that must fail, with a class that exists. No two
have the same input or the same name; each that must succeed says what it expects, not all of them the same, and one at
least says what is *in* an entry or in a file afterwards. Arguments fit the schema, unless an error is expected. Files
lie in the box, and together stay small; pages are of declared hosts and methods, each by its whole address, and facts
about the machine only where they are declared. Names are plain, because people and models read them. Does not guarantee
that they would notice a mistake: the mutants show that.
"""

import json
import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from metnos.core.errors import ExecutorFailed
from metnos.executors import scope
from metnos.executors.birth import BirthTest, Page
from metnos.executors.capabilities import Http
from metnos.executors.manifest import Manifest
from metnos.executors.outcome import KINDS
from metnos.grimoire import poison
from metnos.synt.rules import SyntRules


def problems(tests: Sequence[BirthTest], manifest: Manifest, rules: SyntRules) -> list[str]:
    """What speaks against these tests, each with what to do."""
    return [*_together(tests, rules), *(problem for test in tests for problem in _alone(test, manifest))]


def expects_entries(test: BirthTest) -> bool:
    """Whether a test cannot be passed by a body that gives nothing and changes nothing."""
    counts = (test.expect.get(key) for key in ("count", "total"))
    return bool(
        any(test.expect.get(key) for key in ("entries", "results")) or any(isinstance(n, int) and n for n in counts)
    )


def _together(tests: Sequence[BirthTest], rules: SyntRules) -> Iterator[str]:
    if not rules.tests <= len(tests) <= rules.most_tests:
        yield f"there are {len(tests)} tests: write at least {rules.tests} and at most {rules.most_tests}"
    failing = [test for test in tests if test.expect_error]
    if len(failing) < rules.failing:
        yield 'no test has an input that must fail: add one with expect_error, such as expect_error = "invalid"'
    for kind, values in (("name", [test.name for test in tests]), ("input", [_input(test) for test in tests])):
        twice = next((value for value, count in Counter(values).items() if count > 1), None)
        if twice is not None:
            names = " and ".join(repr(test.name) for test, value in zip(tests, values, strict=True) if value == twice)
            yield f"the tests {names} have the same {kind}: change one of them"
    good = [test for test in tests if not test.expect_error]
    if not good:
        yield "every test expects an error: add some that must succeed"
    elif len({_text([test.expect, test.after]) for test in good}) == 1 and len(good) > 1:
        yield "all tests that must succeed expect the same: give them inputs with different results"
    if good and not any(_looks_inside(test) for test in good):
        yield "no test says what is in an entry, or in a file afterwards: expect at least one value"


def _alone(test: BirthTest, manifest: Manifest) -> Iterator[str]:
    where = f"test {test.name[:60]!r}"
    found = poison.screen(test.name)
    if not test.name.isprintable() or found.is_poison:
        yield f"{where}: its name is no plain description ({found.reason or 'it is not one printable line'})"
    if test.expect_error:
        if test.expect_error not in KINDS:
            yield f"{where}: there is no error class {test.expect_error!r}; there are {', '.join(sorted(KINDS))}"
        if test.expect:
            yield f"{where} expects both an error and a reply: keep one"
    else:
        yield from _arguments(test, manifest, where)
        if not test.expect and not test.after:
            yield f"{where} expects nothing: say what the reply must hold"
        strange = set(test.expect) - {manifest.result_key, "count", "total", "truncated", "failures", "failed"}
        if strange:
            yield f"{where} expects {min(strange)!r}, which no reply of a {manifest.kind.value} has"
    yield from _surroundings(test, manifest, where)


def _arguments(test: BirthTest, manifest: Manifest, where: str) -> Iterator[str]:
    try:
        manifest.validate_args(test.args)
    except ExecutorFailed as error:
        yield f"{where}: its arguments do not fit `args`, and no error is expected: {error.what}"


def _surroundings(test: BirthTest, manifest: Manifest, where: str) -> Iterator[str]:
    for name in (*test.files, *test.after):
        if name.startswith(("/", "~")) or ".." in posixpath.normpath(name).split("/") or "\0" in name or not name:
            yield f"{where}: the file {name!r} is not in the box: name it by a path below {{box}}, such as a.txt"
    can = manifest.capabilities
    if test.http and can.net.http is None:
        yield f"{where} records web pages, but there is no net.http: remove them"
    yield from (problem for page in test.http for problem in _page(page, can.net.http, where))
    for what in test.system:
        if what not in can.system.read:
            yield f"{where} records facts about {what}, but there is no system.read of them: remove them"
    for call in test.calls:
        if call.name not in can.executor.call:
            yield f"{where} records a call of {call.name}, which executor.call does not name: remove it"


def _page(page: Page, http: Http | None, where: str) -> Iterator[str]:
    if http is None:
        return
    try:
        host = urlsplit(page.url).hostname or ""
    except ValueError:
        host = ""
    if not scope.host_matches(http.hosts, host):
        yield f"{where} records a page of {host!r}, a host that is not declared"
    if page.method not in http.methods:
        yield f"{where} records an answer to {page.method}, a method that is not declared"


def _looks_inside(test: BirthTest) -> bool:
    lists = [test.expect.get("entries"), test.expect.get("results"), test.expect.get("failures")]
    return bool(test.after) or any(_leaves(each) for each in lists)


def _leaves(value: Any) -> int:
    """How many values an expectation names."""
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    if isinstance(value, list):
        return sum(map(_leaves, value))
    return value is not None


def _input(test: BirthTest) -> str:
    seen = test.model_dump(mode="json")
    return _text({key: seen[key] for key in seen if key not in ("name", "expect", "expect_error", "after")})


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
