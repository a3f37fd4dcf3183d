#!/usr/bin/env bash
# Runs `aibox demo` as an ordinary user, with what was built in this checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/user.sh
. scripts/user.sh
stage bin/aibox "$AIBOX_IMAGE"
[ ! -d "${AIBOX_VIRTIOFSD:-/nonexistent}" ] || stage_as virtiofsd "$AIBOX_VIRTIOFSD"
cd "$STAGED"
as_user env AIBOX_VIRTIOFSD="$STAGED/virtiofsd" "$STAGED/aibox" demo --image "$STAGED/$(basename "$AIBOX_IMAGE")" "$@"
