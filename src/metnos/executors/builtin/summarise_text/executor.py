"""Chooses the most telling sentences of a text: those most like all others, with a little favour for the first."""

import math
import re
import time
from collections import Counter

from metnos_kit import texts

MOST_BYTES = 1_000_000
MOST_SENTENCES = 400  # of one text that are compared with one another; the favoured ones of a longer text
LONGEST = 1000  # characters of a sentence that is given
CPU_S = 3.5  # a call has five seconds
ROUNDS, DAMPING = 30, 0.85  # of the centrality, as in PageRank
STOP = {
    "en": """a about above after again against all also am an and any are as at be because been before being below
        between both but by can could did do does doing down during each even few for from further get had has have
        having he her here hers him his how however i if in into is it its itself just like made make many may me might
        more most much must my no nor not now of off on once one only or other our ours out over own per same shall she
        should so some such than that the their theirs them then there these they this those through thus to too under
        until up upon us very was we well were what when where which while who whom whose why will with within without
        would yet you your yours""",
    "it": """a ad agli ai al alla alle allo anche ancora anzi avere aveva c che chi ci cioè ciò come con contro cosa
        così cui da dagli dai dal dalla dalle dallo degli dei del dell della delle dello dentro di dopo
        dove due e ed era erano essere è fa fino fra fu già gli ha hai hanno ho i il in infatti invece
        io l la le lei li lo loro lui ma me mentre mi mia mie miei mio molta molte molti molto ne negli
        nei nel nella nelle nello nessun noi non nostra nostri nostro o od ogni oltre ora per perché
        però più poco poi prima può qual quale quali quando quanto quella quelle quelli quello questa
        queste questi questo qui quindi sarà se sei sembra senza si sia siamo sono sopra sotto sta stata
        state stati stato su sua sue sugli sui sul sulla sulle suo suoi tale tali te ti tra tu tua tue
        tuo tutta tutte tutti tutto un una uno va verso vi voi vostra vostro""",
}
SHORT = {
    "en": "mr mrs ms dr prof st jr sr vs etc e.g i.e cf fig no vol pp approx dept est inc ltd co u.s a.m p.m",
    "it": "sig sigg sig.ra sig.na dott dott.ssa prof prof.ssa ing avv geom rag ecc es cfr pag pagg art n s p.es sec",
}
END = re.compile(r"[.!?…][\"'»”\u2019)\]]{0,3}(\s+)(?=[\"'«“\u2018(\[]{0,3}[A-ZÀ-ÖØ-Þ0-9])")
WORD = re.compile(r"[^\W\d_]{2,40}|\d{2,12}")


def run(args, ctx):
    entries, failures, total = [], [], 0
    given = [({}, args["text"])] if "text" in args else []
    for origin, text in given + [({"path": path}, None) for path in args.get("paths", [])]:
        try:
            text = texts.read_text(origin["path"], MOST_BYTES, ctx, ": give it in parts") if text is None else text
            chosen = summarise(text, args["sentences"], args["language"], ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(origin.get("path", "text"), error.kind, error.message))
            continue
        total += len(chosen)
        entries += [{**origin, **entry} for entry in chosen]
    return {"entries": entries[: ctx.limit], "total": total, "failures": failures}


def summarise(text, wanted, language, ctx):
    """The best sentences in the order of the text."""
    language = guess(text) if language == "auto" else language
    sentences = split(text, SHORT[language].split())
    if not sentences:
        ctx.fail("invalid", "there is no sentence in it")
    stop = set(STOP[language].split())
    bags = [Counter(stem(word) for word in words(sentence) if word not in stop) for sentence in sentences]
    weights = [bonus(number, len(sentences)) for number in range(len(sentences))]
    kept = preferred(bags, weights)
    scores = dict(zip(kept, centrality([bags[number] for number in kept], ctx), strict=True))
    best = choose({number: scores[number] * weights[number] for number in kept}, bags, wanted)
    top = max(best.values()) or 1.0
    return [
        {
            "sentence": sentences[number][:LONGEST],
            "position": number + 1,
            "of": len(sentences),
            "score": round(best[number] / top, 4),
            "language": language,
        }
        for number in sorted(best)
    ]


