"""A memory for any agent loop: no framework, no language model, no sandbox, no server.

    python examples/memory_for_any_loop.py [FOLDER]

Three evenings of a small chat bot. The loop is yours; the Grimoire remembers what was said, finds what answers a
question, learns what several evenings have in common, and forgets what it is told to forget.
"""

import sys
import tempfile
from datetime import datetime, timedelta

from metnos import Grimoire

EVENINGS = (
    ("The spare key is under the blue flower pot.", "The backup took 11 minutes.", 11),
    ("The boiler was serviced by the plumber from Via Roma.", "The backup took 13 minutes.", 13),
    ("The safe opens with 4711.", "The backup took 12 minutes.", 12),
)


def answer(memory: Grimoire, question: str) -> str:
    """What a loop does before it asks its model: recall, and put what was found into the prompt as data."""
    found = memory.recall(question, k=2)
    if not found:
        return "I do not know that."
    best = found[0]
    memory.helped(best.id)  # it was used, and nobody complained: the one thing that makes a memory stronger
    why = ", ".join(f"{name} {value:.2f}" for name, value in best.factors.items())
    return f"{best.text}\n    ({best.kind}; {why})"


def main(folder: str) -> None:
    with Grimoire(folder) as memory:
        begin = datetime.now().astimezone() - timedelta(days=len(EVENINGS))
        for day, (said, seen, minutes) in enumerate(EVENINGS):
            when = begin + timedelta(days=day)
            memory.remember(said, when=when, session=f"evening-{day}")
            memory.remember(seen, when=when, about="backup", measures={"minutes": minutes})
        print(f"{len(memory)} things are remembered in {folder}.\n")

        for question in ("Where did I put the spare key?", "Who serviced the boiler?", "Who won the match in Lisbon?"):
            print(f"> {question}\n    {answer(memory, question)}")

        memory.learn()
        print("\nLearnt from all evenings together:")
        for fact in memory.facts():
            print(f"    {fact.text} ({fact.confidence:.0%} sure)")

        gone = memory.forget(words="safe opens")
        print(f"\nForgotten, for good: {gone.episodes} thing about the safe.")
        print(f"> How does the safe open?\n    {answer(memory, 'How does the safe open?')}")

        print("\nWhat a language model would be shown, as data that cannot give orders:")
        print(memory.prompt("Where is the spare key?", k=1))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(scratch)
