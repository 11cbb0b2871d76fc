"""The forms of what must not be told: what a key, a place on a machine, a file's name or a way to reach somebody looks
like in a text. Pure, and in doubt it is one: a lesson that is lost costs less than a number that is told.

Texts are read as they look (wide and other forms of letters and digits are folded first). Does not guarantee to know
every form: words have none.
"""

import math
import re
import unicodedata
from collections import Counter

_TOKEN = re.compile(r"[A-Za-z0-9+/_=.-]{24,}")
_CHANCE = 4.0  # bits for each character: words and names have about three, keys in base 64 about five
_HEX = re.compile(r"[0-9a-f]+")
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_SAYS = r"(?:\s*[=:]\s*|\s+(?:is|was|è|e'|era)\s+)"
_SECRET = re.compile(
    rf"""-----BEGIN [A-Z ]*PRIVATE\ KEY
    | \bAKIA[0-9A-Z]{{16}}\b | \bgh[pousr]_[A-Za-z0-9]{{30,}} | \bgithub_pat_\w{{30,}} | \bglpat-[\w-]{{20,}}
    | \bsk-[A-Za-z0-9_-]{{20,}} | \bxox[abprs]-[A-Za-z0-9-]{{10,}} | \bAIza[\w-]{{35}} | \bhf_[A-Za-z0-9]{{30,}}
    | \beyJ[\w-]{{8,}}\.[\w-]{{8,}}\.[\w-]{{8,}} | \b\d{{8,10}}:AA[\w-]{{30,}}
    | (?:https?|ftp|postgres(?:ql)?|mysql|redis|amqp)://[^\s/:@]+:[^\s/@]+@
    | (?i:\b(?:password|passwd|pwd|passphrase|secret|api[_\ -]?key|access[_\ -]?token|bearer){_SAYS}\S{{4,}})
    | (?i:\b(?:parola\ d.ordine|parola\ chiave|passcode){_SAYS}\S{{4,}})
    | (?i:\b(?:key|code|chiave|codice){_SAYS}(?=\S*\d)[^\s.,;]{{4,}})
    | (?i:\b(?:password|passphrase|parola\ d.ordine)\s+(?=\S*\d)\S{{4,}})
    | (?i:\bpin(?:\s+code)?(?:{_SAYS}|\s+)\d{{4,8}}\b)""",
    re.VERBOSE,
)
_PASSWORD = re.compile(rf"\b(?:password|passwd|passphrase|parola d.ordine)(?:{_SAYS}|\s+)([^\W_]{{4,}})", re.IGNORECASE)
_PLACE = re.compile(
    r"""(?<![\w.]) (?: ~[\w.-]*/ | file:/ | /+(?:home|users|volumes|volume\d+|root|media|mnt|srv|run|tmp|var|etc|opt)/
    | [a-z]:(?:\\|/(?!/)) | \\\\ | \$\{?home\b | %\w+%\\ | (?:smb|nfs|afp|cifs|sftp|ssh):// ) \S""",
    re.VERBOSE | re.IGNORECASE,
)
_MACHINE = re.compile(  # by its number, or its name in a house
    r"(?<![\w.@])(?!127\.)\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)|\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b"
    r"|(?<![\w-])[\w-]+\.(?:lan|home\.arpa|(?:local|internal)(?=[:/]))(?!\w)",
    re.IGNORECASE,
)
_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]+(?:@|\s?[(\[](?:at|chiocciola)[)\]]\s?)(?:localhost\b|\d{1,3}(?:\.\d{1,3}){3}|[\w-]+\.[a-z]{2,})",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"  # of a bank, as it is printed
    r"|(?i:\b[a-z]{2}\d{2}[a-z0-9]{11,30}\b)"  # and as it is typed
    r"|(?i:\b[a-z]{6}\d{2}[a-z]\d{2}[a-z]\d{3}[a-z]\b)"  # Italy's number of a person
)
_CALLED = re.compile(
    r"(?<![\w./:-])(?:\+|00)\d[\d ()./-]{7,}\d"
    r"|\b(?:tel|telefono|phone|cell|cellulare|mobile|fax|whatsapp)\b\W{0,3}\d{6,}",
    re.IGNORECASE,
)
# Digits in groups, with one sign between two of them: with blanks around the sign it is a sum.
_GROUPS = re.compile(r"(?<![\w./:-])\(?\d+(?:(?:\) ?| ?\(|[ -])\d+)+(?![\w.:]*\d)")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_GROUPED = range(9, 20)  # digits of telephones, cards and insurances
_CARD = re.compile(r"(?<![\w.])\d{13,19}(?![\w.]*\d)")
_STEM = re.compile(r"[^\s\"'`<>|,;:()\[\]/\\]+$")
_LONGEST = 80  # characters of a file's name that are looked at, so that a long text costs no more than its length
_FILE = re.compile(
    r"\.(?:pdf|docx?|odt|rtf|txt|md|xlsx?|ods|csv|tsv|pptx?|odp|jpe?g|png|gif|heic|webp|svg"
    r"|tiff?|mp[34]|m4a|wav|flac|mov|avi|mkv|zip|gz|tar|7z|rar|eml|msg|ics|vcf|json|xml|html?|epub|sqlite|db|bak|p7m"
    r"|pem|key|kdbx)\b",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """As it looks to whoever reads it."""
    return unicodedata.normalize("NFKC", text)


def is_secret(text: str) -> bool:
    return _SECRET.search(text) is not None or any(map(_is_chance, _TOKEN.findall(text)))


def is_place(text: str) -> bool:
    return _PLACE.search(text) is not None or _MACHINE.search(text) is not None


def reaches(text: str) -> bool:
    """Whether it holds an address, or the number of a telephone, an account, a card or a person."""
    if any(each.search(text) for each in (_MAIL, _ACCOUNT, _CALLED)):
        return True
    grouped = _GROUPS.findall(_DATE.sub(" ", text))
    if any(sum(map(str.isdigit, each)) in _GROUPED for each in grouped):
        return True
    return any(map(_is_card, _CARD.findall(text)))


def stems(text: str) -> list[str]:
    """The names of files in it, without what comes after the dot."""
    before = (text[max(0, each.start() - _LONGEST) : each.start()] for each in _FILE.finditer(text))
    return [found[0] for each in before if (found := _STEM.search(each))]


def secret_words(text: str) -> list[str]:
    """What stands where a password would, after the word for it."""
    return [each.casefold() for each in _PASSWORD.findall(text)]


def _is_chance(token: str) -> bool:
    """A long string with as much chance in it as a key has. Digests and ids are ours: they say nothing."""
    if _HEX.fullmatch(token) and len(token) in (64, 128):
        return False
    if _ULID.fullmatch(token) or ("_" in token.strip("_") and token.replace("_", "").isalpha()):
        return False  # an id; or names of executors, which are words
    mixed = any(char.isdigit() for char in token) and any(char.isalpha() for char in token)
    if mixed and _HEX.fullmatch(token.lower().replace("-", "")):
        return True  # sixteen signs have four bits at most, however much chance there is
    counted = Counter(token)
    chance = -sum(n / len(token) * math.log2(n / len(token)) for n in counted.values())
    return mixed and chance >= _CHANCE


def _is_card(digits: str) -> bool:
    """By the digit that checks the others, as every card has it."""
    doubled = [int(each) * (1 + place % 2) for place, each in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0
