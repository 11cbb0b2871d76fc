"""What programs reach with their secret: what docs/web.md lists, and nothing else."""

import re

from hypothesis import given
from hypothesis import strategies as st

from api.http.served import Client
from metnos.api.http import guard_rules
from metnos.api.http.guard_rules import FOR_PROGRAMS, METHODS, is_for_programs
from support import ROOT

_ROW = re.compile(r"^\| `(GET|POST|DELETE)((?:, (?:GET|POST|DELETE))*) (/\S+)` \|", re.MULTILINE)
_HOLE = re.compile(r"\{[^}]+\}")


def test_the_list_in_the_documentation_is_the_one_in_force() -> None:
    text = (ROOT / "docs/web.md").read_text(encoding="utf-8")
    listed = {path: (first, *more.split(", ")[1:]) for first, more, path in _ROW.findall(text)}
    assert listed == FOR_PROGRAMS


def test_every_other_address_is_closed(page: Client) -> None:
    program = page.program("full")
    closed = 0
    for path, methods in page.get("/api/openapi.json")["paths"].items():
        for method in map(str.upper, methods):
            if path == "/api/pair" or (
                _HOLE.sub("*", path) in FOR_PROGRAMS and method in FOR_PROGRAMS[_HOLE.sub("*", path)]
            ):
                continue
            closed += 1
            assert program.refused(method, _HOLE.sub("1", path), {})[0] == 403, (method, path)
    assert closed > 50


def test_pages_are_closed(page: Client) -> None:
    program = page.program("full")
    for path in ("/", "/inbox", "/settings", "/audit", "/memory", "/executors"):
        assert program.http.get(path, headers=program.headers).status_code == 403


@given(
    st.sampled_from(sorted(METHODS)),
    st.lists(st.sampled_from(["api", "turns", "runs", "1", "..", "", "audit", "mcp", "v1"])),
)
def test_nothing_that_is_not_listed_matches(method: str, parts: list[str]) -> None:
    path = "/" + "/".join(parts)
    if is_for_programs(method, path):
        kinds = [re.fullmatch(each.replace("*", "[^/]+") + "/?", path) is not None for each in FOR_PROGRAMS]
        assert sum(kinds) == 1
        assert method == "HEAD" or method in FOR_PROGRAMS[list(FOR_PROGRAMS)[kinds.index(True)]]


def test_what_is_listed_is_there() -> None:
    assert all(set(methods) <= guard_rules.METHODS for methods in FOR_PROGRAMS.values())
    assert is_for_programs("POST", "/mcp/")
    assert not is_for_programs("POST", "/mcp/more")
    assert not is_for_programs("GET", "/api/turns/1/feedback")
    assert not is_for_programs("POST", "/api/runs/1/answer")
