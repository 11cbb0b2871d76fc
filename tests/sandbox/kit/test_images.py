import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from metnos.sandbox.kit import images
from sandbox.kit.kit_context import ENDLESS, Failure, context


@pytest.fixture(autouse=True)
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(images, "LOCAL", str(tmp_path / "made"))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", Image.MAX_IMAGE_PIXELS)  # set back afterwards
    return tmp_path / "made"


def picture(folder: Path, name: str = "p.png", **more: Any) -> str:
    Image.new(more.pop("mode", "RGB"), more.pop("size", (4, 2)), more.pop("colour", "red")).save(folder / name, **more)
    return str(folder / name)


def kind_of_failure(path: str) -> str:
    with pytest.raises(Failure) as caught, images.opened(path, ["PNG"], context()) as image:
        image.load()
    return caught.value.kind


def test_what_is_no_picture_is_a_failure(tmp_path: Path) -> None:
    whole = Path(picture(tmp_path)).read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[:50])
    (tmp_path / "text.png").write_text("no picture")
    assert kind_of_failure(str(tmp_path / "gone.png")) == "not_found"
    assert kind_of_failure(str(tmp_path / "cut.png")) == "unreadable"
    assert kind_of_failure(str(tmp_path / "text.png")) == "unreadable"


def test_only_the_decoders_that_are_named_are_used(tmp_path: Path) -> None:
    assert kind_of_failure(picture(tmp_path, "p.gif")) == "unreadable"


def test_a_failure_of_the_executor_passes_through(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="own"), images.opened(picture(tmp_path), ["PNG"], context()):
        context().fail("conflict", "its own")


def test_a_large_picture_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with images.opened(picture(tmp_path), ["PNG"], context()) as image:
        images.check_size(image, 4 * 2 * 4, context())
        with pytest.raises(Failure, match="4 x 2 pixels"):
            images.check_size(image, 31, context())


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_that_a_camera_held_otherwise_is_put_upright(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[images.ORIENTATION] = orientation
    path = picture(tmp_path, "p.jpg", exif=exif)
    with images.opened(path, ["JPEG"], context()) as image:
        made = images.upright(image, images.turn_of(image.getexif()))
        assert made.size == ((2, 4) if orientation >= 5 else (4, 2))
        images.save(made, "JPEG", {}, image.getexif(), context())
    with Image.open(images.LOCAL) as saved:
        assert saved.getexif().get(images.ORIENTATION) is None


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "I", "F"])
@pytest.mark.parametrize("form", ["JPEG", "WEBP", "BMP"])
def test_every_mode_fits_after_it_was_made_to(mode: str, form: str) -> None:
    made = images.fitting(Image.new(mode, (4, 2)), form)
    assert made.mode in images.MODES[form]
    assert images.save(made, form, {}, None, context()) == Path(images.LOCAL).stat().st_size > 0


def test_what_shines_through_is_white_where_there_is_no_transparency() -> None:
    made = images.fitting(Image.new("RGBA", (1, 1), (255, 0, 0, 0)), "JPEG")
    assert made.getpixel((0, 0)) == (255, 255, 255)


def test_a_format_that_cannot_hold_it_is_a_failure() -> None:
    with pytest.raises(Failure, match="no room"):
        images.save(Image.new("RGBA", (1, 1)), "JPEG", {}, None, context())


def test_names_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    images.check_folder(str(tmp_path), context())
    images.check_folder(str(tmp_path / "new"), context())
    with pytest.raises(Failure, match="`to` is a file"):
        images.check_folder(str(tmp_path / "file"), context())
    assert images.check_free(tmp_path / "new", set(), context()) == str(tmp_path / "new")
    for taken, name in ((set[str](), "file"), ({str(tmp_path / "new")}, "new")):
        with pytest.raises(Failure, match="already"):
            images.check_free(tmp_path / name, taken, context())


def test_each_picture_fails_for_itself(tmp_path: Path) -> None:
    def make(path: str, taken: set[str]) -> dict[str, Any]:
        if path in taken or path == "bad":
            context().fail("exists", "no")
        return {"to": path}

    reply = images.each(["a", "bad", "a", str(tmp_path), "b"], make, context(limit=1), ENDLESS)
    assert reply["results"] == [{"to": "a"}]
    assert reply["total"] == 2
    assert [(each["item"], each["kind"]) for each in reply["failures"]] == [
        ("bad", "exists"),
        (str(tmp_path), "invalid"),
    ]
    assert images.each(["a"], make, context(), -1.0)["failures"][0]["kind"] == "too_large"


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(
    st.binary(max_size=200), st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"\xff\xd8\xff\xe0", b"II*\0"])
)
def test_hostile_bytes_end_in_a_failure_or_a_picture(tmp_path_factory: Any, data: bytes, start: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile"
    path.write_bytes(start + data)
    formats = ["PNG", "GIF", "BMP", "JPEG", "TIFF"]
    with contextlib.suppress(Failure), images.opened(str(path), formats, context()) as image:
        images.check_size(image, 1_000_000, context())
        image.load()
