from pathlib import Path

from metnos.core.workspace import Workspace


def test_everything_is_inside() -> None:
    workspace = Workspace(Path("/somewhere"))
    paths = [getattr(workspace, name) for name, kind in vars(Workspace).items() if isinstance(kind, property)]
    for path in paths:
        for each in path if isinstance(path, tuple) else (path,):
            assert each.is_relative_to(workspace.root)


def test_a_workspace_is_there_once_it_has_settings_or_laws(tmp_path: Path) -> None:
    assert not Workspace(tmp_path).exists()
    (tmp_path / "SOUL.md").touch()
    assert Workspace(tmp_path).exists()
