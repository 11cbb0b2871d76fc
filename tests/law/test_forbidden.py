import os
import tempfile
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.canon import canonical_path
from metnos.core.errors import ForbiddenPath
from metnos.core.workspace import Workspace
from metnos.law.forbidden import RULES, Access, TooMany, forbidden_below, refuse_forbidden, why_forbidden
from tables import try_each

HOME = "/home/owner"
OUT_OF_BOUNDS = [
    path.replace("~", HOME)
    for path in """
        ~/.ssh ~/.ssh/id_ed25519 ~/.ssh/config /root/.ssh/authorized_keys /etc/ssh/ssh_host_rsa_key /srv/tls/server.pem
        ~/.gnupg/private-keys-v1.d/x.key ~/backup/id_rsa ~/pass.kdbx

        ~/.aws/credentials ~/.netrc ~/.git-credentials ~/.docker/config.json ~/.kube/config ~/.pypirc ~/.npmrc ~/.pgpass
        ~/.config/gcloud/credentials.db ~/.local/share/keyrings/login.keyring ~/.password-store/bank.gpg ~/project/.env
        ~/project/.env.production /etc/shadow /etc/shadow- /etc/sudoers.d/me /run/secrets/db
        /var/backups/shadow.bak /var/backups/gshadow.bak.0

        ~/.bashrc ~/.profile ~/.zshrc ~/.config/fish/config.fish /etc/profile.d/x.sh /etc/bash.bashrc /etc/cron.d/x
        ~/.config/autostart/x.desktop ~/.config/systemd/user/x.service /etc/ld.so.preload
        ~/src/thing/.git/hooks/post-checkout

        ~/.bash_history ~/.mozilla/firefox/x/logins.json ~/.config/google-chrome/Default/Cookies
        ~/snap/firefox/common/.mozilla/x ~/.config/BraveSoftware/x ~/.var/app/org.mozilla.firefox/x
        ~/.thunderbird/x/key4.db /run/docker.sock /run/user/1000/bus /mnt/old/etc/shadow ~/x.key

        /proc/1/environ /proc/self/mem /sys/kernel/x /dev/sda /dev/mem /dev/null /boot/vmlinuz /proc /dev
        /lib/modules/6.1/x.ko /usr/lib/modules/6.1/x.ko

        /anywhere/workspace/.keys/agent.key /anywhere/workspace/.keys /anywhere/workspace/.audit/2026-11.jsonl
        /anywhere/workspace/.law/law.db
    """.split()
] + [f"{HOME}/.config/chromium/Default/Login Data", "/mnt/copy/Login Data"]
ALLOWED = [
    path.replace("~", HOME)
    for path in """
        ~ ~/Downloads/invoice.pdf ~/notes/ssh.md ~/my.ssh.notes ~/environment.txt ~/devices/list.csv /etc/hostname
        /usr/share/dict/words /processes/x /srv/system/x /home/boot/x ~/profile.txt ~/.config/app/settings.json
        ~/audit/2026.txt ~/keys.txt ~/src/thing/.git/description ~/login_form_data
    """.split()
]


@try_each(("path", "access"), product(OUT_OF_BOUNDS, (Access.READ, Access.WRITE)))
def test_out_of_bounds_for_reading_and_for_writing(path: str, access: Access) -> None:
    with pytest.raises(ForbiddenPath) as caught:
        refuse_forbidden(Path(path), access)
    assert path in caught.value.what
    assert access in caught.value.what
    assert "No setting and no approval" in caught.value.fix


@try_each("path", OUT_OF_BOUNDS)
def test_only_what_says_so_goes_along_in_a_whole_folder(path: str) -> None:
    if "/.git/hooks/" in path:
        refuse_forbidden(Path(path), Access.CARRY)
        return
    with pytest.raises(ForbiddenPath):
        refuse_forbidden(Path(path), Access.CARRY)


@try_each("path", ALLOWED)
def test_ordinary_files_are_not_in_the_way(path: str) -> None:
    assert why_forbidden(Path(path), Access.READ) is None
    if not path.startswith(("/etc", "/usr")):
        assert why_forbidden(Path(path), Access.WRITE) is None


@try_each(
    "path",
    ["/etc/passwd", "/usr/bin/ls", "/opt/x", f"{HOME}/.local/bin/x", f"{HOME}/.gitconfig", f"{HOME}/src/.git/config",
     f"{HOME}/.venv/lib/x.pth", f"{HOME}/.vimrc", f"{HOME}/.local/share/applications/x.desktop"],
)  # fmt: skip
def test_what_other_programs_run_may_be_read_but_never_written(path: str) -> None:
    assert why_forbidden(Path(path), Access.READ) is None
    assert why_forbidden(Path(path), Access.WRITE) is not None


def test_the_constitution_and_the_settings_may_be_read_but_never_written(ordinary: Path) -> None:
    workspace = Workspace(ordinary / "workspace")
    for path in (workspace.soul, workspace.settings):
        assert why_forbidden(path, Access.READ) is None
        assert why_forbidden(path, Access.WRITE) is not None
    assert why_forbidden(workspace.root / "PLAYBOOK.md", Access.WRITE) is None


def test_the_index_of_executors_is_never_written(workspace: Workspace) -> None:
    assert why_forbidden(workspace.mnest_db, Access.WRITE) is not None


@given(st.sampled_from(OUT_OF_BOUNDS), st.data())
def test_letter_case_and_depth_are_no_way_around(path: str, data: st.DataObject) -> None:
    spelled = "".join(data.draw(st.sampled_from([char.lower(), char.upper()])) for char in path)
    below = "/".join([spelled, *data.draw(st.lists(st.sampled_from(["x", "a b", "é", "..."]), max_size=3))])
    assert why_forbidden(Path(below), Access.READ) is not None


