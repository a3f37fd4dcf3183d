# aibox: see README.md for the two commands, CONTRIBUTING.md for the rest.

.DEFAULT_GOAL := build

# Flags of the image's builder: go run ./image/cmd/build-image --help
IMAGE_FLAGS ?=

## setup: install what this machine lacks to build and run aibox
.PHONY: setup
setup:
	@scripts/setup.sh

## build: bin/aibox
.PHONY: build
build:
	CGO_ENABLED=0 go build -trimpath -o bin/aibox ./cmd/aibox

## image: the guest's kernel and root disk, into ~/.aibox/image/dev
.PHONY: image
image:
	@go run -buildvcs=false ./image/cmd/build-image $(IMAGE_FLAGS)

## test-image: the same with a program that gives root, for tests only
.PHONY: test-image
test-image:
	@go run -buildvcs=false ./image/cmd/build-image --test $(IMAGE_FLAGS)
