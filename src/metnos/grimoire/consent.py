"""Which facts are about the owner or the household, and so need their consent. Pure.

A fact needs consent if it says so itself (its domain, its subject or a tag is one of `PERSONAL`), if it was told by the
owner in so many words, if its words name somebody of the household, a part of a person's life or a way to reach them
(`_NAMED`, `_DATA`), or if they say what somebody likes, has or does (`_LIKES`) of what is not one of the agent's tools.
How tools, files and machines behave needs none: that is what the agent learns by itself.

Rules: English and Italian. In doubt, consent: a question too many costs a moment, one too few is a trespass. Does not
guarantee to notice a person whom a text names without any such word.
"""

import re

from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Fact
from metnos.grimoire.fact_rules import is_strangers
from metnos.grimoire.strings import strings

PERSONAL = frozenset(
    re.findall(
        r"\w+",
        """owner household family person people personal habit habits preference preferences health religion politics
        finance finances relationship relationships proprietario famiglia persona persone abitudine abitudini preferenza
        preferenze salute religione politica finanze""",
    )
)
_EXECUTOR = re.compile(r"[a-z]+(?:_[a-z0-9]+)+(?:[ ,;/|>→]+[a-z]+(?:_[a-z0-9]+)+)*")
_PARTS = 200  # texts of one fact
_MACHINE = r"(?![ -](?:process|task|folder|director|path|node|element|class|commit|window|id\b))"  # child process, ...
_NAMED = re.compile(
    rf"""\b(?:
    owners?(?:'s)? | the\s+user(?:'s)? | wife | husband | spouse | partner's | girlfriend | boyfriend | fianc[ée]e?
    | sons? | daughters? | kids? | child(?:ren)?{_MACHINE} | toddler | bab(?:y|ies) | mother | father | mum | mom | dad
    | parents?{_MACHINE} | grand(?:mother|father|ma|pa|parents?|son|daughter|children) | brothers? | sisters? | aunts?
    | uncles? | cousins? | nephews? | nieces? | neighbou?rs? | landlord | roommates? | flatmates? | famil(?:y|ies)
    | household | birthdays? | anniversary | allerg(?:y|ies|ic) | pregnan(?:t|cy) | diagnos(?:is|ed) | medications?
    | medicines? | doctor(?:'s)? | illness | diabetes | salary | income | mortgage | passport | home\s+address
    | religious | vegetarian | vegan
    | proprietari[oa] | (?:l'|dell'|all')utente | padron[ea]\s+di\s+casa | moglie | marito | coniuge | fidanzat[oa]
    | figli[oae]? | bambin[oaie] | madre | padre | mamma | pap[àa] | genitor[ei] | nonn[oaie] | fratell[oi] | sorell[ae]
    | zi[oa] | cugin[oaie] | nipot[ei] | vicin[oaie]\s+di\s+casa | coinquilin[oaie] | famiglia | compleann[oi]
    | allergi(?:a|e|c[oaie]) | incinta | diagnosi | farmac[oi] | medicin[ae] | stipendio | mutuo | passaporto
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_LIKES = re.compile(
    r"""\b(?:likes | loves? | hates? | dislikes? | prefers? | enjoys? | lives?\s+(?:in|at|with) | was\s+born
    | works?\s+(?:at|for|as) | is\s+(?:married|divorced|engaged|ill|sick|retired|afraid|\d{1,3}\s+years\s+old)
    | (?:usually|always|never)\s+(?:asks|goes|gets\s+up|sleeps|eats|drinks|pays|travels)
    | ama | odia | preferisce | piace | piacciono | abita | vive\s+(?:a|in|con) | lavora\s+(?:a|come|per)
    | (?:è|e')\s+(?:nat[oa]|sposat[oa]|malat[oa]|divorziat[oa]) | ha\s+\d{1,3}\s+anni
    | (?:my|your|our|mi[oa]|tu[oa]|miei|mie|tuoi|tue|nostr[oaie])(?=\s+[a-z]))(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_DATA = re.compile(
    r"[\w.+-]+@[\w-]+\.[a-z]{2,}|(?<![\w./:-])\+\d[\d ()./-]{7,}\d|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}", re.IGNORECASE
)


def needs_consent(fact: Fact) -> bool:
    """Whether a fact may only be kept if the owner agrees."""
    if fact.provenance is Provenance.OWNER or any(_personal(each) for each in (fact.domain, fact.subject, *fact.tags)):
        return True
    of_tools = _EXECUTOR.fullmatch(fact.subject) is not None or _EXECUTOR.fullmatch(fact.domain) is not None
    said = "\n".join([fact.text, fact.subject, fact.value, *list(strings(fact.data, keys=False))[:_PARTS]])
    return about_people(said, of_tools=of_tools)


def waits(fact: Fact) -> bool:
    """Whether a quarantined fact waits for the owner's consent: not for a contradiction to be settled, and not
    because of what somebody else said, which is not the owner's to see."""
    return not fact.contradicts and not is_strangers(fact) and needs_consent(fact)


def about_people(text: str, *, of_tools: bool = False) -> bool:
    """Whether a text speaks of somebody. Of tools it is said, too, that they prefer something."""
    found = _NAMED.search(text) or _DATA.search(text)
    return found is not None or (not of_tools and _LIKES.search(text) is not None)


def _personal(name: str) -> bool:
    return any(part in PERSONAL for part in re.split(r"[^\w]+|_", name.casefold()))
