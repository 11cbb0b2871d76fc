"""What a model sees in a turn: blocks become a prompt within the budget, and what was sent is kept for the trace.

Rules: every prompt of a planner is made here and nowhere else. Nothing is loaded before a model is asked. The prefix
that servers keep is remembered for each conversation, as long as this process lives. What is telling says the small
model of words, or, if there is a scorer, a language model, and then the record says what it scored.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from metnos.context.assemble import Assembled, assemble
from metnos.context.blocks import Block, Kind
from metnos.context.budgets import SHAPES, Phase, Shape, Task, allocate
from metnos.context.tokens import Tokens, estimated
from metnos.grimoire.trace import Context

if TYPE_CHECKING:
    from metnos.context.frames import Key
    from metnos.context.surprisal import Surprisal
    from metnos.context.surprisal_model import ModelSurprisal, Scorer

WINDOW = 8192  # tokens, of a model whose window nobody told
_CONVERSATIONS = 64  # whose prefix is remembered

Learnt = Callable[[Task], Mapping[Kind, float]]


class Sight:
    """How contexts are made in one workspace. Threads may share it."""

    def __init__(
        self,
        window: int = WINDOW,
        tokens: Callable[[], Tokens] = estimated,
        surprise: "Callable[[], Surprisal] | None" = None,
        learnt: Learnt = lambda _task: {},
        phase: Callable[[], Phase] = lambda: Phase.THRIVING,
        scorer: "Callable[[], Scorer | None]" = lambda: None,
        shapes: Mapping[Task, Shape] = SHAPES,
    ) -> None:
        self._shapes = shapes
        self._window = window
        self._make_tokens = tokens
        self._make_surprise = surprise
        self._learnt = learnt
        self._phase = phase
        self._make_scorer = scorer
        self._scorer: Scorer | None = None
        self._tokens: Tokens | None = None
        self._surprise: Surprisal | None = None
        self._keys: OrderedDict[str, Key] = OrderedDict()
        self._lock = Lock()

    def tokens(self) -> Tokens:
        """The counts of the model in use."""
        if self._tokens is None:
            self._tokens = self._make_tokens()
        return self._tokens

    def see(self, session: str, task: Task, blocks: Sequence[Block], question: str, reserve: int) -> Assembled:
        """One context. Raises `ModelError` if what cannot be left out does not fit."""
        allocation = allocate(
            task,
            self._window,
            phase=self._phase(),
            learnt=self._learnt(task),
            reserve=reserve,
            shapes=self._shapes,
        )
        with self._lock:
            asked = self._asked()
            made = assemble(
                blocks,
                allocation,
                question=question,
                count=self.tokens().count,
                model=self._model(),
                asked=asked,
                key=self._keys.get(session),
            )
            self._keys[session] = made.key
            self._keys.move_to_end(session)
            while len(self._keys) > _CONVERSATIONS:
                self._keys.popitem(last=False)
        return replace(made, record=replace(made.record, scored=asked.note)) if asked else made

    def _asked(self) -> "ModelSurprisal | None":
        """The language model that says what is telling, if one does. It has so much to spend on each context."""
        if self._scorer is None and (made := self._make_scorer()) is not None:
            self._scorer = made
        if self._scorer is None:
            return None
        from metnos.context.surprisal_model import ModelSurprisal

        return ModelSurprisal(self._model(), self._scorer)

    def _model(self) -> "Surprisal":
        if self._surprise is None:
            from metnos.context.surprisal import general

            self._surprise = (self._make_surprise or general)()
        return self._surprise


class Seeing:
    """One turn's contexts."""

    def __init__(self, sight: Sight, session: str, contexts: list[Context]) -> None:
        self._sight = sight
        self._session = session
        self._contexts = contexts

    def __call__(self, task: Task, blocks: Sequence[Block], question: str, reserve: int) -> Assembled:
        made = self._sight.see(self._session, task, blocks, question, reserve)
        body = "\n\n".join(message.text for message in made.messages)
        self._contexts.append(Context(str(task), made.system, body, made.record.as_dict()))
        return made
