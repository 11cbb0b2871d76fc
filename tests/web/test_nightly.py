"""Jobs of the night in words."""

import pytest

from metnos.web import nightly

RUN = {"job": "ager", "state": "done", "started": "2026-04-21T22:14:00.000Z", "message": "well",
       "counts": {"faded": 1200}, "cpu_ms": 84, "by_hand": True}  # fmt: skip


def test_a_run_says_what_came_of_it_and_who_began_it() -> None:
    (run,) = nightly.runs([RUN])
    assert (run["said"], run["by"], run["word"], run["tone"]) == ("1,200 faded; well", "you", "done", "good")


def test_a_job_that_nobody_wrote_words_for_has_its_own() -> None:
    (job,) = nightly.jobs([{"name": "brand_new", "what": "doing it", "last": None, "verdict": "due"}])
    assert (job["title"], job["what"], job["when"], job["last"]) == ("Brand new", "doing it", "due now", "")


@pytest.mark.parametrize(("progress", "ours"), [(None, False), ({"what": "x", "done": 1, "of": 2}, True)])
def test_a_running_job_can_be_stopped_only_if_a_page_began_it(progress: object, ours: bool) -> None:
    (job,) = nightly.jobs([{"name": "ager", "last": RUN, "running": True, "progress": progress, "takes": 1.5}])
    assert (job["word"], job["said"], job["ours"], job["takes"]) == ("running", "", ours, "1.5 s")
