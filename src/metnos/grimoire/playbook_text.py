"""PLAYBOOK.md as text: finding what Metnos wrote in it, and putting lines in and taking them out. Pure.

The section ``## Learned`` holds points for every case, and below ``### <strategy>`` those for one. A line of Metnos's
is known by its words alone, so a file that was wrapped anew, or got other line ends or bullets, is still understood;
a point of other words is the owner's.

Rules: whatever is not a line of Metnos's stays byte for byte, wherever it stands. What is put in stands where whoever
builds a prompt looks for it, and nowhere else: headings are those that are seen once comments are taken out, so that
no learned line ever stands among the owner's own. What is put in is one line and holds no heading, comment or fence.
Does not understand markdown beyond that: an example of this file within this file is read like the file.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from metnos.core.canon import sha256_hex

LONGEST = 240  # characters of a line: more is no rule of thumb
_LONGEST_NAME = 60  # characters of the name of a strategy
HEADING = "## Learned"
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SECTION = re.compile(r"^## Learned\s*$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_POINT = re.compile(r"^ {0,3}[-*+][ \t]+(?=\S)")
_STRATEGY = re.compile(r"^### +(\S.*?)\s*$")
_MARKS = re.compile(r"<!-+|-+->|`{3,}|~{3,}")
_UNCLOSED = "a comment is opened and never closed (<!-- without -->)"


@dataclass(frozen=True, slots=True)
class Line:
    """A heuristic as it stands, or is to stand, in the file. ``strategy`` is empty in the part for every case."""

    fact: str
    strategy: str
    words: str


@dataclass(frozen=True, slots=True)
class Item:
    """One point of the learned section: where it stands, below which heading, and its words."""

    first: int
    last: int
    strategy: str
    words: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file in lines. ``body`` is the learned section without its heading; ``solid`` are lines that end outside a
    comment, after which something may be put."""

    lines: tuple[bytes, ...]
    body: range | None
    items: tuple[Item, ...]
    headings: tuple[tuple[int, str], ...]
    solid: frozenset[int]
    unclosed: bool


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of a file.

    ``ours`` are the lines that Metnos knows to have put there; ``maybe`` those that it may have, before it was
    interrupted; ``wanted`` are to come, ``gone`` (facts) to leave; ``headings`` are strategies whose headings it made.
    """

    ours: Sequence[Line] = ()
    maybe: Sequence[Line] = ()
    wanted: Sequence[Line] = ()
    gone: Collection[str] = ()
    headings: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """A file with its changes. ``missing`` are lines of ``ours`` that the owner took out or rewrote; ``said`` are those
    wanted that the owner says in the same words already. With a ``problem`` nothing was put in or taken out."""

    content: bytes
    ours: tuple[Line, ...]
    entered: tuple[Line, ...] = ()
    left: tuple[Line, ...] = ()
    missing: tuple[Line, ...] = ()
    said: tuple[Line, ...] = ()
    headings: tuple[str, ...] = ()
    problem: str = ""


def words_of(text: str, most: int = LONGEST) -> str:
    """A text as one line of the file: printable, without what would begin a comment, a heading or a fence."""
    shown = "".join(char if char.isprintable() and char != "�" else " " for char in unicodedata.normalize("NFC", text))
    words = " ".join(_MARKS.sub(" ", shown).split()).lstrip("#-*+> ")
    if len(words) > most:
        words = f"{words[: most - 1].rpartition(' ')[0] or words[: most - 1]}…"
    return words


def name_of(strategy: str) -> str:
    """A strategy as a heading."""
    return words_of(strategy, _LONGEST_NAME)


def bar_of(words: str) -> str:
    """By what a line that the owner does not want is known again: its letters and digits, never itself."""
    return sha256_hex(" ".join(re.findall(r"\w+", words.casefold())).encode())


def parse(content: bytes) -> Parsed:
    """Read a file, whatever is in it."""
    lines = content.splitlines(keepends=True)
    shown = [line.rstrip(b"\r\n").decode("utf-8", "replace") for line in lines]
    # Every line ends in a newline here, also the last: a heading there is one.
    text = "".join(f"{line}\n" for line in shown)
    starts = [0]
    for line in shown:
        starts.append(starts[-1] + len(line) + 1)
    comments = [match.span() for match in _COMMENT.finditer(text)]
    unclosed = bool(comments) and not text[: comments[-1][1]].endswith("-->")
    hidden = frozenset(
        line for start, end in comments for line in range(_line_at(starts, start), _line_at(starts, end - 1) + 1)
    )
    inside = frozenset(  # lines whose end is within a comment
        line for start, end in comments for line in range(_line_at(starts, start), _line_at(starts, end - 1))
    ) | ({len(lines) - 1} if unclosed else frozenset())
    body = _body(text, comments, starts)
    clean = [index for index in body or () if index not in hidden]
    return Parsed(
        lines=tuple(lines),
        body=body,
        items=tuple(_items(shown, clean)),
        headings=tuple((index, found[1]) for index in clean if (found := _STRATEGY.match(shown[index]))),
        solid=frozenset(range(len(lines))) - inside,
        unclosed=unclosed,
    )


def merge(content: bytes, change: Change) -> Merged:
    """The file with what is wanted in it and what is to go out of it; everything of the owner's as it was."""
    parsed = parse(content)
    claimed: dict[int, Line] = {}
    missing = [line for line in change.ours if not _claim(parsed.items, line, claimed)]
    for line in change.maybe:
        if line.fact not in {each.fact for each in claimed.values()}:
            _claim(parsed.items, line, claimed)
    present = {line.fact for line in claimed.values()}
    free = {item.words for place, item in enumerate(parsed.items) if place not in claimed}
    wanted = [line for line in change.wanted if line.fact not in present | set(change.gone) and line.words]
    said = [line for line in wanted if line.words in free]
    entering = [line for line in wanted if line.words not in free]
    leaving = {place: line for place, line in claimed.items() if line.fact in change.gone}
    ours = tuple(line for place, line in claimed.items() if place not in leaving)
    if entering and parsed.body is None and parsed.unclosed:
        # Whatever is put at the end would be within the comment.
        kept = tuple(claimed.values())
        return Merged(content, kept, missing=tuple(missing), headings=tuple(change.headings), problem=_UNCLOSED)
    made, headings = _rewritten(parsed, claimed, leaving, entering, change.headings)
    return Merged(
        content=made if entering or leaving else content,
        ours=(*ours, *entering),
        entered=tuple(entering),
        left=tuple(leaving.values()),
        missing=tuple(missing),
        said=tuple(said),
        headings=headings,
    )


