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

# stage_as copies a file or folder to a name, holes kept, only where it changed.
stage_as() {
  cp -aruT --sparse=always "$2" "$STAGED/$1"
  chmod -R a+rX "$STAGED/$1"
}

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
