"""Birth tests: what an executor must show in the real sandbox before it may live. They are data, never code.

Rules: each test gets a box of its own, a temporary folder that is home, working directory and workspace to it; nothing
outside the box can be named, read or changed, and the web, the machine's facts and what other executors answer are the
recorded ones of the test: calls are answered in their order, and one that was not recorded, or was and is not made,
fails the test. What a mutator did is undone at the end, and the box must then be as it was. A test that cannot be read
fails.
"""

import base64
import binascii
import contextlib
import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import MovableClock, to_text
from metnos.core.errors import ExecutorFailed, ManifestError, MetnosError, Refused
from metnos.core.ids import UlidMaker
from metnos.core.sections import ExecutorSettings
from metnos.core.workspace import Workspace
from metnos.executors import effects, undo_schema
from metnos.executors.capabilities import Tool
from metnos.executors.outcome import Outcome
from metnos.executors.perform import Setting, When, perform
from metnos.executors.prepare import Place, prepare
from metnos.executors.reach import Reach
from metnos.executors.scope import names_workspace
from metnos.executors.state import State
from metnos.executors.trash import Trash
from metnos.executors.undo import Undo
from metnos.executors.verdict import Executor
from metnos.law.audit_line import Entry
from metnos.law.forbidden import Access, why_forbidden
from metnos.law.need import Need, sounds_like_home
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.sandbox.pool import Pool
from metnos.sandbox.web import Fetched
from metnos.store.db import Database

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
LEAST = 3
_TRIER = Principal(Channel.BIRTH, "birth", Autonomy.SUPERVISED)
_SOMEWHERE = "198.18.0.1"  # an address that counts as outside and belongs to nobody
_BIRTH_S = 30.0  # of wall clock, whatever the manifest says


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Content(_Strict):
    """A file or folder of the box that plain text cannot describe."""

    base64: str | None = None
    folder: bool = False
    absent: bool = False


class Page(_Strict):
    """The recorded answer of a web server."""

    url: str
    method: str = "GET"
    status: int = 200
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | Content = ""
    final_url: str | None = None


