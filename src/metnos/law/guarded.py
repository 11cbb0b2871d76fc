"""Tell hidden names, and places whose content something runs or obeys by itself.

Rules: a name is hidden if it, or a folder above it, begins with a dot; the few that hold nothing private and run
nothing are listed here. What programs run or obey without being told so (hooks, start files, build files, editors' and
agents' configuration) is found by its name, anywhere on the disk; programs also by the folder, if this process would
look for programs there. Pure but for `is_hidden_entry` and for those folders. These are no forbidden paths: the table
(`levels`) says what happens with them, and `forbidden_rules` has those that nothing may touch.
"""

import os
import re
from functools import lru_cache

from metnos.core.settings import program_path
from metnos.law.forbidden_rules import Rule, last_names

# Hidden by their name alone. Whoever reads or writes them learns and changes nothing that matters.
OPEN_NAMES = frozenset(
    [
        ".gitignore",
        ".gitkeep",
        ".keep",
        ".editorconfig",
        ".dockerignore",
        ".npmignore",
        ".nomedia",
        ".nojekyll",
        ".hidden",
    ]
)
# These may be read as well: where a desktop keeps Downloads and Documents. Shells run the first, so none is written.
OPEN_READING = frozenset({".config/user-dirs.dirs", ".config/user-dirs.locale"})

RUNS = (
    Rule("programs", "bin sbin libexec cgi-bin *.desktop *.AppImage *.run *.so *.so.* *.dylib *.pyd *.dll *.ko"),
    Rule(
        "what a language loads by itself",
        """site-packages dist-packages node_modules vendor/bundle *.pth *.pyc *.pyo *.egg-link __pycache__
        sitecustomize.py usercustomize.py conftest.py ipython_config.py jupyter_*config.py init.lua init.vim init.el
        pyvenv.cfg .pythonrc* .irbrc .Rprofile .Renviron .gdbinit .lldbinit .node-version .npmrc .yarnrc* .pnpmfile.cjs
        .bundle .cargo .julia .ipython .jupyter .matplotlib .perltidyrc .pdbrc""",
    ),
    Rule(
        "what builds, tests or installs a project",
        """Makefile GNUmakefile BSDmakefile *.mk justfile Justfile Taskfile.y*ml Rakefile Gemfile *.gemspec Guardfile
        Podfile CMakeLists.txt *.cmake meson.build SConstruct SConscript wscript BUILD.bazel WORKSPACE.bazel
        MODULE.bazel setup.py setup.cfg pyproject.toml tox.ini pytest.ini noxfile.py fabfile.py
        dodo.py tasks.py build.rs Cargo.toml build.gradle* settings.gradle* gradle.properties gradlew* gradle-wrapper.*
        pom.xml mvnw* build.xml build.sbt package.json binding.gyp deno.json* composer.json *.config.js *.config.mjs
        *.config.cjs *.config.ts *.config.mts gulpfile.* Gruntfile.* Dockerfile* Containerfile* docker-compose*.y*ml
        compose.y*ml compose.*.y*ml Vagrantfile Procfile* flake.nix shell.nix default.nix devenv.nix mise.toml Brewfile
        .mise.toml .tool-versions .justfile .babelrc* .eslintrc* .prettierrc* .stylelintrc* .mocharc* .lintstagedrc*
        .coveragerc .pylintrc .devcontainer devcontainer.json configure autogen.sh *.csproj *.fsproj *.vbproj *.vcxproj
        Directory.Build.props Directory.Build.targets Pipfile manage.py requirements.txt requirements-*.txt latexmkrc
        *.tf *.tf.json *.bzl pixi.toml mise.local.toml turbo.json nx.json go.work mix.exs rebar.config stack.yaml
        Setup.hs *.cabal Package.swift Snakefile Tiltfile Earthfile Fastfile Dangerfile Capfile Berksfile""",
    ),
    Rule(
        "what a service for building or hosting runs",
        """.github .gitlab .gitlab-ci.yml .circleci .travis.yml .drone.yml .woodpecker* .buildkite .gitea .forgejo
        Jenkinsfile* azure-pipelines*.y*ml bitbucket-pipelines.yml appveyor.yml cloudbuild.y*ml netlify.toml vercel.json
        wrangler.toml .htaccess .user.ini web.config action.y*ml workflows ansible.cfg
        buildspec.y*ml appspec.y*ml""",
    ),
    Rule(
        "hooks",
        """hooks git-hooks githooks .husky .githooks lefthook.y*ml .lefthook* .pre-commit-config.yaml .overcommit.yml
        .gitattributes .gitmodules .hg .hgrc .jj .svn *.git/config pre-commit pre-push pre-receive pre-rebase
        pre-merge-commit prepare-commit-msg commit-msg post-checkout post-commit post-merge post-receive post-rewrite
        post-update applypatch-msg""",
    ),
    Rule(
        "configuration of editors and agents",
        """AGENTS.md AGENTS.override.md AGENT.md WARP.md CRUSH.md replit.md
        CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md COPILOT.md copilot-instructions.md SKILL.md
        CONVENTIONS.md *.mdc mcp.json mcp.toml mcp_settings.json *_mcp_settings.json mcp_config.json
        claude_desktop_config.json opencode.json* .mcp.json .vscode .vscode-server .idea .fleet .zed .claude
        .claude.json
        .cursor .cursorrules .windsurf .windsurfrules .codeium .codex .gemini .qwen .opencode .aider* .continue .cline*
        .roo* .kiro .amazonq .goose* .copilot .junie .obsidian .emacs* .vim .vimrc .exrc .nvimrc .dir-locals.el
        *.code-workspace *.sublime-project *.sublime-build *.sublime-settings .project .settings *.el *.vim""",
    ),
    Rule(
        "what a shell, a session or the system starts by itself",
        """autostart systemd *.service *.timer *.socket *.automount *.mount cron.* crontab crontabs anacrontab
        profile.d init.d rc.d rc.local rc.conf xinit xinitrc xsession xprofile bashrc bash_profile bash_login
        bash_logout bash_aliases zshrc zshenv zprofile zlogin zlogout cshrc tcshrc kshrc inputrc config.fish
        pam_environment environment.d gitconfig vimrc tmux.conf screenrc authorized_keys ssh_config sshd_config
        sudoers sudoers.d
        udev rules.d modprobe.d modules-load.d sysctl.d tmpfiles.d binfmt.d dbus-1 polkit-1 pam.d ld.so.* .envrc .direnv
        .screenrc .tmux* .xbindkeysrc .Xresources .Xdefaults .xinitrc .conkyrc .config .local/lib .local/libexec
        .local/share/nautilus .local/share/nemo .local/share/kservices* .local/share/kio .local/share/plasma
        .local/share/applications .local/share/dbus-1 .local/share/mime .local/share/file-manager .gnome* .kde* .forward
        .procmailrc .muttrc .mailcap .lesskey .lessfilter .selected_editor .wgetrc .curlrc .hushlogin .nanorc .digrc
        .terraformrc .ansible.cfg .ansible .psqlrc .sqliterc .my.cnf .lftprc
        config.nu env.nu rc.lua xmonad.hs wezterm.lua *.user.js""",
    ),
)  # fmt: skip

