#!/usr/bin/env bash
# Measures speed as ratios in one run, as an ordinary user, and writes
# bench/results.md: bench.sh [prompt|share|network|proxy|clone|task|memory|size]…
# With names it measures these alone and writes no file.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/user.sh
. scripts/user.sh
peers=${AIBOX_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/aibox/bench}
go build -o bin/bench ./test/bench
CGO_ENABLED=0 go build -ldflags='-s -w' -o bin/bench-guest ./test/bench/guest
stage bin/aibox bin/bench bin/bench-guest "$AIBOX_IMAGE"
[ ! -d "${AIBOX_VIRTIOFSD:-/nonexistent}" ] || stage_as virtiofsd "$AIBOX_VIRTIOFSD"
for peer in tools virtme debian; do
  [ ! -d "$peers/$peer" ] || stage_as "$peer" "$peers/$peer"
done
repository=$PWD
cd "$STAGED"
as_user env AIBOX_BIN="$STAGED/aibox" AIBOX_IMAGE="$STAGED/$(basename "$AIBOX_IMAGE")" AIBOX_VIRTIOFSD="$STAGED/virtiofsd" \
  AIBOX_BENCH="$STAGED" AIBOX_BENCH_GUEST="$STAGED/bench-guest" "$STAGED/bench" "$USER_HOME/results.md" "$@"
[ $# = 0 ] || exit 0
mkdir -p "$repository/bench"
cp "$USER_HOME/results.md" "$repository/bench/results.md"
