"""What senders can have done: a request in their own words, and the commands that need an answer or take a while.

Rules: each is an errand of its sender, at the level that their device has; whoever may not answer for the owner is
shown things and asked nothing. A yes in the inbox counts for what was shown, and for the number of yeses that was
shown. What is not an act is answered elsewhere: code and long memory want more room than a chat has.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from metnos.api.serving import Counter
from metnos.api.telegram import showing
from metnos.api.telegram.errands import Errand
from metnos.api.telegram.following import Desk, Stopped, Turn, follow, put
from metnos.api.telegram.post import Unsent
from metnos.api.telegram.rules import NUMBERS, one_line
from metnos.api.telegram.showing import NO, SURE, YES
from metnos.api.telegram.talks import Talks
from metnos.api.telegram.words import ENGLISH, NOT_YOURS
from metnos.app import App, learning
from metnos.core.errors import MetnosError
from metnos.core.settings import home_folder
from metnos.law.inbox import ACT, Item, State
from metnos.turn.events import Answered

_LOOK_S = 0.2
_ENDED = "It is ended."


class Home(Protocol):
    """An open workspace, as far as a chat needs it."""

    @property
    def app(self) -> App: ...

    @property
    def prompt_s(self) -> float: ...


Lease = Callable[[], AbstractContextManager[Home]]


@dataclass(frozen=True, slots=True)
class Hands:
    """Does errands."""

    lease: Lease
    desk: Desk
    counter: Counter
    talks: Talks

    def guarded(self, work: Callable[[Errand], None]) -> Callable[[Errand], None]:
        """A border: whatever goes wrong in an errand is told to its sender, and logged without what was said."""

        def run(errand: Errand) -> None:
            try:
                work(errand)
            except Stopped:
                self.desk.post.tell(errand.chat, _ENDED)
            except Unsent:
                pass  # it was logged; there is nobody to tell
            except MetnosError as error:
                self.desk.post.tell(errand.chat, f"{error.what}\n{error.fix}".strip())
            except Exception as error:  # noqa: BLE001 -- the border of a sender: its end must not be the channel's
                self.counter.log(f"telegram: a mistake in Metnos: {type(error).__name__}")
                self.desk.post.tell(
                    errand.chat, f"A mistake in Metnos: {type(error).__name__}. The daemon's log has it."
                )

        return run

    # -- a request

    def request(self, text: str) -> Callable[[Errand], None]:
        def work(errand: Errand) -> None:
            self.desk.post.typing(errand.chat)

            def begin(home: Home) -> Turn:
                made = home.app.turns.request(
                    text,
                    principal=errand.principal,
                    cwd=home_folder(),
                    conversation=self.talks.current(errand.sender),
                )
                self.counter.log(f"turn {made.id}: begins")
                return home.app.turns.run(made)

            self._turn(errand, begin)

        return self.guarded(work)

    def _turn(self, errand: Errand, begin: Callable[[Home], Turn | None]) -> bool:
        """Run a turn in a slot of the daemon's, and tell its answer; says whether there was one."""
        self._wait_for_slot(errand)
        lent = partial(self.counter.slots.lent, lambda: errand.stop.is_set() or self.desk.hurry())
        try:
            with self.lease() as home:
                turn = begin(home)
                if turn is None:
                    return False
                ended = follow(self.desk, errand, turn, home.prompt_s, lent)
        finally:
            self.counter.slots.give_back()
            self.counter.after()
        self.counter.log(f"turn {ended.turn}: {ended.state}")
        self.desk.post.answer(errand.chat, _said(ended))
        return True

    def _wait_for_slot(self, errand: Errand) -> None:
        if self.counter.slots.take(0):
            return
        self.desk.post.tell(errand.chat, "Other things go on; this begins when one of them ends.")
        while not self.counter.slots.take(_LOOK_S):
            if errand.stop.is_set() or self.desk.hurry():
                raise Stopped

    # -- undo

    def undo(self) -> Callable[[Errand], None]:
        def work(errand: Errand) -> None:
            with self.lease() as home:
                undoing = home.app.undo
                found = undoing.last()
                lines = undoing.show(found.id)
                text = "\n".join([one_line(found.title, NUMBERS.title), *showing.preview(lines, ENGLISH)])
                if not errand.principal.may_answer:
                    self.desk.post.send(errand.chat, f"{text}\n\n{NOT_YOURS}")
                    return
                asked = f"{text}\n\n{ENGLISH.take_it_back}"
                code = put(self.desk, errand, f"undo {found.id}", asked, ((YES, NO),), home.prompt_s)
                if code != YES:
                    self.desk.post.send(errand.chat, "Nothing was changed.")
                    return
                done = undoing.undo(found.id, by=errand.principal)
                learning.catch_up_or_later(home.app)  # what a fast path did wrong it does not do again
            self.desk.post.send(errand.chat, f"{done.state.capitalize()}: {one_line(done.title, NUMBERS.title)}")

        return self.guarded(work)

    # -- inbox

    def inbox(self) -> Callable[[Errand], None]:
        def work(errand: Errand) -> None:
            with self.lease() as home:
                items, prompt_s = home.app.inbox.waiting(), home.prompt_s
            if not items:
                self.desk.post.send(errand.chat, "Nothing waits for you.")
                return
            shown = items[: NUMBERS.listed]
            lines = [f"{place}. {one_line(item.title, NUMBERS.line)}" for place, item in enumerate(shown, start=1)]
            if len(items) > len(shown):
                lines.append(f"… {len(items) - len(shown)} more: metnos inbox list")
            if not errand.principal.may_answer:
                self.desk.post.send(errand.chat, "\n".join([*lines, "", NOT_YOURS]))
                return
            codes = tuple(str(place) for place in range(1, len(shown) + 1))
            about = " ".join(item.id for item in shown)
            code = put(self.desk, errand, about, "\n".join(lines), (codes,), prompt_s, labels=str)
            if code:
                self._answer(errand, shown[int(code) - 1], prompt_s)

        return self.guarded(work)

    def _answer(self, errand: Errand, item: Item, prompt_s: float) -> None:
        if item.kind != ACT:
            text = f"{one_line(item.title, NUMBERS.title)}\n\nAnswer it on the page, or: metnos inbox show {item.id}"
            self.desk.post.send(errand.chat, text)
            return
        while item.state is State.WAITING:
            rows = ((NO,), (SURE,)) if item.yes_count else ((YES, NO),)
            about = f"{item.id} {item.yes_count}"
            code = put(self.desk, errand, about, _item_text(item), rows, prompt_s)
            if not code:
                self.desk.post.send(errand.chat, "It waits on.")
                return
            with self.lease() as home:
                box = home.app.inbox
                if code == NO:
                    box.refuse(item.id, errand.principal, "refused when asked")
                    self.desk.post.send(errand.chat, "Refused.")
                    return
                item = box.approve(item.id, errand.principal, seen=item.yes_count)
        if not self._turn(errand, lambda home: home.app.turns.go_on(item, errand.principal)):
            with self.lease() as home:
                outcome = home.app.runner.resume(item)
            self.desk.post.send(errand.chat, "Done." if outcome.ok else outcome.message or "It failed.")


def _item_text(item: Item) -> str:
    title = one_line(item.title, NUMBERS.title)
    if item.yes_count:
        return f"{title}\n\n{ENGLISH.all_the_same}"
    lines = [str(line) for line in item.body.get("preview", ())]
    return "\n".join([title, *showing.preview(lines, ENGLISH), "", ENGLISH.do_this])


def _said(ended: Answered) -> str:
    """The answer, and what can be done about it here."""
    more = {"waiting": "/inbox shows the question."}.get(ended.state, "/undo takes it back." if ended.undo else "")
    return "\n".join(part for part in (ended.text.strip() or f"({ended.state})", more) if part)
