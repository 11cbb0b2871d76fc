"""The one look for all who listen: what changed is told to each of them, and nothing is looked at for nobody."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

from api.http.served import Served
from api.standin import until
from metnos.api.http.watch import Watcher
from metnos.core.errors import StoreBusy
from metnos.night.notices import News, Notices


def looking() -> bool:
    return any(thread.name == "watch" for thread in threading.enumerate())


async def first(events: AsyncIterator[object], count: int) -> list[object]:
    return [await asyncio.wait_for(anext(events), 30) for _ in range(count)]


async def news(events: AsyncIterator[object]) -> str:
    """The first event that tells of one notice: something else may have changed before."""
    while "'unseen': 1" not in (told := str(await first(events, 1))):
        pass
    return told


def test_two_hundred_listeners_hear_the_same_from_one_thread(served: Served) -> None:
    watcher = Watcher(served.desk.lease, served.logged.append, look_s=0.01)
    notices = Notices(served.app.night_db, served.app.clock)

    async def everybody() -> set[str]:
        listeners = [watcher.follow() for _ in range(200)]
        await asyncio.gather(*(first(each, 1) for each in listeners))
        assert watcher.listeners == 200
        assert sum(thread.name == "watch" for thread in threading.enumerate()) == 1
        await asyncio.to_thread(notices.tell, [News("test", "look")])
        heard = await asyncio.gather(*(news(each) for each in listeners))
        for each in listeners:
            await each.aclose()
        return set(heard)

    assert len(asyncio.run(everybody())) == 1
    until(lambda: not looking())


def test_whoever_comes_later_hears_how_it_is_then_and_not_how_it_was(served: Served) -> None:
    """A page that was told what is no longer so would be shown anew for nothing, and lose what it had to say."""
    watcher = Watcher(served.desk.lease, served.logged.append, look_s=0.5)
    notices = Notices(served.app.night_db, served.app.clock)

    async def later(count: int) -> str:
        await asyncio.to_thread(notices.tell, [News(f"test {count}", "look")])
        events = watcher.follow()
        told = await first(events, 1)
        await events.aclose()
        return str(told)

    async def one_after_another() -> None:
        stays = watcher.follow()
        await first(stays, 1)
        assert "'unseen': 1" in await later(1)  # while somebody listens
        await stays.aclose()
        until(lambda: not looking())
        assert "'unseen': 2" in await later(2)  # after nobody did

    asyncio.run(one_after_another())


def test_what_cannot_be_looked_at_now_is_looked_at_again(served: Served) -> None:
    tries = []

    @contextlib.contextmanager
    def lease():  # type: ignore[no-untyped-def]
        tries.append(1)
        if len(tries) < 3:
            raise StoreBusy("another process holds the lock")
        with served.desk.lease() as household:
            yield household

    async def listen() -> object:
        events = Watcher(lease, served.logged.append, look_s=0.01).follow()
        try:
            return (await first(events, 1))[0]
        finally:
            await events.aclose()

    assert asyncio.run(listen()) == (1, {"event": "changed", "waiting": 0, "unseen": 0})
    assert len(tries) >= 4
    until(lambda: not looking())


def test_a_mistake_while_looking_is_logged_once_and_the_next_look_is_made(served: Served) -> None:
    tries = []

    @contextlib.contextmanager
    def lease():  # type: ignore[no-untyped-def]
        tries.append(1)
        if len(tries) < 5:
            raise ZeroDivisionError("the owner's own words")
        with served.desk.lease() as household:
            yield household

    async def listen() -> object:
        events = Watcher(lease, served.logged.append, look_s=0.01).follow()
        try:
            return (await first(events, 1))[0]
        finally:
            await events.aclose()

    assert asyncio.run(listen()) == (1, {"event": "changed", "waiting": 0, "unseen": 0})
    assert [line for line in served.logged if "mistake" in line] == [
        "a mistake in Metnos: ZeroDivisionError while looking for changes"
    ]
    until(lambda: not looking())
