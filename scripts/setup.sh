#!/usr/bin/env bash
# Installs what a machine with Debian or Ubuntu needs to build and run aibox, and
# does nothing when all is there: setup.sh [--check] [--tests] [--virtiofsd DIR]
#
# Root installs directly; an ordinary user through sudo, and where sudo is
# missing the commands are printed. --check installs nothing and fails when
# something is missing. --tests adds the desktops that the clipboard's tests use, and what
# plays the user at a terminal. --virtiofsd (or AIBOX_VIRTIOFSD) says where virtiofsd and
# its libraries go on a machine whose packages have none.
set -euo pipefail

say() { echo "setup: $*" >&2; }
fail() {
  say "$1"
  [ -n "${2:-}" ] && echo "hint: $2" >&2
  exit 1
}

check= tests=
sshd=${AIBOX_SSHD:-${XDG_CACHE_HOME:-$HOME/.cache}/aibox/sshd}
virtiofsd=${AIBOX_VIRTIOFSD:-${XDG_CACHE_HOME:-$HOME/.cache}/aibox/virtiofsd}
while [ $# -gt 0 ]; do
  case $1 in
  --check) check=1 ;;
  --tests) tests=1 ;;
  --virtiofsd)
    [ $# -gt 1 ] || fail "--virtiofsd needs a folder"
    virtiofsd=$2
    shift
    ;;
  *) fail "unknown argument '$1'" "scripts/setup.sh [--check] [--tests] [--virtiofsd DIR]" ;;
  esac
  shift
done
PATH=$PATH:/usr/sbin:/sbin

# Each line: what must be there (a program, or a file), and its package.
needs() {
  cat <<'END'
qemu-system-x86_64 qemu-system-x86
bwrap bubblewrap
git git
curl curl
ssh openssh-client
mmdebstrap mmdebstrap
fakeroot fakeroot
newuidmap uidmap
mke2fs e2fsprogs
debugfs e2fsprogs
dpkg-deb dpkg
make make
gcc gcc
flex flex
bison bison
bc bc
xz xz-utils
lz4 lz4
tar tar
patch patch
perl perl-base
npm npm
/usr/share/keyrings/debian-archive-keyring.gpg debian-archive-keyring
/usr/include/libelf.h libelf-dev
/usr/include/openssl/ssl.h libssl-dev
/etc/ssl/certs/ca-certificates.crt ca-certificates
END
  [ -z "$tests" ] || cat <<'END'
Xvfb xvfb
xclip xclip
sway sway
wl-copy wl-clipboard
tmux tmux
pgrep procps
less less
END
}

