"""Versions of an executor: which number is next, and what a new one changes, in words and as a difference. Pure.

Rules: a new version has a higher number than any before it, also than one that was put back or revoked. What it may do
is compared by what manifests declare, which is what the policy goes by; what its code does with that, the difference
of the code shows.
"""

from collections.abc import Iterable
from dataclasses import replace

import tomlkit

from metnos.core.difference import unified
from metnos.executors import words
from metnos.executors.manifest import Manifest
from metnos.synt.draft import VERSION, Draft

NOTHING_NEW = "no change: it may do what it might do before, and nothing else"
SAME_CODE = "what came out is the same code, so nothing would be mended"


def number(version: str) -> tuple[int, ...]:
    """A version as numbers, for the order."""
    return tuple(map(int, version.split(".")))


def after(versions: Iterable[str]) -> str:
    """The number of the next version: what it takes and gives may change, so the middle one grows."""
    known = [number(each) for each in versions]
    if not known:
        return VERSION
    major, minor, _ = max(known)
    return f"{major}.{minor + 1}.0"


def numbered(draft: Draft, version: str) -> Draft:
    """The draft with another number; all else to the letter."""
    table = tomlkit.parse(draft.manifest)
    table["version"] = version
    return replace(draft, manifest=tomlkit.dumps(table))


def difference(before: str, now: str, names: tuple[str, str], around: int = 3) -> str:
    """What changed of a text, as a unified difference; empty if nothing did."""
    return "\n".join(unified(before, now, names, around=around))


def changes(before: Manifest, now: Manifest) -> list[str]:
    """What a new version may do that the old one might not, and the other way round, in words for the owner."""
    mine, theirs = _powers(now), _powers(before)
    found = [f"new: may {each}" for each in mine if each not in theirs]
    found += [f"gone: may no longer {each}" for each in theirs if each not in mine]
    if words.effect(before) != words.effect(now):
        found.append(f"other: {words.effect(now)}; before: {words.effect(before)}")
    return found or [NOTHING_NEW]


def arguments(before: Manifest, now: Manifest) -> list[str]:
    """What it takes and gives now that it did not, and the other way round."""
    found = []
    for what, mine, theirs in (("takes", now.args, before.args), ("gives", now.output, before.output)):
        new, old = mine["properties"], theirs["properties"]
        found += [f"{what} {name} now" for name in new if name not in old]
        found += [f"{what} {name} no longer" for name in old if name not in new]
        found += [f"{what} another kind of {name}" for name in new if name in old and _kind(new[name], old[name])]
    return found


def _kind(new: object, old: object) -> bool:
    return isinstance(new, dict) and isinstance(old, dict) and new.get("type") != old.get("type")


def _powers(manifest: Manifest) -> list[str]:
    return [each for each in words.capabilities(manifest) if each != words.NOTHING]
