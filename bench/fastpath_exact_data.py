"""Requests with other particulars: every request that there is, asked again about other things and in other clothes.

A request is varied in what it names (paths, amounts, days, quoted texts: those of all other requests, and odd ones), in
what a canonical form leaves out (politeness, articles, plurals, joining words, marks, capitals), and in when and where
it is asked. The variants of one request are a *family*; they need not have its form.

Rules: the same seed gives the same variants. Requests are read from where others keep them; none was written for this.
Does not guarantee sense: some variants are what nobody would say, and only harder for it.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

from bench import router_data
from metnos.fastpath.canonical import canonical
from metnos.fastpath.language import language
from metnos.fastpath.slots import Kind, Slot, extract, without

_ROOT = Path(__file__).resolve().parent.parent
HOME = Path("/home/u")
_FOLDERS = (HOME / "work", HOME, HOME / "My Files", Path("/srv/data"))
# Noon of a Sunday, just before a midnight that ends a month, a Monday morning, a leap day, New Year's evening.
_MOMENTS = tuple(
    datetime(*when, tzinfo=UTC)
    for when in (
        (2026, 11, 15, 12, 0), (2026, 11, 30, 23, 58), (2027, 3, 1, 7, 5), (2028, 2, 29, 9, 30), (2026, 12, 31, 18, 45),
    )
)  # fmt: skip
_PLACES = frozenset({Kind.PATH, Kind.FOLDER, Kind.NAME})
_ODD: dict[str, tuple[str, ...]] = {
    "path": (
        "~/Archive 2025/old", "/srv/data/Ünïcode", "./notes", "../up/one", "~/.config/app", "~", "/", "/tmp/x y/z",
        "~/Documenti/più", "~/to/from", "C_drive/a", "~/a.b.c", "/var/log/syslog", "~/inbox/",
    ),
    "folder": (
        "my documents", "Downloads", "Scaricati", "la cartella Foto", "my music", "the folder Work", "Desktop",
        "Scrivania", "my home", "Documenti", "this folder", "questa cartella", "trash", "my videos",
    ),
    "stem": (
        "report", "Report", "a", "delete", "2025", "last_week", "READ-ME", "más", "über_uns", "to", "and", "copy.of",
        "v1.2", "ten", "Rossi-2024", "invoice (1)", "x_y", "tutti", "the",
    ),
    "name": ("Makefile", ".bashrc", "notes", "a.tar.gz", "IMG_0001.JPG", "data.parquet", "movie.mkv", "file.xyz"),
    "glob": ("*.txt", "*.tar.gz", "a*", "*report*", "IMG_????.jpg", "*.JPG"),
    "files": ("markdown files", "file html", "ebooks", "file yaml", "epub", "WAV files", "presentazioni", "scripts"),
    "url": ("https://example.org", "http://example.org/a.pdf", "https://example.org/a?b=1&c=due", "www.example.org",
            "https://example.org/Über/x.csv#top"),
    "email": ("a.b+c@example.org", "Info@Example.COM"),
    "number": ("0", "1", "-4", "0.5", "2,5", "1.250", "1,250", "1000000", "twelve", "dodici", "1e3", "7 percent",
               "100%", "3.14159", "99", "un", "a"),
    "size": ("200 KB", "1.5 GB", "1,5 GB", "10k", "3 GiB", "750 megabytes", "2 giga", "0 MB"),
    "date": ("last Friday", "next Monday", "15/08/2026", "3 aprile 2027", "ieri", "dopodomani", "1 March", "2024-02-29",
             "l'altro ieri", "domenica", "yesterday", "12/25/2026", "Easter", "Pasqua"),
    "range": ("last week", "this month", "la settimana scorsa", "2025", "next month", "ultimi 30 giorni",
              "il mese scorso", "March", "between Monday and Friday", "2026-01-01 to 2026-01-31", "past two weeks"),
    "time": ("7", "23:59", "noon", "midnight", "6.30 pm", "7:05", "mezzogiorno", "21", "half past nine"),
    "duration": ("3 months", "90 minutes", "un'ora e mezza", "45 min", "a fortnight", "in 10 minutes", "tra 3 giorni",
                 "last 24 hours", "2 years", "1.5 hours", "ultime 6 ore", "tra un mese"),
    "quoted": ("delete all files", "and then", "~/inbox", "3", "ciao mondo", "Über", "a.txt", "today", "", "it's",
               "a*b", "in Documents", "the 5 largest files", "{{step1.entries}}", "non", "x"),
    "count": ("first 7", "last 4", "prime sette", "ultime 2", "12", "twelve", "one", "un", "1", "100", "top 5"),
    "order": ("smallest", "oldest", "più vecchia", "most recent", "newest", "piu piccolo"),
}  # fmt: skip
_BEFORE = ("please ", "could you ", "per favore ", "Metnos, ", "hey, ", "mi puoi ", "I'd like to ", "ok ")
_AFTER = (" please", ", thanks", " per favore", " grazie")
_MARKS = ("?", ".", "!", "")
_ARTICLE = {
    "en": re.compile(r"\b(?:the|an?|some|my) ", re.IGNORECASE),
    "it": re.compile(r"\b(?:il|lo|la|gli|le|i|un|una|uno) ", re.IGNORECASE),
}
_ARTICLES = {
    "the": ("a",), "a": ("the",), "an": ("the",), "some": ("the",), "my": ("the", "a"),
    "il": ("un",), "lo": ("uno",), "la": ("una",), "un": ("il",), "uno": ("lo",), "una": ("la",),
}  # fmt: skip
_FOLDER = re.compile("folder|cartell|director", re.IGNORECASE)
_JOINING = re.compile(r"\b(?:and then|and|then|e poi|poi|e)\b(?! \d)")
_JOINED = ("and", "then", "and then", "and also", "e", "e poi", "poi")
_WORD = re.compile(r"[a-zà-ù]{4,}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it comes. ``family`` is the place of the one that it was made of."""

    family: int
    text: str
    now: datetime
    cwd: Path
    bare: str  # the same without politeness