def guess(text):
    """The language whose common words the beginning has more of."""
    found = Counter(words(text[:20_000]))
    return max(STOP, key=lambda name: sum(found[word] for word in STOP[name].split()))


def words(text):
    return WORD.findall(text.lower())


def stem(word):
    """A word without its last letters, so that plural and singular, or casa and case, count as one."""
    return word[: max(4, len(word) - 2)]


def split(text, short):
    """The sentences: a blank line ends one, and so does a stop before a capital, unless it ends an abbreviation."""
    sentences = []
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*#•])", text.replace("\r", "")):
        waiting = ""
        for piece in pieces(" ".join(block.split())):
            waiting = f"{waiting} {piece}" if waiting else piece
            last = waiting.rsplit(" ", 1)[-1].lower().strip("\"'«»()[]").rstrip(".")
            if waiting.endswith(".") and (last in short or (len(last) == 1 and last.isalpha())):
                continue
            sentences.append(waiting)
            waiting = ""
        if waiting:
            sentences.append(waiting)
    cleaned = (sentence.lstrip("-*#•> ").strip() for sentence in sentences)
    return [sentence for sentence in cleaned if WORD.search(sentence)]


def pieces(block):
    """A block cut wherever a sentence may end."""
    start = 0
    for found in END.finditer(block):
        yield block[start : found.start(1)]
        start = found.end(1)
    yield block[start:]


def bonus(number, count):
    """A text says first what it is about, and often again at its end."""
    return 1.0 + 0.4 * math.exp(-6.0 * number / count) + 0.1 * (number == count - 1)


def preferred(bags, weights):
    """Which sentences to compare, when there are too many: those whose words are frequent in the text."""
    everywhere = Counter(word for bag in bags for word in bag)
    rough = {
        number: weights[number] * sum(everywhere[word] for word in bag) / (len(bag) + 5)
        for number, bag in enumerate(bags)
    }
    return sorted(sorted(rough, key=lambda number: (-rough[number], number))[:MOST_SENTENCES])


def centrality(bags, ctx):
    """How much each sentence is like the others, and like those that are like the others (TextRank)."""
    count = len(bags)
    seen = Counter(word for bag in bags for word in bag)
    vectors = [{word: times * math.log(1 + count / seen[word]) for word, times in bag.items()} for bag in bags]
    sizes = [math.sqrt(sum(value * value for value in vector.values())) for vector in vectors]
    near = [{} for _ in bags]
    for one in range(count):
        if time.process_time() > CPU_S:
            ctx.fail("too_large", "there was not enough time: give it in parts")
        for other in range(one):
            small, large = sorted((vectors[one], vectors[other]), key=len)
            product = sum(value * large[word] for word, value in small.items() if word in large)
            if product > 0:
                near[one][other] = near[other][one] = product / (sizes[one] * sizes[other])
    return rank(near)


def rank(near):
    count = len(near)
    sums = [sum(links.values()) for links in near]
    scores = [1.0 / count] * count
    for _ in range(ROUNDS):
        scores = [
            (1 - DAMPING) / count
            + DAMPING * sum(scores[other] * weight / sums[other] for other, weight in near[number].items())
            for number in range(count)
        ]
    return scores


def choose(scores, bags, wanted):
    """The best sentences, none of which says mostly what a better one has said."""
    best = {}
    for number in sorted(scores, key=lambda each: (-scores[each], each)):
        if len(best) == wanted:
            break
        own = set(bags[number])
        if not any(own and len(own & set(bags[other])) > 0.8 * len(own | set(bags[other])) for other in best):
            best[number] = scores[number]
    return best
