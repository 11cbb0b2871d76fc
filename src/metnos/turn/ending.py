"""What a turn says at its end, from its scratchpad: the plan's words, what was done, what stood in the way.

Rules: as in `answer`, which has the sentences. Entries that cannot be shown must not keep a turn from being recorded.
"""

from metnos.grimoire.trace import State
from metnos.turn import answer, learn
from metnos.turn.plan.records import Kind, Path, Plan
from metnos.turn.scratch import Scratch


def said(scratch: Scratch, *, home: str, most: int) -> str:
    """The answer of a turn; ``most`` entries of each step are shown."""
    try:
        return _said(scratch, home, most)
    except Exception as error:  # noqa: BLE001 -- a border: entries are content, and may be such as nobody foresaw
        scratch.error = type(error).__name__
        return f"{answer.words(scratch.language)['unsayable']} ({scratch.error})"


def is_own_words(plan: Plan) -> bool:
    """Whether what a plan says is a language model's: an answer, or a question that is not about an argument."""
    asks = plan.kind is Kind.QUESTION and plan.path is not Path.ROUTER and not plan.missing
    return plan.kind is Kind.TALK or asks


def _said(scratch: Scratch, home: str, most: int) -> str:
    plan, language = scratch.plan, scratch.language
    phrases = answer.words(language)
    steps = [learn.step(number, taken, scratch.tools) for number, taken in enumerate(scratch.taken, start=1)]
    mutators = frozenset(name for name, tool in scratch.tools.items() if tool.mutates)
    lines: list[str] = []
    if plan is not None and is_own_words(plan):
        lines += answer.own_words(plan.say, steps, language)
    elif plan is not None and plan.kind is not Kind.STEPS:
        lines.append(plan.say)
    if scratch.remembered:
        lines += [phrases["remembered"], *(f"  {line}" for line in scratch.remembered)]
    for words in scratch.words:
        lines += answer.own_words(words, steps, language)
    if scratch.request.dry_run and plan is not None and plan.kind is Kind.STEPS:
        lines += _rehearsal(scratch, phrases)
    zone = scratch.request.asked.tzinfo
    # Where a model has put what was found into words, only what was changed is listed beside them.
    listed = [step for step in steps if step.executor in mutators] if scratch.words else steps
    lines += answer.describe(listed, mutators, language, most=most, zone=zone, home=home)
    if scratch.nothing_to_do:
        lines.append(phrases["nothing_to_do"])
    if scratch.state is State.CANCELLED:
        lines.append(phrases["cancelled"])
    elif scratch.message:
        lines += answer.problem(scratch.state, scratch.message, scratch.fix, language)
    lines += [taken.ended.message for taken in scratch.taken if taken.ended.state is State.CANCELLED]
    lines += scratch.notes
    if scratch.made and scratch.story.get("lives"):
        used = any(taken.executor == scratch.made for taken in scratch.taken)
        lines.append(phrases["new" if used else "new_in_vain"].format(scratch.made))
    return "\n".join(lines).strip("\n") or phrases["none"]


def _rehearsal(scratch: Scratch, phrases: dict[str, str]) -> list[str]:
    previews = [line for taken in scratch.taken for line in taken.ended.preview]
    if not previews:
        return []
    return [f"{phrases['would']}:", *(f"  {line}" for line in previews)]
