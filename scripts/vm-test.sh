#!/usr/bin/env bash
# Runs tests in a real VM as an ordinary user: vm-test.sh [REGEXP].
# Ends with a line "N passed, N failed, N skipped" and exits 1 unless all chosen tests passed.
#
# AIBOX_IMAGE, AIBOX_TEST_IMAGE: folders of the image and the test image.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/user.sh
. scripts/user.sh

run=${1:-}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

go test -c -tags vm -o bin/vm.test ./test/vm
stage bin/aibox bin/vm.test "$AIBOX_IMAGE" "$AIBOX_TEST_IMAGE"
[ -d "${AIBOX_VIRTIOFSD:-/nonexistent}" ] && stage "$AIBOX_VIRTIOFSD"

status=0
(
  cd "$STAGED"
  as_user env \
    AIBOX_BIN="$STAGED/aibox" \
    AIBOX_IMAGE="$STAGED/$(basename "$AIBOX_IMAGE")" \
    AIBOX_TEST_IMAGE="$STAGED/$(basename "$AIBOX_TEST_IMAGE")" \
    AIBOX_VIRTIOFSD="${AIBOX_VIRTIOFSD:+$STAGED/$(basename "$AIBOX_VIRTIOFSD")}" \
    "$STAGED/vm.test" -test.v -test.timeout 40m ${run:+-test.run "$run"}
) 2>&1 | tee "$out" || status=1

count() { grep -cE "^--- $1: " "$out" || true; }
passed=$(count PASS) failed=$(count FAIL) skipped=$(count SKIP)
if [ "$((passed + failed + skipped))" = 0 ]; then
  echo "vm-test: no test matches '$run'" >&2
  status=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
