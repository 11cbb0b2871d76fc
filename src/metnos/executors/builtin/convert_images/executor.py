"""Makes copies of pictures in another format in a folder. Nothing is ever replaced."""

from pathlib import Path

from metnos_kit import images

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM", "ICO", "TGA", "AVIF")
OPTIONS = {"PNG": {"compress_level": 3}, "TIFF": {"compression": "tiff_lzw"}}  # time is short
MOST_UNPACKED = 120_000_000  # bytes of pixels: a call has 256 MB, and some pictures are there twice for a while


def run(args, ctx):
    images.check_folder(args["to"], ctx)
    ctx.make_folder(args["to"])
    return images.each(args["paths"], lambda path, taken: convert(path, taken, args, ctx), ctx)


def convert(path, taken, args, ctx):
    form = args["format"].upper()
    target = images.check_free(Path(args["to"]) / f"{Path(path).stem}{images.SUFFIXES[form]}", taken, ctx)
    with images.opened(path, FORMATS, ctx) as image:
        images.check_size(image, MOST_UNPACKED, ctx)
        moves = bool(getattr(image, "is_animated", False))
        image.load()
        exif = image.getexif()
        made = images.fitting(images.upright(image, images.turn_of(exif)), form)
        clear = made.info.get("transparency")
        made.info = {} if clear is None else {"transparency": clear}
        options = {"quality": args["quality"]} if form in images.WITH_QUALITY else OPTIONS.get(form, {})
        size = images.save(made, form, options, exif if args["keep_metadata"] else None, ctx)
        width, height = made.size
    ctx.put(target, images.LOCAL)
    return {"path": path, "to": target, "width": width, "height": height, "bytes": size, "first_frame_only": moves}
