"""Makes smaller copies of pictures in a folder. Nothing is ever replaced."""

from pathlib import Path

from metnos_kit import images

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM")
LONG_SUFFIXES = {"JPEG": ".jpeg", "TIFF": ".tiff"}
MOST_UNPACKED = 140_000_000  # bytes of pixels: a call has 256 MB, and the copy needs some


def run(args, ctx):
    images.check_folder(args["to"], ctx)
    ctx.make_folder(args["to"])
    return images.each(args["paths"], lambda path, taken: shrink(path, taken, args, ctx), ctx)


def shrink(path, taken, args, ctx):
    with images.opened(path, FORMATS, ctx) as image:
        form = image.format if args["format"] == "keep" else args["format"].upper()
        target = images.check_free(Path(args["to"]) / new_name(Path(path), form), taken, ctx)
        moves = bool(getattr(image, "is_animated", False))
        small = smaller(image, args["side"], ctx)
        width, height = small.size
        if form == "JPEG":
            small = images.fitting(small, form)
        small.info = {}
        exif = image.getexif() if args["keep_metadata"] else None
        size = images.save(small, form, options(form, args["quality"]), exif, ctx)
    ctx.put(target, images.LOCAL)
    return {"path": path, "to": target, "width": width, "height": height, "bytes": size, "first_frame_only": moves}


def new_name(old, form):
    """The name of the old picture, with the suffix of the new one's format."""
    suffix = images.SUFFIXES[form]
    return old.name if old.suffix.lower() in (suffix, LONG_SUFFIXES.get(form)) else f"{old.stem}{suffix}"


def smaller(image, side, ctx):
    """The picture upright and at most so large."""
    image.draft(None, (side, side))  # JPEG can be unpacked small in the first place
    images.check_size(image, MOST_UNPACKED, ctx)
    turn = images.turn_of(image.getexif())
    # A palette cannot be scaled: in between its colours there are others.
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    image.thumbnail((side, side))
    return images.upright(image, turn)


def options(form, quality):
    if form in images.WITH_QUALITY:
        return {"quality": quality}
    return {"compress_level": 3} if form == "PNG" else {}  # time is short
