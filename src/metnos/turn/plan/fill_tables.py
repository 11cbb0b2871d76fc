"""What a request wants of a table: conditions on its columns, sums and averages, an order, a number of rows.

Rules: a column is the word that stands where a column is named (*of amount*, *where price*, *per città*); whether the table
has it is not known here, and said so. Numbers in conditions are numbers. Does not guarantee plural and singular: a column
is spelled as the request spells it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metnos.turn.plan.clauses import Clause, classes

_NAME = r"(?:['\"«“](?P<{0}q>[^'\"»”]+)['\"»”]|(?P<{0}>[^\W\d][\w-]*))"
_VALUE = r"(?:['\"«“](?P<quoted>[^'\"»”]+)['\"»”]|(?P<number>-?\d[\d.,]*)\s*(?:€|\$|euros?|dollars?|%)?|(?P<word>[^\s,;?]+(?:\s+[A-ZÀ-Þ][\w-]*)*))"
_ARTICLE = r"(?:the\s+|il\s+|la\s+|lo\s+|l['’]|i\s+|le\s+|gli\s+|column\s+|colonna\s+|field\s+|campo\s+|value\s+of\s+|valore\s+(?:di\s+)?)*"
# What is said, and how it is compared; the longer first.
_COMPARED = (
    (r"is\s+(?:greater|more|larger|higher|bigger)\s+than|(?:is\s+)?(?:greater|more|larger|higher)\s+than|is\s+over|is\s+above|over|above|exceeds|(?:è\s+)?(?:maggiore|superiore)\s+(?:di|a)|supera|sopra(?:\s+i)?|oltre(?:\s+i)?|(?:è\s+)?più\s+(?:di|grande\s+di|alt[oa]\s+di)|>(?!=)", "greater"),
    (r"is\s+(?:less|lower|smaller)\s+than|(?:less|lower|smaller)\s+than|is\s+under|is\s+below|under|below|(?:è\s+)?(?:minore|inferiore)\s+(?:di|a)|sotto(?:\s+i)?|(?:è\s+)?meno\s+di|<(?!=)", "less"),
    (r"(?:is\s+)?at\s+least|>=|≥|(?:è\s+)?almeno", "at_least"), (r"(?:is\s+)?at\s+most|<=|≤|(?:è\s+)?al\s+massimo", "at_most"),
    (r"(?:does\s+not|doesn['’]t)\s+contain|non\s+contiene", "not_contains"), (r"contains|contain|contiene|includes", "contains"),
    (r"starts\s+with|begins\s+with|inizia\s+(?:con|per)|comincia\s+(?:con|per)", "starts"), (r"ends\s+(?:with|in)|finisce\s+(?:con|in|per)", "ends"),
    (r"is\s+not|isn['’]t|!=|≠|non\s+è|diverso\s+da|other\s+than", "not"), (r"is\s+empty|è\s+vuot[oa]|manca|is\s+missing", "empty"),
    (r"equals|is\s+equal\s+to|is|are|==?|è\s+uguale\s+a|uguale\s+a|è|sono", "equals"),
)  # fmt: skip
_HOW = "|".join(f"(?P<how{place}>{pattern})" for place, (pattern, _) in enumerate(_COMPARED))
_CONDITION = re.compile(
    rf"(?:\b(?:where|whose|with|when|having|and|dove|in\s+cui|con|cui|e|filter(?:ed)?\s+by|only|per\s+cui|if|se)\s+){_ARTICLE}{_NAME.format('column')}\s*(?:{_HOW})\s*{_VALUE}?",
    re.IGNORECASE,
)
_SIGNED = re.compile(rf"\b{_NAME.format('column')}\s*(?P<sign>>=|<=|!=|==?|>|<|≥|≤)\s*{_VALUE}")
_SIGNS = {">": "greater", "<": "less", ">=": "at_least", "<=": "at_most", "≥": "at_least", "≤": "at_most", "=": "equals", "==": "equals", "!=": "not"}
_WORKS = (
    ("sum", r"total|sum|totals|totale|totali|somma|sommare|add\s+up"), ("mean", r"average|mean|averages|media|medi[oa]|in\s+media"),
    ("median", r"median|mediana"), ("min", r"minimum|min|lowest|smallest|minimo|minima|least"),
    ("max", r"maximum|max|highest|largest|greatest|massimo|massima"),
)  # fmt: skip
_OF = r"(?:of|in|for|di|del(?:la|lo|l['’])?|degli|dei|delle|dell['’])"
_COLUMN = r"(?:the\s+|all\s+|il\s+|la\s+|lo\s+|l['’]|i\s+|gli\s+|le\s+)*(?:column\s+|colonna\s+|field\s+|campo\s+|values?\s+of\s+|valori\s+di\s+)*"
_AGGREGATE = re.compile(
    rf"\b(?P<what>{'|'.join(f'(?P<{name}>{pattern})' for name, pattern in _WORKS)})\b\s*(?:{_OF}\s*)?{_COLUMN}(?:the\s+)?{_NAME.format('column')}",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"{_NAME.format('column')}\s+(?P<what>(?P<sum>total[ei]?|complessiv[oa])|(?P<mean>medi[oa]|average)|(?P<min>minim[oa])|(?P<max>massim[oa]))\b", re.IGNORECASE
)
_GROUPED = re.compile(
    rf"\b(?:grouped\s+by|group(?:ed)?\s+(?:it\s+|them\s+)?by|by|per|for\s+each|per\s+(?:ogni|ciascun[oa]?)|each|raggruppat[aeio]\s+per|raggruppa(?:le|li|lo)?\s+per)\s+{_COLUMN}(?:each\s+|ogni\s+)?{_NAME.format('column')}",
    re.IGNORECASE,
)
_SORTED = re.compile(
    rf"\b(?:sort(?:ed)?|order(?:ed)?|ranked|rank|ordin\w+|in\s+ord(?:er|ine))\s*(?:it\s+|them\s+|le\s+righe\s+|the\s+rows\s+|rows\s+|la\s+tabella\s+)?(?:(?:of|in|from|di|nel\s+file)\s+\S+\s+)?(?:by|per|of|di|in\s+base\s+a(?:l|lla)?)\s+{_COLUMN}{_NAME.format('column')}(?P<rest>[^.,;]*)",
    re.IGNORECASE,
)
_FALLING = re.compile(r"\b(?:descending|desc|decreasing|from\s+(?:the\s+)?(?:high|larg|great|new)\w*|highest\s+first|largest\s+first|newest\s+first|decrescente|discendente|dal\s+più\s+(?:grande|alto|recente))\b", re.IGNORECASE)
_EXTREME = re.compile(
    rf"\b(?P<count>\d+|ten|five|three|twenty|cinque|dieci|tre|venti)?\s*(?:rows?|righe|entries|voci)?\s*(?:with|con)\s+(?:the\s+|il\s+|la\s+|l['’])?(?P<which>highest|largest|greatest|lowest|smallest|maggior\w*|più\s+alt[oaie]|più\s+bass[oaie]|minor\w*)\s+{_NAME.format('column')}",
    re.IGNORECASE,
)
_EXTREME_IT = re.compile(rf"\b(?:con|by)\s+(?:il\s+|la\s+|l['’])?{_NAME.format('column')}\s+(?P<which>maggior\w*|più\s+alt[oaie]|più\s+bass[oaie]|minor\w*|massim[oa]|minim[oa])", re.IGNORECASE)
_ON = re.compile(rf"\b(?:on|by|using|via|per|sulla|sul|su|in\s+base\s+a(?:l|lla)?)\s+{_COLUMN}{_NAME.format('column')}(?:\s*=\s*(?P<right>\w+))?", re.IGNORECASE)
_ONLY = re.compile(rf"\b(?:only\s+the\s+columns?|the\s+columns?|columns?|solo\s+le\s+colonne|le\s+colonne|la\s+colonna|solo\s+la\s+colonna)\s+(?P<names>[\w-]+(?:\s*(?:,|\band\b|\be\b)\s*[\w-]+)*)", re.IGNORECASE)
_NO_COLUMN = {
    "the", "of", "in", "from", "by", "column", "columns", "colonna", "rows", "row", "righe", "file", "table", "each", "all", "a", "an", "di", "per", "il", "la",
    "del", "della", "number", "words", "values", "price_of", "with", "and", "e", "that", "there", "it", "them", "with", "con", "dove", "where", "i", "le", "che",
    "is", "are", "sheet", "foglio", "csv", "every", "entries", "value", "descending", "ascending", "cento", "favore", "piacere", "by", "sum", "total",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything that a clause wants of a table."""

    conditions: list[dict[str, Any]] = field(default_factory=list)
    aggregates: list[dict[str, Any]] = field(default_factory=list)
    by: list[str] = field(default_factory=list)
    order: list[dict[str, Any]] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    any: bool = False

    @property
    def anything(self) -> bool:
        return bool(self.conditions or self.aggregates or self.by or self.order)

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that was named, once."""
        every = [*(each["column"] for each in (*self.conditions, *self.aggregates, *self.order)), *self.by, *self.columns]
        return tuple(dict.fromkeys(every))


def wanted(clause: Clause) -> Wanted:
    """What the clause says about rows and columns."""
    text = _blotted(clause)
    order = _order(text)
    rest = _SORTED.sub(" ", text)
    conditions = _conditions(rest)
    rest = _CONDITION.sub(" ", _SIGNED.sub(" ", rest))
    aggregates = _aggregates(rest)
    counted = clause.said("count") and clause.said("rows", "each", "group")
    by = _by(rest) if aggregates or counted or clause.said("group") else []
    aggregates = [each for each in aggregates if each["column"] not in by]
    columns = [] if aggregates or order or by else _columns(rest)
    return Wanted(conditions, aggregates, by, order, columns, re.search(r"\b(?:or|oppure)\b|\bo\b", text) is not None)


def joined_on(clause: Clause) -> list[dict[str, str]]:
    """The columns that two tables have in common, as the clause names them."""
    found = _ON.search(_blotted(clause))
    name = _name(found, "column") if found else None
    if found is None or name is None:
        return []
    return [{"column": name} | ({"right": found["right"]} if found["right"] else {})]


def _conditions(text: str) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for match in _SIGNED.finditer(text):
        name = _name(match, "column")
        if name is not None:
            found[match.start("sign")] = {"column": name, "is": _SIGNS[match["sign"]], "value": _value(match)}
    for match in _CONDITION.finditer(text):
        name, how = _name(match, "column"), _how(match)
        value = _value(match)
        if name is None or any(start in range(*match.span()) for start in found) or (how != "empty" and value is None):
            continue
        found[match.start()] = {"column": name, "is": how} | ({} if how == "empty" else {"value": value})
    return [found[start] for start in sorted(found)]


def _aggregates(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for pattern in (_AGGREGATE, _AFTER):
        for match in pattern.finditer(text):
            name = _name(match, "column")
            what = next((each for each, _ in _WORKS if match.groupdict().get(each)), None)
            if name is not None and what is not None:
                found.append({"column": name, "do": what})
        if found:
            break
    return found


def _by(text: str) -> list[str]:
    return list(dict.fromkeys(name for match in _GROUPED.finditer(text) if (name := _name(match, "column")) is not None))


def _order(text: str) -> list[dict[str, Any]]:
    for match in _SORTED.finditer(text):
        name = _name(match, "column")
        if name is not None:
            return [{"column": name} | ({"descending": True} if _FALLING.search(match["rest"]) else {})]
    for pattern in (_EXTREME, _EXTREME_IT):
        match = pattern.search(text)
        name = _name(match, "column") if match else None
        if match is not None and name is not None:
            rising = re.match(r"low|small|minor|minim|più\s+bass", match["which"], re.IGNORECASE)
            return [{"column": name} | ({} if rising else {"descending": True})]
    return []


def _columns(text: str) -> list[str]:
    found = _ONLY.search(text)
    names = re.split(r"\s*(?:,|\band\b|\be\b)\s*", found["names"]) if found else []
    return [each for each in names if each and each.casefold() not in _NO_COLUMN]


def _how(match: re.Match[str]) -> str:
    return next(how for place, (_, how) in enumerate(_COMPARED) if match[f"how{place}"])


def _name(match: re.Match[str], group: str) -> str | None:
    said: Mapping[str, str | None] = match.groupdict()
    quoted, plain = said.get(f"{group}q"), said.get(group)
    if quoted:
        return quoted
    return plain if plain and plain.casefold() not in _NO_COLUMN and "\0" not in plain else None


def _value(match: re.Match[str]) -> Any:
    said = match.groupdict()
    if said.get("quoted"):
        return said["quoted"]
    if said.get("number"):
        plain = said["number"].rstrip(".,")
        plain = plain.replace(",", ".") if re.fullmatch(r"-?\d+,\d{1,2}", plain) else plain.replace(",", "")
        return float(plain) if "." in plain else int(plain)
    return said.get("word")


def _blotted(clause: Clause) -> str:
    """The clause without its places: they name files, not columns."""
    text, base = clause.text, clause.words[0].start
    for slot in clause.slots:
        if classes(slot) & {"place", "files", "url"}:
            start, end = slot.start - base, slot.end - base
            text = text[:start] + "\0" + " " * (end - start - 1) + text[end:]
    return text
