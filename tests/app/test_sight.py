"""Who says what is telling in a workspace, as its settings have it."""

from pathlib import Path

import pytest

from metnos.app import App, sight
from metnos.core.errors import ModelError
from metnos.models.local import Local
from turn.scripted import reopened


def test_by_default_no_model_is_asked_what_is_telling(opened: App) -> None:
    assert sight._scorer(opened) is None


def test_the_local_model_is_asked_if_the_owner_wants_it(
    opened: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    chosen = {"models__main__provider": "local", "models__main__name": str(file), "context__scored": "77"}
    app, _ = reopened(opened, model=False, context__surprisal="model", **chosen)
    monkeypatch.setattr(Local, "score", lambda *_: ())
    found = sight._scorer(app)
    assert found is not None
    assert (found.name, found.tokens, found.score("text", 1, 1.0)) == ("small (local)", 77, ())
    app.close()


@pytest.mark.parametrize("model", [True, False], ids=["another", "none"])
def test_without_a_local_model_it_is_said_that_there_is_none(opened: App, model: bool) -> None:
    app, _ = reopened(opened, model=model, context__surprisal="model")
    found = sight._scorer(app)
    assert found is not None
    with pytest.raises(ModelError, match="not a local model"):
        found.score("text", 1, 1.0)
    app.close()
