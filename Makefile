# SPDX-License-Identifier: GPL-2.0-or-later
#
# What one types here: every target is a line or two that calls a script of
# scripts/.  The compiling is done by QEMU's own meson build, which finds this
# project's directories in its tree (scripts/lay-in); a meson.build of our own
# at the top would describe nothing, so there is none.

-include config.mak
BUILD ?= build
export BUILD QEMU_SOURCE QEMU_VERSION QEMU_CONFIGURE
# Variables of `make run`, taken as they are: a "$" is the guest's, not make's.
# Model none shows the guest the files' real owners and modes, like passthrough,
# and works for every user, root or not.
SHARE ?=
CMD ?=
MOUNTOPTS ?=
MODEL ?= none
MSIZE ?= 512000
override SHARE := $(value SHARE)
override CMD := $(value CMD)
export SHARE CMD MODEL MSIZE MOUNTOPTS
VM_OPTIONS = --qemu $(QEMU) --share "$$SHARE" --cmd "$$CMD" --model "$$MODEL" \
    --msize "$$MSIZE" --mountopts "$$MOUNTOPTS" $(if $(READONLY),--readonly)
# Ninja decides how many jobs run, and knows nothing of make's
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

OUT = $(abspath $(BUILD))/out
QEMU = $(OUT)/qemu-system-x86_64

PREFIX ?= /usr/local
# Of `make fuzz`
SECONDS ?= 60
# Of bench-compare and bench-guest: paths, or main (this server), original (QEMU's own).
# QUICK=yes shortens all benchmarks; BENCH has more options of bench-device.
A ?= main
B ?= original

.PHONY: all setup qemu qemu-original run demo check check-slow requests \
    check-unit check-qtest check-guest check-fuzz check-style check-series \
    check-packages bench bench-device bench-compare bench-msize bench-guest \
    check-bench fuzz \
    install-qemu clean distclean help

all: qemu                       ## build qemu-system-x86_64 with this server

setup:
	@scripts/setup

qemu: setup
	@scripts/qemu-build main qemu-system-x86_64

qemu-original: setup            ## build it with QEMU's own server; print where it is
	@scripts/qemu-build original qemu-system-x86_64 >&2
	@echo $(OUT)-original/qemu-system-x86_64

run:                            ## boot a guest with SHARE=DIR at /mnt: a shell, or CMD='...'
	@scripts/vm $(VM_OPTIONS) --only-check
	@$(MAKE) qemu >&2
	@scripts/vm $(VM_OPTIONS)

demo: qemu                      ## a guest lists a directory and writes a file; ends by itself
	@scripts/demo $(QEMU) $${SHARE:+"$$SHARE"}

install-qemu: qemu              ## install the built QEMU below PREFIX=DIR
	@scripts/install "$(PREFIX)"

check: setup check-packages     ## every layer of tests
	@scripts/check style series unit qtest fuzz guest

check-slow: setup check-packages  ## the same, with what takes long
	@scripts/check --slow style series unit qtest fuzz guest

check-unit: setup check-packages  ## the server in one process, with ASan and UBSan
	@scripts/check unit

check-qtest: setup check-packages  ## the virtio device, as a driver sees it
	@scripts/check qtest

check-guest: setup check-packages  ## a Linux guest works in its shares
	@scripts/check guest

check-fuzz: setup check-packages  ## inputs known and new for the fuzz targets
	@scripts/check fuzz

fuzz: setup                     ## look for inputs that break it, SECONDS=N a target
	@scripts/fuzz --seconds $(SECONDS)

check-style: setup check-packages  ## checkpatch, shellcheck and the like
	@scripts/check style

check-series: setup check-packages  ## patches/ applies, and passes checkpatch
	@scripts/check series

check-packages:
	@scripts/packages run check

bench: setup check-bench        ## listings in one process, then bench-device
	@scripts/bench $(if $(QUICK),--quick)
	@scripts/bench-device $(if $(QUICK),--quick) $(BENCH)

bench-device: setup check-bench  ## times of requests through the virtio device
	@scripts/bench-device $(if $(QUICK),--quick) $(BENCH)

bench-compare: setup check-bench  ## two QEMUs in turns: A=BINARY [main] B=BINARY [original]
	@scripts/bench-device --qemu "$(A)" --vs "$(B)" $(if $(QUICK),--quick) \
	    $(BENCH)

bench-msize: qemu check-bench   ## in a guest: what the size of messages is worth
	@scripts/bench-msize $(if $(QUICK),--quick)

bench-guest: qemu qemu-original check-bench  ## in guests: CPU time of git, find, tar and such
	@scripts/bench-guest $(if $(QUICK),--quick) --qemu "$(A)" --vs "$(B)"

requests: setup check-packages  ## what each request costs, into docs/requests.md
	@scripts/request-costs > $(BUILD)/requests.md
	@mv $(BUILD)/requests.md docs/requests.md

check-bench:
	@scripts/packages bench

clean:                          ## remove what was compiled
	rm -rf $(OUT) $(OUT)-*

distclean:                      ## remove everything that was made or fetched
	rm -rf $(abspath $(BUILD)) config.mak

help:                           ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' \
	    $(firstword $(MAKEFILE_LIST))
