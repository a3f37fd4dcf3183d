#!/usr/bin/env bash
# Everything that must pass and needs no VM. TALLY: a file to add the tests' numbers to.
set -euo pipefail
cd "$(dirname "$0")/.."

staticcheck=v0.8.2
tools=${XDG_CACHE_HOME:-$HOME/.cache}/aibox/tools
say() { printf '\n== %s\n' "$*"; }

say "gofmt"
unformatted=$(gofmt -l $(git ls-files '*.go'))
[ -z "$unformatted" ] || { echo "not formatted: $unformatted"; exit 1; }

say "go.mod"
go mod tidy -diff

for os in linux darwin windows; do
  say "vet for $os"
  GOOS=$os CGO_ENABLED=0 go vet ./...
done
for tag in vm hostile bench; do
  go vet -tags "$tag" ./test/...
done

say "staticcheck"
if [ ! -x "$tools/staticcheck-$staticcheck" ]; then
  GOBIN=$tools go install "honnef.co/go/tools/cmd/staticcheck@$staticcheck"
  mv "$tools/staticcheck" "$tools/staticcheck-$staticcheck"
fi
"$tools/staticcheck-$staticcheck" ./...

say "cross builds"
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/aibox
done

# The real kernel and the real Claude Code, where an image was built.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/aibox
kernel=${AIBOX_IMAGE:-$HOME/.aibox/image/dev}/vmlinuz
[ ! -e "$kernel" ] || export AIBOX_TEST_KERNEL=$kernel
claude=$(ls -t "$cache"/build/claude-*/claude 2>/dev/null | head -n 1) || true # none without an image
if [ -n "$claude" ]; then # where every user may run it
  open=$(mktemp -d)
  trap 'rm -rf "$open"' EXIT
  chmod 0755 "$open"
  install -m 0755 "$claude" "$open/claude"
  export AIBOX_TEST_CLAUDE=$open/claude
fi

say "tests"
go build -o bin/tally ./test/tally
go test -race -json ./... | bin/tally --quiet ${TALLY:+--sum "$TALLY"}

say "fuzz, ${FUZZTIME:=10s} each"
FUZZTIME=$FUZZTIME FUZZTOTAL=${FUZZTOTAL:-10m} go run ./test/fuzzall
