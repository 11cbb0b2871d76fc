"""The one composition root: wires the parts of a workspace together by hand.

Rules: importing this does nothing; `App.open` upholds the constitution before it hands anything out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.core import settings_file
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import ForbiddenPath, ModelError, Refused, WorkspaceError
from metnos.core.ids import UlidMaker
from metnos.core.sections import Settings
from metnos.core.settings import Loaded, data_home, home_folder, load
from metnos.core.workspace import Workspace
from metnos.law import constitution as constituting
from metnos.law import founding
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.confirmation import Confirmations
from metnos.law.constitution import Constitution, Standing
from metnos.law.forbidden import Access, refuse_forbidden, refuse_holding
from metnos.law.grants import Grants
from metnos.law.halt import Halt, Halts
from metnos.law.inbox import Inbox
from metnos.law.own_pin import OwnPin
from metnos.law.pairing import Pairing
from metnos.law.permit import Mint
from metnos.law.principal import Autonomy, Principal
from metnos.law.self_running import SelfRunning
from metnos.law.steady_clock import SteadyClock
from metnos.sandbox.pool import Pool
from metnos.store.db import Database, Durability
from metnos.store.migrations import Migration

if TYPE_CHECKING:
    from metnos.app.growing import Growing
    from metnos.app.living import Living
    from metnos.app.remembering import Grimoire
    from metnos.executors.builtins import Report as Installed
    from metnos.executors.catalog import Catalog
    from metnos.executors.effect_rules import Refuse
    from metnos.executors.run import Runner
    from metnos.executors.selection import Selection
    from metnos.executors.signature import Origin
    from metnos.executors.trash import Trash
    from metnos.executors.undo import Undo
    from metnos.fastpath.memory import Memory
    from metnos.grimoire.episodes import Engine
    from metnos.grimoire.medium import Medium
    from metnos.mnestome.past import Past
    from metnos.models.embed import Embedder
    from metnos.models.registry import Models
    from metnos.turn.act import Door
    from metnos.turn.loop import Turns
    from metnos.turn.purse import Purses
    from metnos.turn.shortcut import Shortcuts
    from metnos.turn.tools import Toolbox

SETTING_CHANGED = "setting changed"


@dataclass(frozen=True)
class App:
    """An open workspace. What acts is put together when it is first asked for: most commands do not act."""

    workspace: Workspace
    loaded: Loaded
    clock: Clock
    seat: founding.Seat
    constitution: Constitution
    standing: Standing
    own: OwnPin

    @classmethod
    def open(cls, workspace: Workspace, clock: Clock | None = None) -> "App":
        """Open a workspace that was founded. Changed code and a changed constitution are recorded first."""
        clock = clock or SystemClock()
        refuse_missing(workspace)
        loaded = load(workspace.settings)
        seat = founding.take_seat(workspace, loaded.settings, clock)
        founding.settle_halts(workspace, seat, clock)
        own = OwnPin(seat.db, seat.audit, seat.signer, clock)
        own.uphold()
        laws = constituting.read(workspace.soul)
        standing = constituting.uphold(laws, seat.db, seat.audit, seat.signer, clock)
        return cls(workspace, loaded, clock, seat, laws, standing, own)

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def audit(self) -> Audit:
        return self.seat.audit

    # -- what acts

    @cached_property
    def steady(self) -> SteadyClock:
        """The clock by which ends what the owner gave for a time."""
        return founding.steady_clock(self.workspace, self.seat, self.clock)

    @cached_property
    def inbox(self) -> Inbox:
        return Inbox(self.seat.db, self.audit, self.steady)

    @cached_property
    def grants(self) -> Grants:
        return Grants(self.seat.db, self.audit, self.steady)

    @cached_property
    def halts(self) -> Halts:
        return Halts(self.workspace, self.seat.db, self.audit, self.clock)

    def halted(self) -> Halt | None:
        """Why nothing may act: everything was halted, or the code that runs is not what the owner pinned."""
        return self.halts.halted() or self.own.halt()

    def refuse_halted(self) -> None:
        """Raise while nothing may act: for what a person, a script or a program does by hand."""
        if (halt := self.halted()) is not None:
            raise Refused(f"nothing is done: {halt.why}", fix=halt.fix)

    def _refuse_asking(self) -> None:
        if (halt := self.halted()) is not None:
            raise ModelError(f"no language model is asked: {halt.why}", kind="halted", fix=halt.fix)

    @cached_property
    def pairing(self) -> Pairing:
        return Pairing(self.seat.db, self.seat.signer, self.steady, self.audit)

    @cached_property
    def confirmations(self) -> Confirmations:
        """What may be started or spoken to outside the sandbox."""
        return Confirmations(self.seat.db, self.seat.signer, self.clock, self.audit)

    @property
    def catalog(self) -> "Catalog":
        return self._stock[0]

    @property
    def installed(self) -> "Installed":
        """What of the shipped executors was new, or not as shipped, when this workspace was opened."""
        return self._stock[1]

    @cached_property
    def _stock(self) -> "tuple[Catalog, Installed]":
        """The executors; those that this version ships are brought up to date first."""
        from metnos.app import learning, tables
        from metnos.executors import builtins, index
        from metnos.executors.catalog import Catalog

        # NORMAL is enough: the folders are what counts, and a use that a power cut takes is one strike less.
        db = self._database(self.workspace.mnest_db, tables.of_mnestome(), Durability.NORMAL)
        seat, settings = self.seat, self.settings.executors
        catalog = Catalog(self.workspace, db, self.audit, seat.signer, self.clock, settings, self._consent)
        if not index.names(db):
            catalog.rebuild()  # the index was lost, or there never was one
            learning.offer_again(self)
        # Changed code brings no executors in: it would sign what it has beside it.
        return catalog, builtins.Report() if self.own.halt() else builtins.install(catalog)

    def _consent(self, digest: str, origin: "Origin") -> str:
        from metnos.synt.activation import consent  # only where something is born

        return consent(self.inbox)(digest, origin)

    @cached_property
    def pool(self) -> Pool:
        """The sandboxes of this process, births included: a panic reaches all of them."""
        from metnos.executors.run import watch

        sandbox = self.settings.sandbox
        pool = Pool(sandbox.bwrap, warm=self.settings.executors.warm, timeout_s=sandbox.timeout_s)
        watch(pool, self.halts, self.halted)
        return pool

    @cached_property
    def undo(self) -> "Undo":
        """The way back. What a crash left unfinished is settled first, and what is too old forgotten."""
        from metnos.executors.undo import Undo

        db, store, trash, refuse, ids = self._hands
        level = Autonomy(self.settings.policy.autonomy)
        undo = Undo(db, store, trash, refuse, self.clock, ids, self.audit, self.halted, level=level)
        undo.settle()
        undo.prune(self.clock.now() - timedelta(days=self.settings.policy.undo_days))
        return undo

    @cached_property
    def runner(self) -> "Runner":
        """The one door through which everything acts."""
        from metnos.app import servers
        from metnos.executors import quotas
        from metnos.executors.effect_plan import Planning
        from metnos.executors.effects import Effects
        from metnos.executors.run import Parts, Runner
        from metnos.law.policy import Policy, unchanged
        from metnos.sandbox.facts import facts
        from metnos.sandbox.web import Web

        def halted() -> bool:
            return self.halts.file.read().halted

        db, store, trash, refuse, ids = self._hands
        settings, mint = self.settings, Mint(self.steady)
        policy = Policy(
            constitution_check=partial(unchanged, self.workspace.soul, self.constitution),
            grants=self.grants,
            inbox=self.inbox,
            mint=mint,
            clock=self.steady,
            autonomy=Autonomy(settings.policy.autonomy),
            approval_hours=settings.policy.approval_hours,
            quotas=quotas.used_up(self.catalog, settings.executors, self.clock),
            halted=self.halted,
        )
        parts = Parts(
            workspace=self.workspace,
            home=home_folder(),
            catalog=self.catalog,
            policy=policy,
            mint=mint,
            effects=Effects(db, store, trash, self.clock, ids, refuse, self._running, halted=halted),
            planning=lambda: Planning(refuse, trash, self._running(), halted),
            pool=self.pool,
            web=Web(),
            facts=facts,
            audit=self.audit,
            halts=self.halts,
            clock=self.clock,
            settings=settings.executors,
            chat=self.purses.ask if (model := self.models.tier("main")) else None,
            model_outside=model.outside if model else False,
            ask_tool=partial(servers.ask_tool, self),
        )
        _ = self.undo  # settles first what a crash left behind
        return Runner(parts)

    @cached_property
    def _hands(self) -> "tuple[Database, Path, Trash, Refuse, UlidMaker]":
        """What changes files and what takes changes back share."""
        from metnos.executors import undo_schema
        from metnos.executors.trash import Trash

        db = self._database(self.workspace.undo_db, undo_schema.MIGRATIONS)
        trash = Trash(data_home() / "Trash")
        return db, self.workspace.undo_store, trash, self._refuse, UlidMaker(self.clock)

    # -- what thinks and remembers

    @cached_property
    def toolbox(self) -> "Toolbox":
        """What turns can choose from."""
        from metnos.turn.tools import Toolbox

        return Toolbox(self.catalog, lambda: self.embedder, self.workspace.vectors, self.selection)

    @cached_property
    def selection(self) -> "Selection":
        """Which executors planners get to see."""
        from metnos.executors.fitness_rules import Rules
        from metnos.executors.selection import Selection

        chosen = self.settings.selection
        rules = Rules(dormant_days=chosen.dormant_days, extinct_days=chosen.extinct_days, explore=chosen.explore)
        return Selection(self.catalog.db, rules)

    @cached_property
    def multi_tool_db(self) -> Database:
        """Fast paths of several executors."""
        from metnos.fastpath import schema

        return self._database(self.workspace.multi_tool_db, schema.MIGRATIONS_L2, Durability.NORMAL)

    @cached_property
    def fast(self) -> "Memory":
        """What is known of fast paths."""
        from metnos.app import paths

        return paths.memory(self)

    @property
    def shortcuts(self) -> "Shortcuts | None":
        from metnos.turn.shortcut import Shortcuts

        return None if self.settings.fastpath.use == "off" else Shortcuts(self.fast, self.settings.fastpath)

    @cached_property
    def past(self) -> "Past":
        """What happened to mnests in past years."""
        from metnos.mnestome.past import Past

        past = Past(self.workspace.events_db, busy_timeout_s=self.settings.store.busy_timeout_s, clock=self.clock)
        self._held.append(past)
        return past

    @cached_property
    def medium(self) -> "Medium":
        """Conversations and the traces of turns."""
        from metnos.grimoire import medium_schema
        from metnos.grimoire.medium import Medium

        return Medium(self._database(self.workspace.medium_db, medium_schema.MIGRATIONS), self.clock)

    @cached_property
    def grimoire(self) -> "Grimoire":
        """What is remembered: episodes, facts, the playbook."""
        from metnos.app.remembering import Grimoire
        from metnos.grimoire import memory_schema

        made = Grimoire.open(self, self._database(self.workspace.grimoire_db, memory_schema.MIGRATIONS))
        self._held.append(made.episodes)
        return made

    @cached_property
    def night_db(self) -> Database:
        """Runs of jobs, and what there is to tell."""
        from metnos.night import schema

        return self._database(self.workspace.night_db, schema.MIGRATIONS)

    @cached_property
    def synt_db(self) -> Database:
        """Proposals of new executors."""
        from metnos.synt import schema

        return self._database(self.workspace.synt_db, schema.MIGRATIONS)

    @cached_property
    def life_db(self) -> Database:
        """Vitality, Thanatopsis, lineage, and the money of a life."""
        from metnos.life import schema

        return self._database(self.workspace.life_db, schema.MIGRATIONS)

    @cached_property
    def living(self) -> "Living":
        """How alive this agent is, and what that changes."""
        from metnos.app.living import Living

        return Living(self)

    @cached_property
    def growing(self) -> "Growing":
        """How new executors come about."""
        from metnos.app.growing import Growing

        return Growing(self)

    @cached_property
    def models(self) -> "Models":
        from metnos.models.registry import Models

        account = self.living.account
        return Models(self.settings.models, self.workspace.keys, account=account, refuse=self._refuse_asking)

    @cached_property
    def purses(self) -> "Purses":
        """What turns may spend on language models."""
        from metnos.models.budget import Budget
        from metnos.turn.purse import Purses

        return Purses(self.models.metered, Budget(self.settings.models.turn_tokens, self.settings.models.turn_usd))

    @cached_property
    def embedder(self) -> "Embedder | None":
        from metnos.models import embed, keys

        def key(place: str) -> str:  # asked for before each question to a server
            self._refuse_asking()
            return keys.find(place, self.workspace.keys)

        return embed.make(self.settings.embed, key)

    @cached_property
    def door(self) -> "Door":
        """The one door, with what it takes to ask the owner on the way."""
        from metnos.turn.act import Door

        return Door(self.runner, self.catalog, self.inbox, self.grants, home_folder())

    @cached_property
    def turns(self) -> "Turns":
        """From a request to an answer."""
        from metnos.app import turning

        return turning.build(self)

    def _running(self) -> SelfRunning:
        """What something runs by itself, beside what names say."""
        from metnos.executors.mcp.servers import Servers

        started = Servers(self.workspace.mcp_servers).started_from(home_folder())
        return SelfRunning.beside(self.workspace.notes, started)

    def _refuse(self, path: Path, access: Access) -> None:
        """Raise on what no executor may touch: forbidden paths, and in the workspace everything but the notes."""
        refuse_forbidden(path, access)
        if access is not Access.READ:
            refuse_holding(path)
        if access is not Access.READ and self.workspace.owns(path):
            raise ForbiddenPath(f"{path} belongs to the agent itself: no executor changes it")

    def close(self) -> None:
        """End every sandbox and every language model of this process, and let go of every file it holds open."""
        for name in ("pool", "models"):
            if name in self.__dict__:
                getattr(self, name).close()
        self.audit.close()
        self.seat.db.close()
        for held in self._held:
            held.close()

    @cached_property
    def _held(self) -> "list[Database | Past | Engine]":
        """What `close` has to close."""
        return []

    def _database(
        self, path: Path, migrations: Sequence[Migration], durability: Durability = Durability.FULL
    ) -> Database:
        wait = self.settings.store.busy_timeout_s
        db = Database(path, migrations, busy_timeout_s=wait, durability=durability, clock=self.clock)
        self._held.append(db)
        return db

    # -- settings

    def set_setting(self, name: str, text: str, by: Principal) -> Any:
        """Change one key of metnos.toml, as far as ``by`` may; returns the value as it was understood.

        Every change of a setting comes by here, so no command and no page can forget to ask who it is.
        """
        from metnos.app import adjusting  # which needs an `App`

        path = self.workspace.settings
        with self.seat.db.write():  # reading and writing the file must not interleave with another change
            value = settings_file.check_value(path, name, text)
            adjusting.refuse(self, name, text, by)
            names = {"setting": name, "channel": by.channel, "sender": by.sender}
            with self.audit.act(Entry(SETTING_CHANGED, names, {"value": sha256_hex(canonical_json(value))})):
                settings_file.write_value(path, name, value)
        return value


def refuse_missing(workspace: Workspace) -> None:
    if not workspace.exists():
        raise WorkspaceError(f"there is no workspace at {workspace.root}", fix="Make one: metnos init")
