# SPDX-License-Identifier: GPL-2.0-or-later
# One non-recursive makefile. `make help` lists the targets.

VERSION := 0.1.0
B       ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
SANITIZE ?=
WERROR  ?= 1
J       ?= $(shell nproc)

BINDIR   = $(PREFIX)/bin
LIBEXECDIR = $(PREFIX)/libexec/numalab
DATADIR  = $(PREFIX)/share/numalab
MANDIR   = $(PREFIX)/share/man
COMPDIR  = $(PREFIX)/share/bash-completion/completions

MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

# ---- libraries: pkg-config name, minimum version, Debian package ---------------------------------
LIBRARIES := \
	glib-2.0:2.74:libglib2.0-dev \
	gio-unix-2.0:2.74:libglib2.0-dev \
	json-glib-1.0:1.6:libjson-glib-dev \
	libfyaml:0.7.12:libfyaml-dev \
	libxml-2.0:2.9.14:libxml2-dev \
	libvirt:10.0.0:libvirt-dev \
	libvirt-qemu:10.0.0:libvirt-dev \
	libarchive:3.6:libarchive-dev \
	libkmod:30:libkmod-dev \
	libelf:0.188:libelf-dev \
	sqlite3:3.40:libsqlite3-dev \
	gsl:2.7:libgsl-dev \
	zlib:1.2.13:zlib1g-dev
# Of numalab-disk alone.
DISK_LIBRARIES := libguestfs:1.44:libguestfs-dev
TEST_LIBRARIES := check:0.15:check

# Goals that work without any library installed.
NO_LIBRARY_GOALS := help deps clean format demo
ifneq ($(filter-out $(NO_LIBRARY_GOALS),$(or $(MAKECMDGOALS),all)),)
  ifeq ($(filter check check-unit check-integration check-kvm check-long bench .check-%,$(MAKECMDGOALS))$(NUMALAB_DEPS_DONE),)
    CHECK_LIBRARIES := 1
  endif
endif
library_names := $(foreach l,$(LIBRARIES) $(DISK_LIBRARIES) $(TEST_LIBRARIES),$(word 1,$(subst :, ,$(l))))
ifdef CHECK_LIBRARIES
  missing := $(shell for l in $(LIBRARIES) $(DISK_LIBRARIES) $(TEST_LIBRARIES); do IFS=: read -r n v p <<<"$$l"; \
	pkg-config --atleast-version="$$v" "$$n" 2>/dev/null || echo "$$n>=$$v(package:$$p)"; done)
  ifneq ($(strip $(missing)),)
    $(error missing or too old: $(missing). 'make deps' (as root) installs all of them)
  endif
endif

# Lazy, so that goals without libraries do not ask pkg-config.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(foreach l,$(LIBRARIES),$(word 1,$(subst :, ,$(l))))))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell pkg-config --libs $(foreach l,$(LIBRARIES),$(word 1,$(subst :, ,$(l))))) -lutil)$(PKG_LIBS)
DISK_CFLAGS = $(eval DISK_CFLAGS := $$(shell pkg-config --cflags libguestfs json-glib-1.0 gio-unix-2.0))$(DISK_CFLAGS)
DISK_LIBS = $(eval DISK_LIBS := $$(shell pkg-config --libs libguestfs json-glib-1.0 gio-unix-2.0))$(DISK_LIBS)
CHECK_CFLAGS = $(eval CHECK_CFLAGS := $$(shell pkg-config --cflags check))$(CHECK_CFLAGS)
CHECK_LIBS = $(eval CHECK_LIBS := $$(shell pkg-config --libs check))$(CHECK_LIBS)

WARN := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wno-unused-parameter \
	-Wno-missing-field-initializers $(if $(filter 1,$(WERROR)),-Werror)
OPT  ?= -O2 -g
SAN  := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS_ALL = -std=gnu17 $(OPT) $(WARN) $(SAN) -D_GNU_SOURCE -DNUMALAB_VERSION='"$(VERSION)"' \
	-DNUMALAB_PREFIX='"$(PREFIX)"' -I. $(PKG_CFLAGS) $(CFLAGS)
# The agent is the guest's PID 1: libc only, static, never sanitised.
AGENT_CFLAGS = -std=gnu17 -O2 -g0 $(WARN) -D_GNU_SOURCE -DNUMALAB_VERSION='"$(VERSION)"' -I. -static -fno-pie -no-pie \
	-ffile-prefix-map=$(CURDIR)=. -Wl,--build-id=none

