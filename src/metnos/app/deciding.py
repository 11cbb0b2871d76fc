"""What an owner is shown who decides whether an executor may live: all of it, in words that are not Metnos's own.

Rules: nothing is left out that speaks against it; whatever comes from a request or a model is text in the question and
nothing else. What is compared with a version before is compared with what is in force now, and the question says which
that was (`metnos.synt.activation.BEFORE`).
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metnos.core.canon import Json
from metnos.core.errors import NotTrusted
from metnos.executors import birth, index, words
from metnos.synt import versions
from metnos.synt.activation import BEFORE
from metnos.synt.draft import Draft, Made
from metnos.synt.proposals import Proposal

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.executors.verdict import Executor

NEVER = (
    "sign, change or remove executors, itself included",
    "touch the audit, the keys, the Laws or your answers",
    "reach the network, start programs or ask a model, unless it is listed above",
    "act without the permit that each call needs",
)
_TEST = "test: "
_TOLD = 200  # characters of what a test gives or expects


def shown(app: "App", proposal: Proposal, made: Made) -> dict[str, Json]:
    """All that an owner needs to decide, beside the files themselves."""
    draft = made.draft
    if draft is None:
        return {}
    manifest, need = draft.read(), proposal.need
    seen = need.evidence
    body: dict[str, Json] = {
        "name": draft.name,
        "version": manifest.version,
        "purpose": manifest.purpose,
        "why": seen.says or need.text,
        "turns": list(seen.turns),
        "failures": list(seen.failures),
        "may": [*words.capabilities(manifest)],
        "effect": words.effect(manifest),
        "never": list(NEVER),
        "tests": tests(draft, made),
        "instead": list(need.instead),
        "cost": cost(made.usage),
        BEFORE: "",
    }
    entry = index.current(app.catalog.db, draft.name)
    if entry is None:
        return body
    return {**body, BEFORE: entry.digest, **_compared(_known(app, draft.name), draft)}


def tests(draft: Draft, made: Made) -> list[Json]:
    """Each birth test: what it gives, what must come of that, and that it did."""
    passed = {check.gate.removeprefix(_TEST) for check in made.checks if check.passed and check.gate.startswith(_TEST)}
    found: list[Json] = []
    for each in birth.parse(draft.tests):
        given = _told(each.args)
        files = f" with {', '.join(each.files)}" if each.files else ""
        came = f"refused as {each.expect_error}" if each.expect_error else _told(each.expect)
        found.append({"name": each.name, "given": given + files, "expected": came, "passed": each.name in passed})
    return found


def cost(usage: Mapping[str, float]) -> str:
    """What making something took, in words."""
    if not usage.get("calls"):
        return "no language model was asked"
    tokens = usage["input_tokens"] + usage["output_tokens"]
    money = f", {usage['usd']:.4f} USD" if usage["usd"] else ""
    return f"{usage['calls']:.0f} calls of a language model, {tokens:.0f} tokens, {usage['seconds']:.0f} s{money}"


def _known(app: "App", name: str) -> "Executor | None":
    try:
        return app.catalog.look(name).executor
    except NotTrusted:
        return None


def _compared(old: "Executor | None", draft: Draft) -> dict[str, Json]:
    """What a new version changes."""
    if old is None:
        return {"changes": ["what is there now cannot be read, so nothing can be compared"]}
    manifest = draft.read()
    names = (f"{draft.name} {old.version}", f"{draft.name} {manifest.version}")
    return {
        "version before": old.version,
        "state before": f"{words.STATES[old.state]}{f': {old.reason}' if old.reason else ''}",
        "changes": [*versions.changes(old.manifest, manifest), *versions.arguments(old.manifest, manifest)],
        "difference": versions.difference(old.source, draft.code, names),
        "difference of tests": versions.difference(old.tests_text, draft.tests, names, around=1),
    }


def _told(value: Any) -> str:
    if isinstance(value, Mapping) and set(value) == {"entries"}:
        value = value["entries"]
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _TOLD else f"{text[: _TOLD - 1]}…"
