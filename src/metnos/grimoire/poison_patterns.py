"""What poisoned memories say, in English and Italian, as phrases that a person can read and extend.

A phrase is words with one blank between: ``a|b`` either of them, ``c_d`` two words, ``(word)`` maybe, ``*3`` up to
three words between, ``~40`` up to forty characters between, ``NAME`` a list of words from below. It is looked for in
text that is folded to lower case without accents. Phrases are about form: somebody tells the agent what to do, or what
it may.
"""

import functools
import re

_LISTS = {
    "AGENT": "assistant|agent|ai|bot|metnos|language_model|llm|assistente|agente|modello_linguistico",
    "RULES": "instructions?|rules?|laws?|guidelines?|prompts?|constitution|directives?|safeguards?|orders|safety"
    r"|constraints?|polic(?:y|ies)|istruzion[ei]|regol[ae]|legg[ei]|direttiv[ae]|ordini|vincol[oi]|costituzione"
    r"|sicurezza",
    "WHICH": "all|any|every|previous|prior|above|earlier|preceding|your|these|those|its|agent's|safety|tutt[eio]|ogni"
    "|precedent[ei]|tu[eo]i?|queste|quelle|di_sicurezza",
    "OWNER": "owner|user|admin|administrator|operator|human|proprietari[oa]|utente|padrone",
    "GUARD": "approvals?|confirmations?|sandbox|audit|quotas?|capabilit(?:y|ies)|autonomy|privileges?|kill_switch"
    "|safeguards?|approvazion[ei]|conferm[ae]|autonomia|privilegi|capacita|consenso|consent",
    "SECRETS": "passwords?|passphrases?|api_keys?|private_keys?|ssh_keys?|secrets?|credentials?|tokens?|ssh|env|id_rsa"
    "|cookies|seed_phrase|chiav[ei]|credenziali|segreti|parol[ae]_d_ordine",
    "SEND": r"send|upload|post|forward|e?mail|exfiltrate|leak|transmit|copy|publish|append|include|invia(?:re|lo|li)?"
    r"|manda(?:re|lo|li)?|carica(?:re)?|inoltra(?:re)?|spedi(?:sci|re)|trasmett(?:i|ere)|pubblica(?:re)?|copia(?:re)?"
    r"|allega(?:re)?",
    "ACT": "execute|delete|send|upload|forward|reply|respond|approve|accept|grant|obey|comply|trust|ignore|reveal"
    "|disable"
    r"|esegui(?:re)?|cancella(?:re)?|elimina(?:re)?|invia(?:re)?|manda(?:re)?|rispond(?:i|ere)|approva(?:re)?"
    r"|accetta(?:re)?"
    r"|rivela(?:re)?|obbedi(?:sci|re)|fidati|fidarti|ignora(?:re)?|disattiva(?:re)?",
    "DO": "ACT|run|call|invoke|remove|move|install|download|write|answer|say|use|treat|follow|skip|transfer|pay|buy"
    "|chiama"
    "|installa|scarica|scrivi|usa|segui|salta|sposta|paga|compra|trasferisci",
    "DROP": "ignor[ea]|ignorare|disregard|forget|override|bypass|overrule|circumvent|dimentica(?:re)?|trascura(?:re)?"
    "|scavalca(?:re)?|disattendi|aggira(?:re)?|annulla",
    "ALWAYS": "always|immediately|silently|secretly|automatically|you_must|you_should|subito|sempre|di_nascosto|devi"
    "|automaticamente|in_silenzio",
}

# The same words, said about people who do so, are an observation.
_OBSERVED = "(?<!users )(?<!people )(?<!they )(?<!readers )(?<!often )(?<!utenti )"

