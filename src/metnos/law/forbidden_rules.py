"""The rules for paths that nothing may touch, at any level of autonomy: names, and nothing but names.

Rules: the list is code, and no setting, grant or approval lifts it. Letter case does not matter, because some disks
ignore it. A rule for a home holds in every home and in every copy of one, and so does a rule for a workspace. Pure: it
knows nothing of links, which `aliases` finds, nor of what this process runs from, which `own_places` finds.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Access(StrEnum):
    READ = "read"
    WRITE = "write"
    CARRY = "carrying along"  # inside a folder that is moved, copied or thrown away whole


@dataclass(frozen=True, slots=True)
class Rule:
    """What is forbidden and, in a few words, what it is. Everything below a match is forbidden too.

    Patterns stand between white space. One that begins with ``/`` starts at the root of the file system, any other may
    stand anywhere; ``*`` is any text within one component, ``?`` any one character. ``whole``: it may go along, as it
    is, inside a folder that goes as a whole.
    """

    what: str
    patterns: str
    reading: bool = True
    whole: bool = False

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
        whole=True,
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
        " /run/containerd etc/shadow* etc/gshadow* /var/backups/*shadow*",
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
        .local/share/dbus-1/services .pythonrc* .config/direnv .config/git/hooks /etc/profile /etc/profile.d
        /etc/bash* /etc/zsh* /etc/fish /etc/csh* /etc/environment /etc/environment.d /etc/rc* /etc/init*
        /etc/systemd /usr/lib/systemd /lib/systemd /run/systemd /etc/xdg/autostart /etc/cron* /etc/anacrontab /etc/at.*
        /var/spool/cron /var/spool/at /etc/ld.so*""",
    ),
    Rule("hooks that a repository runs by itself", ".git/hooks", whole=True),
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


@lru_cache(maxsize=8192)  # each path is asked about at every gate that it passes, and the rules never change
def why_named(path: str, access: Access) -> str | None:
    """What a path is by its letters alone, if it is something that may not be touched in this way."""
    if not any(map(_ends_a_rule, path.split("/"))):
        return None
    for rule, pattern in _COMPILED:
        if access is Access.CARRY and rule.whole:
            continue
        if (rule.reading or access is not Access.READ) and pattern.fullmatch(path):
            return rule.what
    return None


def folders_on_the_way() -> frozenset[str]:
    """Every folder of a home that some rule leads through, such as ``.config``, by its path in the home."""
    return frozenset(_above())


def _above() -> Iterator[str]:
    for rule in RULES:
        for pattern in rule.patterns.split():
            parts = pattern.split("/")[:-1]
            if not pattern.startswith("/") and "*" not in pattern.rpartition("/")[0]:
                yield from ("/".join(parts[:count]) for count in range(1, len(parts) + 1))


def last_names(rules: Iterable[Rule], *more: str) -> re.Pattern[str]:
    """A name that some rule ends in: whatever a rule means lies at or below one of these."""
    last = {pattern.rstrip("/").rpartition("/")[2] for rule in rules for pattern in rule.patterns.split()}
    globs = (re.escape(name).replace(r"\*", ".*").replace(r"\?", ".") for name in sorted({*last, *more}))
    return re.compile("|".join(globs), re.IGNORECASE | re.DOTALL)


LAST_NAMES = last_names(RULES)


@lru_cache(maxsize=8192)  # the folders of a path are the same for all that lies in them
def _ends_a_rule(name: str) -> bool:
    return LAST_NAMES.fullmatch(name) is not None
