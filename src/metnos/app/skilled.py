"""What becomes of a skill in a workspace: its texts may be remembered, its executors examined, and its rest stays out.

The texts become *episodes*, word for word, in passages: what somebody wrote down. That is the tier which is recalled by
what a request is about, as the format wants instructions to be loaded, and which a model only ever sees fenced, as
data. Not long memory: it stands at the head of every prompt. Not facts or the playbook: these are learnt from what
happened here, and steer plans by themselves. Rules:

- Nothing is remembered before the owner said yes to exactly these words; what reads like an instruction to the agent is
  not even proposed (`metnos.grimoire.poison`). The screen has holes, and the fence is what holds.
- The sender of a passage is the skill, its provenance the public, its verdict *rejected*: it can be found and told, and
  nothing is ever learnt from it.
- The same again asks nothing again. A changed skill is another question; a yes to it puts it in the place of the old.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.app import importing
from metnos.app.growing import SYNT
from metnos.app.importing import Became, Brought, Source
from metnos.core.canon import Json
from metnos.core.errors import InboxError
from metnos.core.ids import UlidMaker
from metnos.grimoire import poison
from metnos.grimoire.episode import Episode, Provenance, Scope, Verdict, Where
from metnos.law.audit_line import Entry
from metnos.law.inbox import SKILL, Item, State
from metnos.synt import skills
from metnos.synt.skills import Lore, Skill

if TYPE_CHECKING:
    from metnos.app.house import App

KIND = SKILL  # of the questions
REMEMBERED = "skill remembered"
_HOURS = 30 * 24.0  # nothing is lost by thinking about it
_MOST = 10_000  # passages of one skill
_TITLE = 100  # characters of a description


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the texts of a skill."""

    skill: Skill
    lore: Lore
    became: Became
    said: str
    question: str = ""

    @property
    def passages(self) -> int:
        return sum(map(len, self.lore.passages.values()))


def take_in(app: "App", place: Path, *, again: bool = False) -> Taken:
    """Read a skill and put its texts before the owner."""
    app.refuse_halted()
    skill = skills.read(place)
    lore = skills.lore(skill, lambda text: poison.screen(text).reason)
    if not lore.passages:
        return Taken(skill, lore, Became.REFUSED, "none of its texts can be remembered")
    standing = app.inbox.standing(lore.digest)
    if standing is not None and standing.state is State.APPROVED:
        return Taken(skill, lore, Became.HERE, answered(app, standing))  # whoever was to keep it was interrupted
    if standing is not None:
        return Taken(skill, lore, Became.WAITS, "you were asked about its texts already", standing.id)
    if _sources(lore) <= {each.source for each in _kept(app, lore.name)}:
        return Taken(skill, lore, Became.HERE, "its texts are remembered already")
    said_no = next((each for each in app.inbox.newest(-1) if _is_no(each, lore.digest)), None)
    if said_no is not None and not again:
        reason = f": {said_no.reason}" if said_no.reason else ""
        return Taken(skill, lore, Became.DECLINED, f"you did not want its texts{reason}. To be asked again: --again")
    item = app.inbox.ask(KIND, _title(skill), _body(app, skill, lore), lore.digest, asked_by=SYNT, hours=_HOURS)
    return Taken(skill, lore, Became.WAITS, "its texts can be remembered", item.id)


def executors(
    app: "App", skill: Skill, *, again: bool = False, progress: Callable[[str], None] = lambda _name: None
) -> Iterator[Brought]:
    """Bring the executors of a skill before the owner, through every gate."""
    source = Source(f"It came with the skill {skill.name}, which nobody signed: a stranger's.")
    return importing.take_in(app, skill.drafts, source, again=again, progress=progress)


def answered(app: "App", item: Item) -> str:
    """The owner said yes to the texts of a skill: remember exactly these; says what was done."""
    name, files = str(item.body.get(KIND, "")), item.body.get("files", {})
    if item.kind != KIND or skills.digest_of(name, files) != item.digest:
        raise InboxError(f"question {item.id} is about no skill that is known", fix="Import it again.")
    passages = skills.passages_of(files)
    with app.audit.act(Entry(REMEMBERED, {"item": item.id}, {"digest": item.digest}, {"passages": len(passages)})):
        if app.inbox.take(item.digest) is None:
            raise InboxError(f"question {item.id} has no yes that could be used", fix="metnos inbox list")
        episodes, before = app.grimoire.episodes, _kept(app, name)
        episodes.add(_episodes(app, name, passages))
        wanted = {skills.source_of(name, passage) for passage in passages}
        episodes.remove([each.id for each in before if each.source not in wanted])
    return f"{name} is remembered, in {_counted(len(passages))}. To forget it: metnos memory forget {name}"


def _episodes(app: "App", name: str, passages: Sequence[str]) -> list[Episode]:
    now, ids = app.clock.now(), UlidMaker(app.clock)
    return [
        Episode(
            id=ids(),
            ts=now,
            text=passage,
            source=skills.source_of(name, passage),
            kind="note",
            sender=_sender(name),
            session=f"skill {name}",  # its passages are neighbours of one another
            scope=Scope.OWNER,
            tags=(KIND,),
            provenance=Provenance.LETHE,
            verdict=Verdict.REJECTED,
        )
        for passage in passages
    ]


def _kept(app: "App", name: str) -> list[Episode]:
    """What is remembered of a skill."""
    return app.grimoire.episodes.select(Where(senders=(_sender(name),)), count=_MOST)


def _sender(name: str) -> str:
    return f"{KIND}:{name}"


def _sources(lore: Lore) -> set[str]:
    return {skills.source_of(lore.name, passage) for each in lore.passages.values() for passage in each}


def _is_no(item: Item, digest: str) -> bool:
    return item.kind == KIND and item.digest == digest and item.state is State.REFUSED


def _title(skill: Skill) -> str:
    said = skill.description
    return f"Remember what the skill {skill.name} says: {said if len(said) <= _TITLE else said[: _TITLE - 1] + '…'}"


def _counted(passages: int) -> str:
    return f"{passages} passage{'' if passages == 1 else 's'}"


def _body(app: "App", skill: Skill, lore: Lore) -> dict[str, Json]:
    before = len(_kept(app, lore.name))
    found: dict[str, Json] = {
        KIND: lore.name,
        "description": skill.description,
        "why": "You imported it. Nobody signed it: its words are a stranger's, and are told and shown as such.",
        "then": "It is remembered word for word and found when a request is about it. It can do nothing by itself.",
        **{name: text for name, text in skill.about.items() if name != "allowed-tools"},
    }
    if "allowed-tools" in skill.about:
        found["asks for"] = f"{skill.about['allowed-tools']} (which it does not get)"
    if lore.left_out:
        found["left out"] = f"{_counted(len(lore.left_out))}, for reading like instructions to the agent"
    if before:
        found["instead of"] = f"{_counted(before)} remembered of it now"
    return {**found, "files": skills.shown(lore.passages)}
