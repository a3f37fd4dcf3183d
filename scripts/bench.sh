#!/usr/bin/env bash
# Measures speed as ratios in one run, as an ordinary user, and writes
# bench/results.md: bench.sh [prompt|task|clone]… With names it measures these
# alone and writes no file.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/user.sh
. scripts/user.sh
go build -o bin/bench ./test/bench
stage bin/aibox bin/bench "$AIBOX_IMAGE"
[ ! -d "${AIBOX_VIRTIOFSD:-/nonexistent}" ] || stage_as virtiofsd "$AIBOX_VIRTIOFSD"
repository=$PWD
cd "$STAGED"
as_user env AIBOX_BIN="$STAGED/aibox" AIBOX_IMAGE="$STAGED/$(basename "$AIBOX_IMAGE")" AIBOX_VIRTIOFSD="$STAGED/virtiofsd" \
  "$STAGED/bench" "$USER_HOME/results.md" "$@"
[ $# = 0 ] || exit 0
mkdir -p "$repository/bench"
cp "$USER_HOME/results.md" "$repository/bench/results.md"
