"""Makes smaller copies of pictures in a folder. Nothing is ever replaced."""

import os
import time
from pathlib import Path

from PIL import ExifTags, Image

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM")
SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "GIF": ".gif", "TIFF": ".tif", "BMP": ".bmp", "PPM": ".ppm"}
MOST_UNPACKED = 140_000_000  # bytes of pixels: a call has 256 MB, and the copy needs some
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
            result = shrink(path, folder, taken, args, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
            continue
        taken.add(result["to"])
        results.append(result)
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def shrink(path, folder, taken, args, ctx):
    if Path(path).is_dir():
        ctx.fail("invalid", "a folder, not a picture")
    if time.process_time() > CPU_S:
        ctx.fail("too_large", "there was no time for this one: ask for fewer at once")
    try:
        with Image.open(path, formats=FORMATS) as image:
            form = image.format if args["format"] == "keep" else args["format"].upper()
            target = free(folder, path, form, taken, ctx)
            moves = bool(getattr(image, "is_animated", False))
            small = smaller(image, args["side"], ctx)
            width, height = small.size
            save(small, form, image.getexif() if args["keep_metadata"] else None, args["quality"], ctx)
    except FileNotFoundError:
        ctx.fail("not_found", "it is not there")
    except MemoryError:
        ctx.fail("too_large", "the picture is too large to be unpacked")
    except (OSError, ValueError, SyntaxError, KeyError, TypeError, IndexError, OverflowError):
        ctx.fail("unreadable", "not a picture that can be read")
    size = Path(LOCAL).stat().st_size
    ctx.put(target, LOCAL)
    return {"path": path, "to": target, "width": width, "height": height, "bytes": size, "first_frame_only": moves}


def free(folder, path, form, taken, ctx):
    """Where the new picture goes: the name of the old one, with the suffix of its format."""
    old = Path(path)
    same = old.suffix.lower() in (SUFFIXES[form], {"JPEG": ".jpeg", "TIFF": ".tiff"}.get(form))
    target = folder / (old.name if same else f"{old.stem}{SUFFIXES[form]}")
    if str(target) in taken or os.path.lexists(target):
        ctx.fail("exists", f"there is something called {target.name} in the folder already")
    return str(target)


def smaller(image, side, ctx):
    """The picture upright and at most so large."""
    image.draft(None, (side, side))  # JPEG can be unpacked small in the first place
    width, height = image.size
    if width * height * (4 if len(image.getbands()) > 1 else 1) > MOST_UNPACKED:
        ctx.fail("too_large", f"{width} x {height} pixels are too many")
    turn = TURNS.get(image.getexif().get(ExifTags.Base.Orientation))
    # A palette cannot be scaled: in between its colours there are others.
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    image.thumbnail((side, side))
    return upright(image, turn)


def upright(image, turn):
    """The picture as it is meant to be seen, with nothing but its pixels. No copy is made that is not needed."""
    if turn is not None:
        image = image.transpose(turn)
    elif image.format == "TIFF":
        image = image.copy()  # it would carry its tags along
    return image


def save(image, form, exif, quality, ctx):
    if form == "JPEG" and image.mode not in ("L", "RGB", "CMYK"):
        image = flat(image)
    options = {"quality": quality} if form in ("JPEG", "WEBP") else {"compress_level": 3} if form == "PNG" else {}
    if exif and form in ("JPEG", "WEBP", "PNG", "TIFF"):
        exif.pop(ExifTags.Base.Orientation, None)  # it stands upright now
        options["exif"] = exif.tobytes()
    image.info = {}
    try:
        image.save(LOCAL, form, **options)
    except (OSError, ValueError, MemoryError):
        ctx.fail("too_large", f"there is no room to make {form} of {image.width} x {image.height} pixels")


def flat(image):
    """JPEG has no transparency: what shines through is white."""
    if image.mode in ("RGBA", "LA", "PA"):
        image = image.convert("RGBA")
        ground = Image.new("RGB", image.size, "white")
        ground.paste(image, mask=image.getchannel("A"))
        return ground
    return image.convert("RGB")
