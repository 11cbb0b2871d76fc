"""Paths of an ordinary home: what is private in it, and what something runs or obeys by itself. All made up."""

PRIVATE = """
    .ssh/id_ed25519 .ssh/config .gnupg/secring.gpg .aws/credentials .azure/token .config/gcloud/x.db .kube/config
    .docker/config.json .netrc .pgpass .my.cnf .git-credentials .npmrc .pypirc .cargo/credentials.toml
    .m2/settings.xml .gradle/gradle.properties .terraform.d/credentials.tfrc.json .config/rclone/rclone.conf .s3cfg
    .boto .vault-token .password-store/bank.gpg .local/share/keyrings/login.keyring .local/share/kwalletd/x.kwl
    .mozilla/firefox/p/key4.db .config/google-chrome/Default/Cookies .config/chromium/Default/History
    .config/Signal/config.json .thunderbird/p/logins.json .config/BraveSoftware/x .config/vivaldi/x
    .local/share/TelegramDesktop/x .config/discord/Cookies .config/Slack/Cookies .config/Element/x .bash_history
    .zsh_history .python_history .psql_history .viminfo .lesshst .node_repl_history .env project/.env
    project/.env.local project/.envrc .Xauthority .config/gh/hosts.yml .config/hub .config/op/config
    .config/Bitwarden/data.json .vnc/passwd .mutt/muttrc .msmtprc .config/msmtp/config .fetchmailrc .mbsyncrc
    .offlineimaprc .authinfo .claude/history.jsonl .codex/auth.json .config/github-copilot/hosts.json
    .config/zed/settings.json .config/anthropic/key .config/heroku/x .netlify/config .config/configstore/x.json
    .config/filezilla/sitemanager.xml .config/remmina/x.remmina .config/obs-studio/service.json
    .config/syncthing/config.xml .config/Nextcloud/nextcloud.cfg .config/transmission/settings.json
    .config/hexchat/x .config/pulse/cookie .config/spotify/prefs .config/JetBrains/x .config/dconf/user
    .config/monitors.xml .local/share/recently-used.xbel .local/state/x .local/share/zeitgeist/activity.sqlite
    .local/share/Trash/files/x .local/share/evolution/x .local/share/gnome-shell/x .local/share/akonadi/x
    .local/share/baloo/index .cache/x/y .cache/thumbnails/large/x.png .cache/mozilla/x .dropbox/info.json
    .wine/user.reg .steam/registry.vdf .purple/accounts.xml .irssi/config .weechat/sec.conf .electrum/wallets/w
    .bitcoin/wallet.dat .monero/w .ICEauthority .wget-hsts .local/share/fish/fish_history
    .config/fish/fish_variables .rediscli_history .mysql_history .sqlite_history .jupyter/x.json
    .ipython/profile_default/history.sqlite .matrix/x .config/toot/config.json .pki/nssdb/key4.db
    .config/goa-1.0/accounts.conf .config/kdeconnect/privateKey.pem .config/user-dirs.conf.bak .recoll/x
    .tmux/resurrect project/.git/config project/.vscode/settings.json project/.idea/workspace.xml project/.direnv/x
    project/.secrets/x Documents/.hidden-diary .local/share/nautilus/x .android/adbkey .config/google-chrome-beta/x
    .ansible/x .vagrant.d/x
""".split()