def without(content: bytes, words: Collection[str]) -> bytes:
    """The file without the points of the learned section that say this, whoever put them there."""
    parsed = parse(content)
    out = {index for item in parsed.items if item.words in words for index in range(item.first, item.last + 1)}
    return b"".join(line for index, line in enumerate(parsed.lines) if index not in out)


def end_of(content: bytes) -> int | None:
    """Before which line the learned section ends, blank lines apart; nothing if there is none."""
    parsed = parse(content)
    return None if parsed.body is None else _end(parsed, parsed.body)


def eol_of(content: bytes) -> bytes:
    """How the lines of a file end: as its first does."""
    first = next(iter(content.splitlines(keepends=True)), b"")
    return next((end for end in (b"\r\n", b"\r") if first.endswith(end)), b"\n")


# -- reading


def _line_at(starts: Sequence[int], offset: int) -> int:
    return bisect_right(starts, offset) - 1


def _body(text: str, comments: Sequence[tuple[int, int]], starts: Sequence[int]) -> range | None:
    """The lines below the heading of the learned section, as it is seen once comments are taken out."""
    pieces: list[tuple[int, int, int]] = []  # where a piece begins in what is seen, where in the text, how long it is
    seen, before = "", 0
    for start, end in (*comments, (len(text), len(text))):
        if start > before:
            pieces.append((len(seen), before, start - before))
            seen += text[before:start]
        before = end
    section = _SECTION.search(seen)
    if section is None:
        return None

    def line_of(offset: int) -> int:
        begins, at, _ = pieces[bisect_right(pieces, (offset, len(text), len(text))) - 1]
        return _line_at(starts, at + offset - begins)

    newline = seen.find("\n", section.start())
    first = len(starts) - 1 if newline < 0 else line_of(newline) + 1
    if section.end() == len(seen):
        return range(first, len(starts) - 1)
    return range(first, max(first, line_of(section.end() - 1) + 1))


def _items(shown: Sequence[str], clean: Sequence[int]) -> Iterator[Item]:
    """The points among these lines. Whatever is indented below a point belongs to it."""
    strategy, place = "", 0
    while place < len(clean):
        first = clean[place]
        heading, point = _STRATEGY.match(shown[first]), _POINT.match(shown[first])
        strategy = heading[1] if heading else strategy
        place += 1
        if point is None:
            continue
        parts, last = [shown[first][point.end() :]], first
        while place < len(clean) and clean[place] == last + 1 and _continues(shown[clean[place]]):
            last = clean[place]
            parts.append(shown[last])
            place += 1
        words = unicodedata.normalize("NFC", " ".join(" ".join(parts).split()))
        yield Item(first, last, strategy, words)