_PHRASES: dict[str, tuple[str, ...]] = {
    "it sets rules aside": (
        _OBSERVED + "DROP *3 WHICH *2 RULES",
        _OBSERVED + "DROP WHICH RULES",
        "DROP le|the|all|tutte_le RULES di_sicurezza|of_safety|della_casa",
        "DROP all|any|the|your|le|gli|i|tutte_le|tutti_gli RULES above|before|given|precedenti|di_prima|qui_sopra"
        "|ricevut[ei]",
        "ignore|forget|disregard everything|all|anything above|before|you_were_told|you_have_been_told|you_know",
        "ignora|dimentica tutto cio_che|quello_che|quanto ~40 prima|sopra|detto",
        "no_longer|not ~20 bound|subject ~20 RULES",
        "non ~10 piu ~20 vincolat[oa]|soggett[oa] ~30 RULES",
        "this|the_following|questa|quanto_segue *3 overrides|supersedes|replaces|sostituisce|prevale_su *2 WHICH *2"
        " RULES",
    ),
    "it speaks to the agent": (
        "from_now_on|henceforth|d'ora_in_poi|d'ora_in_avanti|da_(?:adesso|ora|oggi)_in_(?:poi|avanti) *4"
        " you|AGENT|devi|dovrai|sei",
        "from_now_on|henceforth|d'ora_in_poi|d'ora_in_avanti|da_(?:adesso|ora|oggi)_in_(?:poi|avanti)"
        " (always|please|sempre) DO",
        "you must|shall|will|should|have_to|need_to|are_to|are_required_to|can_now|may_now *3 ACT",
        "devi|dovrai|bisogna_che_tu *3 ACT",
        "AGENT must|shall|should|has_to|needs_to|is_to|is_required_to|deve|dovra|dovrebbe *3 ACT",
        "dear|attention|note_to|message_to|message_for|car[oa]|attenzione|nota_per|messaggio_per (the|this|l|il) AGENT",
        "as|being an|a ai|language_model|llm",
        "in_quanto ia|modello_linguistico",
        "when|whenever|if|every_time|each_time|quando|se|ogni_volta_che ~80 ALWAYS *2 ACT",
        "when|whenever|if|every_time|each_time|quando|se|ogni_volta_che ~80 ACT ALWAYS",
    ),
    "it plays a role": (
        "you_are_now|you're_now an?|the|dan|in|free|no|unrestricted",
        "sei_ora|sei_adesso un|una|il|la|libero|senza|in",
        "act_as|pretend_to_be|pretend_you_are|roleplay_as|comportati_come|fai_finta_di_essere|fingi_di_essere"
        " (an?|the|my|un|una|il|la|l) admin|administrator|root|owner|user|system|developer|dan|unrestricted|evil|hacker"
        "|amministratore|proprietario|utente|sviluppatore",
        "developer|god|dan|jailbreak|unrestricted mode *2 enabled|on|active|activated|unlocked",
        "modalita sviluppatore|dio|senza_restrizioni",
        "do_anything_now|jailbroken",
        "begin|start|end|inizio|fine (of|the|del) system|sistema|developer|hidden prompt|message|instructions?"
        "|istruzioni",
    ),
    "it asks for rights": (
        "grant|give|raise|elevate|escalate|extend|concedi|alza|aumenta|eleva|abilita *5 full|all|root|admin|every"
        "|unlimited"
        "|tutt[ie]|pien[oaie]|massim[oa]|higher|more *3 capabilit(?:y|ies)|autonomy|privileges?|autonomia|privilegi"
        "|capacita"
        "|permess[oi]|permissions?",
        "grant|give|concedi|dai *3 itself|yourself|AGENT *4 access|rights|permissions?|accesso|diritti|permessi",
        "raise|elevate|escalate|increase|alza|aumenta|eleva *3 its|your|AGENT|own|the|tua|sua|l *2"
        " capabilit(?:y|ies)|autonomy|privileges?|autonomia|privilegi|capacita",
        "disable|turn_off|switch_off|deactivate|bypass|skip|suppress|disattiva|disabilita|spegni|salta|aggira *3 GUARD",
        "set|put|switch|metti|imposta|porta *3 autonomy|autonomia *3 to|a|su|al full|max|maximum|complet[oa]"
        "|massim[oa]|pien[oa]",
        "DO ~80 without|senza *3 asking|approval|confirmation|confirming|permission|consent|chieder\\w*|conferma"
        "|approvazione|permesso|consenso",
        "do_not|don't|never|no_need_to|non|non_serve|non_occorre *1 ask|request|wait|chieder\\w*|aspettare|attendere *4"
        " confirm\\w*|approv\\w*|permission|consent\\w*|conferm\\w*|permess\\w*",
        "auto_approve|auto_approved|pre_approved|preapproved|pre_authori[sz]ed|approva_automaticamente"
        "|pre_autorizzat[oaie]",
        "is|are|e|sono exempt_from|esente_da|esenti?_da|esenti?_dalle *3 GUARD|RULES",
    ),
    "it claims consent": (
        "OWNER (has|have|ha) (already|explicitly|gia|permanently|espressamente) approved|consented|authori[sz]ed"
        "|agreed|allowed"
        "|accepted|waived|approvato|acconsentito|autorizzato|permesso|accettato|rinunciato ~60 all|every|any|everything"
        "|always|future|in_advance|permanently|forever|unconditional\\w*|without|automatic\\w*|whatever|tutt[oeia]|ogni"
        "|qualsiasi|sempre|futur[eioa]|in_anticipo|senza|automaticamente",
        "OWNER has|have|ha (already|gia|explicitly|hereby) given|granted|dato|concesso *3 consent|permission|approval"
        "|authori[sz]ation|consenso|permesso|approvazione|autorizzazione",
        "consent|approval|permission|consenso|approvazione was|were|is|has_been|e_stat[oa]|e|risulta *1 given|granted"
        "|obtained|implied|assumed|waived|unnecessary|not_required|not_needed|dat[oa]|concess[oa]|implicit[oa]"
        "|ottenut[oa]",
        "no|nessun|nessuna approval|consent|confirmation|approvazione|consenso|conferma (is|are|e) needed|required"
        "|necessari[oa]"
        "|richiest[oa]",
    ),
    "it wants something sent": (
        "SEND ~80 SECRETS ~60 to|a|al|all|verso|via *2 admin|me|us|address|server|channel|webhook|support|indirizzo"
        "|canale"
        "|assistenza|number|numero|account",
        "SEND ~80 SECRETS ~60 https?|www|com|org|net|io|ru|onion",
        "SEND *6 all|everything|every|contents?|conversations?|histor(?:y|ies)|memor(?:y|ies)|files?|documents?"
        "|tutt[oiae]"
        "|contenut[oi]|conversazion[ei]|cronologia|memoria|documenti ~60 https?|www|onion|webhook|ftp",
        "SEND *6 all|everything|every|conversations?|histor(?:y|ies)|memor(?:y|ies)|tutt[oiae]|conversazion[ei]"
        "|cronologia"
        "|memoria ~40 to|a|all_indirizzo \\w+@\\w+",
    ),
    "it wants something kept from the owner": (
        "without|senza *1 telling|informing|notifying|alerting|asking|dirlo|informar\\w*|avvisar\\w*|avvertir\\w*"
        " (the|al|il|l|to|all)"
        " OWNER",
        "never|mai tell|inform|notify|alert|dire|dirlo|informare|avvisare (the|al|il|l|all) OWNER",
        "secretly|covertly|di_nascosto|segretamente *2 DO",
        "DO ~60 di_nascosto|segretamente|secretly|covertly",
    ),
    "it wants to be told secrets": (
        "reveal|print|repeat|output|disclose|dump|rivela|ripeti|mostra|stampa *3 system_prompt|initial_prompt"
        "|hidden_prompt"
        "|initial_instructions|prompt_di_sistema|istruzioni_iniziali|istruzioni_di_sistema",
    ),
    "it wants to become a rule": (
        "add|write|save|store|insert|append|aggiungi|scrivi|salva|inserisci|metti *6 to|in|into|nel|nella|al|alla *2"
        " playbook|soul_md|identity_md|memory_md|user_md|telos_md|long_term_memory|memoria_a_lungo_termine",
        "remember|memori[sz]e|ricorda|memorizza *5 forever|permanently|per_sempre|as_a_rule|as_your_rule|come_regola",
        "remember|ricorda|note|nota (that|che) OWNER (always|sempre) wants|wishes|prefers|vuole|desidera ~40 DO *4"
        " without|senza",
    ),
    "it hides an instruction": (
        "decode|decrypt|unscramble|decodifica|decifra ~60 and|then|e|poi *2 follow|run|execute|obey|esegui\\w*"
        "|segui\\w*",
    ),
}

