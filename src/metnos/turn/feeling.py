"""A word of warning before a step: the situation went badly before. From `metnos.grimoire.somatic`, in words.

Rules: it is a note on the plan and nothing else: the plan, the permits and the answer stay what they are. It says what,
when and how it ended, so that whoever reads it can judge; it is shown before the first step and kept for `metnos why`.
What something learnt has warned of already is not said twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from metnos.grimoire.extract import quoted
from metnos.grimoire.somatic import Planned, Warned
from metnos.grimoire.somatic_rules import FORM
from metnos.turn.plan.records import Plan

Feel = Callable[[Sequence[Planned], str, str], Sequence[Warned]]  # steps, the form of the request, who asks

_CAREFUL = {"en": "careful:", "it": "attenzione:"}
_THING = {"en": "{executor} on {what} went badly", "it": "{executor} su {what} è andato male"}
_FORM = {"en": "{executor} for such a request went badly", "it": "{executor} per una richiesta così è andato male"}
_ENDED = {
    "en": {"failed": "it failed{kind}", "undone": "it was taken back", "disliked": "you did not like it"},
    "it": {"failed": "non è riuscito{kind}", "undone": "è stato annullato", "disliked": "non ti è piaciuto"},
}
_TIMES = {"en": "{bad} of {of} times, last on {day}", "it": "{bad} volte su {of}, l'ultima il {day}"}
_ONCE = {"en": "on {day}", "it": "il {day}"}


def warned(plan: Plan, form: str, sender: str, feel: Feel) -> tuple[Plan, list[tuple[Warned, str]]]:
    """The plan with what is to be said before it, and what that is."""
    steps = [Planned(step.executor, dict(step.args)) for step in plan.steps]
    felt = feel(steps, form, sender) if steps else ()
    said = [(each, told(each, plan.language)) for each in felt if not _is_known(each, plan.notes)]
    return (replace(plan, notes=(*plan.notes, *(words for _, words in said))) if said else plan), said


def told(warning: Warned, language: str) -> str:
    """One warning as a sentence."""
    language = language if language in _CAREFUL else "en"
    situation, last = warning.situation, warning.last
    where = (_FORM if situation.place == FORM else _THING)[language]
    what = where.format(executor=situation.executor, what=quoted(situation.value))
    counts = (_ONCE if warning.of == 1 else _TIMES)[language]
    when = counts.format(bad=warning.bad, of=warning.of, day=f"{last.end.ts.astimezone():%Y-%m-%d}")
    kind = f" ({last.end.kind})" if last.end.kind else ""
    return f"{_CAREFUL[language]} {what} {when}: {_ENDED[language][last.why].format(kind=kind)}"


def _is_known(warning: Warned, notes: Sequence[str]) -> bool:
    careful = tuple(_CAREFUL.values())
    return any(note.startswith(careful) and warning.situation.executor in note.split() for note in notes)
