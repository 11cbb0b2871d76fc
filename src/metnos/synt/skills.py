"""Skills: folders in the Agent-Skills format (a ``SKILL.md``, and what lies beside it), read as what they are: texts.

A skill is YAML front matter (``name``, ``description``, and maybe ``license``, ``compatibility``, ``metadata``,
``allowed-tools``) and instructions in Markdown; ``references/`` holds more of these, ``scripts/`` programs, ``assets/``
anything. What can come of it here:

- *passages*: the description, and the texts of SKILL.md and of ``references/`` in pieces that recall can show whole,
  each under its heading. Whether they are remembered is the owner's to say.
- *drafts*: folders in ``scripts/`` that hold the three files of an executor. They go through the gates.
- everything else is named, and neither kept nor run.

Rules: reads a folder and nothing outside it: no link is followed, and only ordinary files of a sane size and number are
opened. Front matter is read as texts, never as objects; what is said twice, or by reference, is refused. Nothing in a
skill grants anything: ``allowed-tools`` is shown and means nothing here. Does not guarantee that a passage is true, nor
that it is not an instruction: whoever shows it to a model shows it as data.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import UsageError
from metnos.executors import folder, vocabulary
from metnos.synt.draft import Draft

FILE = "SKILL.md"
MOST_KB = 256  # of one text: the format recommends less than 30
MOST_FILES = 500  # that are looked at
_DEPTH = 4  # of folders
_LONGEST = {"name": 64, "description": 1024, "compatibility": 500}  # characters (the format)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TEXTS = (".md", ".txt")
_PASSAGE = 280  # characters: what recall shows of one memory is cut at 300
_LEVELS = 6  # of headings
_FRONT = 16 << 10  # characters of front matter
_NESTED = 20  # lists in lists there: a map of texts is one, and YAML takes ever longer for each
_SPEC = "https://agentskills.io/specification"

Screen = Callable[[str], str]  # why a text may not be proposed as a memory; nothing if it may


@dataclass(frozen=True, slots=True)
class Skill:
    """A folder of skills, as far as it can be read."""

    name: str
    description: str
    about: Mapping[str, str]  # license, compatibility, allowed-tools, metadata: to be shown
    texts: Mapping[str, str]  # instructions by file
    drafts: tuple[Draft, ...]
    others: tuple[str, ...]  # programs that are no executors
    passed_over: tuple[str, ...]  # what was not even opened, and why


@dataclass(frozen=True, slots=True)
class Lore:
    """What of a skill could be remembered, by file; and what is left out of it, and why."""

    name: str
    passages: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...]

    @property
    def digest(self) -> str:
        """What a yes to it is bound to."""
        return digest_of(self.name, shown(self.passages))


# -- reading


def read(place: Path) -> Skill:
    """The skill in a folder. Raises `UsageError` if there is none that can be read."""
    listed, passed = _walk(place)
    if FILE not in listed:
        raise UsageError(f"there is no {FILE} in {place}", fix="Name the folder of a skill, or a bundle of executors.")
    front, body = _split(_text(place, FILE))
    fields = _front(front)
    name, description = _required(fields, "name"), _required(fields, "description")
    if not _NAME.fullmatch(name):
        raise UsageError(f"a skill cannot be called {name!r}", fix=f"Small letters, digits and hyphens: {_SPEC}")
    texts = {FILE: f"{description}\n{body}"}
    for path in sorted(listed):
        if path.startswith("references/") and path.endswith(_TEXTS):
            texts[path] = _text(place, path)
    if sum(map(len, texts.values())) > MOST_KB << 11:
        raise UsageError(f"the texts of {name} have more than {MOST_KB * 2} KB", fix="Take out what is not needed.")
    homes = _homes(listed)
    kept = {f"{home}/{file}" for home in homes for file in folder.SIGNED}
    drafts = tuple(_draft(place, home) for home in homes)
    others = tuple(path for path in sorted(listed) if path.startswith("scripts/") and path not in kept)
    rest = tuple(
        f"{path}: only texts in references/ are read" for path in sorted(listed)
        if path not in texts and not path.startswith("scripts/")
    )  # fmt: skip
    about = {key: fields[key] for key in ("license", "compatibility", "allowed-tools", "metadata") if fields.get(key)}
    return Skill(name, description, about, texts, drafts, others, (*passed, *rest))


def _walk(place: Path) -> tuple[set[str], list[str]]:
    """Every ordinary file below a folder, by its path from there; and what is something else."""
    found: set[str] = set()
    passed: list[str] = []
    waiting = [("", 0)]
    while waiting:
        below, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(place / below), key=lambda each: each.name)
        except OSError as error:
            raise UsageError(f"{place / below} cannot be read: {error.strerror}") from error
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False) and depth < _DEPTH:
                waiting.append((path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                found.add(path)
            else:
                passed.append(f"{path}: it is a link, or nothing that is opened")
        if len(found) + len(passed) + len(waiting) > MOST_FILES:
            raise UsageError(f"there are more than {MOST_FILES} files in {place}", fix="Name the folder of one skill.")
    return found, passed


def _text(place: Path, path: str) -> str:
    """A file as text. It was an ordinary one a moment ago, and must be one still."""
    try:
        descriptor = os.open(place / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path} is not an ordinary file")
            raw = file.read((MOST_KB << 10) + 1)
        if len(raw) > MOST_KB << 10:
            raise UsageError(f"{path} has more than {MOST_KB} KB", fix="No text of a skill is that long.")
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text", fix="Save it as UTF-8.") from error


def _homes(listed: set[str]) -> list[str]:
    """Folders in ``scripts/`` that hold an executor and have its name."""
    homes = {path.rpartition("/")[0] for path in listed if path.startswith("scripts/") and path.count("/") == 2}
    return sorted(
        home
        for home in homes
        if vocabulary.is_name(home.rpartition("/")[2]) and all(f"{home}/{file}" in listed for file in folder.SIGNED)
    )


def _draft(place: Path, home: str) -> Draft:
    files = (folder.MANIFEST, folder.SOURCE, folder.TESTS)
    return Draft(home.rpartition("/")[2], *(_text(place, f"{home}/{file}") for file in files))


# -- front matter


def _split(text: str) -> tuple[str, str]:
    """Front matter and the rest."""
    found = re.match(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", text, re.DOTALL)
    if found is None:
        raise UsageError(f"{FILE} does not begin with front matter between two lines of ---", fix=f"See {_SPEC}")
    if len(found[1]) > _FRONT:
        raise UsageError(f"the front matter of {FILE} is longer than {_FRONT >> 10} KB", fix=f"See {_SPEC}")
    return found[1], text[found.end() :]


def _front(text: str) -> dict[str, str]:
    """The fields of the front matter, as texts; a map or a list in it becomes one line."""
    import yaml  # type: ignore[import-untyped]  # here: only skills need it

    nested = 0
    try:
        for token in yaml.scan(text):
            if isinstance(token, yaml.AliasToken | yaml.AnchorToken | yaml.TagToken):
                raise UsageError(f"the front matter of {FILE} refers to itself or to types", fix="Write plain texts.")
            nested += isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken)
            nested -= isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken)
            if nested > _NESTED:
                raise yaml.YAMLError("lists in lists")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        where = f" in line {mark.line + 2}" if (mark := getattr(error, "problem_mark", None)) else ""
        raise UsageError(f"the front matter of {FILE} is no YAML{where}", fix='Texts with ": " need quotes.') from error
    if not isinstance(node, yaml.MappingNode):
        raise UsageError(f"the front matter of {FILE} has no fields", fix=f"See {_SPEC}")
    fields: dict[str, str] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in fields:
            raise UsageError(f"the front matter of {FILE} says something twice, or under no name")
        fields[key.value] = _line(value)
    return fields


def _line(node: Any, depth: int = 0) -> str:
    """A value in one line; what is nested deeper than a map of texts is none of the format."""
    if isinstance(node.value, str):
        return " ".join(node.value.split())
    if depth > 1:
        return "…"
    parts = (
        f"{_line(each[0], 2)}: {_line(each[1], depth + 1)}" if isinstance(each, tuple) else _line(each, depth + 1)
        for each in node.value
    )
    return ", ".join(parts)


def _required(fields: Mapping[str, str], name: str) -> str:
    value = fields.get(name, "")
    if not value:
        raise UsageError(f"the front matter of {FILE} has no {name}", fix=f"See {_SPEC}")
    if len(value) > _LONGEST[name]:
        raise UsageError(f"the {name} of the skill is longer than {_LONGEST[name]} characters")
    return value


# -- passages


def lore(skill: Skill, screen: Screen) -> Lore:
    """What could be remembered of a skill: everything that ``screen`` lets pass. Raises if its description does not."""
    reason = screen(f"{skill.name}: {skill.description}")
    if reason:
        raise UsageError(f"nothing of {skill.name} is taken in: its description is refused, because {reason}")
    kept: dict[str, tuple[str, ...]] = {}
    left: list[str] = []
    for file, text in skill.texts.items():
        fine: dict[str, None] = {}  # the same words are remembered once
        for heading, lines in _sections(text):
            passages = list(_passages(skill.name, heading, lines))
            refused = {passage: why for passage in passages if (why := screen(passage))}
            whole = "" if refused else screen("\n".join(lines))  # what was said across two of them
            left += [f"{file}, {_beginning(each)}: {why}" for each, why in refused.items()]
            left += [f"{file}, {_beginning(passages[0])}: read as a whole, {whole}"] if whole else []
            fine |= dict.fromkeys(each for each in passages if each not in refused and not whole)
        if fine:
            kept[file] = tuple(fine)
    return Lore(skill.name, kept, tuple(left))


def shown(passages: Mapping[str, Sequence[str]]) -> dict[str, Json]:
    """The passages as the owner sees them and as a question keeps them: by file, with an empty line between."""
    return {file: "\n\n".join(passages[file]) for file in sorted(passages)}


def passages_of(files: Mapping[str, Any]) -> list[str]:
    """The passages of a question."""
    return [passage for file in sorted(files) for passage in str(files[file]).split("\n\n")]


def digest_of(name: str, files: Mapping[str, Json]) -> str:
    return sha256_hex(canonical_json(["skill", name, dict(files)]))


def source_of(name: str, passage: str) -> str:
    """What a passage is known by: the same one is remembered once."""
    return f"skill {name} {sha256_hex(passage.encode())}"


def _passages(name: str, heading: str, lines: Sequence[str]) -> Iterator[str]:
    """A section in pieces of a bounded length, each with the skill's name and the heading before it."""
    said = (f"{name}, {heading}: " if heading else f"{name}: ")[: _PASSAGE // 2]
    held = ""
    for piece in _pieces(lines, _PASSAGE - len(said)):
        if held and len(said) + len(held) + 1 + len(piece) > _PASSAGE:
            yield said + held
            held = ""
        held = f"{held}\n{piece}" if held else piece
    if held:
        yield said + held


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Lines that say something, under their headings. A heading within a block of code is none."""
    heading, lines, fenced = "", list[str](), False
    for line in text.split("\n"):
        level = len(line) - len(line.lstrip("#"))
        if not fenced and 0 < level <= _LEVELS and line[level : level + 1].isspace():
            yield heading, lines
            heading, lines = " ".join(line[level:].rstrip(" #\t").split()), []
            continue
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if line.strip():
            lines.append(line.rstrip())
    yield heading, lines


def _pieces(lines: Sequence[str], room: int) -> Iterator[str]:
    """Lines that are no longer than there is room: broken after a sentence, else after a word."""
    for line in lines:
        rest = line
        while len(rest) > room:
            cut = rest.rfind(". ", 0, room) + 1 or rest.rfind(" ", 0, room)
            cut = cut if cut > 0 else room
            yield rest[:cut].strip()
            rest = rest[cut:].strip()
        if rest.strip():
            yield rest


def _beginning(passage: str) -> str:
    plain = " ".join(passage.split())
    return f"“{plain[:60]}…”" if len(plain) > 60 else f"“{plain}”"
