"""The bot: asks Telegram for news, decides whom it listens to, and hands on what they want.

Rules: only paired senders are listened to, and only in a chat of two; a stranger gets one line an hour that says how to
pair, and in a group nobody gets anything. Each update is marked on the disk before it is taken up (see `seen`).
Whatever Telegram does (a wrong token, a lost network, another program with the same bot, a flood limit) is waited out
and logged without what was said. The token is read when it is needed, and is in no message and no log.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.api.serving import Counter
from metnos.api.telegram.build import refuse_open_address
from metnos.api.telegram.dispatch import Dispatch
from metnos.api.telegram.doing import Hands, Lease
from metnos.api.telegram.errands import Errand, Errands
from metnos.api.telegram.following import Desk
from metnos.api.telegram.heard import Heard, Kind
from metnos.api.telegram.post import Post, Wire
from metnos.api.telegram.questions import Questions
from metnos.api.telegram.rules import NUMBERS, Numbers, pause
from metnos.api.telegram.seen import MIGRATIONS, Seen
from metnos.api.telegram.talks import Talks
from metnos.core.clock import Clock
from metnos.core.errors import MetnosError
from metnos.core.sections_outward import TelegramSettings
from metnos.law.principal import Channel
from metnos.store.db import Database

if TYPE_CHECKING:
    from telegram import Bot

_WANTED = ["message", "callback_query"]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long is waited after what failed, in seconds."""

    first_s: float = 1.0
    longest_s: float = 60.0
    token_s: float = 60.0  # until a token that was refused, or is missing, is looked at again
    conflict_s: float = 30.0


