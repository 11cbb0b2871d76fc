"""How a question, and a turn that goes on, look in the chat.

Rules: everything is bounded, in one line where a line break could look like words of ours, and says how much is left
out. A second yes has another button in another place, so that one finger that taps twice says it once.
"""

from collections.abc import Sequence

from metnos.api.telegram.rules import LONGEST, NUMBERS, bounded, one_line
from metnos.api.telegram.words import Words, words
from metnos.turn.events import BIRTH, OFFER, Answer, Event, Planned, StepDone, StepStarted, Thinking, Wanted

YES, NO, ALWAYS, WHY, ALL, SURE = "yes", "no", "always", "why", "all", "sure"
ANSWERS = {YES: Answer.YES, NO: Answer.NO, ALWAYS: Answer.ALWAYS, SURE: Answer.YES}
_ROOM = LONGEST - 200  # for what is added below when it is answered
_WHY_LINE = 300

Rows = tuple[tuple[str, ...], ...]  # codes, row by row


def question(wanted: Wanted) -> str:
    """What would happen, and what is asked."""
    said = words(wanted.language)
    if wanted.yes:
        return f"{one_line(wanted.title, NUMBERS.title)}\n\n{said.all_the_same}"
    lines = [one_line(wanted.title, NUMBERS.title), *preview(wanted.lines, said)]
    if wanted.reversal:
        lines.append(f"It {one_line(wanted.reversal, NUMBERS.title)}.")
    if wanted.always:
        lines.append(said.if_always.format(what=one_line(wanted.always, NUMBERS.title)))
    asked = {OFFER: said.make_it, BIRTH: said.let_it_live}.get(wanted.about, said.do_this)
    return f"{bounded(chr(10).join(lines), _ROOM)}\n\n{asked}"


def preview(lines: Sequence[str], said: Words) -> list[str]:
    """The beginning of what would change."""
    shown = [f"  {one_line(line, NUMBERS.line)}" for line in lines[: NUMBERS.lines]]
    left = len(lines) - NUMBERS.lines
    return [*shown, said.more.format(count=left)] if left > 0 else shown


def is_cut(lines: Sequence[str]) -> bool:
    return len(lines) > NUMBERS.lines or any(len(line) > NUMBERS.line for line in lines)


def choices(wanted: Wanted) -> Rows:
    """The buttons of a question, by their codes."""
    if wanted.yes:
        return ((NO,), (SURE,))
    first = (YES, NO, ALWAYS) if wanted.always else (YES, NO)
    more = tuple(code for code, can in ((WHY, wanted.why), (ALL, is_cut(wanted.lines))) if can)
    return (first, more) if more else (first,)


def without(rows: Rows, code: str) -> Rows:
    left = (tuple(each for each in row if each != code) for row in rows)
    return tuple(row for row in left if row)


def label(code: str, said: Words) -> str:
    return str(getattr(said, code, code))


def reasons(wanted: Wanted) -> str:
    """What each rule says about it."""
    lines = [
        f"{one_line(step, 40)}: {one_line(verdict.replace('_', ' '), 40)}, {one_line(reason, _WHY_LINE)}"
        for step, verdict, reason in wanted.why
    ]
    return "\n".join([words(wanted.language).which_rules, *lines])


def whole(lines: Sequence[str]) -> str:
    """All that would change."""
    return "\n".join(one_line(line, LONGEST) for line in lines)


def progress(lines: list[str], event: Event) -> bool:
    """Bring the lines of a turn that goes on up to date; says whether anything changed."""
    if isinstance(event, Thinking):
        line = f"… {one_line(event.what, 60)} ({one_line(event.model, 60)})"
        if lines and lines[-1].startswith("… "):
            lines.pop()  # the last thought is enough
        lines.append(line)
    elif isinstance(event, Planned) and len(event.executors) > 1:
        lines.append(one_line(" → ".join(event.executors), NUMBERS.title))
    elif isinstance(event, StepStarted):
        title = f": {one_line(event.title, NUMBERS.line)}" if event.title else ""
        lines.append(f"▸ {event.number}/{event.of} {one_line(event.executor, 60)}{title}")
    elif isinstance(event, StepDone):
        mark, found = ("✓", f"{event.count} found") if event.ok else ("✗", one_line(event.message, NUMBERS.line))
        if lines and lines[-1].startswith("▸ "):
            lines.pop()
        lines.append(f"{mark} {one_line(event.executor, 60)}: {found}, {event.wall_ms / 1000:.1f} s")
    else:
        return False
    del lines[: -NUMBERS.steps]
    return True
