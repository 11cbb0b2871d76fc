from hypothesis import given
from hypothesis import strategies as st

from metnos.context.blocks import Block, Kind, fenced, outside, own
from metnos.context.order import arranged, u_curve


def test_the_best_stand_at_both_ends() -> None:
    assert u_curve([1, 2, 3, 4, 5, 6], lambda item: item) == (6, 4, 2, 1, 3, 5)
    assert u_curve([], lambda item: item) == ()


@given(st.lists(st.integers()))
def test_towards_the_middle_they_only_get_worse(items: list[int]) -> None:
    found = u_curve(items, lambda item: item)
    assert sorted(found) == sorted(items)
    lowest = found.index(min(found)) if found else 0
    assert list(found[:lowest]) == sorted(found[:lowest], reverse=True)
    assert list(found[lowest:]) == sorted(found[lowest:])


BLOCKS = [
    own(Kind.REQUEST, "find my keys"),
    outside(Kind.GRAPH, "a feeds b", "the mnestome"),
    own(Kind.INSTRUCTION, "Reply in JSON."),
    outside(Kind.EPISODES, "keys on the shelf", "memory"),
    own(Kind.SITUATION, "Now: noon"),
    outside(Kind.RESULTS, "keys.txt", "step 1"),
    outside(Kind.PLAYBOOK, "look twice", "the playbook", stable=True),
    own(Kind.HEAD, "Law 1", stable=True),
    own(Kind.TOOLS, "find_files(path)"),
    own(Kind.INSTRUCTION, "You plan.", stable=True),
    fenced(Kind.CONVERSATION, "Owner: hello"),
    outside(Kind.FACTS, "shelves hold keys", "facts", stable=True),
]


@given(st.permutations(BLOCKS))
def test_the_head_is_first_the_request_and_the_instruction_last_and_what_is_stable_before_the_rest(
    blocks: list[Block],
) -> None:
    found = arranged(blocks)
    assert len(found) == len(blocks)
    assert [block.text for block in found[:4]] == ["Law 1", "You plan.", "shelves hold keys", "look twice"]
    assert [block.kind for block in found[-4:]] == [Kind.RESULTS, Kind.SITUATION, Kind.REQUEST, Kind.INSTRUCTION]
    middle = [block.kind for block in found[4:-4]]
    assert middle == [Kind.TOOLS, Kind.EPISODES, Kind.GRAPH, Kind.CONVERSATION]