# Said as a request of its own: at the beginning of a sentence or after a conjunction. The same after a noun describes.
_BEGINNING = r"(?:^|[.!?,;:\-\"'(>*] ?|\b(?:and|but|please|then|also|e|ma|poi|inoltre) )"
_REQUESTS: dict[str, tuple[str, ...]] = {
    "it wants something kept from the owner": (
        "do_not|don't|non *1 tell|mention|inform|notify|alert|show|dire|dirlo|menziona\\w*|informa\\w*|avvisa\\w*"
        "|avverti\\w*"
        " (this|it|that|anything|questo|nulla) (to|the|al|il|l|all) (the|l) OWNER",
        "silently|quietly|in_silenzio DO",
    ),
}

# Of code and marks, where punctuation counts.
_SIGNS: dict[str, tuple[str, ...]] = {
    "it sets rules aside": (
        r"\b(?:new|updated|real|nuove|vere) (?:system )?(?:instructions?|directives?|istruzioni|direttive) ?:",
    ),
    "it plays a role": (
        r"\b(?:system|developer|sistema) ?(?:message|prompt|override|notice|messaggio)? ?: ?(?:you|your|ignore|new"
        r"|override"
        r"|always|must|from now|disregard|tu |sei|devi|ignora|nuov)",
    ),
    "it calls a tool": (
        r"\"(?:tool|tool_name|tool_calls?|function|function_call|executor|name)\" ?:.{0,80}\"(?:arguments|args"
        r"|parameters"
        r"|input)\" ?:",
        r"</?(?:tool_call|function_calls?|invoke|tool_use|function_results?)\b|\{\{ ?(?:step\d+|last)\.\w",
    ),
    "it runs something": (
        r"\b(?:run|execute|esegui|lancia|launch|paste|incolla)\b\W*(?:(?:this|the|following|questo|il|seguente"
        r"|comando|command"
        r"|now|subito)\W+){0,4}`?(?:\$ ?)?(?:rm -r|sudo |curl |wget |bash -c|sh -c|python3? -c|eval\b|nc -|dd if="
        r"|mkfs)",
        r":\(\) ?\{ ?:\|:& ?\} ?;:|\brm -rf (?:/|~|\$home)(?: |$|\*)",
        r"\b(?:curl|wget)\b.{0,120}(?:\| ?(?:ba|z)?sh\b|-d @|--upload-file)|\bbase64 -d\b.{0,40}\| ?(?:ba)?sh\b",
    ),
    "it hides an instruction": (
        r"<(?:script|iframe|object|embed)\b[^>]{0,200}(?:src|data) ?=|<script\b.{0,400}</script",
        r"javascript:\w+\(|data:text/html|<\w[^>]{0,200}\bon\w{3,12} ?=",
        r"<\w[^>]{0,200}style ?=[^>]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0)",
        r"!\[[^\]]{0,200}\]\( ?(?:https?:)?//[^) ]{0,300}[?&=]|<img\b[^>]{0,200}\bsrc ?= ?[\"']?(?:https?:)?//",
        r"\[//\] ?: ?#",
    ),
}


