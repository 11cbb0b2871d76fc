from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from metnos.context.budgets import Phase
from metnos.context.frames import Frame, Key, Rules, Stable, cached, frame, sent

HEAD = "Law 1: stay within."
FACTS = "The shop opens at nine and closes at six, but not on Sundays; the bus leaves at every hour. " * 2
KNOWN = (Stable("facts", FACTS), Stable("playbook", "Look twice before you move."))
BLOCKS = st.lists(st.builds(Stable, st.sampled_from(["facts", "playbook", "graph"]), st.text(max_size=30)), max_size=3)


def words(text: str) -> int:
    return len(text.split())


def called(
    key: Key | None, blocks: tuple[Stable, ...] = KNOWN, phase: Phase = Phase.THRIVING, head: str = HEAD
) -> Frame:
    made = frame(key, head, blocks, phase, words)
    return replace(made, key=sent(made, head, f"{made.text}\n\nRequest"))


def test_the_first_call_sends_everything_and_the_next_ones_repeat_it_to_the_byte() -> None:
    first = called(None)
    assert first.why == "first call"
    second = called(first.key)
    assert not second.fresh
    assert (second.prefix, second.changed) == (first.prefix, "")


def test_what_changed_is_said_after_the_prefix_and_what_did_not_is_not_said_twice() -> None:
    first = called(None)
    now = (replace(KNOWN[1], text="Look thrice."), Stable("graph", "a feeds b"))
    second = called(first.key, now)
    assert second.prefix == first.prefix
    assert "Now instead of playbook above:\nLook thrice." in second.changed
    assert "a feeds b" in second.changed
    assert "No longer true of now: facts above." in second.changed
    assert called(second.key).changed == ""


def test_a_fresh_frame_is_due_when_the_head_or_the_phase_changes() -> None:
    key = called(None).key
    assert called(key, head="Law 1: other words.").why == "the head changed"
    assert called(key, phase=Phase.STABLE).why == "the phase changed"


def test_a_fresh_frame_is_due_when_much_changed() -> None:
    key = called(None).key
    other = tuple(replace(block, text=f"{block.text} Much more is known now than then.") for block in KNOWN)
    assert called(key, other).why == "much changed"


def test_a_fresh_frame_is_due_after_so_many_calls() -> None:
    made = frame(None, HEAD, KNOWN, Phase.THRIVING, words, Rules(every=3))
    why = []
    for _ in range(6):
        made = frame(made.key, HEAD, KNOWN, Phase.THRIVING, words, Rules(every=3))
        why.append(made.why)
    assert why == ["", "", "3 calls", "", "", "3 calls"]


@given(st.lists(st.tuples(BLOCKS, st.sampled_from(Phase), st.sampled_from([HEAD, "other"])), max_size=12))
def test_between_fresh_frames_the_prefix_never_changes(calls: list[tuple[list[Stable], Phase, str]]) -> None:
    key, prefix = None, ""
    for blocks, phase, head in calls:
        distinct = tuple({block.name: block for block in blocks}.values())
        made = called(key, distinct, phase, head)
        if made.fresh:
            assert not made.changed
        else:
            assert made.prefix == prefix
        key, prefix = made.key, made.prefix


def test_the_cached_share_is_what_two_calls_really_begin_with() -> None:
    first = called(None)
    assert cached(None, HEAD, first.text, words) == 0
    body = f"{first.text}\n\nRequest"
    assert cached(first.key, HEAD, body, words) == 1
    other = f"{first.text}\n\nSomething else is wanted"
    assert 0.7 < cached(first.key, HEAD, other, words) < 1
    assert cached(first.key, "Another head", other, words) == 0
