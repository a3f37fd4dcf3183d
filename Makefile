# aibox: README.md has the two commands, CONTRIBUTING.md the rest.

.DEFAULT_GOAL := build
SHELL := /bin/bash

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/aibox
export AIBOX_IMAGE ?= $(HOME)/.aibox/image/dev
export AIBOX_TEST_IMAGE ?= $(CACHE)/test-image
export AIBOX_VIRTIOFSD ?= $(CACHE)/virtiofsd
export AIBOX_SSHD ?= $(CACHE)/sshd

# Flags of the image's builder: go run ./image/cmd/build-image --help
IMAGE_FLAGS ?=
PREFIX ?= $(HOME)/.local

## demo: install what is missing, build image and aibox, show the main job in a real VM
.PHONY: demo
demo: setup image build
	@scripts/demo.sh

## test: everything that must pass, the real VM included
.PHONY: test
test: test-setup image test-image build
	@rm -f bin/tally.sum
	@TALLY=$(CURDIR)/bin/tally.sum scripts/check.sh
	@TALLY=$(CURDIR)/bin/tally.sum scripts/vm-test.sh
	@TALLY=$(CURDIR)/bin/tally.sum scripts/hostile.sh
	@scripts/demo.sh
	@bin/tally --total bin/tally.sum

## check: all of test that needs no VM
.PHONY: check
check:
	@scripts/check.sh

## vm-test: tests in a real VM; RUN='Regexp' chooses some
.PHONY: vm-test
vm-test: test-setup image test-image build
	@scripts/vm-test.sh '$(RUN)'

## hostile: attacks from inside the VM and from stand-ins for QEMU and virtiofsd
.PHONY: hostile
hostile: setup image test-image build
	@scripts/hostile.sh

## fuzz: every fuzz target for FUZZTIME (10s)
.PHONY: fuzz
fuzz:
	@FUZZTOTAL=24h go run ./test/fuzzall

## bench: speed as ratios to the floor and to peers, measured in the same run; ROW='prompt share' chooses some
.PHONY: bench
bench: setup image build
	@scripts/bench-setup.sh
	@scripts/bench.sh $(ROW)

## setup: install what this machine lacks to build and run aibox
.PHONY: setup
setup:
	@scripts/setup.sh

## test-setup: setup, and what the tests need beside it
.PHONY: test-setup
test-setup:
	@scripts/setup.sh --tests

## build: bin/aibox
.PHONY: build
build:
	@CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/aibox ./cmd/aibox

## install: aibox, its manual pages and shell completion below PREFIX (~/.local)
.PHONY: install
install: build
	@install -D -m 0755 bin/aibox $(PREFIX)/bin/aibox
	@install -D -m 0644 -t $(PREFIX)/share/man/man1 docs/man/*.1
	@set -e; completion() { mkdir -p "$$(dirname "$$2")"; bin/aibox completion $$1 >"$$2"; }; \
	  completion bash $(PREFIX)/share/bash-completion/completions/aibox; \
	  completion zsh $(PREFIX)/share/zsh/site-functions/_aibox; \
	  completion fish $(PREFIX)/share/fish/vendor_completions.d/aibox.fish
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) \
	  echo 'aibox is in $(PREFIX)/bin, which your PATH lacks; for this shell: export PATH="$$PATH:$(PREFIX)/bin"' >&2 ;; esac

## image: the guest's kernel and root disk, into ~/.aibox/image/dev
.PHONY: image
image:
	@go run -buildvcs=false ./image/cmd/build-image --out '$(AIBOX_IMAGE)' $(IMAGE_FLAGS)

## test-image: the same with a program that gives root, for tests only
.PHONY: test-image
test-image:
	@go run -buildvcs=false ./image/cmd/build-image --test --out '$(AIBOX_TEST_IMAGE)' $(IMAGE_FLAGS)

## man: the manual pages in docs/man, from what the help says
.PHONY: man
man:
	@go run -buildvcs=false ./cmd/aibox-man docs/man

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' Makefile
