import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.canon import canonical_json, canonical_path, sha256_file, sha256_hex
from metnos.core.errors import PathError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with a file, and links that lead to it."""
    root = tmp_path.resolve()
    (root / "real" / "deep").mkdir(parents=True)
    (root / "real" / "file").write_text("x")
    (root / "link").symlink_to(root / "real")
    (root / "relative").symlink_to("real/deep")
    (root / "absolute").symlink_to("/")
    (root / "round").symlink_to("about")
    (root / "about").symlink_to("round")
    return root


def spellings(house: Path) -> list[str]:
    """Ways to say ``real/file``, most of which some program somewhere has been fooled by."""
    text = str(house)
    return [
        f"{text}/real/file",
        "real/file",
        "./real/./file",
        "real//file",
        "real/deep/../file",
        "link/file",
        "relative/../file",
        "~/real/file",
        f"/{text}/real/file",
        f"///{text}/real/file",
        f"/proc/self/root{text}/real/file",
        f"/proc/{os.getpid()}/root{text}/real/file",
        f"/proc/thread-self/root{text}/link/file",
        f"/proc/self/cwd/../../../../../../../../../..{text}/real/file",
        f"absolute{text}/real/file",
        f"absolute/proc/self/root{text}/link/../real/file",
    ]


def test_every_spelling_of_a_file_is_one_path(house: Path) -> None:
    found = {canonical_path(each, cwd=house, home=house) for each in spellings(house)}
    assert found == {house / "real" / "file"}


def test_an_open_descriptor_is_the_file_it_leads_to(house: Path) -> None:
    with (house / "real" / "file").open() as file:
        for link in (f"/proc/self/fd/{file.fileno()}", f"/dev/fd/{file.fileno()}"):
            assert canonical_path(link, cwd=house, home=house) == house / "real" / "file"


def test_what_does_not_exist_yet_keeps_its_name(house: Path) -> None:
    assert canonical_path("link/new/../other", cwd=house, home=house) == house / "real" / "other"


def test_a_link_that_leads_nowhere_is_where_it_leads(house: Path) -> None:
    (house / "dangling").symlink_to(house / "real" / "unborn")
    assert canonical_path("dangling", cwd=house, home=house) == house / "real" / "unborn"


def test_another_users_home_is_expanded(house: Path) -> None:
    root_home = os.path.expanduser("~root")  # noqa: PTH111 -- the reference
    assert canonical_path("~root/x", cwd=house, home=house) == Path(root_home).resolve() / "x"
    assert canonical_path("~no-such-user/x", cwd=house, home=house) == house / "~no-such-user" / "x"


@pytest.mark.parametrize(
    ("raw", "says"), [("", "empty"), ("a\0b", "zero byte"), ("round", "loop"), ("x" * 5000, "longer")]
)
def test_what_has_no_canonical_form_is_refused(house: Path, raw: str, says: str) -> None:
    with pytest.raises(PathError, match=says):
        canonical_path(raw, cwd=house, home=house)


def test_a_relative_working_directory_is_refused() -> None:
    with pytest.raises(PathError, match="not absolute"):
        canonical_path("x", cwd=Path("somewhere"), home=Path("/home"))


parts = st.lists(st.sampled_from(["real", "link", "deep", "relative", "..", ".", "", "file", "new"]), max_size=8)


@given(parts=parts)
def test_canonical_paths_are_plain_and_stay_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    root = tmp_path_factory.getbasetemp().resolve() / "property"
    (root / "real" / "deep").mkdir(parents=True, exist_ok=True)
    if not (root / "link").is_symlink():
        (root / "link").symlink_to("real")
        (root / "real" / "relative").symlink_to("deep")
    path = canonical_path("/".join(parts) or ".", cwd=root, home=root)
    assert path.is_absolute()
    assert not {"..", "."} & set(path.parts)
    assert "//" not in str(path)
    assert canonical_path(path, cwd=Path("/"), home=root) == path


@given(values)
def test_json_has_one_form_whatever_the_order(value: object) -> None:
    def turned(each: object) -> object:
        if isinstance(each, dict):
            return {key: turned(each[key]) for key in reversed(list(each))}
        return [turned(inner) for inner in each] if isinstance(each, list) else each

    try:
        form = canonical_json(value)
    except ValueError:  # a lone surrogate has no UTF-8 form
        return
    assert canonical_json(turned(value)) == form
    assert b"\n" not in form


def test_json_form_is_what_it_says() -> None:
    assert canonical_json({"b": [1, "è"], "a": None}) == '{"a":null,"b":[1,"è"]}'.encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, [1, {"a": -math.inf}], "\ud800"])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)


def test_digests(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"metnos")
    assert sha256_file(tmp_path / "file") == sha256_hex(b"metnos")
