"""Birth tests of a compiled executor, made from recorded runs.

A test holds what the parts answered, so that none of them acts. Rules: at least three; ordinary runs first, as
different as they come and the smallest of them; one that failed and one that had nothing to do, if there were any; and
beside them what follows from the recorded ones and was perhaps never seen: a part that fails, a part that gives
nothing, parts that could not do all or had more than they gave, an argument that is missing.

They hold what is the owner's, in the owner's own workspace, and as little of it as will do: of each reply the first
entries, of each long text the beginning, and ``{box}`` where the home was and before every path that is an argument.
What is cut off is cut off where it first comes up, and everything that follows from it is worked out anew by the rules
of a turn (`compiler_follow`), so that a shortened test still says what the sequence would have done. Deterministic: the
same runs are the same tests.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.errors import ExecutorFailed
from metnos.executors import refs
from metnos.executors.birth import counted
from metnos.executors.manifest import Manifest
from metnos.synt.compiler_follow import Followed, follow
from metnos.synt.compiler_form import Form, Handed
from metnos.synt.compiler_runs import Answer, Run
from metnos.synt.compiler_words import constants_of, has_null

_ORDINARY = 2  # runs that became tests as they were: a third shows nothing new, and each costs a sandbox
_ENTRIES = 3  # of one reply
_TEXT = 160  # characters of one text
_LARGEST = 16 * 1024  # bytes of one test: beyond it says more of the owner than of the executor
_FAILURE = {"item": "one of them", "kind": "unreadable", "message": "it could not be read"}
_MORE = 7  # entries that are there and not given, in a test about that
_BOX = "{box}"


@dataclass(frozen=True, slots=True)
class Scene:
    """The arguments of the whole, and what each part answers."""

    name: str
    args: Mapping[str, Any]
    answers: tuple[Answer, ...]


def tests_of(form: Form, manifest: Manifest, runs: Sequence[Run], home: str) -> list[dict[str, Any]]:
    """The birth tests, as tables."""
    ended = [run for run in runs if len(run.answers) == len(form.parts) and not run.answers[-1].error]
    others = [run for run in runs if run not in ended]
    chosen = [*_chosen(form, ended, _ORDINARY), *_chosen(form, [each for each in others if _failed(each)], 1),
              *_chosen(form, [each for each in others if not _failed(each)], 1)]  # fmt: skip
    hides = home if home not in str(list(constants_of(form))) else ""
    scenes = [_scene(form, run, hides) for run in chosen]
    scenes += _derived(form, _whole(form, scenes[0]))  # an ordinary one, if there is any
    found = [test for each in scenes if (test := test_of(form, manifest, each)) is not None]
    return _told_apart([*found, *_missing(form)])


def _told_apart(tests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two of one name would be one to whoever reads of them."""
    known: dict[str, int] = {}
    for test in tests:
        known[test["name"]] = known.get(test["name"], 0) + 1
        if known[test["name"]] > 1:
            test["name"] = f"{test['name']} ({known[test['name']]})"
    return list(tests)


def test_of(form: Form, manifest: Manifest, scene: Scene) -> dict[str, Any] | None:
    """One test; nothing if TOML cannot hold it, or if it would be too large."""
    if has_null(scene.args):
        return None
    try:
        followed = follow(form, manifest.validate_args(scene.args), scene.answers)
        manifest.check_entries(followed.reply.get(form.key, []))
    except ExecutorFailed:
        return None  # cut short, it is no longer what the last part may give
    calls = list(calls_of(followed, scene.answers))
    test: dict[str, Any] = {"name": scene.name, "args": dict(scene.args), "calls": [_call(each) for each in calls]}
    test |= {"expect_error": followed.error} if followed.error else {"expect": _without_null(followed.reply)}
    return test if len(canonical_json(test)) <= _LARGEST else None


def calls_of(followed: Followed, answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    """The calls that were made, with what they were answered."""
    for (name, args), answer in zip(followed.calls, answers, strict=False):
        if answer.error:
            yield {"name": name, "args": args, "error": answer.error, "message": answer.message}
        else:
            yield {"name": name, "args": args, "reply": dict(answer.reply)}


# -- recorded


def _failed(run: Run) -> bool:
    return bool(run.answers) and bool(run.answers[-1].error)


def _chosen(form: Form, runs: Sequence[Run], most: int) -> list[Run]:
    """The smallest that differ in their arguments."""
    found: dict[bytes, Run] = {}
    for run in sorted(runs, key=lambda each: (_size(each), each.turn)):
        found.setdefault(canonical_json(form.arguments_of(run)), run)
    return list(found.values())[:most]


def _size(run: Run) -> int:
    return len(canonical_json([dict(answer.reply) for answer in run.answers]))


def _scene(form: Form, run: Run, home: str) -> Scene:
    name = " ".join(run.text.split())[:_TEXT] or "as it was recorded"
    least = [_ENTRIES, *(part + 1 for part in _indexes(form))]
    args = {own: _boxed(value, home) for own, value in form.arguments_of(run).items()}
    answers = [replace(each, reply=_boxed(_short(each.reply, max(least)), home), message=_boxed(each.message, home))
               for each in run.answers]  # fmt: skip
    # What never came to be called is never asked for: an answer must stand there all the same.
    answers += [Answer(_empty(part.manifest)) for part in form.parts[len(answers) :]]
    return Scene(str(_boxed(name, home)), placed(form, args), tuple(answers))


def _indexes(form: Form) -> Iterator[int]:
    yield from (part for ref in refs.within(list(_handed(form))) for part in ref.path if isinstance(part, int))


def _handed(form: Form) -> Iterator[Any]:
    """Every value that a part takes from another."""
    for part in form.parts:
        yield from (source.value for source in part.sources.values() if isinstance(source, Handed))


def _short(reply: Mapping[str, Any], most: int) -> dict[str, Any]:
    """The beginning of a reply, with counts that are right for it."""
    if not reply:
        return {}
    key = "results" if "results" in reply else "entries"
    items, failures = reply[key][:most], reply["failures"][:_ENTRIES]
    total = reply["total"] if reply["truncated"] else len(items)
    return counted({key: [_cut(each) for each in items], "total": total, "failures": _cut(failures)})


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_TEXT]
    if isinstance(value, Mapping):
        return {key: _cut(each) for key, each in value.items()}
    return [_cut(each) for each in value[:_ENTRIES]] if isinstance(value, list) else value


