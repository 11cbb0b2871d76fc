"""The code that is written does what the rules say, for whatever the parts answer."""

from collections.abc import Mapping
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metnos.executors import gate
from metnos.executors.birth import counted
from metnos.synt.compiler_code import code_of
from metnos.synt.compiler_follow import Followed, follow
from metnos.synt.compiler_form import Fixed, Form, Handed, Part, Taken
from metnos.synt.compiler_runs import Answer
from metnos.synt.gates import formatted
from synt.pipelines import builtin
from tables import try_each

KINDS = st.sampled_from(["not_found", "unavailable"])


class Failed(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


class Double:
    """``ctx`` with parts that answer as they are told."""

    def __init__(self, answers: list[Answer]) -> None:
        self._answers = list(answers)
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def call(self, name: str, args: dict[str, Any]) -> Any:
        self.calls.append((name, args))
        answer = self._answers.pop(0)
        if answer.error:
            raise Failed(answer.error, answer.message)
        return answer.reply

    def fail(self, kind: str, message: str) -> NoReturn:
        raise Failed(kind, message)

    def failure(self, item: Any, kind: str, message: str) -> dict[str, Any]:
        return {"item": item, "kind": kind, "message": message}


def played(code: str, form: Form, args: Mapping[str, Any], answers: list[Answer]) -> Followed:
    ctx, namespace = Double(answers), dict[str, Any]()
    exec(compile(code, "executor.py", "exec"), namespace)
    try:
        reply = namespace["run"](dict(args), ctx)
    except Failed as failed:
        return Followed(tuple(ctx.calls), error=failed.kind, message=failed.message)
    return Followed(tuple(ctx.calls), reply=counted({form.key: [], **reply}))


def form(*steps: tuple[str, dict[str, Any]], arguments: tuple[str, ...] = ()) -> Form:
    schema = {"type": "string", "description": "Any."}
    return Form(tuple(Part(builtin(name), sources) for name, sources in steps), dict.fromkeys(arguments, schema), ())


FINDING = ("find_files", {"path": Taken("path"), "limit": Taken("limit", optional=True)})
ROW = ("read_tables", {"path": Taken("path")})
FORMS = {
    "a list of fields": form(FINDING, ("count_text", {"paths": Handed("{{step1.entries.path}}"), "top": Fixed(3)})),
    "one of them": form(FINDING, ("read_files", {"paths": Handed(["{{step1.entries[1].path}}", "/x"])})),
    "a part of a list": form(FINDING, ("read_files", {"paths": Handed(["{{step1.entries.path}}", "{{step1.count}}"])})),
    "a field that may be missing": form(ROW, ("convert_units", {"values": Handed("{{step1.entries.km}}")})),
    "a text that is joined": form(FINDING, ("count_text", {"text": Handed("{{step1.entries.name}}")})),
    "cells that are joined": form(ROW, ("count_text", {"text": Handed("{{step1.entries.km}}")})),
    "a text with references": form(
        FINDING, ("count_text", {"text": Handed("{{step1.count}} of {{step1.entries.name}}, {{step1.entries[0]}}")})
    ),
    "rows and rows": form(ROW, ROW, ("join_tables", {"entries": Handed("{{step1.entries}}"),
                                                     "right": Handed("{{step2.entries}}"),
                                                     "on": Fixed([{"column": "km"}])})),
    "a table of references": form(ROW, ("filter_tables", {"entries": Handed("{{step1.entries}}"), "conditions": Handed(
        [{"column": "km", "is": "equals", "value": "{{step1.entries[0].km}}"}])})),
    "changes that rely on each other": form(
        ("make_folders", {"paths": Taken("path")}),
        FINDING,
        ("move_files", {"paths": Handed("{{step2.entries.path}}"), "to": Handed("{{step1.results[0].path}}")}),
    ),
    "what cannot be taken apart": form(
        ROW, ("write_files", {"path": Taken("path"), "text": Handed("{{step1.entries[0].km.x}}")})
    ),
}  # fmt: skip
CODES = {name: code_of(each, "Do one thing, then another.") for name, each in FORMS.items()}
CELLS = st.none() | st.integers(-1, 3) | st.sampled_from(["", "a", "b\n"]) | st.just([]) | st.just(["c"])


def entries(part: Part) -> st.SearchStrategy[list[dict[str, Any]]]:
    """As the manifest says: what is required is there and of its kind; a row of a table holds whatever it holds."""
    if len(part.manifest.output["properties"]) <= 1:
        return st.lists(st.dictionaries(st.sampled_from(["km", "x"]), CELLS, max_size=2), max_size=3)
    kinds: dict[str, st.SearchStrategy[Any]] = {"string": st.text("ab/", max_size=3), "integer": st.integers(0, 9)}
    kinds |= {"boolean": st.booleans(), "number": st.integers(0, 9), "array": st.just([])}
    properties = part.manifest.output["properties"]
    fields = {name: kinds[properties[name]["type"]] for name in part.manifest.output["required"]}
    return st.lists(st.fixed_dictionaries(fields), max_size=3)


@st.composite
def answers(draw: st.DrawFn, wanted: Form) -> list[Answer]:
    found = []
    failures = st.lists(st.just({"item": "a", "kind": "unreadable", "message": "no"}), max_size=1)
    for part in wanted.parts:
        if draw(st.integers(0, 9)) == 0:
            found.append(Answer({}, draw(KINDS), "it did not"))
            continue
        items = draw(entries(part))
        total = len(items) + draw(st.sampled_from([0, 0, 5]))
        reply = {part.manifest.result_key: items, "total": total, "failures": draw(failures)}
        found.append(Answer(counted(reply)))
    return found


@pytest.mark.parametrize("name", FORMS)
@given(data=st.data())
@settings(max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.too_slow])
def test_the_code_does_what_a_turn_would_do(name: str, data: st.DataObject) -> None:
    wanted = FORMS[name]
    given_ = data.draw(st.sampled_from([{"path": "/a"}, {"path": "/a", "limit": 2}]))
    made = data.draw(answers(wanted))
    assert played(CODES[name], wanted, given_, made) == follow(wanted, given_, made)


@try_each("name", FORMS)
def test_the_code_is_plain_and_formatted_and_only_calls(name: str) -> None:
    code, calls = CODES[name], tuple(sorted(set(FORMS[name].tools)))
    assert gate.inspect(code, gate.Declared(calls=calls), tools=False) == []
    assert gate.infer(code) == gate.Declared(calls=calls)
    assert formatted(code) == code


def test_a_helper_is_there_only_if_it_is_used() -> None:
    assert "def " not in CODES["a list of fields"].replace("def run", "")
    assert "def look" in CODES["a field that may be missing"]


def test_a_purpose_cannot_end_the_docstring() -> None:
    code = code_of(FORMS["a list of fields"], 'Find """ and \\')
    assert code.startswith('"""Find \'\'\' and /"""')
