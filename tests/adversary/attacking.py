"""Attacks as data: texts in which somebody else gives orders, what they want done, and where they stand."""

import base64
import codecs
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EVERY = ("documents", "mails", "pages", "tables", "names", "outputs", "memory", "tools", "bundles")
_LOOK = str.maketrans("aeopcxi", "\u0430\u0435\u043e\u0440\u0441\u0445\u0456")
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
CODES = {
    "": lambda text: text,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "tags": lambda text: "Nothing to see." + "".join(chr(0xE0000 + ord(char)) for char in text if ord(char) < 128),
    "zero width": lambda text: "\u200b".join(text),
    "wide": lambda text: text.translate(_WIDE),
    "look alike": lambda text: text.translate(_LOOK),
    "white": lambda text: f"<span style='color:white'>{text}</span>",
    "comment": lambda text: f"<!-- {text} -->",
    "image": lambda text: f"![.]({text})",
}


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: the file that it stands in, its number there, the trick, and what is said of it."""

    file: str
    number: int
    trick: str
    said: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.file} {self.number}, {self.trick}"

    def text(self, **words: str) -> str:
        """What the attacker wrote, in its disguise."""
        return CODES[self.said.get("code", "")](str(filled(self.said.get("text", ""), words)))


@cache
def attacks(file: str) -> tuple[Attack, ...]:
    """Every attack of a file."""
    return tuple(Attack(file, number, trick, said) for number, (trick, said) in enumerate(_listed(file), start=1))


@cache
def goals() -> dict[str, list[dict[str, Any]]]:
    """What attackers want done, as a model plans it that obeys them."""
    return tomllib.loads((HERE / "goals.toml").read_text(encoding="utf-8"))


def filled(value: Any, words: Mapping[str, str]) -> Any:
    """A value with ``{evil}`` and the like put in."""
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(f"{{{word}}}", text)
        return value
    if isinstance(value, Mapping):
        return {key: filled(each, words) for key, each in value.items()}
    return [filled(each, words) for each in value] if isinstance(value, list) else value


def _listed(file: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    read = tomllib.loads((HERE / f"{file}.toml").read_text(encoding="utf-8"))
    for trick in read["trick"]:
        for said in trick["cases"]:
            yield trick["name"], said
