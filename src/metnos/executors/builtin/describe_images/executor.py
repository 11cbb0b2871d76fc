"""Describes pictures by their headers; their pixels are never unpacked."""

from pathlib import Path

from metnos_kit import images
from PIL import ExifTags, Image

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "ICO", "PPM", "TGA", "AVIF", "JPEG2000", "PCX")
SUFFIXES = {".jpg", ".jpeg", ".png", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".ico", ".ppm", ".tga", ".avif", ".jp2"}
BASE, GPS = ExifTags.Base, ExifTags.IFD.GPSInfo
ON_ITS_SIDE = (5, 6, 7, 8)


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, failures = [], []
    paths, more = pictures(args["paths"], failures, ctx)
    for number, path in enumerate(paths):
        if len(entries) >= limit:
            more += len(paths) - number
            break
        try:
            entries.append(describe(path, ctx))
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
    return {"entries": entries, "total": len(entries) + more, "failures": failures}


def pictures(named, failures, ctx):
    """The files that were named and those in folders that look like pictures, and how many are too many."""
    found = []
    for path in named:
        if not Path(path).is_dir():
            found.append(path)
            continue
        try:
            inside = sorted(Path(path).iterdir())
        except OSError as error:
            failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
            continue
        files = [file for file in inside if file.suffix.lower() in SUFFIXES and not file.is_symlink()]
        found += [str(file) for file in files if file.is_file()]
    unique = list(dict.fromkeys(found))
    return unique[:10_000], max(0, len(unique) - 10_000)


def describe(path, ctx):
    with images.opened(path, FORMATS, ctx) as image:
        return described(image, path)


def described(image, path):
    # For a PNG that does not say it in its header, asking would unpack the pixels.
    exif = image.getexif() if image.format != "PNG" or "exif" in image.info else Image.Exif()
    detail = exif.get_ifd(ExifTags.IFD.Exif)
    turned = exif.get(BASE.Orientation) in ON_ITS_SIDE
    width, height = image.size
    return {
        "path": path,
        "format": image.format or "",
        "width": height if turned else width,
        "height": width if turned else height,
        "mode": image.mode,
        "bytes": Path(path).stat().st_size,
        "animated": bool(getattr(image, "is_animated", False)),
        "dpi": dots(image.info.get("dpi")),
        "taken": moment(detail.get(BASE.DateTimeOriginal) or exif.get(BASE.DateTime)),
        "camera": camera(exif),
        "gps": bool(exif.get_ifd(GPS)),
        "turned": turned,
    }


def dots(value):
    """Dots per inch across, if that is a sensible number."""
    try:
        number = round(float(value[0]), 1)
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError):
        return 0
    return number if 0 < number < 1e6 else 0


def moment(value):
    """2026:03:01 08:00:00 becomes 2026-03-01T08:00:00; what does not look so is nothing."""
    words = str(value or "").strip("\0 ").split()
    if len(words) != 2 or words[0].count(":") != 2 or words[0].startswith("0000"):
        return ""
    return f"{words[0].replace(':', '-')}T{words[1]}"[:25]


def camera(exif):
    maker, model = (plain(exif.get(tag)) for tag in (BASE.Make, BASE.Model))
    return model if maker and model.lower().startswith(maker.lower()) else f"{maker} {model}".strip()


def plain(value):
    text = str(value or "").strip("\0 ")
    return "".join(letter for letter in text if letter.isprintable())[:100]
