"""How an answer came about, in words for whoever does not know ours: what the page "why" shows of a turn.

Rules: pure, and patient: what a turn does not say, or says in a form that is not known, is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metnos.web import words

Turn = Mapping[str, Any]

_PATHS = {
    "": "There was no plan.",
    "router": "Planned by fixed rules, without a language model.",
    "model": "Planned by a language model, from the executors below.",
    "react": "Reasoned step by step by a language model, from the executors below.",
    "fast": "A shortcut, learnt from earlier requests of this kind.",
}
STATES = {
    "done": "everything that was asked for was done",
    "partly": "part of it was done",
    "failed": "it did not succeed",
    "refused": "it was not allowed",
    "waiting": "it waits for your yes",
    "question": "something was missing, and Metnos asked back",
    "nothing": "nothing that Metnos has fits",
    "talked": "answered in words, nothing was done",
    "cancelled": "you stopped it",
    "interrupted": "its process ended before it was over",
    "rehearsed": "a dry run: nothing was changed",
}
TONES = {"done": "good", "talked": "good", "failed": "bad", "interrupted": "bad", "refused": "warn", "waiting": "warn",
         "partly": "warn"}  # fmt: skip
_PARTS = {"score": "score", "lexical": "words", "cosine": "meaning", "affinity": "keywords", "slots": "details",
          "weight": "experience"}  # fmt: skip
_PERMITS = ("permit", "permits", "why")


def why(turn: Turn) -> dict[str, Any]:
    """What explains an answer, ready to be shown."""
    head, candidates = _candidates(_list(turn.get("candidates")))
    return {
        "state": STATES.get(str(turn.get("state")), str(turn.get("state", ""))),
        "tone": TONES.get(str(turn.get("state")), ""),
        "how": list(_how(turn)),
        "head": head,
        "candidates": candidates,
        "memories": [_memory(each) for each in _list(turn.get("memories"))],
        "steps": [_step(each) for each in _list(turn.get("steps"))],
        "calls": [_call(each) for each in _list(turn.get("calls") or turn.get("thoughts"))],
        "cost": _cost(turn.get("costs")),
    }


def _how(turn: Turn) -> Iterator[str]:
    path = str(turn.get("path") or "")
    yield str(turn.get("path_words") or _PATHS.get(path, f"By the way called {path}."))
    plan = turn.get("plan")
    plan = plan if isinstance(plan, Mapping) else {}
    certainty = plan.get("certainty")
    if isinstance(certainty, int | float) and path:
        yield f"How sure that this was meant: {certainty:.0%}"
    if plan.get("missing"):
        yield f"What was missing: {plan['missing']}"
    for note in dict.fromkeys([*_list(turn.get("notes")), *_list(plan.get("notes"))]):
        yield f"Assumed: {note}"
    if turn.get("canonical"):
        yield f"Without its details the request reads: {turn['canonical']}"
    if turn.get("error"):
        yield f"What went wrong: {turn['error']}"


def _candidates(found: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """What could have done it: the names of the columns, and the rows."""
    given = dict.fromkeys(key for each in found for key in each if _is_number(each[key]))
    names = [name for name in _PARTS if name in given] + [name for name in given if name not in _PARTS]
    rows: list[list[Any]] = [
        [{"text": name, "href": f"/executors/{name}"}, *(_figure(each.get(part)) for part in names)]
        for each in found
        if (name := str(each.get("executor") or each.get("name") or ""))
    ]
    return ["executor", *(f"#{_PARTS.get(name, name)}" for name in names)], rows


def _memory(each: Any) -> dict[str, str]:
    if not isinstance(each, Mapping):
        return {"kind": "memory", "text": str(each)}
    return {"kind": str(each.get("kind", "memory")), "text": str(each.get("text", ""))}


def _step(each: Mapping[str, Any]) -> dict[str, Any]:
    permit = next((each[name] for name in _PERMITS if each.get(name)), ())
    args = each.get("args")
    return {
        "number": each.get("number", ""),
        "executor": str(each.get("executor", "")),
        "version": str(each.get("version", "")),
        "title": str(each.get("title") or ""),
        "ok": bool(each.get("ok")),
        "message": str(each.get("message") or ""),
        "count": each.get("count"),
        "wall_ms": each.get("wall_ms", 0),
        "cpu_ms": each.get("cpu_ms"),
        "args": [(str(name), words.plain(value)) for name, value in args.items()] if isinstance(args, Mapping) else [],
        "because": str(each.get("because") or ""),
        "permit": [_line(step) for step in ([permit] if isinstance(permit, str) else permit)],
        "action": str(each.get("action") or ""),
        "undone": bool(each.get("undone")),
        "audit": each.get("audit") or "",
        "item": str(each.get("item") or ""),
    }


def _line(step: Any) -> str:
    """One of the policy's steps: which, what it says, and why."""
    if isinstance(step, Mapping):
        step = [step.get(key, "") for key in ("step", "verdict", "reason")]
    return ", ".join(str(part).replace("_", " ") for part in step if part) if isinstance(step, list) else str(step)


def _call(each: Mapping[str, Any]) -> list[Any]:
    tokens = (each.get("input_tokens") or 0) + (each.get("output_tokens") or 0) or each.get("tokens") or 0
    return [each.get("purpose", ""), each.get("model", ""), words.figure(int(tokens)), words.money(each.get("usd")),
            words.milliseconds(each.get("wall_ms", 0)), each.get("error") or ""]  # fmt: skip


def _cost(costs: Any) -> str:
    if not isinstance(costs, Mapping) or not costs.get("calls"):
        return "No language model was asked; it cost nothing."
    spent = words.money(costs.get("usd"))
    took = f", {words.milliseconds(costs['seconds'] * 1000)}" if _is_number(costs.get("seconds")) else ""
    return f"{words.counted(costs['calls'], 'call')}, {words.counted(costs.get('tokens'), 'token')}, {spent}{took}."


def _figure(value: Any) -> str:
    return f"{value:.3f}" if _is_number(value) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