RUNS_ANYWHERE = Rule("what starts wherever it lies", "*.desktop *.AppImage autostart")
_ANYWHERE = RUNS_ANYWHERE.compiled()
_WEB_ROOTS = ("public_html", "www", "htdocs", "webroot", "wwwroot")
_COMPILED = (
    *((rule.what, rule.compiled()) for rule in RUNS),
    # In capitals, and files: folders of that name are everywhere.
    ("what builds, tests or installs a project", re.compile(r"/(?:.*/)?(?:BUILD|WORKSPACE)", re.DOTALL)),
    (
        "what a web server runs",
        re.compile(
            rf"/(?:.*/)?(?:{'|'.join(_WEB_ROOTS)})/(?:.*/)?[^/]*\.(?:php\d?|phtml|cgi|fcgi|pl|py|rb|jsp|aspx?)",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
)

_LAST_NAMES = last_names(RUNS, "BUILD", "WORKSPACE", *_WEB_ROOTS)


def is_hidden(path: str, *, reading: bool = False) -> bool:
    """Whether a name in this path, which may be a part of one, begins with a dot and is none of those left open."""
    *folders, last = path.split("/")
    if reading and folders and f"{folders[-1]}/{last}" in OPEN_READING:
        del folders[-1]
    return any(is_hidden_name(folder, folder=True) for folder in folders) or is_hidden_name(last)


def is_hidden_name(name: str, *, folder: bool = False) -> bool:
    """The same of one name. The names left open are names of files: a folder called so is hidden like any other."""
    return name[:1] == "." and len(name) > 1 and (folder or name not in OPEN_NAMES)


def is_hidden_entry(entry: os.DirEntry[str]) -> bool:
    """The same of an entry of a folder."""
    return entry.name[0] == "." and is_hidden_name(entry.name, folder=entry.is_dir(follow_symlinks=False))


def what_runs(path: str) -> str | None:
    """What this path is, if something runs or obeys what lies there by itself."""
    named = _what_runs(path)
    if named is None and not {path, path.rpartition("/")[0]}.isdisjoint(program_folders()):
        return "programs"
    return named


def runs_anywhere(path: str) -> str | None:
    """The same of what desktops and people start wherever it lies, and not because of the folder around it."""
    return RUNS_ANYWHERE.what if _ANYWHERE.fullmatch(path) else None


def program_folders() -> frozenset[str]:
    """The folders in which this process looks for programs."""
    return _program_folders(program_path())


@lru_cache(maxsize=8)
def _program_folders(text: str) -> frozenset[str]:
    """The folders of a path for programs, as they are named and where they lie; what is relative lies nowhere."""
    named = [folder.rstrip("/") for folder in text.split(":") if folder.startswith("/")]
    return frozenset((*named, *map(os.path.realpath, named))) - {"", "/"}


@lru_cache(maxsize=4096)
def _what_runs(path: str) -> str | None:
    if not any(map(_ends_a_rule, path.split("/"))):
        return None
    return next((what for what, pattern in _COMPILED if pattern.fullmatch(path)), None)


@lru_cache(maxsize=8192)
def _ends_a_rule(name: str) -> bool:
    return _LAST_NAMES.fullmatch(name) is not None
