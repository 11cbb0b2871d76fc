"""The home of somebody who asks for things: documents, pictures, tables and archives, from a few words in TOML."""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pypdf
from PIL import Image

from turn.benching import llm_home


def furnish(home: Path, files: Mapping[str, Mapping[str, Any]], now: datetime) -> None:
    """Make every file, as old as it is to be."""
    for name, wanted in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if "size" in wanted:
            path.touch()
            os.truncate(path, wanted["size"])  # a hole costs nothing
        else:
            path.write_bytes(_content(path.suffix, json.dumps(wanted)))
        then = (now - timedelta(days=wanted["days"])).timestamp()
        os.utime(path, (then, then))


def everything(home: Path) -> dict[str, bytes | int | None]:
    """What is there now, by its path below ``home``: small files whole, large ones by their size, folders as nothing.

    The trash lies in a hidden folder and is left out.
    """
    return {
        path.relative_to(home).as_posix(): _seen(path)
        for path in home.rglob("*")
        if not path.relative_to(home).parts[0].startswith(".")
    }


def _seen(path: Path) -> bytes | int | None:
    if path.is_dir():
        return None
    return path.stat().st_size if path.stat().st_size > 1_000_000 else path.read_bytes()


@cache
def _content(suffix: str, spelled: str) -> bytes:
    """The bytes of a file. ``spelled`` is what it is made of, as JSON, by which it is remembered."""
    wanted = json.loads(spelled)
    if "text" in wanted:
        return str(wanted["text"]).encode()
    out = io.BytesIO()
    if "pdf" in wanted:
        _pages(wanted["pdf"], out)
    elif "docx" in wanted:
        document = docx.Document()
        for text in wanted["docx"]:
            document.add_paragraph(text)
        document.save(out)
    elif "xlsx" in wanted:
        book = openpyxl.Workbook()
        for row in wanted["xlsx"]:
            book.active.append(row)
        book.save(out)
    elif "image" in wanted:
        Image.new("RGB", tuple(wanted["image"]), "teal").save(out, "PNG" if suffix == ".png" else "JPEG")
    else:
        with zipfile.ZipFile(out, "w") as archive:
            for member, text in wanted["zip"].items():
                archive.writestr(member, text)
    return out.getvalue()


def _pages(texts: list[str], out: io.BytesIO) -> None:
    writer = pypdf.PdfWriter()
    for text in texts:
        writer.append(io.BytesIO(llm_home.pdf(text)))
    writer.write(out)
    writer.close()
