"""How many of some needs become executors that pass every gate, made by a real language model of this machine.

The needs stand in ``bench/scenarios/synt.toml``: twenty that were named beforehand, and ten (``more``) that were tried
after the last change to synt. The model is a file that llama.cpp serves over HTTP; the gates and the
sandbox are the real ones. Nothing is signed. Executors of ours that do the same are left out of what exists, because
here it counts what can be made; which needs they would have answered is said beside.

What was made is left in ``build/synt/``, because green is not right: somebody has to read it.
``python -m bench.synt NAME...`` tries some needs and prints what was asked and answered, too.
"""

import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench import scratch
from bench.llm import model_file
from bench.runner import Measure
from metnos import app
from metnos.core.embedding import Embedder
from metnos.core.workspace import Workspace
from metnos.executors.verdict import Executor
from metnos.law.principal import Channel, of_account
from metnos.models.chat import Chat, Prompt, Reply
from metnos.synt import gates, likeness, trying
from metnos.synt.draft import Draft, Made
from metnos.synt.need import Need, Way
from metnos.synt.pipeline import Tools, Workshop

PURPOSE = "needs that a real language model does not make an executor of"

NEEDS = Path(__file__).parent / "scenarios" / "synt.toml"
_KEPT = Path("build") / "synt"
_MOST_FAILED = 40.0  # per cent of the twenty; set by the specification (twelve of twenty reach green)
_TIMEOUT_S = 1800
_THREADS = 2  # as many as this machine has; beside other work one is faster
# Built-ins that already do what one of the needs asks for.
_OVERLAP = ("convert_units", "compute_dates", "convert_tables", "rename_files", "group_tables", "measure_folders",
            "find_duplicates", "count_text", "replace_text")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one need."""

    name: str
    more: bool
    made: Made
    seconds: float
    exists: str  # the built-in that would have been found for it


def run(data: Path) -> list[Measure]:
    needs = tomllib.loads(NEEDS.read_text(encoding="utf-8"))["need"]
    runs = list(play(needs, model_file(data)))
    found = [_measure("the twenty", [each for each in runs if not each.more], _MOST_FAILED)]
    more = [each for each in runs if each.more]
    return [*found, _measure("ten more", more, None)] if more else found


def play(needs: Sequence[Mapping[str, Any]], file: Path, show: bool = False) -> Iterator[Run]:
    """Make every need; what came of each is printed as it comes."""
    with scratch.folder() as folder:
        opened = _open(folder / "workspace", file)
        try:
            model = opened.models.tier("main")
            if model is None:
                raise AssertionError("a model was configured")
            known = [opened.catalog.get(name) for name in opened.catalog.names()]
            for each in needs:
                yield _one(opened, model, each, known, show)
        finally:
            opened.close()


def _one(opened: app.App, model: Chat, said: Mapping[str, Any], known: Sequence[Executor], show: bool) -> Run:
    need = Need(said["text"], Way.OWNER)
    others = [each for each in known if each.name not in _OVERLAP]
    settings = opened.settings.executors
    examined = gates.Tools(opened.pool, settings, others, opened.embedder)

    def ask(purpose: str, prompt: Prompt) -> Reply:
        reply = model.ask(prompt)
        if show:
            print(f"--- {purpose}\n{reply.text}\n", flush=True)
        return reply

    tools = Tools(
        ask=ask,
        near=lambda text, texts: nearness(opened.embedder, text, texts),
        taken={each.name for each in others},
        results=lambda sketch: trying.results(sketch, opened.pool, settings),
        examine=lambda draft: gates.examine(draft, examined),
        tidy=gates.formatted,
    )
    began = time.monotonic()
    made = Workshop(tools).make(need, _told if show else lambda _stage, _why: None)
    seconds = time.monotonic() - began
    found = likeness.judge(likeness.of_need(need), [likeness.of_executor(each) for each in known])
    exists = found.name if found.kinship is not likeness.Kinship.NEW else ""
    print(f"  {'green' if made.green else made.stage or 'gates':12} {seconds:6.0f} s  {said['name']}"
          f"{': ' + made.abandoned[:160] if made.abandoned else ''}", flush=True)  # fmt: skip
    if made.draft:
        _keep(said["name"], made.draft, made.green)
    return Run(said["name"], bool(said.get("more")), made, seconds, exists)


def _told(stage: str, why: str) -> None:
    if why:
        print(f"    {stage} again: {why}", flush=True)


def nearness(embedder: Embedder | None, text: str, texts: Sequence[str]) -> list[float]:
    """Cosines of one text with others; all alike without an embedder."""
    if embedder is None:
        return [0.0] * len(texts)
    vectors = np.asarray(embedder.embed([text, *texts]))
    return [float(each) for each in vectors[1:] @ vectors[0]]


def _open(root: Path, file: Path) -> app.App:
    workspace = Workspace(root)
    app.found(workspace)
    opened = app.App.open(workspace)
    for name, value in {
        "models.main.provider": "local",
        "models.main.name": str(file),
        "models.main.timeout_s": str(_TIMEOUT_S),
        "models.main.threads": str(_THREADS),
        "models.retries": "0",
    }.items():
        opened.set_setting(name, value, of_account(Channel.TERMINAL))
    opened.close()
    return app.App.open(workspace)


def _keep(name: str, draft: Draft, green: bool) -> None:
    """Its files, for whoever reads them."""
    target = _KEPT / ("green" if green else "not made") / name
    target.mkdir(parents=True, exist_ok=True)
    for file, content in draft.contents().items():
        (target / file).write_bytes(content)


def _measure(what: str, runs: Sequence[Run], limit: float | None) -> Measure:
    failed = [each for each in runs if not each.made.green]
    stages = Counter(each.made.stage for each in failed)
    where = ", ".join(f"{count} at {stage}" for stage, count in stages.most_common())
    seconds = sorted(each.seconds for each in runs)
    note = f"{len(runs) - len(failed)} of {len(runs)} are green; {where or 'none stopped'};" \
           f" median {seconds[len(seconds) // 2]:.0f} s each"  # fmt: skip
    if failed:
        note += f"; not made: {', '.join(each.name for each in failed)}"
    return Measure(f"{what}: not made", "%", (100 * len(failed) / len(runs),), limit=limit, note=note)


if __name__ == "__main__":
    chosen = [each for each in tomllib.loads(NEEDS.read_text(encoding="utf-8"))["need"] if each["name"] in sys.argv[1:]]
    list(play(chosen, model_file(Path()), show=True))