def test_no_spelling_is_a_way_around(ordinary: Path) -> None:
    """The rules look at canonical paths, so every trick that canon undoes is undone here too."""
    home = ordinary
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_ed25519").write_text("secret")
    (home / "innocent").symlink_to(home / ".ssh")
    (home / "photo.jpg").symlink_to(home / ".ssh" / "id_ed25519")
    spellings = [
        "~/.ssh/id_ed25519",
        "innocent/id_ed25519",
        "photo.jpg",
        "./innocent/../.ssh//id_ed25519",
        f"//{home}/.ssh/id_ed25519",
        f"/proc/self/root{home}/innocent/id_ed25519",
        f"/proc/{os.getpid()}/cwd/../../../../../../../..{home}/photo.jpg",
        f"/proc/self/root/proc/self/root{home}/.ssh/new-file-that-does-not-exist",
    ]
    for spelling in spellings:
        path = canonical_path(spelling, cwd=home, home=home)
        assert why_forbidden(path, Access.READ) == "keys", spelling


def test_a_line_break_in_a_name_is_no_way_around() -> None:
    assert why_forbidden(Path("/home/own\ner/.ssh/x\ny"), Access.READ) == "keys"


def test_every_pattern_forbids_what_it_says() -> None:
    for rule in RULES:
        for pattern in rule.patterns.split():
            plain = pattern.replace("*", "x").replace("?", "x")
            path = Path(plain if plain.startswith("/") else f"/some/where/{plain}")
            assert why_forbidden(path, Access.WRITE) is not None, pattern
            assert why_forbidden(path / "below", Access.WRITE) is not None, pattern


# -- below a folder

# Names that rules speak of, whole and in parts, beside names that look like them.
NAMES = """
    .ssh .SSH ssh .config git gcloud config config.json .docker .git hooks .env .env.local env id_rsa my_id_rsa
    server.pem server.PEM server.pem.txt .local share keyrings bin activate wallet.dat .law law etc shadow a b
""".split()
NAMES += ["Login Data", "line\nbreak", ".ssh\n"]


def grow(root: Path, paths: list[list[str]]) -> None:
    """Make these paths below a folder: each ends in a folder if its last name is ``a``, in a link if it is ``b``."""
    for parts in paths:
        path = root.joinpath(*parts)
        if any(parent.is_file() or parent.is_symlink() for parent in (path, *path.parents)) or path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if parts[-1] == "a":
            path.mkdir()
        elif parts[-1] == "b":
            path.symlink_to(root)
        else:
            path.write_text("x")


def outermost(root: Path, access: Access) -> set[Path]:
    """What the rules themselves say, path by path."""
    every = [Path(folder, name) for folder, folders, files in os.walk(root) for name in (*folders, *files)]
    out = {path for path in every if why_forbidden(path, access) is not None}
    return {path for path in out if not out & set(path.parents)}


@given(st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), max_size=8), st.sampled_from(list(Access)))
def test_below_a_folder_everything_forbidden_is_found_and_nothing_else(paths: list[list[str]], access: Access) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = Path(folder).resolve()
        grow(root, paths)
        found = list(forbidden_below(root, access, 1000))
        assert len(found) == len(set(found))
        assert set(found) == outermost(root, access)


@pytest.mark.slow
def test_below_a_folder_every_rule_is_applied(ordinary: Path) -> None:
    wanted = set()
    for number, pattern in enumerate(pattern for rule in RULES if rule.reading for pattern in rule.patterns.split()):
        if not pattern.startswith("/"):
            path = ordinary / str(number) / pattern.replace("*", "x").replace("?", " ")
            path.mkdir(parents=True)
            wanted.add(path)
    assert set(forbidden_below(ordinary, Access.READ, 10_000)) == wanted


def test_below_a_folder_that_is_part_of_a_rule(ordinary: Path) -> None:
    for name in (".config/git/credentials", ".config/gh/hosts.yml", ".config/fine"):
        (ordinary / name).parent.mkdir(parents=True, exist_ok=True)
        (ordinary / name).write_text("x")
    found = set(forbidden_below(ordinary / ".config", Access.READ, 100))
    assert found == {ordinary / ".config/git/credentials", ordinary / ".config/gh"}


def test_below_a_folder_links_are_not_followed(ordinary: Path) -> None:
    (ordinary / "secret/.ssh").mkdir(parents=True)
    (ordinary / "open").mkdir()
    (ordinary / "open/link").symlink_to(ordinary / "secret")
    (ordinary / "open/.env").symlink_to("nowhere")
    assert list(forbidden_below(ordinary / "open", Access.READ, 100)) == [ordinary / "open/.env"]


def test_below_a_folder_where_a_forbidden_link_leads_is_found(ordinary: Path) -> None:
    (ordinary / "box/dotfiles").mkdir(parents=True)
    for name, leads in ((".ssh", "dotfiles"), (".netrc", "../outside"), (".aws", "."), ("fine", "dotfiles")):
        (ordinary / "box" / name).symlink_to(leads)
    found = list(forbidden_below(ordinary / "box", Access.READ, 100))
    assert set(found) == {ordinary / "box" / name for name in (".ssh", ".netrc", ".aws", "dotfiles")}
    assert len(found) == 4


def test_below_a_folder_with_too_much_in_it(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / "box" / name / name).mkdir(parents=True)
    assert list(forbidden_below(tmp_path / "box", Access.READ, 6)) == []
    with pytest.raises(TooMany):
        list(forbidden_below(tmp_path / "box", Access.READ, 5))


def test_below_what_is_no_folder_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name in ("file", "none"):
        assert list(forbidden_below(tmp_path / name, Access.READ, 100)) == []
