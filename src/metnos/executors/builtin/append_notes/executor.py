"""Adds a text to a note, which is a Markdown file, as an item of a list with the time."""

import unicodedata
from pathlib import Path

ALLOWED = " -_.,'()&+!"  # beside letters and numbers, in the name of a note


def run(args, ctx):
    text = args["text"].strip()
    if not text:
        ctx.fail("invalid", "there is nothing to note")
    folder = Path(ctx.workspace) / "notes"
    today = ctx.now.strftime("%Y-%m-%d")
    name = existing(folder, checked(args.get("note", today), ctx))
    path = folder / f"{name}.md"
    made = not path.exists()
    item = as_item(text, ctx.now.strftime("%H:%M" if name == today else "%Y-%m-%d %H:%M"))
    if not folder.is_dir():
        ctx.make_folder(str(folder))
    if made:
        ctx.write(str(path), f"# {name}\n\n{item}\n")
    else:
        ctx.write(str(path), f"{'' if ends_well(path, ctx) else chr(10)}{item}\n", append=True)
    return {"results": [{"path": str(path), "note": name, "made": made, "text": item}]}


def checked(name, ctx):
    """A name that is a plain file name everywhere."""
    plain = unicodedata.normalize("NFC", name.strip()).removesuffix(".md").strip()
    usual = all(char.isalnum() or char in ALLOWED for char in plain)
    if not plain or not usual or plain.startswith(".") or len(plain.encode()) > 200:
        ctx.fail("invalid", "the name of a note has letters, numbers, spaces and simple signs, and no slash")
    return plain


def existing(folder, name):
    """The note that is meant, however its capitals are written."""
    if not folder.is_dir():
        return name
    names = sorted(path.stem for path in folder.glob("*.md"))
    if name in names:
        return name
    return next((each for each in names if each.casefold() == name.casefold()), name)


def as_item(text, stamp):
    # Lines after the first are set in, so that they stay part of the item.
    first, *rest = text.splitlines()
    return "\n".join([f"- **{stamp}** {first}", *(f"  {line}" if line else "" for line in rest)])


def ends_well(path, ctx):
    """Whether what is there ends with its line."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - 1))
            return file.read(1) in (b"", b"\n")
    except OSError as error:
        raise ctx.Failure("unreadable", f"the note cannot be opened: {error.strerror}") from error
