# shellcheck shell=bash
# Sourced by scripts that start a VM. aibox refuses to run as root, so where
# the caller is root (a container, CI) an ordinary user is made and used:
#
#   stage FILE…      make files readable for that user; sets STAGED to the folder
#   as_user COMMAND  run a command as that user, with an environment of its own
#
# For an ordinary caller both do nothing special.

AIBOX_USER=${AIBOX_USER:-aibox-test}

if [ "$(id -u)" = 0 ]; then
  if ! id "$AIBOX_USER" >/dev/null 2>&1; then
    useradd --create-home --shell /bin/bash "$AIBOX_USER"
  fi
  USER_HOME=$(getent passwd "$AIBOX_USER" | cut -d: -f6)
  STAGED=$USER_HOME/staged
  install -d -o "$AIBOX_USER" -m 0755 "$STAGED"
else
  USER_HOME=$HOME
  STAGED=${XDG_CACHE_HOME:-$HOME/.cache}/aibox/staged
  mkdir -p "$STAGED"
fi

# stage_as copies a file or folder to a name, holes kept, where size or time differ:
# an older build is a change too, so "newer" is not what counts.
stage_as() {
  local to=$STAGED/$1 from=$2
  if [ "$(stamps "$from")" != "$(stamps "$to")" ]; then
    rm -rf "$to"
    cp -a --sparse=always "$from" "$to"
    chmod -R u+rwX,a+rX "$to"
  fi
}

stamps() { (cd "$(dirname "$1")" 2>/dev/null && find "$(basename "$1")" -type f -printf '%T@ %s %f\n' 2>/dev/null | sort); }

stage() {
  local f
  for f in "$@"; do
    stage_as "$(basename "$f")" "$f"
  done
}

as_user() {
  if [ "$(id -u)" != 0 ]; then
    "$@"
    return
  fi
  runuser -u "$AIBOX_USER" -- env -i HOME="$USER_HOME" USER="$AIBOX_USER" LOGNAME="$AIBOX_USER" \
    PATH="$PATH" TERM="${TERM:-dumb}" LANG="${LANG:-C.UTF-8}" CI="${CI:-}" "$@"
}
