"""Makes copies of pictures in another format in a folder. Nothing is ever replaced."""

import os
import time
from pathlib import Path

from PIL import ExifTags, Image

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM", "ICO", "TGA", "AVIF")
SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "GIF": ".gif", "TIFF": ".tif", "BMP": ".bmp"}
MODES = {"JPEG": ("L", "RGB", "CMYK"), "WEBP": ("RGB", "RGBA"), "BMP": ("1", "L", "P", "RGB")}
OPTIONS = {"PNG": {"compress_level": 3}, "TIFF": {"compression": "tiff_lzw"}}  # time is short
CLEAR = ("RGBA", "LA", "PA")
MOST_UNPACKED = 120_000_000  # bytes of pixels: a call has 256 MB, and some pictures are there twice for a while
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}  # how to put upright what a camera says it held otherwise
CPU_S = 2.5  # of the five that a call has: no picture is begun later
LOCAL = "/tmp/picture"  # noqa: S108 -- the sandbox's own, and private


def run(args, ctx):
    # The bound that counts is on bytes and checked below, before a pixel is unpacked.
    Image.MAX_IMAGE_PIXELS = None
    folder = Path(args["to"])
    if os.path.lexists(folder) and not folder.is_dir():
        ctx.fail("exists", "`to` is a file, so nothing can be put into it")
    ctx.make_folder(args["to"])
    results, failures, taken = [], [], set()
    for path in dict.fromkeys(args["paths"]):
        try:
            result = convert(path, folder, taken, args, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
            continue
        taken.add(result["to"])
        results.append(result)
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def convert(path, folder, taken, args, ctx):
    if Path(path).is_dir():
        ctx.fail("invalid", "a folder, not a picture")
    if time.process_time() > CPU_S:
        ctx.fail("too_large", "there was no time for this one: ask for fewer at once")
    form = args["format"].upper()
    target = str(folder / f"{Path(path).stem}{SUFFIXES[form]}")
    if target in taken or os.path.lexists(target):
        ctx.fail("exists", f"there is something called {Path(target).name} in the folder already")
    try:
        with Image.open(path, formats=FORMATS) as image:
            width, height = image.size
            if width * height * (4 if len(image.getbands()) > 1 else 1) > MOST_UNPACKED:
                ctx.fail("too_large", f"{width} x {height} pixels are too many")
            moves = bool(getattr(image, "is_animated", False))
            image.load()
            size = save(image, form, args, ctx)
    except FileNotFoundError:
        ctx.fail("not_found", "it is not there")
    except MemoryError:
        ctx.fail("too_large", "the picture is too large to be unpacked")
    except (OSError, ValueError, SyntaxError, KeyError, TypeError, IndexError, OverflowError):
        ctx.fail("unreadable", "not a picture that can be read")
    length = Path(LOCAL).stat().st_size
    ctx.put(target, LOCAL)
    return {
        "path": path,
        "to": target,
        "width": size[0],
        "height": size[1],
        "bytes": length,
        "first_frame_only": moves,
    }


def save(image, form, args, ctx):
    """Write it upright and with nothing but its pixels, unless more is asked for; its size."""
    exif = image.getexif()
    image = fitting(upright(image, TURNS.get(exif.get(ExifTags.Base.Orientation))), form)
    options = {"quality": args["quality"]} if form in ("JPEG", "WEBP") else dict(OPTIONS.get(form, {}))
    if args["keep_metadata"] and exif and form in ("JPEG", "WEBP", "PNG", "TIFF"):
        exif.pop(ExifTags.Base.Orientation, None)  # it stands upright now
        options["exif"] = exif.tobytes()
    clear = image.info.get("transparency")
    image.info = {} if clear is None else {"transparency": clear}
    try:
        image.save(LOCAL, form, **options)
    except (OSError, ValueError, MemoryError):
        ctx.fail("too_large", f"there is no room to make {form} of {image.width} x {image.height} pixels")
    return image.size


def upright(image, turn):
    """The picture as it is meant to be seen, with nothing but its pixels. No copy is made that is not needed."""
    if turn is not None:
        image = image.transpose(turn)
    elif image.format == "TIFF":
        image = image.copy()  # it would carry its tags along
    return image


def fitting(image, form):
    """The picture in colours that the format can hold."""
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
