"""Rules of PLAYBOOK.md that steer plans without a language model: those written the way Metnos writes them.

A line such as `For requests of the form "copy <files>": copy_files with to "/srv/copies".` steers like the fact that it
says, whoever wrote it: what the owner changes in such a line, or adds, holds from the next request on, and what they
take out stops. Rules: a line of the owner's own is believed whole; a line that Metnos wrote is left to the fact behind
it, which knows how far it is to be believed. Every other line is for people and language models, and does nothing here.
"""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from metnos.core.canon import sha256_hex
from metnos.grimoire.episode import Provenance
from metnos.grimoire.extract import quoted
from metnos.grimoire.fact import Decay, Fact, Kind

_PAIRS = r'(?:[a-z_0-9 ]+ "[^"]*"(?:, (?=[a-z_]+ "))?)+'
_CALL = rf"[a-z0-9_]+(?: with {_PAIRS})?"
RULE = "For requests of the form"  # how a rule that steers begins
_LINE = re.compile(
    rf'{RULE} "(?P<form>[^"]+)"(?: where (?P<where>{_PAIRS}))?: (?P<prefer>{_CALL})(?:, not (?P<instead>{_CALL}))?\.?'
)
_ARGUMENT = re.compile(r'([a-z_][a-z_0-9 ]*) "([^"]*)"')


def rules_of(text: str, learnt: Collection[str], now: datetime) -> list[Fact]:
    """The rules that steer, of a playbook's text. ``learnt`` are the lines that Metnos keeps there itself."""
    found = []
    for line in text.splitlines():
        words = " ".join(line.split()).lstrip("-*+ ")
        match = _LINE.fullmatch(words)
        if match is not None and words not in learnt:
            found.append(_fact(words, match, now))
    return found


def _fact(words: str, match: re.Match[str], now: datetime) -> Fact:
    data: dict[str, Any] = {"form": f'"{match["form"]}"', "prefer": _call(match["prefer"])}
    if match["where"]:
        data["slots"] = _pairs(match["where"])
    if match["instead"]:
        data["instead_of"] = _call(match["instead"])
    return Fact(
        id=f"playbook-{sha256_hex(words.encode())[:16]}",
        kind=Kind.PROCEDURAL,
        text=words,
        domain="",
        confidence=1.0,
        quality=1.0,
        provenance=Provenance.OWNER,
        decay=Decay.NEVER,
        created=now,
        reinforced=now,
        applied=now,
        data=data,
    )


def _call(text: str) -> dict[str, Any]:
    executor, _, rest = text.partition(" with ")
    return {"executor": executor, "args": _pairs(rest)}


def _pairs(text: str) -> dict[str, Any]:
    return {name: _value(value) for name, value in _ARGUMENT.findall(text)}


def _value(text: str) -> Any:
    """A number, a truth value or a list of texts where the text is one, else the text."""
    try:
        found = json.loads(text.replace("'", '"'))
    except ValueError:
        return text
    texts = isinstance(found, list) and found and all(isinstance(each, str) for each in found)
    return found if texts or isinstance(found, int | float | bool) else text


def written_for(facts: Iterable[Fact], canonical: str) -> list[Fact]:
    """Those of these rules that are about this form, as `steer` reads them."""
    return [
        replace(fact, data={**fact.data, "when": {"canonical": " ".join(canonical.split()), **_where(fact)}})
        for fact in facts
        if fact.data["form"] == quoted(canonical)  # as far as a line can say a form
    ]


def _where(fact: Fact) -> dict[str, Any]:
    return {"slots": fact.data["slots"]} if "slots" in fact.data else {}
