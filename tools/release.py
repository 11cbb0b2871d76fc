"""Build a release of the commit that is checked out, prove that it can be built again, list it and sign it.

    python tools/release.py build --key FILE       wheel, sdist, parts list, digests and signature in dist/
    python tools/release.py build --unsigned       the same without a signature, to see that it can be built again
    python tools/release.py verify DIR --public HEX    whether DIR holds what was released, and nothing else
    python tools/release.py key FILE               a new key of mode 0600; prints its public half

Rules: what is built is the commit, exported twice into folders of other names, and built with another order of hashes,
another time zone and other permissions; a byte of difference ends it. Times are the commit's. Nothing is fetched: the
builder is the locked one of this environment. A key in the checkout is refused.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from locked import Locked, read_all
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from metnos.core import sign
from metnos.core.canon import sha256_file, sha256_hex
from metnos.core.errors import KeyFileError

ROOT = Path(__file__).parents[1]
SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
PURPOSE = "release"
_WAYS = (("one", "0", "UTC", 0o022), ("the-other-one", "4711", "Pacific/Kiritimati", 0o077))


class ReleaseError(Exception):
    """Why there is no release."""


# -- building


def build(root: Path, into: Path) -> list[Path]:
    """Build the commit in two ways, compare, and put wheel, sdist, parts list and digests into an empty folder."""
    if _git(root, "status", "--porcelain"):
        raise ReleaseError("the checkout holds changes that are in no commit: commit or remove them")
    if into.exists() and any(into.iterdir()):
        raise ReleaseError(f"{into} is not empty: remove what is in it")
    into.mkdir(parents=True, exist_ok=True)
    epoch = int(_git(root, "log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as folder:
        one, other = (_build_once(root, Path(folder), epoch, *way) for way in _WAYS)
        if one != other:
            differing = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
            raise ReleaseError(f"two builds of one commit differ: {', '.join(differing)}")
    for name, content in one.items():
        (into / name).write_bytes(content)
    project = tomllib.loads(_git(root, "show", "HEAD:pyproject.toml"))["project"]
    version = _version(one)
    parts = list_parts(project, version, read_all(_git(root, "show", "HEAD:lock/run.txt")), epoch)
    (into / f"{project['name']}-{version}.cdx.json").write_text(json.dumps(parts, indent=2) + "\n", encoding="utf-8")
    made = sorted(into.iterdir())
    (into / SUMS).write_text("".join(f"{sha256_file(path)}  {path.name}\n" for path in made), encoding="utf-8")
    return [*made, into / SUMS]


def _build_once(root: Path, folder: Path, epoch: int, name: str, seed: str, zone: str, umask: int) -> dict[str, bytes]:
    """The commit, exported and built by itself; the content of what came out."""
    source, made = folder / name / "source", folder / name / "made"
    source.mkdir(parents=True)
    packed = folder / f"{name}.tar"
    _git(root, "archive", "--format=tar", f"--output={packed}", "HEAD")
    with tarfile.open(packed) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(source, filter="data")
        else:  # Python before 3.11.4; what is unpacked is a commit of our own
            archive.extractall(source)
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(made)],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": seed, "TZ": zone},
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"it cannot be built: {done.stderr.strip()[-2000:]}")
    return {path.name: path.read_bytes() for path in sorted(made.iterdir())}


def _version(built: Mapping[str, bytes]) -> str:
    wheel = next((name for name in built if name.endswith(".whl")), "")
    if len(built) != 2 or not wheel:
        raise ReleaseError(f"a wheel and an sdist were expected, and not: {', '.join(built)}")
    return wheel.split("-")[1]


# -- the list of parts


def list_parts(project: Mapping[str, Any], version: str, locked: Iterator[Locked], epoch: int) -> dict[str, Any]:
    """Everything that is installed with this version, in CycloneDX 1.6. The same input makes the same list."""
    name = canonicalize_name(project["name"])
    own = f"pkg:pypi/{name}@{version}"
    parts = sorted(locked, key=lambda each: (each.name, each.version, each.marker))
    direct = {canonicalize_name(Requirement(each).name) for each in project.get("dependencies", ())}
    components = [_component(each) for each in parts]
    refs = [component["bom-ref"] for component in components]
    root: dict[str, Any] = {"type": "application", "bom-ref": own, "name": name, "version": version, "purl": own}
    if licence := project.get("license"):
        root["licenses"] = [{"license": {"id": licence}}]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, sha256_hex(json.dumps([own, components]).encode()))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(), "component": root},
        "components": components,
        "dependencies": [
            {"ref": own, "dependsOn": [ref for ref, each in zip(refs, parts, strict=True) if each.name in direct]},
            *({"ref": ref} for ref in refs),
        ],
    }


def _component(locked: Locked) -> dict[str, Any]:
    """One package. Its digests are of the files that may be installed, one for each kind of machine."""
    purl = f"pkg:pypi/{locked.name}@{locked.version}"
    properties = [{"name": "metnos:file:sha256", "value": digest} for digest in locked.digests]
    if locked.marker:
        properties.append({"name": "metnos:marker", "value": locked.marker})
    return {
        "type": "library",
        "bom-ref": purl,
        "name": locked.name,
        "version": locked.version,
        "scope": "optional" if locked.marker else "required",
        "purl": purl,
        "properties": properties,
    }


# -- signing and verifying


def sign_release(folder: Path, key: Path, root: Path = ROOT) -> str:
    """Sign the list of digests; returns the public half of the key."""
    if key.resolve().is_relative_to(root.resolve()):
        raise ReleaseError(f"{key} lies in the checkout, where a release key must never be")
    signer = sign.load_signer(key)
    (folder / SIGNATURE).write_text(signer.sign(PURPOSE, (folder / SUMS).read_bytes()) + "\n", encoding="ascii")
    return signer.public


def verify_release(folder: Path, public: str) -> Iterator[str]:
    """What is wrong with a release, a sentence each."""
    try:
        sums, signature = (folder / SUMS).read_bytes(), (folder / SIGNATURE).read_text(encoding="ascii").strip()
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in sums.decode("ascii").splitlines())}
    except (OSError, ValueError) as error:
        yield f"the list of digests or its signature cannot be read: {error}"
        return
    if not sign.verify(public, PURPOSE, sums, signature):
        yield "the signature is not by this key over this list"
    there = {path.name for path in folder.iterdir()} - {SUMS, SIGNATURE}
    for name in sorted(there | listed.keys()):
        if name not in listed:
            yield f"{name} is in no list"
        elif name not in there:
            yield f"{name} is missing"
        elif not (folder / name).is_file() or sha256_file(folder / name) != listed[name]:
            yield f"{name} is not what was released"
    if not listed:
        yield "nothing is listed"


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout


# -- the commands


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build, sign and verify releases.")
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="build the commit that is checked out")
    signing = building.add_mutually_exclusive_group(required=True)
    signing.add_argument("--key", type=Path, help="the release key, outside of the checkout")
    signing.add_argument("--unsigned", action="store_true", help="make no signature")
    building.add_argument("--into", type=Path, default=ROOT / "dist", help="an empty folder (default: dist)")
    verifying = commands.add_parser("verify", help="compare a folder with what was released")
    verifying.add_argument("folder", type=Path)
    verifying.add_argument("--public", required=True, metavar="HEX", help="the public half of the release key")
    making = commands.add_parser("key", help="make a release key")
    making.add_argument("file", type=Path)
    chosen = parser.parse_args(arguments)
    try:
        return {"build": _build, "verify": _verify, "key": _key}[chosen.command](chosen)
    except (ReleaseError, KeyFileError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


def _build(chosen: argparse.Namespace) -> int:
    made = build(ROOT, chosen.into)
    print(*(f"{sha256_file(path)}  {path}" for path in made), sep="\n")
    print("Two builds were equal to the byte.")
    if chosen.unsigned:
        print("It is not signed: name the release key for that.")
    else:
        print(f"Signed by {sign_release(chosen.into, chosen.key)}")
    return 0


def _verify(chosen: argparse.Namespace) -> int:
    wrong = list(verify_release(chosen.folder, chosen.public))
    print(*(wrong or ["Everything is what was released."]), sep="\n")
    return 1 if wrong else 0


def _key(chosen: argparse.Namespace) -> int:
    if chosen.file.resolve().is_relative_to(ROOT.resolve()):
        raise ReleaseError(f"{chosen.file} lies in the checkout, where a release key must never be")
    if not sign.make_keys(chosen.file, chosen.file.with_name(f"{chosen.file.name}.pub")):
        raise ReleaseError(f"{chosen.file} is there already")
    print(f"Its public half: {sign.load_signer(chosen.file).public}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
