"""Whether what a draft says about itself is what its code can do: rules over words, and no opinion.

The purpose is what the owner decides on and what a planner chooses by. Rules:

- it is one plain sentence of 3 to 40 words, begins with a capital letter and ends with a full stop;
- it, or the words of ``affinity``, names the verb or the object of the name, or a synonym (the vocabulary's English);
- it promises nothing that the capabilities exclude: words of the web without ``net.http``; sending without a method
  that sends; changing files, folders or notes in a draft that can change nothing (a preview says that it is one);
  starting programs without ``shell.exec``; a language model without ``model.chat``. What it says that it does without
  is no promise;
- it hides nothing: a mutator says that it changes something; one that puts things into the trash, speaks to the web,
  starts programs or asks a language model says so;
- neither it nor any other text that a model will read speaks to the agent (`grimoire.poison`), or has words in letters
  of two scripts.

Does not guarantee that a true sentence is a good one, and knows English only.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from metnos.executors import vocabulary
from metnos.executors.manifest import Kind, Manifest
from metnos.executors.vocabulary import Word
from metnos.grimoire import poison
from metnos.grimoire.stem import stem

_ANY_CASE = re.IGNORECASE
_LEAST, _MOST = 3, 40  # words of a purpose; a built-in has up to 22
_WORD = re.compile(r"[A-Za-zÀ-ÿ0-9]+")
_SENTENCES = re.compile(r"[.!?]\s+(?=[A-ZÀ-Ý])")
_WITHOUT = re.compile(r"\b(?:without|never|not|no|nothing)\b[^,.;:]*", _ANY_CASE)
_PREVIEW = re.compile(
    r"\b(?:preview|would|could|propose[sd]?|suggest(?:s|ed|ions?)?|plan(?:s|ned)?|without chang)", _ANY_CASE
)
_WEB = re.compile(
    r"\b(?:download(?:s|ed|ing)?|upload(?:s|ed|ing)?|online|internet|the web|web ?sites?|web ?pages?|web servers?)\b",
    _ANY_CASE,
)
_TOLD_WEB = re.compile(
    r"\b(?:web|page|address|url|site|server|online|internet|fetch|download|feed|network|api)", _ANY_CASE
)
_SENDS = re.compile(
    r"\b(?:send|sends|sending|submits?|publish(?:es)?|uploads?|notif(?:y|ies)|shares? with)\b", _ANY_CASE
)
_CHANGES = re.compile(
    r"\b(?:delet\w*|remov(?:e|es|ing)|eras\w+|trash\w*|mov(?:e|es|ing)|renam(?:e|es|ing)|overwrit\w+|sav(?:e|es|ing)"
    r"|writ(?:e|es|ing)|stor(?:e|es|ing)|cop(?:y|ies|ying)|creat(?:e|es|ing))\b",
    _ANY_CASE,
)
_STORED = re.compile(r"\b(?:files?|folders?|director(?:y|ies)|disks?|notes?|reminders?)\b", _ANY_CASE)
_PROGRAM = re.compile(
    r"\b(?:run|runs|execut\w+|launch\w*|start|starts)\b[^.]*\b(?:programs?|commands?|scripts?|shells?)\b", _ANY_CASE
)
_MODEL = re.compile(r"\b(?:language models?|llms?|ai|chat ?bots?|translat(?:e|es|ing))\b", _ANY_CASE)
_TOLD_CHANGE = re.compile(
    r"\b(?:add|put|take|change|turn|pack|create|remove|store|save|make|mark|tidy|update|insert|install|edit"
    r"|merge|split|sort|mend|fix|clear|empty|apply|correct|fill|swap)(?:s|es|d|ed|ing)?\b",
    _ANY_CASE,
)
_CHANGING = (
    *("write", "append", "move", "copy", "rename", "delete", "make", "archive", "extract", "replace", "set"),
    *("convert", "resize", "rotate", "label", "remind", "schedule", "complete", "restore", "send", "run", "stop"),
    *("clean", "deduplicate", "format", "draw"),
)
_TRASH = re.compile(r"\b(?:trash|delet|remov|bin\b|eras|discard|throw|clean)", _ANY_CASE)


def problems(manifest: Manifest, source: str) -> list[str]:
    """Where the words of a manifest and what the code can do part, each with what to do."""
    purpose = manifest.purpose
    said = _WITHOUT.sub("", purpose)
    rules = (_sentence(purpose), _named(manifest), _promised(manifest, said), _hidden(manifest, said, source))
    return [*(problem for rule in rules for problem in rule), *_spoken(manifest)]


def stems(text: str) -> set[str]:
    """The words of a text, reduced to their stems."""
    return {stem(word.lower()) for word in _WORD.findall(text)}


def _sentence(purpose: str) -> Iterator[str]:
    count = len(_WORD.findall(purpose))
    if not _LEAST <= count <= _MOST:
        yield f"the purpose has {count} words: say it in one sentence of {_LEAST} to {_MOST}"
    if not purpose.endswith(".") or purpose.endswith("..") or not purpose[:1].isupper():
        yield "the purpose is no plain sentence: begin with a capital letter and end with one full stop"
    if _SENTENCES.search(purpose):
        yield "the purpose is more than one sentence: keep the first"


def _named(manifest: Manifest) -> Iterator[str]:
    words = manifest.words
    said = stems(" ".join((manifest.purpose, *manifest.affinity)))
    known = vocabulary.load()
    if not any(says(said, word) for word in (known.verbs.get(words.verb), known.objects.get(words.object)) if word):
        yield (
            f"the purpose names neither {words.verb!r} nor {words.object!r} nor a synonym of them: "
            "say what the name says, or change the name"
        )


def says(said: set[str], word: Word) -> bool:
    """Whether the stems of a text hold a word of the vocabulary, or a synonym of it."""
    return any(stems(form) <= said for form in (word.text, *word.synonyms["en"]))


def _promised(manifest: Manifest, said: str) -> Iterator[str]:
    can = manifest.capabilities
    if can.executor.call:
        return  # whatever those may do, by the same door
    if not can.net.http and (found := _WEB.search(said)):
        yield f"the purpose says {found[0]!r}, but there is no net.http: say what it is given instead"
    if not can.unsafe_methods and not can.shell.exec and (found := _SENDS.search(said)):
        yield f"the purpose says {found[0]!r}, but nothing is sent anywhere: say what it gives back"
    changes = _CHANGES.search(said)
    if not can.can_change and changes and _STORED.search(said) and not _PREVIEW.search(said):
        yield (
            f"the purpose says {changes[0]!r}, but it can change nothing (no fs.write): say that it is a preview, "
            "or what it gives back"
        )
    if not can.shell.exec and (found := _PROGRAM.search(said)):
        yield f"the purpose says {found[0]!r}, but there is no shell.exec: say what it does itself"
    if not can.model.chat and (found := _MODEL.search(said)):
        yield f"the purpose says {found[0]!r}, but there is no model.chat: say what it does itself"


def _hidden(manifest: Manifest, said: str, source: str) -> Iterator[str]:
    can = manifest.capabilities
    if manifest.kind is Kind.MUTATOR and not (_changing_words() & stems(said) or _TOLD_CHANGE.search(said)):
        yield "it is a mutator, but the purpose does not say that it changes something: say what it changes"
    if re.search(r"\bctx\.trash\b", source) and not _TRASH.search(said):
        yield "the code puts things into the trash, but the purpose does not say so: say that it deletes"
    if can.net.http and not _TOLD_WEB.search(said) and not any(host in said for host in can.net.http.hosts):
        yield "it speaks to the web, but the purpose does not say so: name the web or the host"
    if can.model.chat and not (_MODEL.search(said) or re.search(r"\b(?:model|ask|answer)", said, _ANY_CASE)):
        yield "it asks a language model, but the purpose does not say so: say it"
    if can.shell.exec and not re.search(r"\b(?:run|start|program|command|launch|execut)", said, _ANY_CASE):
        programs = (program.rpartition("/")[2] for program in can.shell.exec.allow)
        if not any(program in said for program in programs):
            yield "it starts a program, but the purpose does not say so: name the program"


@cache
def _changing_words() -> frozenset[str]:
    verbs = vocabulary.load().verbs
    forms = (form for verb in _CHANGING for form in (verb, *verbs[verb].synonyms["en"]) if " " not in form)
    return frozenset(stem(form) for form in forms)


def _spoken(manifest: Manifest) -> Iterator[str]:
    """Texts of the manifest that would reach a model, and speak to it."""
    for where, text in _texts(manifest):
        found = poison.screen(text)
        if any(len(_scripts(word)) > 1 for word in text.split()):
            yield f"{where} has a word in letters of two scripts, which look alike and are not: write it in one"
        if found.is_poison:
            yield f"{where} reads like an instruction ({found.reason}): describe, and tell nobody what to do"


def _scripts(word: str) -> set[str]:
    return {unicodedata.name(each, "?").split()[0] for each in word if each.isalpha()}


def _texts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield "the purpose", manifest.purpose
    yield "`affinity`", "\n".join(manifest.affinity)
    for number, example in enumerate(manifest.examples, start=1):
        yield f"`examples` number {number}", example.say
    for table in ("args", "output"):
        for name, inner in getattr(manifest, table)["properties"].items():
            yield f"the description of {table} {name!r}", f"{name} {inner.get('description', '')}"
