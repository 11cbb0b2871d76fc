"""What the lab found, in words: tables with intervals, and for each claim where it holds, where not, and where nobody
can say.

Rules: pure. Claims and what would refute them are fixed here and not by what comes out. A claim holds on a stream where
the whole 95 % interval of the difference, run by run, lies on its side; it is refuted where the whole interval lies on
the other; else nothing is shown. A star marks what also stands when all comparisons are counted together (Bonferroni).
Only heirs are counted: the first generation has nothing to inherit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metnos.life import lab_data, lab_world
from metnos.life.lab import FURTHER, Life
from metnos.life.lab_arms import further_arms, main_arms
from metnos.life.lab_stats import LEVEL, Estimate, estimate, paired, slope
from metnos.life.lab_world import Size

OURS = "bottleneck"
Share = Callable[[Sequence[Life]], float]


def whole(lives: Sequence[Life]) -> float:
    """Wrong answers in whole lives, in per cent."""
    return _share(lives, lambda life: life.wrong, lambda life: life.ticks)


def youth(lives: Sequence[Life]) -> float:
    """The same, before the first consolidation."""
    return _share(lives, lambda life: life.young_wrong, lambda life: life.young)


def changed(lives: Sequence[Life]) -> float:
    """The same, soon after what is right changed."""
    return _share(lives, lambda life: life.recent_wrong, lambda life: life.recent)


def trapped(lives: Sequence[Life]) -> float:
    """How often a trap was stepped into, per hundred tasks."""
    return _share(lives, lambda life: life.traps, lambda life: life.ticks)


def _share(lives: Sequence[Life], part: Callable[[Life], int], of: Callable[[Life], int]) -> float:
    total = sum(map(of, lives))
    return 100.0 * sum(map(part, lives)) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that the source document says, as a difference between the bottleneck and another arm."""

    said: str
    against: str
    of: Share
    measure: str


CLAIMS = (
    Claim("An heir starts ahead of one that inherits nothing.", "no inheritance", youth, "wrong in youth"),
    Claim("A small, faded inheritance serves better than total recall.", "total recall", whole, "wrong in all"),
    Claim("What is chosen matters: chance chooses worse.", "random", whole, "wrong in all"),
    Claim("Dying adds something to forgetting.", "no death", whole, "wrong in all"),
)
GROWS = "Each generation starts ahead of the last."
_SIDES = {-1: "holds", 1: "refuted", 0: "not shown"}


class Found:
    """All lives of an experiment, by stream and arm."""

    def __init__(self, lives: Sequence[Life], size: Size) -> None:
        self.lives = lives
        self.size = size
        there = {life.stream for life in lives}
        self.streams = [each.name for each in (*lab_world.STREAMS, *lab_data.DATA) if each.name in there]
        self.seeds = sorted({life.seed for life in lives})
        self.main = [arm.name for arm in main_arms(size.entries)]
        self.further = [arm.name for arm in further_arms(size.entries)]

    def by_run(self, stream: str, arm: str, of: Share, generation: int | None = None) -> list[float]:
        """One number for each seed: of the heirs, or of one generation."""
        return [
            of([life for life in self._of(stream, arm, seed) if _counts(life, generation)])
            for seed in self._runs(stream)
        ]

    def mean(self, stream: str, arm: str, of: Share, generation: int | None = None) -> Estimate:
        return estimate(self.by_run(stream, arm, of, generation))

    def differs(self, stream: str, claim: Claim) -> Estimate:
        """How much more is wrong with the bottleneck: below nothing is better."""
        return paired(self.by_run(stream, OURS, claim.of), self.by_run(stream, claim.against, claim.of))

    def grows(self, stream: str) -> Estimate:
        """By how much youth gets worse from one heir to the next."""
        slopes = []
        for seed in self._runs(stream):
            heirs = [life for life in self._of(stream, OURS, seed) if life.generation > 1]
            slopes.append(slope([youth([life]) for life in sorted(heirs, key=lambda each: each.generation)]))
        return estimate(slopes)

    def total(self, stream: str, arm: str) -> list[Life]:
        return [life for life in self.lives if life.stream == stream and life.arm == arm]

    def _runs(self, stream: str) -> list[int]:
        return sorted({life.seed for life in self.lives if life.stream == stream})

    def _of(self, stream: str, arm: str, seed: int) -> list[Life]:
        return [life for life in self.total(stream, arm) if life.seed == seed]


def _counts(life: Life, generation: int | None) -> bool:
    return life.generation > 1 if generation is None else life.generation == generation


# -- words