missing_packages() {
  local what package
  while read -r what package; do
    case $what in
    /*) [ -e "$what" ] ;;
    *) command -v "$what" >/dev/null ;;
    esac || echo "$package"
  done < <(needs) | sort -u
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

can_be_root() { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }

install_packages() {
  local -a packages
  mapfile -t packages < <(missing_packages)
  [ ${#packages[@]} -gt 0 ] || return 0
  local line="apt-get install --no-install-recommends --yes ${packages[*]}"
  [ -z "$check" ] || fail "missing packages: ${packages[*]}" "make setup"
  command -v apt-get >/dev/null || fail "missing: ${packages[*]}, and this machine has no apt" "install them by their names on your system"
  can_be_root || fail "missing packages: ${packages[*]}, and there is no sudo" "as root: apt-get update && $line"
  say "installing ${packages[*]}"
  as_root apt-get update -q >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends --yes -q "${packages[@]}" >&2
}

# An ordinary user's packages are unpacked under a range of user ids.
check_subids() {
  [ "$(id -u)" != 0 ] || return 0
  local user range
  user=$(id -un)
  if grep -qsE "^($user|$(id -u)):" /etc/subuid && grep -qsE "^($user|$(id -u)):" /etc/subgid; then
    return 0
  fi
  range=$(cat /etc/subuid /etc/subgid 2>/dev/null | awk -F: '
    { end = $2 + $3; if (end > top) top = end } END { print (top > 100000 ? top : 100000) }')
  range=$range-$((range + 65535))
  local -a line=(usermod --add-subuids "$range" --add-subgids "$range" "$user")
  [ -z "$check" ] && command -v sudo >/dev/null || fail "$user has no range of user ids in /etc/subuid and /etc/subgid" "as root: ${line[*]}"
  say "giving $user a range of user ids"
  as_root "${line[@]}"
}

# The Rust virtiofsd: Debian 13 and Ubuntu 24.04 have a package. The one that
# Debian 12's QEMU brings is another program under the same name.
is_rust_virtiofsd() { "$@" --version 2>/dev/null | grep -qE '^virtiofsd(-[a-z]*)? [1-9]'; }

have_virtiofsd() {
  local program
  for program in "$(command -v virtiofsd || true)" /usr/libexec/virtiofsd /usr/lib/virtiofsd; do
    [ -x "$program" ] && is_rust_virtiofsd "$program" && return 0
  done
  carried_virtiofsd "$virtiofsd"
}

carried_virtiofsd() {
  [ -x "$1/usr/libexec/virtiofsd" ] && is_rust_virtiofsd "$1/usr/lib64/ld-linux-x86-64.so.2" \
    --library-path "$1/usr/lib/x86_64-linux-gnu" "$1/usr/libexec/virtiofsd"
}

install_virtiofsd() {
  have_virtiofsd && return 0
  [ -z "$check" ] || fail "there is no virtiofsd written in Rust" "make setup"
  if apt-cache show virtiofsd >/dev/null 2>&1 && can_be_root; then
    say "installing virtiofsd"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends --yes -q virtiofsd >&2
    have_virtiofsd && return 0
  fi
  say "unpacking Debian 13's virtiofsd into $virtiofsd"
  fetch_virtiofsd
}

# Debian 13's program runs here with Debian 13's own loader and libraries beside
# it. The folder appears under its name only when it is whole and runs.
fetch_virtiofsd() {
  local tmp
  mkdir -p "$(dirname "$virtiofsd")"
  tmp=$(mktemp -d "$(dirname "$virtiofsd")/.virtiofsd-XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$tmp'" EXIT
  go run ./image/cmd/fetch-packages --into "$tmp/root" virtiofsd libc6 libcap-ng0 libgcc-s1 libseccomp2
  chmod -R a+rX "$tmp/root"
  carried_virtiofsd "$tmp/root" || fail "Debian 13's virtiofsd does not run here"
  rm -rf "$virtiofsd"
  mv "$tmp/root" "$virtiofsd"
}

# OpenSSH's server, for tests of git over SSH alone: a package that is installed
# would start it as a service, so this one is unpacked, with the libraries that
# the machine lacks.
have_sshd() { [ -x /usr/sbin/sshd ] || [ -x "$sshd/usr/sbin/sshd" ]; }

install_sshd() {
  have_sshd && return 0
  [ -z "$check" ] || fail "there is no sshd for the tests" "make test-setup"
  say "unpacking sshd into $sshd"
  local tmp
  mkdir -p "$(dirname "$sshd")"
  tmp=$(mktemp -d "$(dirname "$sshd")/.sshd-XXXXXX")
  mkdir -p "$tmp/debs/partial" "$tmp/root"
  download_sshd "$tmp/debs" || { can_be_root && as_root apt-get update -q >&2 && download_sshd "$tmp/debs"; } ||
    fail "cannot download the package openssh-server" "apt-get update"
  local deb
  for deb in "$tmp"/debs/*.deb; do dpkg-deb -x "$deb" "$tmp/root"; done
  chmod -R a+rX "$tmp/root"
  rm -rf "$sshd"
  mv "$tmp/root" "$sshd"
  rm -rf "$tmp"
}

# Run by root, as the tests are in a container, sshd wants a user and a folder of
# its own, which the package would make.
sshd_for_root() {
  [ "$(id -u)" = 0 ] || return 0
  if ! getent passwd sshd >/dev/null; then
    [ -z "$check" ] || fail "there is no user sshd for the tests" "make test-setup"
    say "making the system user sshd"
    useradd --system --no-create-home --home-dir /run/sshd --shell /usr/sbin/nologin sshd
  fi
  [ -d /run/sshd ] || install -d -m 0755 /run/sshd
}

download_sshd() {
  apt-get install --download-only --no-install-recommends --yes -q \
    -o Dir::Cache::archives="$1" -o Debug::NoLocking=1 openssh-server >&2
}

main() {
  cd "$(dirname "$0")/.."
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "aibox builds and runs on Linux on x86-64 so far, not on $(uname -sm)"
  command -v go >/dev/null || fail "Go is not installed" "install Go 1.26 or newer"
  go list -m >/dev/null || fail "$(go version) cannot build aibox" "install Go 1.26 or newer"
  install_packages
  check_subids
  install_virtiofsd
  [ -n "$tests" ] || return 0
  install_sshd
  sshd_for_root
}
main
