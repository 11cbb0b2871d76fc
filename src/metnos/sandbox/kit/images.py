"""Opening and saving pictures.

Rules: a picture is opened by the decoders that are named and no others, and unpacked only after its size was looked
at; what is saved stands upright and holds nothing but pixels unless more is asked for. It is saved under the
executor's private ``/tmp`` and nowhere else; the executor puts it into place through ``ctx``. Does not stop a picture
that was begun: none is begun late.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, Protocol

CPU_S = 2.5  # of the five that a call has: no picture is begun later
LOCAL = "/tmp/picture"  # noqa: S108 -- the sandbox's own, and private
BROKEN = (OSError, ValueError, SyntaxError, KeyError, TypeError, IndexError, OverflowError)
ORIENTATION = 0x0112
# How to put upright what a camera says it held otherwise, by the names of Image.Transpose.
TURNS = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE",
    8: "ROTATE_90",
}  # fmt: skip
SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "GIF": ".gif", "TIFF": ".tif", "BMP": ".bmp", "PPM": ".ppm"}
MODES = {"JPEG": ("L", "RGB", "CMYK"), "WEBP": ("RGB", "RGBA"), "BMP": ("1", "L", "P", "RGB")}
CLEAR = ("RGBA", "LA", "PA")
WITH_QUALITY = ("JPEG", "WEBP")
WITH_METADATA = ("JPEG", "WEBP", "PNG", "TIFF")


class Context(Protocol):
    """What of ``ctx`` is used here."""

    limit: int
    Failure: type[Exception]

    def fail(self, kind: str, message: str) -> NoReturn: ...

    def failure(self, item: Any, kind: str, message: str) -> dict[str, Any]: ...


def each(
    paths: Iterable[str], make: Callable[[str, set[str]], dict[str, Any]], ctx: Context, cpu_s: float = CPU_S
) -> dict[str, Any]:
    """The reply: what ``make`` made of every picture, which is told what this call has put into the folder."""
    results: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    taken: set[str] = set()
    for path in dict.fromkeys(paths):
        try:
            if Path(path).is_dir():
                ctx.fail("invalid", "a folder, not a picture")
            if time.process_time() > cpu_s:
                ctx.fail("too_large", "there was no time for this one: ask for fewer at once")
            result = make(path, taken)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, getattr(error, "kind", "failed"), str(error)))
            continue
        taken.add(result["to"])
        results.append(result)
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def check_folder(folder: str, ctx: Context) -> None:
    """Something else of the folder's name ends the call."""
    if os.path.lexists(folder) and not Path(folder).is_dir():
        ctx.fail("exists", "`to` is a file, so nothing can be put into it")


def check_free(target: Path, taken: set[str], ctx: Context) -> str:
    """The path of a new picture, if nothing is called so."""
    if str(target) in taken or os.path.lexists(target):
        ctx.fail("exists", f"there is something called {target.name} in the folder already")
    return str(target)


@contextmanager
def opened(path: str, formats: Sequence[str], ctx: Context) -> Iterator[Any]:
    """The picture, not yet unpacked; whatever goes wrong with it inside the block becomes a failure."""
    from PIL import Image

    # The bound that counts is on bytes and checked by `check_size`, before a pixel is unpacked.
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(path, formats=list(formats)) as image:
            yield image
    except FileNotFoundError:
        ctx.fail("not_found", "it is not there")
    except MemoryError:
        ctx.fail("too_large", "the picture is too large to be unpacked")
    except BROKEN:
        ctx.fail("unreadable", "not a picture that can be read")


def check_size(image: Any, most: int, ctx: Context) -> None:
    """Fail if the pixels would take more bytes than this."""
    width, height = image.size
    if width * height * (4 if len(image.getbands()) > 1 else 1) > most:
        ctx.fail("too_large", f"{width} x {height} pixels are too many")


def turn_of(exif: Any) -> str:
    """How the picture must be turned to stand upright, or nothing."""
    return TURNS.get(exif.get(ORIENTATION), "")


def upright(image: Any, turn: str) -> Any:
    """The picture as it is meant to be seen. No copy is made that is not needed."""
    from PIL import Image

    if turn:
        return image.transpose(Image.Transpose[turn])
    return image.copy() if image.format == "TIFF" else image  # a TIFF would carry its tags along


def fitting(image: Any, form: str) -> Any:
    """The picture in colours that the format can hold."""
    from PIL import Image

    clear = image.mode in CLEAR or "transparency" in image.info
    modes = MODES.get(form)
    if modes is None or image.mode in modes:
        return image
    if clear and "RGBA" in modes:
        return image.convert("RGBA")
    if not clear:
        return image.convert("RGB")
    # There is no transparency in it: what shines through is white.
    image = image.convert("RGBA")
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def save(image: Any, form: str, options: dict[str, Any], exif: Any, ctx: Context) -> int:
    """Make the file `LOCAL`, with ``exif`` if it is given and the format holds it; the bytes of the file."""
    if exif and form in WITH_METADATA:
        exif.pop(ORIENTATION, None)  # it stands upright now
        options = {**options, "exif": exif.tobytes()}
    try:
        image.save(LOCAL, form, **options)
    except (OSError, ValueError, MemoryError):
        ctx.fail("too_large", f"there is no room to make {form} of {image.width} x {image.height} pixels")
    return Path(LOCAL).stat().st_size
