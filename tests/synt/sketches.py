"""Sketches for tests, and a model that says what it is told to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metnos.models.chat import Prompt, Reply, Usage
from metnos.synt.need import Need, Way
from metnos.synt.sketch import Case, Field, Sketch, Type

TITLE = Sketch(
    need=Need("Put texts into title case", Way.OWNER),
    name="format_text",
    takes=(Field("texts", Type.TEXTS, "The texts."),),
    gives=(Field("title", Type.TEXT, "The text in title case."),),
    each="texts",
    cases=(
        Case({"texts": ["hello world"]}, ({"text": "hello world", "title": "Hello World"},)),
        Case({"texts": ["ONE two"]}, ({"text": "ONE two", "title": "One Two"},)),
        Case({"texts": [""]}, error="invalid"),
        Case({"texts": []}, error="invalid", sure=True),
    ),
    purpose="Format text in title case.",
    says=("put this into title case", "title case please"),
    body="def format_text(text):\n"
    "    if not text:\n        raise ValueError('it is empty')\n"
    "    return {'title': text.title()}\n",
)
LINES = Sketch(
    need=Need("Count the lines of a file", Way.OWNER),
    name="count_lines",
    takes=(Field("path", Type.FILE, "The file."), Field("least", Type.INTEGER, "The shortest that counts.", 0)),
    gives=(Field("lines", Type.INTEGER, "How many lines."),),
    cases=(
        Case({"path": "{box}/a.txt"}, ({"lines": 2},), files={"a.txt": "one\ntwo\n"}),
        Case({"path": "{box}/b.txt", "least": 2}, ({"lines": 1},), files={"b.txt": "x\nlonger\n"}),
        Case({"path": "{box}/nowhere"}, error="not_found", sure=True),
    ),
    purpose="Count lines of a file.",
    says=("how many lines has this file",),
    body="def count_lines(path, least):\n"
    "    with open(path, encoding='utf-8') as file:\n"
    "        return [{'lines': sum(len(line.rstrip()) >= least for line in file)}]\n",
)


@dataclass
class Scripted:
    """Answers each stage with what was laid down for it, in order; the last one again and again."""

    answers: Mapping[str, Sequence[Any]]
    asked: list[tuple[str, Prompt]] = field(default_factory=list)

    def __call__(self, purpose: str, prompt: Prompt) -> Reply:
        self.asked.append((purpose, prompt))
        number = sum(each == purpose for each, _ in self.asked) - 1
        said = self.answers[purpose]
        answer = said[min(number, len(said) - 1)]
        if isinstance(answer, Exception):
            raise answer
        usage = Usage(calls=1, input_tokens=10, output_tokens=5)
        return Reply(answer, usage=usage) if isinstance(answer, str) else Reply("", answer, usage)


def near(_text: str, others: Sequence[str]) -> list[float]:
    """Everything is as near as everything else."""
    return [0.0] * len(others)