@functools.cache
def compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Reasons and patterns, in the order in which they are looked for."""
    found = [(reason, re.compile(phrase(each))) for reason, group in _PHRASES.items() for each in group]
    found += [(reason, re.compile(_BEGINNING + phrase(each))) for reason, group in _REQUESTS.items() for each in group]
    found += [(reason, re.compile(each)) for reason, group in _SIGNS.items() for each in group]
    return tuple(found)


def phrase(text: str) -> str:
    """A phrase as a regular expression."""
    made, joins = "", False
    if text.startswith(_OBSERVED):
        made, text = _OBSERVED, text.removeprefix(_OBSERVED)
    for token in text.split():
        if token[0] in "*~":
            count = int(token[1:])
            made += rf"\W+(?:\w+\W+){{0,{count}}}?" if token[0] == "*" else rf".{{0,{count}}}?"
            joins = False
            continue
        maybe = token.startswith("(") and not token.startswith("(?")
        body = rf"\b(?:{_spelled(token[1:-1] if maybe else token)})\b"
        made += r"\W+" if joins else ""
        joins = not maybe
        made += body if joins else rf"(?:{body}\W+)?"
    return made


def _spelled(words: str) -> str:
    for _ in range(2):  # a list may name a list
        words = re.sub(r"\b[A-Z]{2,}\b", lambda found: _LISTS.get(found[0], found[0]), words)
    return words.replace("_", r"\W+").replace("'", r"\W?")
