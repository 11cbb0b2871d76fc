#!/bin/sh
# Makes the environment in .venv from one of the two locks: `sh tools/setup.sh run|dev`.
#
# Rules: does nothing when the environment already matches the lock; may be stopped at any point and started again; two
# at once wait for each other; uses uv when it is there, else venv and pip; needs root for system packages only, and
# when it is not root it says the one command to type.
set -eu

kind=${1:?usage: sh tools/setup.sh run|dev}
cd "$(dirname "$0")/.."
venv=.venv

say() { printf 'metnos: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Two makes at once must not write one environment together.
if [ -z "${METNOS_SETUP_LOCKED:-}" ] && command -v flock >/dev/null 2>&1; then
    (: >>"$venv.lock") 2>/dev/null || die "this folder cannot be written: check who owns $(pwd)"
    flock -n "$venv.lock" true || say "waiting for another set-up to finish ..."
    METNOS_SETUP_LOCKED=1 exec flock "$venv.lock" sh tools/setup.sh "$kind"
fi
unset METNOS_SETUP_LOCKED

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            printf '%s' "$candidate"
            return
        fi
    done
    die "Python 3.11 or newer was not found. Install it, or name one: make run PYTHON=/path/to/python3"
}

# Debian splits venv off into a package of its own, so a bare python3 may be unable to make an environment.
can_make_venv() { command -v uv >/dev/null 2>&1 || "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; }

venv_package() {
    "$python" -c 'import sys; v = f"python{sys.version_info[0]}"; m = f"{v}.{sys.version_info[1]}-venv"
print(f"{v}-venv" if sys.executable == f"/usr/bin/{v}" else m)'
}

has_browser() { command -v chromium-headless-shell || command -v chromium || command -v chromium-browser; } >/dev/null 2>&1

has_library() { "$python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" >/dev/null 2>&1; }

# Debian has one without windows, which is smaller and takes half the CPU.
browser_package() { if command -v apt-get >/dev/null 2>&1; then echo chromium-headless-shell; else echo chromium; fi; }

# System packages: bubblewrap (the sandbox), venv where it is missing, and for the tests a browser. Nothing else needs root.
install_system_packages() {
    wanted=""
    command -v bwrap >/dev/null 2>&1 || wanted="bubblewrap"
    if [ "$kind" = dev ]; then
        has_browser || wanted="$wanted $(browser_package)"
        has_library libatomic.so.1 || wanted="$wanted libatomic1"  # of the program that drives the browser
        has_library libgomp.so.1 || wanted="$wanted libgomp1"  # of local models
    fi
    can_make_venv || wanted="$wanted $(venv_package)"
    wanted=${wanted# }
    [ -n "$wanted" ] || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing system packages: $wanted"
        # shellcheck disable=SC2086 # a list of package names
        apt_install $wanted || say "could not install: $wanted"
    elif command -v apt-get >/dev/null 2>&1; then
        ask_for "apt-get update && apt-get install -y $wanted"
    elif command -v dnf >/dev/null 2>&1; then
        ask_for "dnf install -y $wanted"
    elif command -v pacman >/dev/null 2>&1; then
        ask_for "pacman -S $wanted"
    else
        say "missing system packages: install '$wanted' with your system's package manager, then type the same again"
    fi
    can_make_venv || exit 1
}

apt_install() {
    # A refused list refresh is not fatal: the lists on the machine may do. What apt says matters only if it fails.
    apt-get update -qq >/dev/null 2>&1 || true
    said=$(DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" 2>&1) || {
        printf '%s\n' "$said" >&2
        return 1
    }
}

ask_for() {
    say "missing system packages. Type this once, then the same again:"
    if command -v sudo >/dev/null 2>&1; then say "  sudo sh -c '$1'"; else say "  su -c '$1'"; fi
}

# What the environment was made from. It holds absolute paths, so a checkout that moved needs a new one.
stamp_of() {
    "$python" - "$@" <<'PY'
import hashlib, os, sys
parts = [open(name, "rb").read() for name in sys.argv[1:]]
parts = [part.split(b"\n[tool.")[0] for part in parts]  # how the tools are set up changes nothing that is installed
print(hashlib.sha256(b"\0".join([sys.version.encode(), os.fsencode(os.getcwd()), *parts])).hexdigest())
PY
}

# Neither way resolves anything: each locked package is installed as it is, from a wheel, whatever an index has beside it.
install_with_uv() {
    export UV_COMPILE_BYTECODE=1  # imports cost twice the CPU without it
    [ -n "$usable" ] || uv venv -q --python "$python" --clear "$venv"
    uv pip sync -q --python "$venv/bin/python" --require-hashes --only-binary :all: "lock/$kind.txt"
    uv pip install -q --python "$venv/bin/python" --no-deps --no-build-isolation --no-index -e .
}

install_with_pip() {
    [ -n "$usable" ] || "$python" -m venv --clear "$venv"
    export PIP_DISABLE_PIP_VERSION_CHECK=1
    "$venv/bin/python" -m pip install -q --no-deps --require-hashes --only-binary :all: --no-compile -r "lock/$kind.txt"
    "$venv/bin/python" -m pip install -q --no-deps --no-build-isolation --no-index --no-compile -e .
    surplus=$("$venv/bin/python" tools/environment.py "lock/$kind.txt" --surplus)
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$surplus" ] || "$venv/bin/python" -m pip uninstall -q -y $surplus
    # pip would compile with one core. Some packages ship templates that are no Python: they fail, and are not needed.
    "$venv/bin/python" -m compileall -q -j 0 "$venv"/lib >/dev/null 2>&1 || true
}

check_environment() {
    "$venv/bin/python" tools/environment.py "lock/$kind.txt" >&2 ||
        die "the environment is not what lock/$kind.txt says (above). Type 'make clean', then the same again."
}

python=$(find_python)
install_system_packages

# The dev environment holds all of the run one, so either stamp serves `make run`.
base=$(stamp_of pyproject.toml tools/setup.sh)
for made in "$kind" dev; do
    [ "$kind" = run ] || [ "$made" = dev ] || continue
    if [ "$(cat "$venv/stamp-$made" 2>/dev/null)" = "$base $(stamp_of "lock/$made.txt")" ] &&
        "$venv/bin/python" -c '' 2>/dev/null; then
        exit 0
    fi
done

# An environment that is only out of date is brought up to date in place: something may be running in it.
usable=""
if [ "$(cat "$venv/stamp-base" 2>/dev/null)" = "$base" ] && "$venv/bin/python" -c '' 2>/dev/null; then usable=yes; fi
if command -v uv >/dev/null 2>&1; then
    say "making the environment with uv ..."
    install=install_with_uv
else
    say "making the environment with venv and pip (well under a minute on most machines) ..."
    install=install_with_pip
fi
rm -f "$venv"/stamp-*
# A shell of its own, because a condition switches `set -e` off inside functions.
set +e
(
    set -e
    $install
)
code=$?
set -e
[ "$code" = 0 ] || die "the packages could not be installed. Is the network there? Then type the same again."
check_environment
printf '%s\n' "$base" > "$venv/stamp-base"
printf '%s %s\n' "$base" "$(stamp_of "lock/$kind.txt")" > "$venv/stamp-$kind"
say "ready"