def _boxed(value: Any, home: str) -> Any:
    """The home of the owner is the box of a test."""
    if not home:
        return value
    if isinstance(value, str):
        return value.replace(home, _BOX)
    if isinstance(value, Mapping):
        return {key: _boxed(each, home) for key, each in value.items()}
    return [_boxed(each, home) for each in value] if isinstance(value, list | tuple) else value


def placed(form: Form, args: Mapping[str, Any]) -> dict[str, Any]:
    """Paths as a test has them, whole and as they really are: all that there is lies in the box."""
    usual = {own: schema["default"] for own, schema in form.arguments.items() if "default" in schema}
    places = {own: _place(value) for own, value in (usual | dict(args)).items() if own in form.places}
    return {**args, **places}


def _place(value: Any) -> Any:
    if isinstance(value, list):
        return [_place(each) for each in value]
    if not isinstance(value, str):
        return value
    below = posixpath.normpath("/" + value.removeprefix(_BOX).removeprefix("~").lstrip("/"))
    return f"{_BOX}{below}".rstrip("/")


def _call(made: Mapping[str, Any]) -> dict[str, Any]:
    """A call as the test file has it: without the counts, and as JSON where it holds a null."""
    bare = dict(made)
    if reply := made.get("reply"):
        told = {"total": reply["total"]} if reply["truncated"] else {}
        bare["reply"] = _bare(reply) | told | ({"failures": reply["failures"]} if reply["failed"] else {})
    return {
        key: canonical_json(value).decode() if isinstance(value, Mapping) and has_null(value) else value
        for key, value in bare.items()
    }


def _without_null(value: Any) -> Any:
    """What a test can expect: of a table only what is named is compared."""
    if isinstance(value, Mapping):
        return {key: _without_null(each) for key, each in value.items()
                if each is not None and not (isinstance(each, list) and None in each)}  # fmt: skip
    return [_without_null(each) for each in value] if isinstance(value, list) else value


# -- what follows from the recorded


def _derived(form: Form, seen: Scene) -> Iterator[Scene]:
    tools, last = form.tools, len(form.tools) - 1
    fails = Answer({}, "unavailable", f"{tools[last]} does not answer")
    yield replace(seen, name=f"{tools[last]} fails", answers=_with(seen, last, fails))
    for place in sorted({ref.number - 1 for ref in refs.within(list(_handed(form)))}):
        empty = Answer(_empty(form.parts[place].manifest))
        yield replace(seen, name=f"{tools[place]} gives nothing", answers=_with(seen, place, empty))
    partly = tuple(_partly(each.reply) for each in seen.answers)
    yield replace(seen, name="not everything succeeds, and there is more than is given", answers=partly)


def _partly(reply: Mapping[str, Any]) -> Answer:
    return Answer(counted(_bare(reply) | {"total": reply["count"] + _MORE, "failures": [_FAILURE]}))


def _whole(form: Form, seen: Scene) -> Scene:
    """The same as if no part had failed."""
    answers = (Answer(_empty(part.manifest)) if each.error else each
               for part, each in zip(form.parts, seen.answers, strict=True))  # fmt: skip
    return replace(seen, answers=tuple(answers))


def _with(seen: Scene, place: int, answer: Answer) -> tuple[Answer, ...]:
    return (*seen.answers[:place], answer, *seen.answers[place + 1 :])


def _bare(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as its executor gave it, without the counts."""
    return {key: reply[key] for key in ("entries", "results") if key in reply}


def _empty(part: Manifest) -> dict[str, Any]:
    return counted({part.result_key: []})


def _missing(form: Form) -> Iterator[dict[str, Any]]:
    if form.required:
        yield {"name": f"{form.required[0]} is missing", "args": {}, "expect_error": "invalid"}
    else:
        yield {"name": "an argument that it does not take", "args": {"unheard_of": True}, "expect_error": "invalid"}