# ---- what there is -------------------------------------------------------------------------------
LAB_SRC    := $(sort $(wildcard lab/*/*.c))
RUNNER_SRC := $(sort $(wildcard runner/*.c))
AGENT_SRC  := $(sort $(wildcard agent/*.c))
GUARD_SRC  := $(sort $(wildcard lab/guest/emulator/*.c))
DISK_SRC   := $(sort $(wildcard lab/build/guestfs/*.c))
UNIT_SRC   := $(sort $(wildcard tests/unit/test_*.c))
BENCH_SRC  := $(sort $(wildcard tests/bench/bench_*.c))
FUZZ_SRC   := $(sort $(wildcard tests/fuzz/fuzz_*.c))

LAB_OBJ    := $(LAB_SRC:%.c=$(B)/%.o)
RUNNER_OBJ := $(RUNNER_SRC:%.c=$(B)/%.o)
UNIT_BIN   := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit/%)
BENCH_BIN  := $(BENCH_SRC:tests/bench/%.c=$(B)/tests/bench/%)
FUZZ_BIN   := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/fuzz/%)

AGENT := $(if $(AGENT_SRC),$(B)/numalab-agent)
EMULATOR := $(if $(GUARD_SRC),$(B)/numalab-emulator) $(B)/numalab-tlbclock.so
DISK := $(B)/numalab-disk
NUMALAB := $(if $(RUNNER_SRC),$(B)/numalab)

.PHONY: all help deps check check-unit check-integration check-kvm check-long check-layers demo bench install format golden \
	man clean fuzz statistics-tables

all: $(B)/liblab.a $(NUMALAB) $(AGENT) $(EMULATOR) $(DISK)

help:
	@echo "numalab $(VERSION)"
	@echo "  make               build build/numalab and the guest's agent"
	@echo "  make deps          install what is missing with apt (needs root)"
	@echo "  make demo          deps, build, and compare two Debian kernels on a 4-node guest"
	@echo "  make check         deps, build, all tests; last line: N passed, N failed, N skipped"
	@echo "  make check-unit    unit tests only          make check-integration   real guests only"
	@echo "  make check-kvm     the tests of clock kvm (part of check), in a nested host where KVM runs no guests"
	@echo "  make check-long    the studies of the exact clock and of verdicts (hours)"
	@echo "  make check-layers  includes go downwards only"
	@echo "  make bench         benchmarks (ratios within one run)"
	@echo "  make fuzz          short fuzzing of the parsers of foreign text"
	@echo "  make golden        rewrite the golden files of the tests; review the diff"
	@echo "  make statistics-tables  simulate the tables of docs/statistics.md anew"
	@echo "  make man           man pages"
	@echo "  make install       DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)"
	@echo "  make format        clang-format the tree"
	@echo "  make clean         remove $(B)/"
	@echo "variables: SANITIZE=address,undefined  WERROR=0  CC=  CFLAGS=  OPT=  B=$(B)"

deps:
	@CI/deps.sh

# ---- rules ---------------------------------------------------------------------------------------
$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC     $<"
	@$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# Archive and program are made again when a source goes away, too.
.PHONY: .force
$(B)/liblab.list: .force
	@mkdir -p $(@D)
	@echo $(LAB_OBJ) $(RUNNER_OBJ) | cmp -s - $@ || echo $(LAB_OBJ) $(RUNNER_OBJ) > $@

$(B)/liblab.a: $(LAB_OBJ) $(B)/liblab.list
	@echo "  AR     $@"
	@rm -f $@ && ar rcs $@ $(LAB_OBJ)

$(B)/numalab: $(RUNNER_OBJ) $(B)/liblab.a
	@echo "  LD     $@"
	@$(CC) $(CFLAGS_ALL) -o $@ $^ $(PKG_LIBS) -lm

$(B)/numalab-agent: $(AGENT_SRC) $(wildcard agent/*.h) Makefile
	@mkdir -p $(@D)
	@echo "  AGENT  $@"
	@$(CC) $(AGENT_CFLAGS) -o $@ $(AGENT_SRC) -lpthread

$(B)/numalab-emulator: $(GUARD_SRC) lab/guest/ram_backend.h Makefile
	@mkdir -p $(@D)
	@echo "  CC     $@"
	@$(CC) -std=gnu17 -O2 $(WARN) -D_GNU_SOURCE -I. -static -o $@ $(GUARD_SRC)

$(B)/numalab-disk: $(DISK_SRC:%.c=$(B)/%.o) $(B)/liblab.a
	@echo "  LD     $@"
	@$(CC) $(CFLAGS_ALL) -Wl,--as-needed -o $@ $^ $(DISK_LIBS)

$(DISK_SRC:%.c=$(B)/%.o): CFLAGS_ALL += $(DISK_CFLAGS)

# Goes into QEMU: neither sanitised nor linked with anything.
$(B)/numalab-tlbclock.so: lab/guest/tlbclock/tlbclock.c Makefile
	@mkdir -p $(@D)
	@echo "  CC     $@"
	@$(CC) -std=gnu17 -O2 $(WARN) -D_GNU_SOURCE -shared -fPIC -o $@ $<

$(B)/tests/unit/%: tests/unit/%.c $(B)/liblab.a
	@mkdir -p $(@D)
	@echo "  CC     $<"
	@$(CC) $(CFLAGS_ALL) $(CHECK_CFLAGS) -DTEST_DATA='"$(CURDIR)/tests/data"' -DTEST_TREE='"$(CURDIR)"' -DTEST_BUILD='"$(abspath $(B))"' \
		-MMD -MP -o $@ $< $(B)/liblab.a $(CHECK_LIBS) $(PKG_LIBS) -lm

$(B)/tests/bench/%: tests/bench/%.c $(B)/liblab.a
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_ALL) -DTEST_TREE='"$(CURDIR)"' -MMD -MP -o $@ $< $(B)/liblab.a $(PKG_LIBS) -lm

$(B)/tests/fuzz/%: tests/fuzz/%.c $(B)/liblab.a
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS_ALL) -DTEST_DATA='"$(CURDIR)/tests/data"' -MMD -MP -o $@ $< $(B)/liblab.a $(PKG_LIBS) -lm

# ---- tests ---------------------------------------------------------------------------------------
# check installs what is missing first, then starts make anew so that the libraries are seen.
check:
	@CI/deps.sh
	@$(MAKE) -j$(J) NUMALAB_DEPS_DONE=1 all .unit-bin
	@tests/run all

check-unit: all .unit-bin
	@tests/run unit

check-integration: all
	@tests/run integration

check-kvm: all
	@tests/run integration '^tests/integration/kvm'

check-long: all
	@tests/run long

check-layers:
	@tests/layers

bench: all $(BENCH_BIN)
	@tests/run bench

fuzz: $(FUZZ_BIN)
	@tests/run fuzz

.PHONY: .unit-bin
.unit-bin: $(UNIT_BIN)

golden: .unit-bin all
	@for t in $(UNIT_BIN); do NUMALAB_GOLDEN=1 $$t >/dev/null || true; done; git status --short tests/data docs

demo:
	@CI/deps.sh
	@$(MAKE) -j$(J) NUMALAB_DEPS_DONE=1 all
	@$(B)/numalab run scenarios/demo.yaml --compare

# ---- the rest ------------------------------------------------------------------------------------
format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

statistics-tables: $(B)/tests/unit/test_statistics
	@NUMALAB_GOLDEN=1 $< && git status --short docs/statistics.md

man: all
	@docs/man/build $(B)

install: all man
	@install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(DATADIR) $(DESTDIR)$(MANDIR)/man1 \
		$(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(COMPDIR)
	@install -m 755 $(B)/numalab $(DESTDIR)$(BINDIR)/
	@install -m 755 $(B)/numalab-agent $(B)/numalab-emulator $(B)/numalab-disk $(DESTDIR)$(LIBEXECDIR)/
	@install -m 644 $(B)/numalab-tlbclock.so $(DESTDIR)$(LIBEXECDIR)/
	@for d in images topologies kernels scenarios; do [ ! -d $$d ] || { install -d $(DESTDIR)$(DATADIR)/$$d; \
		install -m 644 $$d/*.yaml $(DESTDIR)$(DATADIR)/$$d/; }; done
	@install -m 644 $(B)/man/*.1 $(DESTDIR)$(MANDIR)/man1/
	@if ls $(B)/man/*.5 >/dev/null 2>&1; then install -m 644 $(B)/man/*.5 $(DESTDIR)$(MANDIR)/man5/; fi
	@$(B)/numalab completion bash > $(DESTDIR)$(COMPDIR)/numalab

clean:
	@rm -rf $(B)

-include $(LAB_OBJ:.o=.d) $(DISK_SRC:%.c=$(B)/%.d) $(RUNNER_OBJ:.o=.d) $(UNIT_BIN:=.d) $(BENCH_BIN:=.d) $(FUZZ_BIN:=.d)
