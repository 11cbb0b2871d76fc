from pathlib import Path

import pytest

from law.packages import make_package, write_record
from metnos.core.canon import sha256_hex
from metnos.law.own_code import measure
from metnos.law.own_record import (
    Distribution,
    check_distributions,
    compare_own,
    find_unlisted,
    read_distribution,
    read_own,
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path)


def test_a_checkout_has_no_record(package: Path) -> None:
    assert read_own(package) is None
    assert compare_own(measure(package), package) == ()


def test_a_wheel_is_compared_with_its_record(package: Path) -> None:
    write_record(package)
    assert compare_own(measure(package), package) == ()
    (package / "law" / "levels.py").write_text("LIMIT = 9\n")
    (package / "law" / "more.py").touch()
    (package / "web" / "page.html").unlink()
    assert compare_own(measure(package), package) == (
        "law/levels.py was changed", "law/more.py is new", "web/page.html is gone",
    )  # fmt: skip


def test_the_record_of_another_package_is_not_ours(package: Path) -> None:
    info = write_record(package)
    info.rename(info.with_name("metnos-plugin-1.0.dist-info"))
    (info.with_name("metnos-plugin-1.0.dist-info") / "RECORD").write_text("metnos_plugin.py,,\n")
    assert read_own(package) is None


@pytest.mark.parametrize(
    "line", ["metnos/law/levels.py,md5=abc,1", "metnos/law/levels.py,sha256=!,1", "metnos/law/levels.py,x,1"]
)
def test_a_digest_that_proves_nothing_is_a_difference(package: Path, line: str) -> None:
    info = write_record(package)
    lines = [each for each in (info / "RECORD").read_text().splitlines() if "levels.py," not in each]
    (info / "RECORD").write_text("\n".join([*lines, line]) + "\n")
    assert compare_own(measure(package), package) == ("law/levels.py was changed",)


@pytest.mark.parametrize("content", [b"\xff\xfe", b'"unclosed', None])
def test_a_record_that_cannot_be_read_is_none(package: Path, content: bytes | None) -> None:
    info = write_record(package)
    (info / "RECORD").unlink()
    if content is not None:
        (info / "RECORD").write_bytes(content)
    assert read_distribution(info) is None


def test_any_package_is_checked_and_what_no_package_brought_is_named(package: Path) -> None:
    info = write_record(package)
    found = read_distribution(info)
    assert found is not None
    assert list(check_distributions([found], package.parent)) == []
    assert list(find_unlisted(package.parent, frozenset(found.files))) == []
    (package / "law" / "levels.py").write_text("")
    (package / "web" / "page.html").unlink()
    (package.parent / "sitecustomize.py").touch()
    (package.parent / "evil.pth").touch()
    assert list(check_distributions([found], package.parent)) == [
        "metnos-0.1.0: metnos/law/levels.py was changed", "metnos-0.1.0: metnos/web/page.html is gone",
    ]  # fmt: skip
    assert list(find_unlisted(package.parent, frozenset(found.files))) == ["evil.pth", "sitecustomize.py"]


def test_a_file_that_two_packages_brought_is_what_one_of_them_says(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("b")
    one, other = (Distribution(name, {"LICENSE": sha256_hex(name.encode())}) for name in "ab")
    assert list(check_distributions([one, other], tmp_path)) == []
    assert list(check_distributions([one], tmp_path)) == ["a: LICENSE was changed"]
