"""Paths that nothing may touch, at any level of autonomy.

Rules: the list is code, and no setting, grant or approval lifts it. It is applied to *canonical* paths
(`metnos.core.canon`), so no spelling leads around it, and letter case does not matter, because some disks ignore it. A
rule for a home holds in every home and in every copy of one, and so does a rule for a workspace. Does not guarantee
anything about a hard link or a bind mount that gives a forbidden file another name: the sandbox shows executors only
what their manifest names. Says nothing of a folder that holds a forbidden path: whoever shows, moves or removes a
whole folder asks for everything in it (`forbidden_below`).
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from metnos.core.errors import ForbiddenPath


class Access(StrEnum):
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Rule:
    """What is forbidden and, in a few words, what it is. Everything below a match is forbidden too.

    Patterns stand between white space. One that begins with ``/`` starts at the root of the file system, any other may
    stand anywhere; ``*`` is any text within one component, ``?`` any one character.
    """

    what: str
    patterns: str
    reading: bool = True

    def compiled(self) -> re.Pattern[str]:
        parts = []
        for pattern in self.patterns.split():
            glob = re.escape(pattern.lstrip("/")).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
            parts.append(("/" if pattern.startswith("/") else "(?:/.*)?/") + glob)
        return re.compile(f"(?:{'|'.join(parts)})(?:/.*)?", re.IGNORECASE | re.DOTALL)


RULES = (
    Rule("an agent's own keys and records", ".keys .audit .law .mnestome"),
    Rule("an agent's constitution and settings, which only its owner changes", "SOUL.md metnos.toml", reading=False),
    Rule(
        "the system's own programs and configuration",
        "/etc /usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /snap /var/lib /var/spool /run /efi",
        reading=False,
    ),
    Rule(
        "programs and settings that other programs run",
        """.local/bin bin/activate* *.pth sitecustomize.py usercustomize.py .gitconfig .config/git .git/config .vimrc
        .vim .config/nvim .emacs* .config/emacs .tmux.conf .config/sway .config/i3 .config/hypr
        .local/share/applications .local/share/gnome-shell .config/Code .vscode""",
        reading=False,
    ),
    Rule(
        "the kernel's and the devices' own trees",
        "/proc /sys /dev /boot /efi /lib/modules /usr/lib/modules /usr/src /run/udev /etc/udev /etc/modprobe.d"
        " /etc/modules* /etc/sysctl*",
    ),
    Rule(
        "this machine's passwords and rights",
        "/etc/shadow* /etc/gshadow* /etc/passwd- /etc/group- /etc/sudoers* /etc/security /etc/pam.d /etc/polkit-1"
        " /etc/krb5.keytab /etc/ssl/private /etc/wireguard /etc/openvpn /etc/ipsec* /etc/letsencrypt"
        " /etc/NetworkManager/system-connections /etc/wpa_supplicant /etc/netplan /etc/kubernetes /var/lib/sss"
        " /var/lib/docker /var/lib/kubelet /run/secrets /run/credentials /run/user /run/docker* /run/podman"
        " /run/containerd etc/shadow* etc/gshadow*",
    ),
    Rule(
        "keys",
        """.ssh /etc/ssh .gnupg .pki .putty .age .minisign .signify .step id_rsa* id_dsa* id_ecdsa* id_ed25519*
        *.pem *.key *.ppk *.p12 *.pfx *.jks *.keystore *.kdbx *.kdb .ethereum .electrum .bitcoin .monero .config/Exodus
        wallet.dat""",
    ),
    Rule(
        "credentials",
        """.aws .azure .config/gcloud .kube .docker/config.json .netrc _netrc .authinfo* .pgpass .my.cnf .mylogin.cnf
        .git-credentials .config/git/credentials .config/gh .config/glab-cli .config/hub .npmrc .yarnrc.yml .pypirc
        .gem/credentials .cargo/credentials* .m2/settings*.xml .gradle/gradle.properties .terraform.d .terraformrc
        .config/rclone .rclone.conf .s3cfg .boto .config/doctl .config/hcloud .fly .config/containers/auth.json
        .vault-token .config/sops .password-store .config/op .op .config/Bitwarden* .config/1Password .config/keepassxc
        .local/share/keyrings .local/share/kwalletd .kde/share/apps/kwallet .cache/keyring-* .Xauthority .ICEauthority
        .config/pulse/cookie .smbcredentials .config/msmtp .msmtprc .fetchmailrc .mbsyncrc .offlineimaprc
        .config/neomutt .mutt .databrickscfg .snowflake .cache/huggingface/token .env .env.* .envrc .htpasswd
        .config/evolution .local/share/evolution .config/goa-1.0 .vnc .claude .codex .config/openai""",
    ),
    Rule(
        "files that a shell or a session runs when it starts",
        """.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
        .zlogout .config/zsh .oh-my-zsh .cshrc .tcshrc .login .logout .kshrc .mkshrc .inputrc .config/fish
        .config/nushell .config/xonsh .xonshrc .pam_environment .xinitrc .xsession .xsessionrc .xprofile
        .config/autostart .config/systemd .local/share/systemd .config/environment.d .config/plasma-workspace
        .local/share/dbus-1/services .pythonrc* .config/direnv .git/hooks .config/git/hooks /etc/profile /etc/profile.d
        /etc/bash* /etc/zsh* /etc/fish /etc/csh* /etc/environment /etc/environment.d /etc/rc* /etc/init*
        /etc/systemd /usr/lib/systemd /lib/systemd /run/systemd /etc/xdg/autostart /etc/cron* /etc/anacrontab /etc/at.*
        /var/spool/cron /var/spool/at /etc/ld.so*""",
    ),
    Rule(
        "histories of what was typed, passwords included",
        """.bash_history .zsh_history .zhistory .history .local/share/fish .python_history .psql_history
        .mysql_history .sqlite_history .rediscli_history .node_repl_history .lesshst .viminfo""",
    ),
    Rule(
        "browsers', mail programs' and messengers' profiles",
        """.mozilla .librewolf .waterfox .zen .thunderbird .config/google-chrome* .config/chromium*
        .config/BraveSoftware .config/vivaldi* .config/opera* .config/microsoft-edge* .config/yandex-browser*
        .config/falkon .config/epiphany .local/share/epiphany .config/qutebrowser .local/share/qutebrowser
        .tor-browser* .local/share/torbrowser .config/Signal .local/share/TelegramDesktop .config/discord .config/Slack
        .config/Element snap/firefox snap/chromium snap/brave snap/opera snap/thunderbird snap/bitwarden
        .var/app/org.mozilla.* .var/app/com.google.Chrome* .var/app/org.chromium.* .var/app/com.brave.*
        .var/app/com.microsoft.Edge* .var/app/com.vivaldi.* .var/app/io.gitlab.librewolf* .var/app/org.keepassxc.*
        .var/app/com.bitwarden.* .var/app/org.signal.* .var/app/org.telegram.* .var/app/com.discordapp.*
        snap/telegram-desktop snap/signal-desktop snap/discord .config/mozilla .cache/mozilla .cache/google-chrome*
        .cache/chromium .cache/BraveSoftware .cache/thunderbird cookies.sqlite logins.json key4.db Login?Data""",
    ),
)

_COMPILED = tuple((rule, rule.compiled()) for rule in RULES)


def why_forbidden(path: Path, access: Access) -> str | None:
    """What this canonical path is, if it is something that may not be touched in this way."""
    return _why(str(path), access)


@lru_cache(maxsize=8192)  # each path is asked about at every gate that it passes, and the rules never change
def _why(text: str, access: Access) -> str | None:
    for rule, pattern in _COMPILED:
        if (rule.reading or access is Access.WRITE) and pattern.fullmatch(text):
            return rule.what
    return None


def refuse_forbidden(path: Path, access: Access) -> None:
    """Raise if a hard rule forbids this canonical path."""
    what = why_forbidden(path, access)
    if what is not None:
        raise ForbiddenPath(
            f"{path} is out of bounds for any {access}: it belongs to {what}",
            fix="No setting and no approval lifts this. Do it by hand if it must be done.",
        )


def forbidden_below(
    folder: Path, access: Access, most: int, *, enter: Callable[[str], bool] | None = None
) -> Iterator[Path]:
    """Everything below a canonical folder that may not be touched, the outermost of each; links are not followed.

    ``enter`` is asked of each folder, just before it is read, and may say no. Raises `TooMany` when there are more than
    ``most`` entries to look at.
    """
    waiting = [str(folder)]
    seen = 0
    while waiting:
        here = waiting.pop()
        if enter is not None and not enter(here):
            continue
        try:
            entries = os.scandir(here)
        except OSError:
            continue  # what we may not list, nobody that we start may
        with entries:
            for entry in entries:
                seen += 1
                if seen > most:
                    raise TooMany
                # The name alone tells almost always, in a fraction of the time that the rules take.
                if _NAMES.fullmatch(entry.name) and why_forbidden(Path(entry.path), access) is not None:
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


class TooMany(Exception):
    """There is more below a folder than can be looked at."""


def _last_names() -> re.Pattern[str]:
    """A name that some rule ends in: whatever is forbidden lies at or below one of these."""
    last = {pattern.rstrip("/").rpartition("/")[2] for rule in RULES for pattern in rule.patterns.split()}
    globs = (re.escape(name).replace(r"\*", ".*").replace(r"\?", ".") for name in sorted(last))
    return re.compile("|".join(globs), re.IGNORECASE | re.DOTALL)


_NAMES = _last_names()
