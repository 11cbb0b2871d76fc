"""The words of a question in the chat, English and Italian. What the question is about is not translated."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """One language."""

    yes: str
    no: str
    always: str
    why: str
    all: str
    sure: str  # the second yes, which no finger hits by repeating itself
    do_this: str
    make_it: str
    let_it_live: str
    take_it_back: str
    all_the_same: str
    more: str
    if_always: str
    which_rules: str
    said: dict[str, str]  # what is left of a question when it was answered
    nobody: str
    nobody_to_offer: str
    elsewhere: str  # of what has to be named in full


ENGLISH = Words(
    yes="Yes",
    no="No",
    always="Always",
    why="Why?",
    all="Show all",
    sure="Yes, do it for good",
    do_this="Do this?",
    make_it="Make it?",
    let_it_live="Let it live?",
    take_it_back="Take it back?",
    all_the_same="This cannot be taken back. Do it all the same?",
    more="… {count} more lines",
    if_always="Always: {what}",
    which_rules="What each rule says about it:",
    said={"yes": "Yes.", "no": "No.", "always": "Yes, always.", "sure": "Yes, for good."},
    nobody="No answer: nothing is done, and the question waits in the inbox (/inbox).",
    nobody_to_offer="No answer: nothing is made.",
    elsewhere="It waits in the inbox. Read it and type its name on the page, or at a terminal: metnos inbox list",
)
ITALIAN = Words(
    yes="Sì",
    no="No",
    always="Sempre",
    why="Perché?",
    all="Mostra tutto",
    sure="Sì, definitivamente",
    do_this="Lo faccio?",
    make_it="Lo preparo?",
    let_it_live="Può vivere?",
    take_it_back="Lo annullo?",
    all_the_same="Non si può annullare. Lo faccio lo stesso?",
    more="… altre {count} righe",
    if_always="Sempre: {what}",
    which_rules="Che cosa ne dice ogni regola:",
    said={"yes": "Sì.", "no": "No.", "always": "Sì, sempre.", "sure": "Sì, definitivamente."},
    nobody="Nessuna risposta: non è stato fatto niente, e la domanda aspetta nella posta (/inbox).",
    nobody_to_offer="Nessuna risposta: non faccio niente.",
    elsewhere="Aspetta nella posta. Leggi e scrivi il suo nome nella pagina, o al terminale: metnos inbox list",
)

HELP = """Write what you want done, in your own words. I ask before anything serious, with buttons.
/stop ends what goes on
/undo takes back what was done last
/inbox shows what waits for your answer
/status says how things stand"""
STRANGER = "This bot answers only its owner. If that is you: run `metnos telegram pair` and send what it prints here."
FORWARDED = "These are somebody else's words, so I do nothing with them. Write yourself what you want."
NO_TEXT = "I read only text."
STALE = "This came while I was not here, more than an hour ago. Send it again if you still want it."
BUSY = "I am still at what you asked before. /stop ends it."
ANSWER_FIRST = "First the question above, please, by its buttons. /stop ends it."
OVER = "This question is over."
NOT_YOURS = "This device may look, and may not answer."


def words(language: str) -> Words:
    return ITALIAN if language == "it" else ENGLISH
