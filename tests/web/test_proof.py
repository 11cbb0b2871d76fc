"""Lines of the audit in words."""

from metnos.web import proof

LINE = {"seq": 7, "ts": "2026-04-21T22:14:00.000Z", "kind": "executor run", "hash": "aa", "prev": "bb", "signature": "",
        "names": {"executor": "find_files", "turn": "01/TURN", "phase": "intent", "key": "k" * 64},
        "digests": {"args": "d" * 64}, "counts": {"intent": 6, "files": 3}}  # fmt: skip


def test_a_line_says_in_brief_what_it_is_about_and_whole_all_that_it_holds() -> None:
    (line,) = proof.lines([LINE])
    assert line["brief"] == [("executor", "find_files"), ("key", "k" * 12 + "…"), ("files", "3")]
    assert (line["phase"], line["signed"]) == ("begins", False)
    names = [name for name, _ in line["whole"]]
    assert names == ["executor", "turn", "phase", "key", "args", "intent", "files", "hash", "hash before"]


def test_a_turn_leads_to_why_and_no_name_can_lead_elsewhere() -> None:
    (line,) = proof.lines([LINE | {"names": {"turn": "../?x=1#y"}}])
    assert dict(line["whole"])["turn"]["href"] == "/turns/..%2F%3Fx%3D1%23y"
