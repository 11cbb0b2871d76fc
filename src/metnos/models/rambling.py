"""Whether a model that talks has lost itself: the same piece again and again, to the very end of what it said.

Rules: only exact repetition counts, and only much of it, so that tables, rulers and lists of like lines pass. Does not
find a model that goes in circles with other words: the limits on tokens and bytes end that one.
"""

WINDOW = 1600  # characters that are looked at; what repeats must fill most of it
_LONGEST = 160  # of the piece that repeats
_FILLED = 1200
_TIMES = 8
_BLANK = 400  # a run of nothing: what a model in a grammar does that may write white space anywhere


def rambles(text: str) -> bool:
    """Whether ``text`` ends in a piece repeated so often that no sense can come of it."""
    tail = text[-WINDOW:]
    if len(tail) >= _BLANK and not tail[-_BLANK:].strip():
        return True
    return len(tail) >= _FILLED and _filled_by_repetition(tail)


def _filled_by_repetition(tail: str) -> bool:
    for period in range(1, _LONGEST + 1):
        need = max(_FILLED, period * _TIMES)
        if need <= len(tail) and tail[-need:-period] == tail[-need + period :]:
            return True
    return False
