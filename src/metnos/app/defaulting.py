"""What held for generations, offered as a default: the Baldwin effect, by consent.

Two things can become innate. A setting that three lives in a row lived with is offered for this agent's settings; a
lesson that three lives proved by themselves is offered as a line of PLAYBOOK.md, by the way of every line
(`grimoire.tiers`). Rules: nothing is changed without the owner's yes. A setting is offered only if it says how the
agent works (`inheritance_rules.is_heritable`), exists here, is other than what is in force, and has a value that fits:
a testament is a stranger's text. What was asked once is not asked again.
"""

from typing import TYPE_CHECKING

from metnos.app import adjusting, keeping
from metnos.core import settings_file
from metnos.core.canon import Json, canonical_json, sha256_hex
from metnos.core.errors import InboxError, SettingsError, UsageError
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.learning import TWIN
from metnos.law.audit_line import Entry
from metnos.law.inbox import Item
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.life import inheritance_rules as rules
from metnos.life.lineage import Lineage
from metnos.life.testament import Habit

if TYPE_CHECKING:
    from metnos.app.house import App

KIND = "default"  # of the questions
MADE = "default made"
HEIR = Principal(Channel.NIGHT, "heir", Autonomy.READ_ONLY)
PLAYBOOK = "PLAYBOOK.md"
_HOURS = 30 * 24.0  # nothing is lost by thinking about it
_MOST = 8  # questions of each sort: more are not read
_ADVICE = (Kind.HEURISTIC, Kind.PROCEDURAL, Kind.ANTI, Kind.WARNING)  # kinds that say how to act


def ask(app: "App", line: Lineage) -> list[Item]:
    """Put before the owner what held for generations; the questions that are new."""
    origins = line.origins()
    says = f"says the testament that {origins.key[:16]}… signed" if origins else ""
    habits = [each for each in line.habits().values() if rules.is_innate(each.held, line.numbers)]
    habits.sort(key=lambda each: (-each.held, each.setting))
    asked = [_ask_setting(app, each, says) for each in habits[:_MOST]]
    lessons = [each for each in line.heirlooms() if each.fact and rules.is_innate(each.held, line.numbers)]
    lessons.sort(key=lambda each: (-each.held, -each.believed, each.entry))
    held = {each.fact: each.held for each in reversed(lessons)}
    facts = app.grimoire.facts.get([each.fact for each in lessons])
    told = {_about(fact): fact for fact in reversed(facts) if fact.kind in _ADVICE and fact.standing is Standing.ACTIVE}
    asked += [_ask_line(app, fact, held[fact.id], says) for fact in list(reversed(told.values()))[:_MOST]]
    return [each for each in asked if each is not None]


def answered(app: "App", item: Item, by: Principal) -> str:
    """The owner said yes to a setting: put it into metnos.toml as ``by``, who said so; says what was done."""
    name, text = str(item.body.get("setting", "")), str(item.body.get("value", ""))
    if item.kind != KIND or _digest(name, text) != item.digest or not rules.is_heritable(name):
        raise InboxError(f"question {item.id} is about no setting that could be inherited")
    adjusting.refuse(app, name, text, by)  # before the yes is used
    with app.audit.act(Entry(MADE, {"item": item.id, "setting": name}, {"digest": item.digest})):
        if app.inbox.take(item.digest) is None:
            raise InboxError(f"question {item.id} has no yes that could be used", fix="metnos inbox list")
        value = app.set_setting(name, text, by)
    return f"{name} = {value}. To change it: metnos config set {name} VALUE"


def _ask_setting(app: "App", habit: Habit, says: str) -> Item | None:
    name, text = habit.setting, _text(habit.value)
    known = {each.name: each for each in adjusting.sheet(app)}.get(name)
    if known is None or known.type not in rules.PLAIN or known.terminal or not rules.is_heritable(name):
        return None
    try:
        value = settings_file.check_value(app.workspace.settings, name, text)
    except (UsageError, SettingsError):
        return None  # another version's, or a forgery
    digest = _digest(name, text)
    if value == known.value or _was_asked(app, digest):
        return None
    body: dict[str, Json] = {
        "setting": name,
        "value": text,
        "now": str(known.value),
        "why": f"your agent's predecessors worked so for {habit.held} lives in a row, {says}",
        "what it is": known.description,
    }
    title = f"Work as {habit.held} generations did: {name} = {text}"
    return app.inbox.ask(KIND, title, body, digest, asked_by=HEIR, hours=_HOURS)


def _ask_line(app: "App", fact: Fact, held: int, says: str) -> Item | None:
    why = f"{held} generations proved it by their own experience, {says}"  # and nobody can check it
    try:
        return keeping.tiers(app).propose(fact.text, PLAYBOOK, why, [fact.id], asked_by=HEIR)
    except UsageError:
        return None  # nothing that could stand there


def _about(fact: Fact) -> tuple[str, str]:
    """What a lesson is about: a warning and the heuristic that was made of it are one."""
    return fact.domain, fact.subject.removeprefix(TWIN) or fact.text


def _was_asked(app: "App", digest: str) -> bool:
    return any(each.kind == KIND and each.digest == digest for each in app.inbox.newest(-1))


def _text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _digest(name: str, text: str) -> str:
    return sha256_hex(canonical_json([KIND, name, text]))
