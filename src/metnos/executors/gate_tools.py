"""The two linters of the gate, ruff's security rules and bandit, as functions from a source to findings.

Rules: neither reads any configuration, comment or cache of ours or of the code's author (``noqa`` and ``nosec`` are
what an attacker would write). A linter that cannot be run, or that says something we do not understand, is a finding.
What our own rules judge with the manifest in hand is switched off here, each with its reason.
"""

import io
import json
import logging
import subprocess
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from metnos.executors.gate_record import Finding

_PATIENCE_S = 30.0

# Ruff's number and bandit's are the same; bandit writes B where ruff writes S.
_OURS = {
    "101": "assert: no danger in code that is never run optimised",
    "105": "hard-coded password: fires on every constant beside a word like token",
    "106": "as 105",
    "107": "as 105",
    "108": "a path below /tmp: an executor's /tmp is its own",
    "110": "try, except, pass: bad style, no danger",
    "112": "as 110",
    "113": "no timeout: the network goes through ctx.http only",
    "301": "pickle: refused by import",
    "303": "hashes: judged by weak-hash",
    "310": "urlopen: refused by import",
    "311": "random: judged by weak-secret, where a secret depends on it",
    "313": "XML bombs: the parser of this Python bounds them, and the sandbox bounds memory",
    "314": "as 313", "315": "as 313", "316": "as 313", "317": "as 313", "318": "as 313", "319": "as 313",
    "320": "as 313",
    "324": "hashes: judged by weak-hash",
    "403": "import of pickle: refused by our own rule",
    "404": "import of subprocess: judged with the manifest's programs",
    "405": "as 313", "406": "as 313", "407": "as 313", "408": "as 313", "409": "as 313", "410": "as 313",
    "411": "as 313",
    "413": "pyCrypto: its maintained successor has the same name, and either must be declared",
    "603": "a program without a shell: judged with the manifest's programs",
    "606": "as 603",
    "607": "as 603",
    "608": "queries: judged by built-query, which knows whether it is a value that is pasted",
}  # fmt: skip


def findings(source: str) -> Iterator[Finding]:
    yield from ruff(source)
    yield from bandit(source)


def ruff(source: str, ignore: tuple[str, ...] | None = None) -> list[Finding]:
    """Ruff's security rules; syntax errors are among what it reports."""
    off = tuple(f"S{number}" for number in _OURS) if ignore is None else ignore
    line = [
        _ruff_program(), "check", "--isolated", "--no-cache", "--ignore-noqa", "--no-fix", "--quiet", "--select", "S",
        "--output-format", "json", "--stdin-filename", "executor.py", "--ignore", ",".join(off) or "E1", "-",
    ]  # fmt: skip
    done = subprocess.run(
        line,
        input=source.encode("utf-8", "surrogatepass"),
        capture_output=True,
        timeout=_PATIENCE_S,
        check=False,
        env={},
    )
    if done.returncode not in {0, 1} or not done.stdout:
        return [Finding("ruff", 0, f"ruff ended with {done.returncode} and said nothing about the code")]
    return [
        Finding(f"ruff-{each['code'] or 'syntax'}", int(each["location"]["row"]), str(each["message"]))
        for each in json.loads(done.stdout)
        if str(each["code"]) not in off
    ]


def bandit(source: str, skip: tuple[str, ...] | None = None) -> list[Finding]:
    """Bandit's rules, in this process."""
    off = tuple(f"B{number}" for number in _OURS) if skip is None else skip
    config, manager = _bandit_modules()
    logging.getLogger("bandit").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        made = manager.BanditManager(config.BanditConfig(), "file", profile={"include": [], "exclude": list(off)})
    made.ignore_nosec = True
    made._parse_file("executor.py", io.BytesIO(source.encode("utf-8", "surrogatepass")), ["executor.py"])
    skipped = [Finding("bandit", 0, f"bandit could not read it: {reason}") for _, reason in made.skipped]
    return skipped + [Finding(f"bandit-{issue.test_id}", int(issue.lineno), str(issue.text)) for issue in made.results]


@cache
def _bandit_modules() -> tuple[Any, Any]:
    """Here and not above: bandit takes 0.2 s that only the gate should cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of how it finds its own plugins
        from bandit.core import config, manager  # type: ignore[import-untyped]
    return config, manager


@cache
def _ruff_program() -> str:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]  # here: only the gate needs it

    return str(find_ruff_bin())
