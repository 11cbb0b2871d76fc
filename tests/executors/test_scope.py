from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ManifestError
from metnos.executors import scope
from metnos.executors.scope import Scope
from tables import try_each

HOME = Path("/nowhere/home")
WORKSPACE = Path("/nowhere/workspace")
PART = st.text("abcXYZ.-_ é", min_size=1, max_size=8).filter(lambda part: part not in (".", ".."))
PARTS = st.lists(PART, max_size=4)


@given(st.sampled_from(["/", "~/", "{workspace}/"]), PARTS, st.booleans())
def test_a_scope_covers_its_root_and_what_is_below_only_if_it_says_so(
    base: str, parts: list[str], recursive: bool
) -> None:
    text = (base + "/".join(parts)).rstrip("/") if parts else base[:-1]
    text = text + "/**" if recursive else text or "/"
    if text in ("~", "{workspace}"):
        with pytest.raises(ManifestError):
            scope.check(text)
        return
    found = scope.resolve(text, HOME, WORKSPACE)
    assert found.recursive is recursive
    assert scope.covers([found], found.root)
    assert scope.covers([found], found.root / "below" / "deep") is recursive
    if found.root != Path("/"):
        assert not scope.covers([found], found.root.parent)
        assert not scope.covers([found], found.root.with_name(found.root.name + "x")), "a longer name is another place"


@given(st.text(max_size=30))
def test_what_is_taken_for_a_scope_is_plain(text: str) -> None:
    try:
        scope.check(text)
    except ManifestError:
        return
    assert text.startswith(("/", "~/", "{workspace}/"))
    assert ".." not in text.split("/")
    assert "*" not in text.removesuffix("/**")


@try_each(
    "text",
    ["", "a", "~", "~x/**", "../a", "/a/../b", "/a/./b", "/a/*", "/a/**/b", "/a/?", "/a*", "//a", "/a//b", "/a/",
     "/a\0b", "{home}/a", "/a/{workspace}/b", "~/{workspace}/**", "**", "/***"],
)  # fmt: skip
def test_what_is_no_scope(text: str) -> None:
    with pytest.raises(ManifestError):
        scope.check(text)


def test_everything_home_and_workspace() -> None:
    assert scope.resolve("/**", HOME, WORKSPACE) == Scope(Path("/"), recursive=True)
    assert scope.resolve("~/**", HOME, WORKSPACE) == Scope(HOME, recursive=True)
    assert scope.resolve("{workspace}/notes/**", HOME, WORKSPACE) == Scope(WORKSPACE / "notes", recursive=True)
    assert scope.names_workspace(["/**", "{workspace}/notes"])
    assert not scope.names_workspace(["/**", "~/{x}"])


def test_a_scope_through_a_link_is_where_the_link_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = scope.resolve(f"{tmp_path}/link/**", HOME, WORKSPACE)
    assert found.root == tmp_path / "real"
    assert scope.resolve_all([f"{tmp_path}/link"], HOME, WORKSPACE)[0].root == tmp_path / "real"


class TestHosts:
    @try_each(
        ("pattern", "host", "matches"),
        [
            ("example.org", "example.org", True),
            ("example.org", "EXAMPLE.org.", True),
            ("example.org", "www.example.org", False),
            ("*.example.org", "www.example.org", True),
            ("*.example.org", "a.b.example.org", True),
            ("*.example.org", "example.org", False),
            ("*.example.org", "badexample.org", False),
            ("*.example.org", "example.org.evil.net", False),
            ("*", "anything.at.all", True),
            ("*", "127.0.0.1", True),
            ("*", "not a host", False),
            ("*", "", False),
            ("*", "user@example.org", False),
            ("bücher.example", "xn--bcher-kva.example", True),
            ("BÜCHER.example", "bücher.example", True),
            ("127.0.0.1", "127.0.0.1", True),
            ("127.0.0.1", "127.1", False),
            ("[::1]", "0:0::1", True),
            ("localhost", "LOCALHOST", True),
        ],
    )
    def test_matches(self, pattern: str, host: str, matches: bool) -> None:
        assert scope.host_matches([scope.canonical_pattern(pattern)], host) is matches

    @try_each(
        "pattern",
        ["", "*.", "**", "*.*.org", "a.*.org", "example.org:80", "example.org/x", "http://example.org", "u@example.org",
         "exa mple.org", "-a.org", "*.127.0.0.1", "*.[::1]", "1.2.3", "a..b", "x" * 64 + ".org"],
    )  # fmt: skip
    def test_what_is_no_pattern(self, pattern: str) -> None:
        with pytest.raises(ManifestError):
            scope.canonical_pattern(pattern)

    @given(st.text(max_size=40))
    def test_one_spelling(self, text: str) -> None:
        try:
            once = scope.canonical_pattern(text)
        except ManifestError:
            return
        assert scope.canonical_pattern(once) == once