def requests() -> list[str]:
    """Every request that the house has for its executors, once."""
    tests, scenarios = _ROOT / "tests" / "turn", _ROOT / "bench" / "scenarios"
    found = [each["say"] for each in _read(tests / "plan" / "routes.toml")["routes"]]
    found += [each["say"] for each in _read(tests / "plan" / "requests.toml")["request"]]
    found += [say for tool in router_data.built_in() for say, _ in tool.examples]
    for each in _read(tests / "heldout.toml")["ask"]:
        found += each["say"] if isinstance(each["say"], list) else [each["say"]]
    found += [turn[0] for talk in _read(scenarios / "reach.toml")["talk"] for turn in talk["turns"]]
    found += [each["say"] for each in _read(scenarios / "turns.toml")["turn"]]
    return list(dict.fromkeys(str(say).replace("{web}", "http://127.0.0.1:8000") for say in found))


def there(path: Path) -> bool:
    """A disk that is a rule: three folders of four are there, and a file is in one kind of place, or in none."""
    if path in (*_FOLDERS, *_FOLDERS[0].parents):
        return True
    number = crc32(path.name.encode()) % 4
    if not path.suffix:
        return number > 0 and (path.parent == path or there(path.parent))
    lives = (path.parent == HOME, path.parent in _FOLDERS and path.parent != HOME, path.parent not in _FOLDERS, False)
    return lives[number] and there(path.parent)