RUN = """
    bin/tool .local/bin/tool .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv
    .zprofile .zlogin .config/fish/config.fish .config/nushell/config.nu .inputrc .xprofile .xinitrc .xsession
    .pam_environment .config/autostart/x.desktop .config/systemd/user/x.service .config/environment.d/x.conf
    .config/plasma-workspace/env/x.sh .config/sway/config .config/i3/config .config/hypr/hyprland.conf
    .config/waybar/config .config/polybar/launch.sh .config/kitty/kitty.conf .config/alacritty/alacritty.toml
    .config/wezterm/wezterm.lua .config/mpv/scripts/x.lua .config/nvim/init.lua .vimrc .vim/plugin/x.vim .emacs
    .emacs.d/init.el .config/emacs/init.el .nanorc .tmux.conf .screenrc .gitconfig .config/git/config
    .config/git/hooks/pre-commit .ssh/authorized_keys .ssh/rc .ssh/config .npmrc .yarnrc .pypirc
    .config/pip/pip.conf .pip/pip.conf .condarc .cargo/config.toml .gradle/init.gradle .m2/settings.xml .sbtrc
    .gemrc .irbrc .pryrc .Rprofile .Renviron .pythonrc .pythonstartup .config/ipython/x
    .ipython/profile_default/startup/x.py .jupyter/jupyter_notebook_config.py .gdbinit .lldbinit .psqlrc .sqliterc
    .my.cnf .curlrc .wgetrc .muttrc .mailcap .procmailrc .forward .lesskey .dircolors .Xresources .xbindkeysrc
    .local/share/applications/x.desktop .local/share/dbus-1/services/x
    .local/share/gnome-shell/extensions/x/extension.js .local/share/nautilus/scripts/x
    .local/share/kio/servicemenus/x.desktop .local/share/systemd/user/x.service
    .local/lib/python3.11/site-packages/x.py .local/lib/python3.11/site-packages/x.pth
    venv/lib/python3.11/site-packages/sitecustomize.py venv/bin/python project/sitecustomize.py
    project/usercustomize.py project/conftest.py project/setup.py project/setup.cfg project/pyproject.toml
    project/tox.ini project/noxfile.py project/Makefile project/GNUmakefile project/CMakeLists.txt project/justfile
    project/Rakefile project/Gemfile project/package.json project/gulpfile.js project/webpack.config.js
    project/vite.config.ts project/build.gradle project/pom.xml project/build.rs project/Dockerfile
    project/docker-compose.yml project/Vagrantfile project/Procfile project/Jenkinsfile
    project/node_modules/x/index.js project/__pycache__/x.cpython-311.pyc project/.git/hooks/pre-commit
    project/.git/config project/.gitattributes project/.gitmodules project/.husky/pre-commit
    project/.pre-commit-config.yaml project/lefthook.yml project/hooks/post-merge project/.envrc project/.direnv/x
    project/.vscode/tasks.json project/.vscode/settings.json project/.idea/workspace.xml project/.cursor/rules/x.mdc
    project/.cursorrules project/.claude/settings.json project/.mcp.json project/mcp.json project/AGENTS.md
    project/CLAUDE.md project/GEMINI.md project/.github/workflows/x.yml project/.github/copilot-instructions.md
    project/.gitlab-ci.yml project/.circleci/config.yml project/.travis.yml project/.devcontainer/devcontainer.json
    project/x.code-workspace project/.dir-locals.el project/.exrc project/.lvimrc project/.eslintrc.js
    project/.babelrc project/.mocharc.js project/.tool-versions project/mise.toml project/flake.nix
    .config/Code/User/settings.json .config/Cursor/User/mcp.json .cursor/mcp.json .claude/settings.json
    .codex/config.toml .gemini/settings.json .continue/config.json .aider.conf.yml .config/zed/settings.json
    .config/JetBrains/x/options/x.xml .obsidian/plugins/x/main.js Desktop/x.desktop crontab cron.d/x
    systemd/user/x.timer autostart/x .config/cron/x lib/libx.so x.AppImage .mozilla/firefox/p/user.js
    .config/chromium/Default/Preferences .config/mimeapps.list .config/user-dirs.dirs
    project/AGENTS.override.md project/WARP.md project/CRUSH.md project/replit.md project/configure project/autogen.sh
    project/WORKSPACE project/BUILD project/x.bzl project/x.csproj project/x.vcxproj project/Directory.Build.props
    project/Pipfile project/manage.py project/requirements.txt project/latexmkrc project/main.tf project/pixi.toml
    project/mise.local.toml project/turbo.json project/nx.json project/go.work project/mix.exs project/rebar.config
    project/stack.yaml project/Setup.hs project/x.cabal project/Package.swift project/Snakefile project/Tiltfile
    project/Earthfile project/Fastfile project/Dangerfile project/Capfile project/Berksfile project/buildspec.yml
    project/appspec.yml dotfiles/config.nu dotfiles/env.nu dotfiles/rc.lua dotfiles/xmonad.hs dotfiles/wezterm.lua
    scripts/x.user.js public_html/x.php www/index.php
""".split()
