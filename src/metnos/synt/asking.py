"""What all stages say to a model in the same way: the need, and what was wrong with the last answer.

Rules: what a need says comes from requests and from models. It is shown as a JSON string in a message, never as part of
the instructions; a problem is cut to a length that helps.
"""

import json

from metnos.synt.need import Need

_LONGEST, _PROBLEM = 1000, 600  # characters


def told(need: Need, problem: str = "") -> str:
    """The need, as data; with what the gate said about the last answer."""
    said = {"need": need.text[:_LONGEST]}
    if need.refused:
        said["the owner refused an earlier one because"] = "; ".join(need.refused)[:_LONGEST]
    text = json.dumps(said, ensure_ascii=False)
    return f"{text}\n\n{mend(problem)}" if problem else text


def mend(problem: str) -> str:
    return f"Your last answer was refused: {problem[:_PROBLEM]}\nAnswer again, with that put right."
