"""The answer: what was done, with counts and paths, in the language of the request.

Rules: every sentence about an act comes from a step that has its line in the audit; a language model's own words stand
apart, and sentences in them that claim an act which did not happen are left out. Makes text only.
"""

import tomllib
from collections.abc import Sequence
from datetime import tzinfo
from functools import cache
from importlib import resources
from typing import Any

from metnos.grimoire.trace import State, StepTrace
from metnos.turn.claims import without_false_claims
from metnos.turn.render import render

_ENDINGS = {("m", True): "o", ("m", False): "i", ("f", True): "a", ("f", False): "e"}
_IT = {
    "none": "Nessun risultato.",
    "nothing_to_do": "Non c'è niente da fare: il passo precedente non ha trovato nulla.",
    "of": "di",
    "first": "… dall'inizio, {} di {}",
    "beginning": "Il modello ha visto solo l'inizio di quello che ha dato {}. Per una cifra su tutte le righe "
    "chiedila, per esempio: somma la colonna … di …",
    "left_out": "Lasciati fuori {} posti nascosti; nominane uno per guardarci dentro.",
    "failed": "Non riuscito",
    "not_done": "Non fatto",
    "waits": "Aspetta il tuo sì",
    "undo": "Per annullare",
    "would": "Succederebbe questo, ma non è stato fatto niente",
    "nothing_would": "Non cambierebbe niente.",
    "dropped": "(È stata tolta una frase che affermava qualcosa che non è stato fatto.)",
    "rest": "Non fatto, perché il passo prima non è riuscito",
    "cancelled": "Interrotto.",
    "remembered": "Ma ricordo questo:",
    "begun": "{} era già in corso; quello che ha cambiato è in: metnos undo --list",
    "unsayable": "È finito, ma il risultato non si lascia mettere in parole",
    "offer": "Nessun esecutore lo fa. Potrei farne uno per questo",
    "offer_cost": "Ci vuole qualche minuto, e prima che funzioni te lo chiedo di nuovo.",
    "tried": "Ho già provato, e non è riuscito",
    "not_made": "Potrei fare un esecutore per questo: chiedilo di nuovo e di' sì, oppure: metnos synt draft",
    "unmade": "L'esecutore non è stato fatto",
    "unwanted": "Hai detto no a {}: non è stato firmato.",
    "new": "{} è nuovo: fatto per questa richiesta, firmato con il tuo sì.",
    "new_in_vain": "{} è nuovo e attivo, ma non basta per questa richiesta. Prova a dirla in un altro modo.",
}
_EN = {
    "none": "Found nothing.",
    "nothing_to_do": "There is nothing to do: the step before found nothing.",
    "of": "of",
    "first": "… the first {} of {}",
    "beginning": "The model saw only the beginning of what {} gave. For a figure over all rows ask for it, such as: "
    "sum the column … of …",
    "left_out": "Left out {} hidden places; name one to look in it.",
    "failed": "Failed",
    "not_done": "Not done",
    "waits": "It waits for your yes",
    "undo": "To take it back",
    "would": "This would happen; nothing was done",
    "nothing_would": "Nothing would change.",
    "dropped": "(A sentence that claimed something which was not done was left out.)",
    "rest": "Not done, because the step before did not succeed",
    "cancelled": "Cancelled.",
    "remembered": "But this is remembered:",
    "begun": "{} had begun; what it changed is in: metnos undo --list",
    "unsayable": "It is over, but the result cannot be put into words",
    "offer": "No executor does this. I could make one for",
    "offer_cost": "It takes some minutes, and you are asked again before it runs.",
    "tried": "It was tried before, and came to nothing",
    "not_made": "I could make an executor for this: ask again and say yes, or: metnos synt draft",
    "unmade": "The executor was not made",
    "unwanted": "You said no to {}: it was not signed.",
    "new": "{} is new: made for this request, and signed with your yes.",
    "new_in_vain": "{} is new and active, but this request cannot be met with it alone. Try to say it otherwise.",
}