class Called(_Strict):
    """The recorded answer of another executor: a reply, or with ``error`` a failure."""

    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    reply: dict[str, Any] = Field(default_factory=dict)
    error: str = ""
    message: str = ""

    @field_validator("args", "reply", mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value  # TOML has no null; JSON in a text has


class BirthTest(_Strict):
    """One test."""

    name: str = Field(min_length=1, max_length=200)
    args: dict[str, Any] = Field(default_factory=dict)
    files: dict[str, str | Content] = Field(default_factory=dict)
    http: tuple[Page, ...] = ()
    system: dict[Literal["processes", "disks", "host"], list[dict[str, Any]]] = Field(default_factory=dict)
    calls: tuple[Called, ...] = ()
    mcp: dict[str, Any] | None = None  # what the tool of an MCP server answers
    expect: dict[str, Any] = Field(default_factory=dict)
    expect_error: str = ""
    after: dict[str, str | Content] = Field(default_factory=dict)


class _Sheet(_Strict):
    test: tuple[BirthTest, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """How one test went; ``problem`` is empty when it passed."""

    name: str
    problem: str
    outcome: Outcome | None


def parse(text: str, where: str = "tests.toml") -> tuple[BirthTest, ...]:
    """The tests in ``text``: at least three, and one of them with an input that fails."""
    try:
        tests = _Sheet.model_validate(tomllib.loads(text)).test
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ManifestError(f"{where} is not valid TOML: {error}", fix="Mend that line.") from error
    except ValidationError as error:
        found = error.errors()[0]
        place = ".".join(str(part) for part in found["loc"])
        raise ManifestError(f"{where}: `{place}` does not fit: {found['msg']}", fix="See docs/executors.md.") from error
    if len(tests) < LEAST or not any(test.expect_error or test.expect.get("failed") for test in tests):
        raise ManifestError(
            f"{where} must hold at least {LEAST} tests, one of them with an input that fails", fix="Add one."
        )
    return tests


def attend(executor: Executor, pool: Pool, settings: ExecutorSettings) -> Iterator[Tried]:
    """Run every birth test of an executor, one after the other."""
    for test in parse(executor.tests_text, f"{executor.name}/tests.toml"):
        yield attempt(executor, test, pool, settings)


def attempt(executor: Executor, test: BirthTest, pool: Pool, settings: ExecutorSettings) -> Tried:
    """Run one test, whether it is among those of the executor or not."""
    with tempfile.TemporaryDirectory(prefix="metnos-birth-", dir=_ordinary_place()) as folder:
        return _Trial(executor, test, Path(folder).resolve(), pool, settings).run()


def _ordinary_place() -> str | None:
    """Choose the folder for boxes: /var/tmp if TMPDIR is a forbidden place, for instance below /dev or /run."""
    usual = Path(tempfile.gettempdir()).resolve()
    return None if why_forbidden(usual, Access.WRITE) is None else "/var/tmp"  # noqa: S108 -- a folder of its own in it


class _Trial:
    def __init__(
        self, executor: Executor, test: BirthTest, folder: Path, pool: Pool, settings: ExecutorSettings
    ) -> None:
        # Whatever the executor is by now, it is tried as one that nobody trusts yet.
        self._executor = replace(executor, state=State.DRAFT)
        self._test = test
        self._box = folder / "box"
        self._outside = folder / "outside"
        self._clock = MovableClock(NOW)
        self._pool = pool
        self._settings = settings.model_copy(update={"wall_s": min(settings.wall_s, _BIRTH_S)})
        self._workspace = Workspace(self._box / "workspace")
        self._calls = _Calls(test.calls, str(self._box))

    def run(self) -> Tried:
        outcome: Outcome | None = None
        try:
            fs = self._executor.manifest.capabilities.fs
            named = names_workspace((*fs.read, *fs.write))
            for folder in (self._box, self._outside, *([self._workspace.notes] if named else ())):
                folder.mkdir(parents=True, exist_ok=True)
            for name, content in self._test.files.items():
                _make(self._inside(name), content)
            before = _picture(self._box)
            outcome, undo = self._perform()
            problem = self._calls.problem or self._compare(outcome) or self._calls.missing() or self._look_after()
            if not problem and outcome.action:
                undo.undo(outcome.action, by=_TRIER)
                problem = "" if _picture(self._box) == before else "undone, the box is not as it was"
        except ExecutorFailed as error:
            problem = self._failure(error.kind, error.what)
        except (MetnosError, OSError, ValueError) as error:
            problem = str(error)
        return Tried(self._test.name, problem, outcome)

    def _perform(self) -> tuple[Outcome, Undo]:
        manifest = self._executor.manifest
        place = Place(self._box, self._box, self._workspace)
        args = _fill(self._test.args, str(self._box))
        prepared = prepare(manifest, args, place)
        for path in (*prepared.reads, *prepared.writes):
            self._refuse(path, Access.READ)
        db = Database(self._outside / "undo.db", undo_schema.MIGRATIONS, clock=self._clock)
        store, trash, ids = self._outside / "store", Trash(self._outside / "Trash"), UlidMaker(self._clock)
        hands = effects.Effects(db, store, trash, self._clock, ids, self._refuse)
        setting = Setting(self._pool, self._settings, self._workspace, lambda: False)  # nothing in the box is real
        reach = Reach(_Double(self._test), self._facts, self._calls, None, lambda _: True, self._tool)
        with hands.begin(executor=manifest.name) as acting:
            outcome = perform(setting, self._executor, prepared, acting, reach, None, When("birth", NOW))
        return outcome, Undo(db, store, trash, self._refuse, self._clock, ids, _Silent(), lambda: None)

    def _compare(self, outcome: Outcome) -> str:
        if outcome.fault:
            return f"it must not end like this: {outcome.message}"
        if not outcome.ok:
            return self._failure(outcome.kind, outcome.message)
        if self._test.expect_error:
            return f"it succeeded, but should have failed with {self._test.expect_error!r}"
        return difference(_fill(self._test.expect, str(self._box)), dict(outcome.reply))

    def _failure(self, kind: str, message: str) -> str:
        if self._test.expect_error == kind:
            return ""
        wanted = f" instead of {self._test.expect_error!r}" if self._test.expect_error else ""
        return f"it failed with {kind!r}{wanted}: {message}"

    def _look_after(self) -> str:
        for name, content in self._test.after.items():
            problem = _differs(self._inside(name), content)
            if problem:
                return f"afterwards, {name} {problem}"
        return ""

    def _facts(self, what: str) -> list[Any]:
        return list(self._test.system.get(what, []))  # type: ignore[call-overload]  # any name may be asked for

    def _tool(self, _tool: Tool, _args: Mapping[str, Any], _seconds: float) -> Any:
        if self._test.mcp is None:
            raise ExecutorFailed("nothing is recorded for the MCP server", kind="unavailable")
        return self._test.mcp

    def _inside(self, name: str) -> Path:
        path = self._box / name
        self._refuse(path.resolve(), Access.WRITE)
        return path

    def _refuse(self, path: Path, _: Access) -> None:
        if not path.is_relative_to(self._box):
            raise Refused(f"a birth test stays in its box, and {path} is outside", fix="Use paths below {box}.")


class _Double:
    """The web as the test recorded it, behind the same questions as the real one."""

    def __init__(self, test: BirthTest) -> None:
        self._pages = {(page.method, page.url): page for page in test.http}

    def fetch(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],  # noqa: ARG002 -- as the real one
        body: bytes,  # noqa: ARG002
        *,
        max_bytes: int,
        allow: Callable[[str, str, list[str]], Need],
        screen: Callable[[str, str], None],
        timeout_s: float | None = None,  # noqa: ARG002
    ) -> Fetched:
        host = urlsplit(url).hostname or ""
        screen(host, method)
        allow(host, method, ["127.0.0.1" if sounds_like_home(host) else _SOMEWHERE])
        page = self._pages.get((method, url))
        if page is None:
            raise ExecutorFailed(f"nothing is recorded for {url}", kind="unavailable")
        content = _bytes(page.body)
        final = page.final_url or url
        return Fetched(page.status, dict(page.headers), content[:max_bytes], final, len(content) > max_bytes)


class _Calls:
    """The other executors as the test recorded them: each call is the next one of the list, or a problem."""

    def __init__(self, recorded: Sequence[Called], box: str) -> None:
        self._left = list(recorded)
        self._box = box
        self.problem = ""

    def __call__(self, name: str, args: Mapping[str, Any]) -> Any:
        if not self._left or self._left[0].name != name:
            return self._refuse(f"it called {name}, which was not recorded{self._expected()}")
        made = self._left.pop(0)
        wanted = _fill(made.args, self._box)
        if canonical_json(wanted) != canonical_json(dict(args)):
            said = difference(wanted, dict(args), "the call") or "it gave more than was recorded"
            return self._refuse(f"it called {name} otherwise than recorded: {said}")
        if made.error:
            raise ExecutorFailed(_fill(made.message, self._box), kind=made.error)
        return counted(_fill(made.reply, self._box))

    def missing(self) -> str:
        """What was recorded and not called."""
        return f"it did not call {self._left[0].name}" if self._left else ""

    def _expected(self) -> str:
        return f" here: {self._left[0].name} was" if self._left else ""

    def _refuse(self, problem: str) -> Any:
        # The code may take this for a failure like any other and go on: the first problem stays.
        self.problem = self.problem or problem
        raise ExecutorFailed(problem, kind="unavailable")


class _Silent:
    """Stands where the audit stands: what happens in a box is nobody's business."""

    @contextlib.contextmanager
    def act(self, _: Entry) -> Iterator[None]:
        yield


def difference(wanted: Any, found: Any, where: str = "the reply") -> str:
    """In what ``found`` falls short of ``wanted``: of an object the named keys count, of a list everything."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            if key not in found:
                return f"{where} has no {key!r}"
            problem = difference(value, found[key], f"{where}, {key!r}")
            if problem:
                return problem
        return ""
    if isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            return f"{where}: {len(found)} instead of {len(wanted)}"
        pairs = enumerate(zip(wanted, found, strict=True), start=1)
        problems = (difference(*pair, f"{where}, number {number}") for number, pair in pairs)
        return next((problem for problem in problems if problem), "")
    same = type(wanted) is type(found) or {type(wanted), type(found)} == {int, float}
    return "" if same and wanted == found else f"{where}: {found!r} instead of {wanted!r}"


def counted(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as its caller gets it: with the counts that Metnos adds, where it has none."""
    key = "results" if "results" in reply else "entries"
    items, failures = list(reply.get(key, ())), list(reply.get("failures", ()))
    total = reply.get("total", len(items))
    made = {key: items, "count": len(items), "total": total, "truncated": total > len(items), "failures": failures}
    return made | {"failed": len(failures)} | dict(reply)


def _fill(value: Any, box: str) -> Any:
    if isinstance(value, str):
        return value.replace("{box}", box).replace("{now}", to_text(NOW))
    if isinstance(value, list):
        return [_fill(each, box) for each in value]
    if isinstance(value, dict):
        return {key: _fill(each, box) for key, each in value.items()}
    return value


def _bytes(content: str | Content) -> bytes:
    if isinstance(content, str):
        return content.encode()
    try:
        return base64.b64decode(content.base64 or "", validate=True)
    except binascii.Error as error:
        raise ManifestError("a birth test holds base64 that is none") from error


def _make(path: Path, content: str | Content) -> None:
    if isinstance(content, Content) and content.folder:
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_bytes(content))


def _differs(path: Path, content: str | Content) -> str:
    if isinstance(content, Content) and content.absent:
        return "is still there" if path.exists() else ""
    if isinstance(content, Content) and content.folder:
        return "" if path.is_dir() else "is no folder"
    if not path.is_file():
        return "is not there"
    return "" if path.read_bytes() == _bytes(content) else f"holds {path.read_bytes()[:200]!r}"


def _picture(folder: Path) -> dict[str, str]:
    """What is in a folder: every path, and of files their digest."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): sha256_hex(path.read_bytes()) if path.is_file() else "/" for path in found}