class Telegram:
    """The channel. ``start`` and ``stop`` are the daemon's; everything else happens in threads of its own."""

    def __init__(
        self,
        counter: Counter,
        lease: Lease,
        settings: TelegramSettings,
        token: Callable[[], str],
        db: Path,
        clock: Clock,
        *,
        pace: Pace | None = None,
        numbers: Numbers = NUMBERS,
    ) -> None:
        self._counter = counter
        self._lease = lease
        self._settings = settings
        self._token = token
        self._pace = pace or Pace()
        self._path = db
        self._clock = clock
        self._db: Database | None = None
        self._wire: Wire | None = None
        self._errands = Errands()
        self._questions = Questions()
        self._hurry = threading.Event()
        post = Post(lambda: self._wire, counter.log)
        desk = Desk(post, self._questions, self._let_in, self._hurried, numbers)
        hands = Hands(lease, desk, counter, Talks(clock))
        self._dispatch = Dispatch(hands, self._errands, clock)
        self._said = ""  # the last trouble that was logged: each is said once
        self._met_before = False
        self._closing: Closing | None = None
        self._thread = threading.Thread(target=self._run, name="telegram", daemon=True)
        self._ready = threading.Event()

    def start(self) -> None:
        """Begin. Raises if it cannot: an address that would give the token away, a store that cannot be opened."""
        refuse_open_address(self._settings)
        self._db = Database(self._path, MIGRATIONS, clock=self._clock)
        self._seen = Seen(self._db, self._clock)
        self._thread.start()
        self._ready.wait(5)

    def stop(self) -> None:
        """Take nothing more up, and see everybody out."""
        if not self.see_out():
            self._counter.log("telegram: something did not end in time; a turn will be found as interrupted")

    def see_out(self, grace_s: float = 5.0, cancel_s: float = 5.0) -> bool:
        """Take nothing more up, let what goes on finish for a while, then cancel it. Whether all of it ended."""
        closing = self._closing
        if closing is not None:
            closing.no_more()
        self._questions.give_up()
        ended = self._errands.ended(grace_s)
        if not ended:
            self._hurry.set()
            self._errands.hurry()
            self._questions.give_up()
            ended = self._errands.ended(cancel_s)
        if closing is not None:
            closing.end()
        if self._thread.is_alive():
            self._thread.join(cancel_s)
        if self._db is not None:
            self._db.close()
        return ended and not self._thread.is_alive()

    @property
    def told(self) -> dict[str, Any]:
        """How it is, in a few words, for the daemon's status."""
        return {"telegram": self._said or ("connected" if self._wire else "connecting")}

    # -- the loop

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:  # noqa: BLE001 -- the border of the channel: its end must not be the daemon's
            self._counter.log(f"telegram: a mistake in Metnos: {type(error).__name__}")
        finally:
            self._wire = None
            self._ready.set()

    async def _main(self) -> None:
        closing = self._closing = Closing(asyncio.get_running_loop())
        self._ready.set()
        with ThreadPoolExecutor(1, thread_name_prefix="telegram updates") as hands:
            while not closing.stopping.is_set():
                await self._pause(await self._connected(hands), closing)
            await closing.over.wait()

    async def _connected(self, hands: ThreadPoolExecutor) -> float:
        """Serve one bot until it is over; returns how long to wait before it is tried again."""
        from metnos.api.telegram.transport import open_bot

        closing = self._closing
        assert closing is not None  # noqa: S101 -- made before this is called
        try:
            token = self._token()
        except MetnosError as error:
            self._trouble(f"no token: {error.what}")
            return self._pace.token_s
        bot = open_bot(token, self._settings)
        try:
            me = await self._met(bot, closing)
            if me is None:
                return self._pace.token_s
            self._wire = Wire(bot, closing.loop, self._pace.first_s)
            self._well()
            wait_s = await self._poll(bot, me, hands, closing)
            if closing.stopping.is_set():
                await closing.over.wait()  # answers of what still goes on are sent
            return wait_s
        finally:
            self._wire = None
            await bot.shutdown()

    async def _met(self, bot: "Bot", closing: "Closing") -> "tuple[int, str] | None":
        """Who the bot is; nothing if Telegram does not know it."""
        failures = 0
        while not closing.stopping.is_set():
            try:
                await closing.unless_stopping(bot.initialize())
                return (bot.id, bot.username) if not closing.stopping.is_set() else None
            except Exception as error:  # noqa: BLE001 -- the border to a library and a network
                failures += 1
                wait_s = self._after(error, failures)
                if wait_s is None:
                    return None
                await self._pause(wait_s, closing)
        return None

    async def _poll(self, bot: "Bot", me: tuple[int, str], hands: ThreadPoolExecutor, closing: "Closing") -> float:
        failures = 0
        while not closing.stopping.is_set():
            try:
                offset = await closing.loop.run_in_executor(hands, self._seen.offset, me[0])
                updates = await closing.unless_stopping(
                    bot.get_updates(offset=offset, timeout=self._settings.poll_s, allowed_updates=_WANTED)
                )
                for update in updates or ():
                    await closing.loop.run_in_executor(hands, self._take, update, me)
            except Exception as error:  # noqa: BLE001 -- the border to a library and a network
                failures += 1
                wait_s = self._after(error, failures)
                if wait_s is None:
                    return self._pace.token_s
                await self._pause(wait_s, closing)
            else:
                failures = 0
                self._well()
        return 0.0

    def _take(self, update: Any, me: tuple[int, str]) -> None:
        """Take one update up, once. In a thread of its own, one after the other."""
        from metnos.api.telegram.heard import understand

        try:
            heard = understand(update)
        except Exception as error:  # noqa: BLE001 -- an update of a shape that nobody knows must not stop the others
            self._counter.log(f"telegram: an update was not understood: {type(error).__name__}")
            heard = Heard(update.update_id, Kind.OTHER)
        if not self._seen.take(me[0], heard.update):
            return
        try:
            with self._lease() as home:
                self._dispatch.take(home.app, heard, me[1])
        except MetnosError as error:
            self._counter.log(f"telegram: an update was not taken up: {type(error).__name__}")
        except Exception as error:  # noqa: BLE001 -- the border of one update
            self._counter.log(f"telegram: a mistake in Metnos: {type(error).__name__}")

    # -- trouble

    def _after(self, error: BaseException, failures: int) -> float | None:
        """Log what went wrong, once; how long to wait, or nothing if the token is no good."""
        from metnos.api.telegram.transport import Trouble, fault

        found = fault(error)
        if found.trouble is Trouble.TOKEN:
            self._trouble("the token is not accepted. Store the right one: metnos telegram token")
            return None
        if found.trouble is Trouble.CONFLICT:
            self._trouble("another program, or a webhook, takes this bot's news. Give Metnos a bot of its own")
            return self._pace.conflict_s
        if found.trouble is Trouble.LATER:
            self._trouble("too much at once; waiting as long as Telegram wants")
            return found.wait_s
        what = {Trouble.NETWORK: "not to be reached", Trouble.REFUSED: "Telegram refuses to be asked"}
        self._trouble(what.get(found.trouble, f"a mistake: {type(error).__name__}"))
        return pause(failures, self._pace.first_s, self._pace.longest_s)

    def _trouble(self, what: str) -> None:
        if what != self._said:
            self._said = what
            self._counter.log(f"telegram: {what}")

    def _well(self) -> None:
        if self._said or not self._met_before:
            self._said, self._met_before = "", True
            self._counter.log("telegram: connected")

    async def _pause(self, seconds: float, closing: "Closing") -> None:
        if seconds > 0:
            await closing.unless_stopping(asyncio.sleep(seconds))

    # -- who

    def _let_in(self, errand: Errand) -> bool:
        with self._lease() as home:
            device = home.app.pairing.device(Channel.TELEGRAM, errand.sender)
        return device is not None and device.level is errand.principal.level

    def _hurried(self) -> bool:
        return self._hurry.is_set() or self._counter.hurry.is_set()


class Closing:
    """The two ends of the loop: nothing more is taken up; and nothing more is sent."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.stopping = asyncio.Event()
        self.over = asyncio.Event()

    def no_more(self) -> None:
        """From any thread."""
        self._set(self.stopping)

    def end(self) -> None:
        """From any thread."""
        self._set(self.stopping)
        self._set(self.over)

    async def unless_stopping(self, work: Any) -> Any:
        """What ``work`` returns; nothing if the end comes first."""
        task, ended = asyncio.ensure_future(work), asyncio.ensure_future(self.stopping.wait())
        try:
            await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
            return await task if task.done() else None
        finally:
            for each in (task, ended):
                if not each.done():
                    each.cancel()
            await asyncio.gather(task, ended, return_exceptions=True)

    def _set(self, event: asyncio.Event) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(event.set)
