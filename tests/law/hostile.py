"""Archives that the honest writer would not make."""

from pathlib import Path

from metnos import app
from metnos.core import sign
from metnos.core.workspace import Workspace
from metnos.store import archive
from support import agreed


def quiet(_name: str, _size: int) -> None:
    pass


def packed(plain: Path, target: Path, key: Path) -> Path:
    """An archive of these files byte for byte, which the honest writer would not make, signed as it should be."""
    target.unlink(missing_ok=True)
    writer = archive.Writer(target, quiet)
    for path in sorted(each for each in plain.rglob("*") if each.is_file() and ".backup" not in each.parts):
        with path.open("rb") as file:
            writer._add(file, str(path.relative_to(plain)), path.stat().st_size, 0o600)
    writer.finish("2026-11-15T12:00:00.000Z", "0", sign.load_signer(key))
    writer.publish()
    writer.discard()
    return target


def bring(plain: Path, key: Path, target: Workspace) -> None:
    path = packed(plain, plain.parent / "hostile.tar.gz", key)
    app.restore(path, target, replace=target.root.exists(), passphrase=None, agree=agreed)
