"""The words of a question at the terminal, English and Italian: what is asked, and what counts as an answer.

Rules: a question is in the language of the request that led to it; English answers count in both. What the question is
about (its title, the preview, the rules) is not translated.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """One language. The first of each answer is what a prompt offers; the last is the whole word."""

    yes: tuple[str, ...]
    no: tuple[str, ...]
    later: tuple[str, ...]
    always: tuple[str, ...]
    why: tuple[str, ...]
    all: tuple[str, ...]
    do_this: str
    do_all_the_same: str
    choose: str
    meanings: tuple[str, str, str, str, str, str]  # of the answers, in the order above
    nobody: str
    unanswered: str
    if_always: str
    which_rules: str
    make_it: str
    let_it_live: str
    to_make: tuple[str, str]  # what yes and no mean there
    to_live: tuple[str, str]
    not_answered: str  # of an offer, which does not wait anywhere
    nobody_to_offer: str


ENGLISH = Words(
    yes=("y", "yes"),
    no=("n", "no"),
    later=("l", "later"),
    always=("always",),
    why=("w", "?", "why"),
    all=("all",),
    do_this="Do this?",
    do_all_the_same="This cannot be taken back. Do it all the same?",
    choose="Nothing happens without your yes. Type one of these:",
    meanings=(
        "do it",
        "do not",
        "leave the question in the inbox",
        "do it, and allow it from now on",
        "see which rule wants your yes",
        "see everything that would happen",
    ),
    nobody="No answer: nothing is done, and the question waits in the inbox.",
    unanswered="Unanswered for {seconds}, it waits in the inbox until {until}.",
    if_always="If you say {always}: {what}",
    which_rules="What each rule says about it:",
    make_it="Make it?",
    let_it_live="Let it live?",
    to_make=("make it, and ask me again before it runs", "leave it"),
    to_live=("sign it and use it, now and from now on", "throw it away"),
    not_answered="Unanswered for {seconds}, nothing is made.",
    nobody_to_offer="No answer: nothing is made.",
)
ITALIAN = Words(
    yes=("s", "y", "yes", "si", "sì"),
    no=("n", "no"),
    later=("l", "later", "dopo"),
    always=("always", "sempre"),
    why=("w", "?", "why", "perche", "perché"),
    all=("all", "tutto"),
    do_this="Lo faccio?",
    do_all_the_same="Non si può annullare. Lo faccio lo stesso?",
    choose="Senza il tuo sì non succede niente. Scrivi una di queste:",
    meanings=(
        "fallo",
        "non farlo",
        "lascia la domanda nella posta (inbox)",
        "fallo, e d'ora in poi è permesso",
        "mostra quale regola vuole il tuo sì",
        "mostra tutto quello che succederebbe",
    ),
    nobody="Nessuna risposta: non è stato fatto niente, e la domanda aspetta nella posta (metnos inbox list).",
    unanswered="Senza risposta per {seconds}, aspetta nella posta (metnos inbox list) fino al {until}.",
    if_always="Se dici {always}: {what}",
    which_rules="Che cosa ne dice ogni regola:",
    make_it="Lo faccio?",
    let_it_live="Può vivere?",
    to_make=("fallo, e chiedimelo di nuovo prima che funzioni", "lascia stare"),
    to_live=("firmalo e usalo, ora e in futuro", "buttalo via"),
    not_answered="Senza risposta per {seconds}, non faccio niente.",
    nobody_to_offer="Nessuna risposta: non faccio niente.",
)


def words(language: str) -> Words:
    return ITALIAN if language == "it" else ENGLISH
