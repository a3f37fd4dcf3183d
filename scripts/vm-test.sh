#!/usr/bin/env bash
# Runs tests in a real VM as an ordinary user: vm-test.sh [REGEXP].
# Ends with a line "N passed, N failed, N skipped" and with 1 unless all chosen
# tests passed.
#
# AIBOX_IMAGE, AIBOX_TEST_IMAGE: folders of the image and the test image.
# AIBOX_VIRTIOFSD, AIBOX_SSHD: folders of virtiofsd and sshd, where the machine
# has no package.
# TALLY: a file to add the numbers to.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/user.sh
. scripts/user.sh

run=${1:-.}
go build -o bin/tally ./test/tally
CGO_ENABLED=0 go test -c -tags vm -o bin/vm.test ./test/vm
CGO_ENABLED=0 go build -trimpath -o bin/fscase ./test/vm/fscase
stage bin/aibox bin/vm.test bin/fscase "$AIBOX_IMAGE"
stage_as test-image "$AIBOX_TEST_IMAGE"
[ ! -d "${AIBOX_VIRTIOFSD:-/nonexistent}" ] || stage_as virtiofsd "$AIBOX_VIRTIOFSD"
[ ! -d "${AIBOX_SSHD:-/nonexistent}" ] || stage_as sshd "$AIBOX_SSHD"
stage README.md docs

repository=$PWD
cd "$STAGED"
as_user env \
  AIBOX_BIN="$STAGED/aibox" AIBOX_IMAGE="$STAGED/$(basename "$AIBOX_IMAGE")" AIBOX_TEST_IMAGE="$STAGED/test-image" \
  AIBOX_VIRTIOFSD="$STAGED/virtiofsd" AIBOX_SSHD="$STAGED/sshd" AIBOX_FSCASE="$STAGED/fscase" \
  "$STAGED/vm.test" -test.v=test2json -test.timeout 60m -test.run "$run" 2>&1 |
  go tool test2json -t -p test/vm | "$repository/bin/tally" ${TALLY:+--sum "$TALLY"}
