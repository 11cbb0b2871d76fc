"""How an answer came about, as the page lays it out: what "why" shows of a turn.

Rules: pure. The words are the API's; here is only which of them stand where, and in which colour.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from metnos.web import words

Turn = Mapping[str, Any]

_TONES = {"done": "good", "talked": "good", "failed": "bad", "interrupted": "bad", "refused": "warn", "waiting": "warn",
          "partly": "warn"}  # fmt: skip
_PARTS = {"score": "score", "lexical": "words", "cosine": "meaning", "affinity": "keywords", "slots": "details",
          "weight": "experience"}  # fmt: skip
_HOW = {"reference": "the plan said so", "content": "the same content", "call": "called by it"}


def why(turn: Turn) -> dict[str, Any]:
    """What explains an answer, ready to be shown."""
    head, candidates = _candidates(turn.get("candidates") or ())
    return {
        "tone": _TONES.get(str(turn.get("state")), ""),
        "how": _nested(turn.get("how") or ()),
        "made": _nested(turn.get("made") or ()),
        "head": head,
        "candidates": candidates,
        "steps": [_step(each) for each in turn.get("steps") or ()],
        "flows": [_flow(each) for each in turn.get("passings") or ()],
        "calls": [_call(each) for each in turn.get("calls") or ()],
        "cost": _cost(turn.get("costs") or {}),
    }


def _nested(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Lines, each with those that belong to it: they begin with spaces."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith(" ") and found:
            found[-1][1].append(line.strip())
        else:
            found.append((line, []))
    return found


def _candidates(found: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """What could have done it: the names of the columns, and the rows. What nobody has any of is no column."""
    given = dict.fromkeys(key for each in found for key in each if _is_number(each[key]) and each[key])
    names = [name for name in _PARTS if name in given] + [name for name in given if name not in _PARTS]
    rows: list[list[Any]] = [
        [{"text": name, "href": f"/executors/{quote(name, safe='')}"}, *(_figure(each.get(part)) for part in names)]
        for each in found
        if (name := str(each.get("executor", "")))
    ]
    return ["executor", *(f"#{_PARTS.get(name, name)}" for name in names)], rows


def _step(each: Mapping[str, Any]) -> dict[str, Any]:
    args = each.get("args")
    return {
        **each,
        "args": [(str(name), words.plain(value)) for name, value in args.items()] if isinstance(args, Mapping) else [],
        "permit": [
            ", ".join(str(part).replace("_", " ") for part in step if part) for step in each.get("permit") or ()
        ],
        "calls": list(_calls(each.get("parts") or ())),
    }


def _calls(parts: Sequence[Mapping[str, Any]], deep: int = 0) -> Iterable[str]:
    """The calls that an executor made, each with what came of it and why it was allowed."""
    for each in parts:
        how = "" if each.get("ok") else f", which failed ({each.get('kind') or 'failed'})"
        because = each.get("because") or "not known any more"
        yield f"{'and that ' if deep else 'It '}called {each.get('executor', '?')}{how}: {because}"
        yield from _calls(each.get("parts") or (), deep + 1)


def _flow(each: Mapping[str, Any]) -> str:
    how = _HOW.get(str(each["how"]), str(each["how"]))
    return f"{each['source']} → {each['target']} (step {each['source_step']} to step {each['target_step']}, {how})"


def _call(each: Mapping[str, Any]) -> list[Any]:
    tokens = words.figure(int(each["input_tokens"] + each["output_tokens"]))
    return [each["purpose"], each["model"], tokens, words.money(each["usd"]), words.milliseconds(each["wall_ms"]),
            each["error"]]  # fmt: skip


def _cost(costs: Mapping[str, Any]) -> str:
    if not costs.get("calls"):
        return "No language model was asked; it cost nothing."
    took = words.milliseconds(costs["seconds"] * 1000)
    return (
        f"{words.counted(costs['calls'], 'call')}, {words.counted(costs['tokens'], 'token')},"
        f" {words.money(costs['usd'])}, {took}."
    )


def _figure(value: Any) -> str:
    return f"{value:.3f}" if _is_number(value) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