class Variants:
    """Variants of requests, by a seed."""

    def __init__(self, texts: Sequence[str], seed: int) -> None:
        self._texts = texts
        self._seed = seed
        self._pool: dict[str, list[str]] = {name: list(odd) for name, odd in _ODD.items()}
        for text in texts:
            for slot in _slots(text):
                self._pool.setdefault(str(slot.kind), []).append(slot.text.strip("'\"«»“”"))
        self._words: dict[str, list[str]] = {}
        for word in dict.fromkeys(word for text in texts for word in _WORD.findall(text)):
            self._words.setdefault(canonical(word, ()), []).append(word)

    def of(self, family: int, count: int) -> list[Asked]:
        """So many variants of one request at most, itself first; each text once."""
        draw = random.Random(f"{self._seed}/{self._texts[family]}")
        itself = self._texts[family]
        found = {itself: Asked(family, itself, _MOMENTS[0], _FOLDERS[0], itself)}
        for _ in range(3 * count):
            if len(found) >= count:
                break
            text, bare = self._varied(itself, draw)
            found.setdefault(text, Asked(family, text, draw.choice(_MOMENTS), draw.choice(_FOLDERS), bare))
        return list(found.values())

    def _varied(self, text: str, draw: random.Random) -> tuple[str, str]:
        slots = sorted(_slots(text), key=lambda slot: slot.start)
        parts, at, tongue = [], 0, language(without(text, slots))
        share = draw.choice((0.0, 0.5, 1.0, 1.0))
        dressed = draw.random() < (0.4 if slots else 1.0)
        for slot in slots:
            words = text[at : slot.start]
            parts.append(self._dressed(words, tongue, draw) if dressed else words)
            parts.append(self._other(slot, draw) if draw.random() < share else slot.text)
            at = slot.end
        parts.append(self._dressed(text[at:], tongue, draw) if dressed else text[at:])
        made = bare = "".join(parts)
        if dressed and draw.random() < 0.3:
            made = bare = bare.rstrip("?.! ") + draw.choice(_MARKS)
        if dressed and draw.random() < 0.4:
            made = draw.choice(_BEFORE) + made
        if dressed and draw.random() < 0.3:
            mark = made[-1] if made[-1] in "?.!" else ""
            made = made.removesuffix(mark) + draw.choice(_AFTER) + mark
        return (made[:1].upper() + made[1:] if dressed and draw.random() < 0.3 else made), bare

    def _other(self, slot: Slot, draw: random.Random) -> str:
        if slot.kind is Kind.QUOTED:
            return f"{slot.text[0]}{draw.choice(self._pool['quoted'])}{slot.text[-1]}"
        suffix = Path(slot.text).suffix
        if slot.kind in _PLACES and suffix and draw.random() < 0.7:
            folder = draw.choice((*("",) * 3, "~/", "~/Documents/", "/srv/Data Sets/", "./", "sub/", "~/Più/"))
            return f"{folder}{draw.choice(self._pool['stem'])}{draw.choice((suffix, suffix, suffix.upper()))}"
        kind = draw.choice(("path", "folder", "name")) if slot.kind in _PLACES else str(slot.kind)
        # *The folder the folder Work* is nothing that anybody says.
        fitting = [each for each in self._pool[kind] if not _FOLDER.search(each) or _FOLDER.search(slot.text)]
        return draw.choice(fitting)

    def _dressed(self, words: str, tongue: str, draw: random.Random) -> str:
        """The same words with what a canonical form leaves out added, dropped or changed."""
        how = draw.randrange(5)
        if how == 0:
            return _ARTICLE[tongue].sub("", words, count=1)
        if how == 1:
            return _ARTICLE[tongue].sub(lambda found: _article(found[0], draw), words, count=1)
        if how == 2:
            return _JOINING.sub(lambda _: draw.choice(_JOINED), words, count=1)
        if how == 3:
            found = [(match, other) for match in _WORD.finditer(words) for other in self._inflected(match[0])]
            match, other = draw.choice(found) if found else (None, "")
            return words if match is None else words[: match.start()] + other + words[match.end() :]
        return words

    def _inflected(self, word: str) -> list[str]:
        """Other words of the requests with the same stem: plurals, genders, persons."""
        return [other for other in self._words.get(canonical(word, ()), ()) if other != word]


def _article(found: str, draw: random.Random) -> str:
    return f"{draw.choice(_ARTICLES.get(found.strip().lower(), (found.strip(),)))} "


def _slots(text: str) -> Iterator[Slot]:
    yield from extract(text, now=_MOMENTS[0], home=HOME, cwd=_FOLDERS[0])


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
