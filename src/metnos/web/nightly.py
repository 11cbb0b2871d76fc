"""What Metnos does by itself, in words: jobs, their runs, and what they had to tell.

Rules: pure. A job that is not known here is shown with the words that it has for itself. An outcome has one word and
one tone, here and nowhere else.
"""

from collections.abc import Mapping
from typing import Any

from metnos.web import words
from metnos.web.catalog import listed

_JOBS = {
    "catch_up": ("Catch up", "Works in what earlier requests left to do."),
    "embedder": ("Check how texts are compared", "Makes sure that what is remembered can still be found."),
    "ager": ("Let unused connections fade", "Which programs work well together is forgotten slowly."),
    "curator": ("Learn from what happened", "Looks for what several days have in common, and remembers it."),
    "dream": ("Think over the day", "Goes through what happened again, and what might have happened instead."),
    "fast_paths": ("Check the short cuts", "Holds them against what you took back, refused or disliked."),
    "multi_tool_promote": ("Look for sequences worth a program", "The same steps, fifty times, could be one program."),
    "critic": ("Judge its own answers", "Where you allow it, asks a language model how good they were."),
    "selection": ("Sort out executors", "Stops offering those that mostly fail or that nobody uses."),
    "introspection": ("Look for what is missing", "Finds what you wish for again and again, and asks you."),
    "synt": ("Make what you agreed to", "Writes one new program that you said yes to, tries it, and shows it to you."),
    "conversations": ("Summarise old conversations", "Keeps what matters of them, and proposes what to remember."),
    "uses": ("Forget old uses", "Drops notes of uses that are more than a year old."),
    "undo": ("Forget what is too old to undo", "Frees the space that was kept for taking things back."),
    "executors": ("Check every signature", "An executor that was changed is quarantined, and you are told."),
    "audit": ("Prove the audit", "Makes sure that nobody changed the record."),
    "backup": ("Back up", "Saves everything into one file."),
}
_OUTCOMES = {
    "done": ("done", "good"),
    "failed": ("failed", "bad"),
    "interrupted": ("interrupted", "warn"),
    "running": ("running", "accent"),
}
_VERDICTS = {
    "due": "due now",
    "paused": "tried again soon, because it failed",
    "given up": "given up for tonight; next night again",
    "quiet": "waits until you have used Metnos",
}


def jobs(given: Any) -> list[dict[str, Any]]:
    """Every job in its order."""
    return [_job(each) for each in listed(given)]


def _job(each: Mapping[str, Any]) -> dict[str, Any]:
    name = str(each.get("name") or "")
    last = each.get("last")
    run = last if isinstance(last, Mapping) else {}
    running = bool(each.get("running"))
    outcome = "running" if running else str(run.get("state") or "")
    word, tone = _OUTCOMES.get(outcome, (outcome, ""))
    progress = each.get("progress")
    return {
        "name": name,
        "title": title(name),
        "what": _JOBS[name][1] if name in _JOBS else str(each.get("what") or ""),
        "last": str(run.get("started") or ""),
        "word": word,
        "tone": tone,
        "said": "" if running else result(run),
        "next": str(each.get("next") or ""),
        "when": _VERDICTS.get(str(each.get("verdict")), ""),
        "takes": words.milliseconds(each["takes"] * 1000) if each.get("takes") else "",
        "running": running,
        "ours": isinstance(progress, Mapping),  # it was begun from a page, and can be stopped from one
    }


def runs(given: Any) -> list[dict[str, Any]]:
    """What ran, the newest first."""
    return [_run(each) for each in listed(given)]


def _run(each: Mapping[str, Any]) -> dict[str, Any]:
    word, tone = _OUTCOMES.get(str(each.get("state")), (str(each.get("state") or ""), ""))
    return {
        "title": title(str(each.get("job") or "")),
        "started": str(each.get("started") or ""),
        "word": word,
        "tone": tone,
        "said": result(each),
        "took": words.milliseconds(each.get("cpu_ms")) if each.get("cpu_ms") is not None else "",
        "by": "you" if each.get("by_hand") else "Metnos",
    }


def title(name: str) -> str:
    return _JOBS[name][0] if name in _JOBS else name.replace("_", " ").capitalize()


def result(run: Mapping[str, Any]) -> str:
    """What came of a run: its counts and its message."""
    counts = run.get("counts")
    said = [f"{words.figure(count)} {name}" for name, count in counts.items()] if isinstance(counts, Mapping) else []
    return "; ".join(part for part in (", ".join(said), str(run.get("message") or "")) if part)
