"""The beginning of a new executor: it already works."""

from collections.abc import Iterator

import pytest

from executors.calls import executor
from metnos.core.errors import ManifestError
from metnos.core.sections import ExecutorSettings
from metnos.executors import manifest, template
from metnos.executors.adopt import examine
from metnos.executors.folder import SIGNED
from metnos.executors.manifest import Kind, Reversal
from metnos.executors.state import State
from metnos.sandbox.pool import Pool


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(warm=0)
    yield made
    made.close()


@pytest.mark.parametrize("name", ["count_lines", "find_text_pdf", "delete_files"])
def test_it_is_a_whole_folder_under_any_name(name: str) -> None:
    files = template.files(name)
    assert tuple(files) == SIGNED
    read = manifest.parse(files["manifest.toml"].decode(), defaults=ExecutorSettings())
    assert (read.name, read.kind, read.reversal) == (name, Kind.PRODUCER, Reversal.NOTHING)


@pytest.mark.slow
def test_it_passes_its_own_examination(pool: Pool) -> None:
    files = {file: content.decode() for file, content in template.files("count_lines").items()}
    read = manifest.parse(files["manifest.toml"])
    draft = executor(read, files["executor.py"], files["tests.toml"], state=State.DRAFT)
    steps = list(examine(draft, pool, ExecutorSettings()))
    assert [step.problem for step in steps] == [""] * 4


@pytest.mark.parametrize(
    "name", ["lines", "count_nonsense", "Count_lines", "count-lines", "../count_lines", "", "a_b_c_d"]
)
def test_a_name_must_be_one(name: str) -> None:
    with pytest.raises(ManifestError):
        template.files(name)
