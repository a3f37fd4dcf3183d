#!/usr/bin/env bash
# Attacks aibox as an ordinary user: hostile.sh [REGEXP]. Prints a table, and as
# the last line "hostile: N attacks, N refused, N open"; ends with 1 unless all
# were refused.
#
# AIBOX_IMAGE, AIBOX_TEST_IMAGE, AIBOX_VIRTIOFSD, TALLY: as for vm-test.sh.
# KILLS: kills at random moments of a run (12); SEED repeats those of an earlier run.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/user.sh
. scripts/user.sh

go test -c -tags hostile -o bin/hostile.test ./test/hostile
CGO_ENABLED=0 go build -trimpath -o bin/attacker ./test/hostile/attacker
stage bin/aibox bin/hostile.test bin/attacker
stage_as test-image "$AIBOX_TEST_IMAGE"
[ ! -d "${AIBOX_VIRTIOFSD:-/nonexistent}" ] || stage_as virtiofsd "$AIBOX_VIRTIOFSD"

out=$(mktemp)
trap 'rm -f "$out"' EXIT
status=0
(
  cd "$STAGED"
  as_user env \
    AIBOX_BIN="$STAGED/aibox" AIBOX_ATTACKER="$STAGED/attacker" AIBOX_TEST_IMAGE="$STAGED/test-image" AIBOX_VIRTIOFSD="$STAGED/virtiofsd" \
    KILLS="${KILLS:-12}" SEED="${SEED:-}" \
    "$STAGED/hostile.test" -test.timeout 60m ${1:+-test.run "$1"} 2>&1
) | tee "$out" || status=$?

last=$(tail -n 1 "$out")
if ! [[ $last =~ ^hostile:\ ([0-9]+)\ attacks,\ ([0-9]+)\ refused,\ ([0-9]+)\ open$ ]]; then
  echo "hostile: the attacks did not come to their end" >&2
  exit 1
fi
[ -z "${TALLY:-}" ] || echo "${BASH_REMATCH[2]} passed, ${BASH_REMATCH[3]} failed, 0 skipped" >>"$TALLY"
exit "$status"