def words(language: str) -> dict[str, str]:
    """Fixed phrases in a language."""
    return _IT if language == "it" else _EN


def describe(
    steps: Sequence[StepTrace], mutators: frozenset[str], language: str, *, most: int, zone: tzinfo | None, home: str
) -> list[str]:
    """What the steps did and found: every change, what the last one gave, and what any could not."""
    lines: list[str] = []
    for place, step in enumerate(steps):
        last = place == len(steps) - 1
        if not step.ok or not step.audit:
            continue
        if not (last or step.executor in mutators):
            lines += _failures(step.reply, language, most, home)
            continue
        entries = _entries(step.reply)
        lines += _headline(step, len(entries), language)
        lines += render(entries[:most], most=most, zone=zone, home=home)
        lines += _rest(step.reply, len(entries), most, language)
        lines += _failures(step.reply, language, most, home)
        if step.action:
            lines.append(f"{words(language)['undo']}: metnos undo {step.action}")
    return lines


def own_words(text: str, steps: Sequence[StepTrace], language: str) -> list[str]:
    """A language model's words, as far as they claim nothing that was not done."""
    verbs = {step.executor.split("_")[0] for step in steps if step.ok and step.audit}
    kept, dropped = without_false_claims(text, verbs)
    return [*([kept] if kept else []), *([words(language)["dropped"]] if dropped else [])]


def problem(state: State, message: str, fix: str, language: str) -> list[str]:
    """Why a step did not end well, and what to do."""
    key = {State.REFUSED: "not_done", State.WAITING: "waits"}.get(state, "failed")
    return [f"{words(language)[key]}: {message}", *([f"→ {fix}"] if fix else [])]


def _entries(reply: Any) -> list[Any]:
    found = reply.get("entries", reply.get("results", []))
    return found if isinstance(found, list) else []


def _headline(step: StepTrace, count: int, language: str) -> list[str]:
    verb = step.executor.split("_")[0]
    noun = _noun(step.executor)
    said = _data()["verbs"].get(verb)
    total = step.reply.get("total", count)
    if not count:
        return [words(language)["none"]] if not step.reply.get("failed") else []
    if said is None or noun is None:
        return []
    shown = f"{count} {words(language)['of']} {total}" if total > count else str(count)
    if language == "it":
        one, several, gender = noun["it"]
        participle = said["it"] + _ENDINGS[gender, count == 1]
        return [f"{(one if count == 1 else several).capitalize()} {participle}: {shown}."]
    return [f"{said['en']} {shown} {noun['en'][total != 1]}."]


def _rest(reply: Any, count: int, most: int, language: str) -> list[str]:
    """How much more there is than what is shown."""
    if count <= most:
        return []
    total = reply.get("total", count)
    return [words(language)["first"].format(most, total) if total > count else f"… +{count - most}"]


def _noun(executor: str) -> dict[str, Any] | None:
    data = _data()
    named = data["names"].get(executor, executor.split("_")[1])
    found: dict[str, Any] | None = data["nouns"].get(named, None if named == "" else data["nouns"]["results"])
    return found


def _failures(reply: Any, language: str, most: int, home: str) -> list[str]:
    left_out, failures = reply.get("left_out", 0), reply.get("failures", [])
    lines = [words(language)["left_out"].format(left_out)] if left_out else []
    if not failures:
        return lines
    lines += [f"{words(language)['failed']}: {len(failures)}"]
    lines += [f"  {_item(each['item'], home)}: {each['message']}" for each in failures[:most]]
    return [*lines, f"  … +{len(failures) - most}"] if len(failures) > most else lines


def _item(item: Any, home: str) -> str:
    text = str(item)
    return f"~{text[len(home) :]}" if text.startswith(f"{home}/") else text


@cache
def _data() -> dict[str, Any]:
    text = resources.files("metnos.turn").joinpath("said.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
