#!/bin/sh
# Runs the README's two commands on a fresh machine: a bare Debian root with git, make and python3, entered by bubblewrap.
#
#   sh tools/fresh_machine.sh [run|test|all] [root|user|both]      (as root; needs debootstrap and bubblewrap)
#
# Rules: what is committed is what is tested, by a clone. Of this machine only its package sources, certificates and name
# server are lent, so that mirrors and proxies hold there too. An ordinary user is first shown the command that needs
# root; it is typed for them, and then the same again. The root is kept for the next time in
# ${XDG_CACHE_HOME:-~/.cache}/metnos-fresh-machine; each run works on a copy of it. Every command's output goes to
# build/fresh-machine/. Prints one line for each command: who typed it, its exit code and seconds.
set -eu

what=${1:-all} who=${2:-both}
cd "$(dirname "$0")/.."
checkout=$(pwd)
log=$checkout/build/fresh-machine
kept=${XDG_CACHE_HOME:-$HOME/.cache}/metnos-fresh-machine
suite=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
base=$kept/$suite

say() { printf '%s\n' "$*"; }
die() { printf 'fresh machine: %s\n' "$*" >&2; exit 2; }

case $what in run | test | all) ;; *) die "the first word is run, test or all" ;; esac
case $who in root | user | both) ;; *) die "the second word is root, user or both" ;; esac
[ "$(id -u)" = 0 ] || die "making a bare root needs root"
for each in debootstrap bwrap git; do
    command -v "$each" >/dev/null 2>&1 || die "$each is missing: apt-get install debootstrap bubblewrap git"
done
[ -z "$(git status --porcelain)" ] || say "note: what is not committed is not tested"
mkdir -p "$log" "$kept"

first_source() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        sed -nE 's#^(deb |URIs: )(\[[^]]*\] )?(https?://[^ ]+).*#\3#p' | head -n 1
}

if [ ! -e "$base/complete" ]; then
    say "making a bare root of Debian $suite ..."
    rm -rf "$base"
    debootstrap --variant=minbase --include=ca-certificates,git,make,python3 "$suite" "$base" "$(first_source)" \
        >"$log/debootstrap.txt" 2>&1 || die "debootstrap failed: see $log/debootstrap.txt"
    : >"$base/complete"
fi

root=$(mktemp -d "$kept/run.XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM

fresh_root() {
    rm -rf "$root"
    cp -a "$base" "$root"
    rm -rf "$root/etc/apt" "$root/etc/ssl/certs"
    cp -aL /etc/apt "$root/etc/apt"
    cp -aL /etc/ssl/certs "$root/etc/ssl/certs"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    printf 'newcomer:x:1000:1000::/home/newcomer:/bin/sh\n' >>"$root/etc/passwd"
    printf 'newcomer:x:1000:\n' >>"$root/etc/group"
    home=/root
    [ "$1" = root ] || home=/home/newcomer
    mkdir -p "$root$home"
    git clone -q "$checkout" "$root$home/metnos"
    [ "$1" = root ] || chown -R 1000:1000 "$root$home"
}

# What the package clients of this machine were told (a mirror, a proxy, certificates) holds inside, and nothing else.
lent() { env | sed -nE 's/^((PIP_(INDEX_URL|EXTRA_INDEX_URL|CERT|DEFAULT_TIMEOUT)|[a-zA-Z]+_[pP][rR][oO][xX][yY]))=(.*)/\1 \4/p'; }

inside() { # who, folder, command ...
    user=$1 folder=$2
    shift 2
    set -- sh -c "cd $folder && $*"
    [ "$user" = root ] || set -- setpriv --reuid 1000 --regid 1000 --clear-groups -- "$@"
    lent | {
        while read -r name value; do set -- env "$name=$value" "$@"; done
        home=/root
        [ "$user" = root ] || home=/home/newcomer
        exec bwrap --bind "$root" / --dev /dev --perms 1777 --tmpfs /dev/shm --proc /proc --ro-bind /sys /sys \
            --perms 1777 --tmpfs /tmp --tmpfs /run --unshare-pid --unshare-ipc \
            --die-with-parent --new-session --cap-add ALL --clearenv --setenv HOME "$home" --setenv LANG C.UTF-8 \
            --setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --setenv TERM dumb -- \
            "$@" </dev/null
    }
}

failed=0
number=0
try() { # who, command
    number=$((number + 1))
    out=$log/$number-$1.txt
    started=$(date +%s) code=0
    printf '$ %s\n' "$2" >"$out"
    inside "$1" "$home/metnos" "$2" >>"$out" 2>&1 || code=$?
    say "$(printf '%-4s  %-45s exit %s, %4s s' "$1" "$2" "$code" "$(($(date +%s) - started))")"
    return "$code"
}

# The first time an ordinary user is told what needs root. It is typed as told, word for word.
type_what_needs_root() {
    try user "make $1" || true
    needed=$(sed -nE "s/^metnos:   (su -c|sudo sh -c) '(.*)'\$/\2/p" "$out" | tail -n 1)
    [ -z "$needed" ] || try root "$needed"
}

newcomer() { # who
    fresh_root "$1"
    for each in run test; do
        [ "$what" = all ] || [ "$what" = "$each" ] || continue
        [ "$1" = root ] || type_what_needs_root "$each" || failed=1
        try "$1" "make $each" || failed=1
    done
    [ "$what" != test ] || return 0
    try "$1" "make run ARGS=doctor" || failed=1
    try "$1" "make run ARGS='ask \"how much space is free?\"'" || failed=1
}

rm -f "$log"/[0-9]*.txt
for someone in root user; do
    [ "$who" = both ] || [ "$who" = "$someone" ] || continue
    newcomer "$someone"
done
say "The outputs are in $log."
[ "$failed" = 0 ] || die "something failed"