def report(found: Found, command: str) -> str:
    """The whole report, as Markdown."""
    sections = (
        _head(found, command),
        _verdicts(found),
        _table(found, "Wrong answers of heirs, whole lives (%)", whole, found.streams),
        _table(
            found, "Wrong answers of heirs in their youth, before the first consolidation (%)", youth, found.streams
        ),
        _table(found, "Wrong answers soon after a change (%)", changed, _with(found, lambda life: life.recent)),
        _table(found, "Traps stepped into, per hundred tasks", trapped, _made(found)),
        _further(found),
        _costs(found),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _head(found: Found, command: str) -> str:
    size, seeds = found.size, len(found.seeds)
    said = {each.name: each.said for each in (*lab_world.STREAMS, *lab_data.DATA)}
    lines = [
        "# What generations inherit: results",
        f"Made by `{command}`. Every stream was run {seeds} {'time' if seeds == 1 else 'times'} with"
        f" {size.generations} generations of {size.ticks} tasks; {size.entries} entries cross a death. Figures are"
        f" means over runs with their {LEVEL:.0%} intervals (Student's t); arms are compared run by run on"
        " the same tasks.",
        "\n".join(f"- **{name}**: {said[name]}" for name in found.streams),
    ]
    return "\n\n".join(lines)


def _verdicts(found: Found) -> str:
    parts = ["## The claims"]
    all_ = (len(CLAIMS) + 1) * len(found.streams)
    for claim in CLAIMS:
        rows = {stream: found.differs(stream, claim) for stream in found.streams}
        parts.append(_claim(claim.said, f"bottleneck less {claim.against}, {claim.measure}, points", rows, all_))
    if found.size.generations > 2:  # of one heir nothing can be said about the next
        rows = {stream: found.grows(stream) for stream in found.streams}
        parts.append(_claim(GROWS, "wrong in youth, points from one heir to the next", rows, all_))
    return "\n\n".join(parts)


def _claim(said: str, what: str, rows: dict[str, Estimate], all_: int) -> str:
    table = [f"| stream | {what} | verdict |", "|---|---|---|"]
    for stream, each in rows.items():
        star = " *" if each.sign and each.chance < (1 - LEVEL) / all_ else ""
        table.append(f"| {stream} | {_signed(each)} | {_SIDES[each.sign]}{star} |")
    return f"### {said}\n\n{summary(rows)}\n\n" + "\n".join(table)


def summary(rows: dict[str, Estimate]) -> str:
    """Where a claim holds, where it is refuted, and where nothing is shown, in one sentence."""
    names = {word: [stream for stream, each in rows.items() if each.sign == sign] for sign, word in _SIDES.items()}
    said = [f"**{word}** in {', '.join(streams)}" for word, streams in names.items() if streams]
    return f"{'; '.join(said)}."


def best(found: Found, stream: str, of: Share) -> list[str]:
    """The arm with the least, and those that are not shown to be worse."""
    means = {arm: found.mean(stream, arm, of).mean for arm in found.main}
    first = min(means, key=lambda arm: means[arm])
    runs = found.by_run(stream, first, of)
    ties = [arm for arm in found.main if arm != first and paired(found.by_run(stream, arm, of), runs).sign <= 0]
    return [first, *ties]


def _table(found: Found, title: str, of: Share, streams: Sequence[str]) -> str:
    if not streams:
        return ""
    lines = [f"## {title}", "", f"| stream | {' | '.join(found.main)} | least |", "|---" * (len(found.main) + 2) + "|"]
    for stream in streams:
        winners = best(found, stream, of)
        cells = [_plain(found.mean(stream, arm, of), bold=arm == winners[0]) for arm in found.main]
        ties = f" (not shown to be less than: {', '.join(winners[1:])})" if winners[1:] else ""
        lines.append(f"| {stream} | {' | '.join(cells)} | {winners[0]}{ties} |")
    return "\n".join(lines)


def _further(found: Found) -> str:
    if FURTHER not in found.streams:
        return ""
    lines = [
        f"## The width of the bottleneck, who is heeded, and who never doubts (stream {FURTHER})",
        "",
        "| arm | wrong, whole lives (%) | wrong in youth (%) | entries taken |",
        "|---|---|---|---|",
    ]
    for arm in (*found.main, *found.further):
        taken = [life.taken for life in found.total(FURTHER, arm) if life.generation > 1]
        cells = [_plain(found.mean(FURTHER, arm, of)) for of in (whole, youth)]
        lines.append(f"| {arm} | {' | '.join(cells)} | {sum(taken) / max(1, len(taken)):.1f} |")
    return "\n".join(lines)


def _costs(found: Found) -> str:
    lines = [
        "## What it costs",
        "",
        "| arm | facts at the end of a line | known at a death | bytes of a testament | CPU seconds of a life |",
        "|---|---|---|---|---|",
    ]
    for arm in found.main:
        lives = [life for stream in found.streams for life in found.total(stream, arm)]
        last = [life.facts for life in lives if life.generation == found.size.generations]
        known = [life.known for life in lives if life.known]
        sizes = [life.size for life in lives if life.size]
        cells = (_average(last), _average(known), _average(sizes), f"{sum(x.cpu_s for x in lives) / len(lives):.2f}")
        lines.append(f"| {arm} | {' | '.join(cells)} |")
    return "\n".join(lines)


# -- small things


def _with(found: Found, of: Callable[[Life], int]) -> list[str]:
    return [stream for stream in found.streams if any(of(life) for life in found.lives if life.stream == stream)]


def _made(found: Found) -> list[str]:
    made = {each.name for each in lab_world.STREAMS}
    return [stream for stream in found.streams if stream in made]


def _average(values: Sequence[int]) -> str:
    return f"{sum(values) / len(values):.0f}" if values else "none"


def _plain(each: Estimate, bold: bool = False) -> str:
    text = f"{each.mean:.1f} ± {each.off:.1f}"
    return f"**{text}**" if bold else text


def _signed(each: Estimate) -> str:
    return f"{each.mean:+.1f} [{each.low:+.1f}, {each.high:+.1f}]"