def _continues(line: str) -> bool:
    """Whether a line below a point belongs to it: more of its words, or a point of that point."""
    return bool(line.strip()) and (line.startswith(("  ", "\t")) or (line[0] == " " and _POINT.match(line) is None))


def _claim(items: Sequence[Item], line: Line, claimed: dict[int, Line]) -> bool:
    """Find a line in the file, best where it was put, and note it as Metnos's."""
    found = [place for place, item in enumerate(items) if item.words == line.words and place not in claimed]
    if not found:
        return False
    best = min(found, key=lambda place: (items[place].strategy != line.strategy, place))
    claimed[best] = Line(line.fact, items[best].strategy, line.words)
    return True


# -- writing


def _rewritten(
    parsed: Parsed,
    claimed: dict[int, Line],
    leaving: Collection[int],
    entering: Sequence[Line],
    headings: Collection[str],
) -> tuple[bytes, tuple[str, ...]]:
    """The new content, and which headings in it are Metnos's."""
    out = {index for place in leaving for index in range(parsed.items[place].first, parsed.items[place].last + 1)}
    there = {name: index for index, name in reversed(parsed.headings)}
    own = {name for name in headings if name in there}
    for name in own - {line.strategy for line in entering}:
        below = _below(parsed, there[name])
        if leaving and all(index in out or not parsed.lines[index].strip() for index in below):
            out.add(there[name])
            out.update(index for index in below[:1] if not parsed.lines[index].strip())
            own.discard(name)
    eol = eol_of(b"".join(parsed.lines[:1]))
    puts: dict[int, list[str]] = {}
    groups = dict.fromkeys(line.strategy for line in entering)
    for name in sorted(groups):
        position, head = _position(parsed, claimed, name, there)
        if f"### {name}" in head:
            own.add(name)
        puts.setdefault(position, []).extend(head)
        puts[position].extend(f"- {line.words}" for line in entering if line.strategy == name)
    return _joined(parsed, out, puts, eol), tuple(sorted(own))


def _position(parsed: Parsed, claimed: dict[int, Line], name: str, there: dict[str, int]) -> tuple[int, list[str]]:
    """Before which line the points of a strategy are put, and what has to stand before them."""
    if parsed.body is None:
        return len(parsed.lines), [HEADING, ""] if not name else ["", f"### {name}", ""]
    mates = [parsed.items[place].last for place in claimed if parsed.items[place].strategy == name]
    if mates:
        return max(mates) + 1, []
    if not name:
        return parsed.body.start, [""]
    if name in there:
        return there[name] + 1, [""]
    return _end(parsed, parsed.body), ["", f"### {name}", ""]


def _end(parsed: Parsed, body: range) -> int:
    """The end of the section, before blank lines and before a comment that is never closed."""
    last = next((index for index in reversed(body) if index in parsed.solid), body.start - 1)
    while last > body.start and not parsed.lines[last].strip() and last - 1 in parsed.solid:
        last -= 1
    return last + 1


def _below(parsed: Parsed, heading: int) -> range:
    """The lines between a heading and the next."""
    body = parsed.body or range(0)
    following = [index for index, _ in parsed.headings if index > heading]
    return range(heading + 1, min((*following, body.stop)))


def _joined(parsed: Parsed, out: Collection[int], puts: dict[int, list[str]], eol: bytes) -> bytes:
    made: list[bytes] = []
    for index in range(len(parsed.lines) + 1):
        put = puts.get(index)
        if put is not None:
            made.extend(_put(made, _headed(parsed, put), eol))
            rest = next((line for at, line in enumerate(parsed.lines) if at >= index and at not in out), b"")
            shown = rest.decode("utf-8", "replace")
            if rest.strip() and (_continues(shown) or _POINT.match(shown) is None):
                made.append(eol)  # or it would belong to the last point
        if index < len(parsed.lines) and index not in out:
            made.append(parsed.lines[index])
    return b"".join(made)


def _headed(parsed: Parsed, put: Sequence[str]) -> list[str]:
    """With the heading of the section, if there is none yet."""
    return list(put) if parsed.body is not None or put[0] == HEADING else [HEADING, *put]


def _put(made: Sequence[bytes], put: Sequence[str], eol: bytes) -> Iterator[bytes]:
    """Lines behind what there is: on a line of their own, and with one blank line where one is asked for."""
    before = made[-1] if made else b""
    if before and not before.endswith((b"\n", b"\r")):
        yield eol
    if put[0] == HEADING and before.strip():
        yield eol
    blank = not before.strip() and put[0] != HEADING
    for line in put:
        if line or not blank:
            yield line.encode() + eol
        blank = not line
