"""What executors have fixed and what they are called with, as needs: pure rules beside `introspect_rules`.

- *generalisation*: executors of ours whose code differs in one constant only: one that takes it would do for all.
- *specialisation*: an executor that is always called with the same constant, or with the same arguments again and
  again.

Rules: at least `Rules.uses` calls speak for it; what is fixed is a number or a word of the vocabulary, else it is the
owner's own and stays where it is. Does not guarantee that two programs which differ in more are not alike.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from metnos.executors import vocabulary
from metnos.night import introspect_words as words
from metnos.night.introspect_rules import TAKEN, Finding, Kind, Known, Rules, Seen, days, shown
from metnos.synt.need import Evidence, Need, Way


def generalisations(known: Sequence[Known], rules: Rules) -> Iterator[Finding]:
    """Executors of ours whose code differs in one constant only, as one need for all of them."""
    taken = {each.name for each in known}
    left = [each for each in known if each.own and each.usable and vocabulary.is_known(each.name)]
    while left:
        first = left.pop(0)
        group = [first, *(each for each in left if differing(first.source, each.source) == 1)]
        left = [each for each in left if each not in group]
        uses = sum(each.uses for each in group)
        if len(group) < 2:
            continue
        names = " and ".join(each.name for each in group)
        says = f"{names} differ in one constant only; together they were used {words.times(uses)}."
        kin = "_".join(first.name.split("_")[:2])
        if uses < rules.uses:
            yield Finding(Kind.GENERALISATION, says, dropped=f"fewer than {rules.uses} uses")
        elif kin in taken:
            yield Finding(Kind.GENERALISATION, says, dropped=TAKEN)
        else:
            text = f"{words.phrase(kin)} with an argument for what {names} have fixed"
            covered = tuple(each.name for each in group)
            need = Need(text, Way.DIRECT, name=kin, evidence=Evidence(uses=uses, says=says), instead=covered)
            yield Finding(Kind.GENERALISATION, says, need, strength=max(each.strength for each in group))


def differing(one: str, other: str) -> int:
    """In how many constants two programs differ; -1 if they differ in anything else, or are no programs."""
    try:
        mine, theirs = _bare(one), _bare(other)
    except (SyntaxError, ValueError, RecursionError):
        return -1
    if mine[0] != theirs[0] or len(mine[1]) != len(theirs[1]):
        return -1
    return sum(a != b for a, b in zip(mine[1], theirs[1], strict=True))


def _bare(source: str) -> tuple[str, list[str]]:
    """A program without its constants and its own words, and the constants."""
    taken = _Bare()
    return ast.dump(taken.visit(ast.parse(source))), taken.constants


class _Bare(ast.NodeTransformer):
    """Takes out docstrings, and notes constants on the way."""

    def __init__(self) -> None:
        self.constants: list[str] = []

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        self.constants.append(repr(node.value))
        return ast.Constant(value=None)


def specialisations(seen: Sequence[Seen], known: Sequence[Known], rules: Rules) -> Iterator[Finding]:
    """Executors that are called alone with the same constants again and again. What is the same in a sequence belongs
    to the sequence: that is a fast path, or a pipeline."""
    tools = {each.name: each for each in known if each.usable}
    calls: dict[str, list[tuple[Seen, dict[str, Any]]]] = defaultdict(list)
    for each in seen:
        for call in each.calls if len(each.calls) == 1 else ():
            if call.executor in tools and call.ok:
                fixed = words.telling(call.args, tools[call.executor].defaults)
                calls[call.executor].append((each, fixed))
    for name, made in sorted(calls.items()):
        held = _constants([fixed for _, fixed in made], rules) if len(made) >= rules.uses else {}
        if held:
            with_it = [each for each, fixed in made if held.items() <= fixed.items()]
            yield _special(tools[name], held, with_it, len(made), set(tools))


def _constants(calls: Sequence[Mapping[str, Any]], rules: Rules) -> dict[str, Any]:
    """The arguments that are always the same; if there is none, those of the call that is made most often."""
    always = {
        name: value
        for name, value in calls[0].items()
        if all(name in call and call[name] == value for call in calls[1:])
    }
    if always:
        return always
    whole = Counter(tuple(sorted((name, repr(value)) for name, value in call.items())) for call in calls if call)
    most, count = whole.most_common(1)[0] if whole else ((), 0)
    if count < rules.uses:
        return {}
    return next(dict(call) for call in calls if sorted((n, repr(v)) for n, v in call.items()) == list(most))


def _special(
    tool: Known, held: Mapping[str, Any], turns: Sequence[Seen], calls: int, taken: Collection[str]
) -> Finding:
    fixed = {name: words.constant(value) for name, value in held.items()}
    listed = " and ".join(f"{name} is {value}" for name, value in fixed.items() if value)
    wanted = words.qualified(tool.name, fixed.values())
    says = f"In {len(turns)} of {calls} calls of {tool.name} {listed or ', '.join(fixed) + ' was the same'}."
    if not all(fixed.values()):
        return Finding(Kind.SPECIALISATION, says, dropped="what is fixed in it is your own words")
    if not wanted or wanted in taken:
        return Finding(Kind.SPECIALISATION, says, dropped=TAKEN if wanted else "no word of the vocabulary names it")
    span = days(turns[0].ts, turns[-1].ts)
    need = Need(
        f"{words.phrase(wanted)}: what {tool.name} does where {listed}",
        Way.DIRECT,
        name=wanted,
        evidence=Evidence(shown([each.turn for each in turns]), len(turns), span, says=says),
    )
    return Finding(Kind.SPECIALISATION, says, need, strength=tool.strength)
