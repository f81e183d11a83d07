# foray - build, test, install. `make help` lists the targets.

MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
comma := ,

VERSION := 0.1.0
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/foray
MANDIR ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share/foray
DESTDIR ?=

# --- variants live side by side: build, build-san, build-fuzz ---------------
SUFFIX := $(if $(SANITIZE),-san)$(if $(FUZZ),-fuzz)
BUILD ?= build$(SUFFIX)

CC ?= cc
ifeq ($(origin CC),default)
CC := $(if $(FUZZ),clang,gcc)
endif
PKG_CONFIG ?= pkg-config
# -O2 under the sanitizers takes two and a half times as long to compile as -Og,
# and the tests gain nothing by it.
CFLAGS ?= $(if $(SANITIZE),-Og,-O2) -g

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wpointer-arith \
	-Werror=implicit-function-declaration -Wwrite-strings -Wformat=2 -Wundef -Wvla -Wimplicit-fallthrough \
	-fno-common $(if $(WERROR),-Werror)
# Sanitized code is full of tables of addresses, 190,000 in foray: at a fixed
# place they need no relocation, which was a third of the start of a process.
PIE := $(if $(SANITIZE),no-pie,pie)
HARDEN := -fstack-protector-strong $(if $(SANITIZE),-fno-pie,-fPIE) \
	$(if $(SANITIZE)$(FUZZ),,-D_FORTIFY_SOURCE=2)
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=undefined) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link$(comma)address$(comma)undefined \
	-fno-sanitize-recover=undefined)
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DFORAY_VERSION='"$(VERSION)"' \
	-DLIBEXECDIR='"$(LIBEXECDIR)"' -DDATADIR='"$(DATADIR)"' -I. $(WARN) $(HARDEN) $(SANFLAGS) \
	$(CFLAGS) $(PKGS_CFLAGS)
ALL_LDFLAGS = -$(PIE) -Wl,-z,relro,-z,now $(SANFLAGS) $(LDFLAGS)

# --- what each program links: only what it needs ----------------------------
PKGS_BASE := libzmq jansson libbsd-overlay libsodium libutf8proc
PKGS_PROTO := $(PKGS_BASE) msgpack
PKGS_SANDBOX := libseccomp libmd
PKGS_WORKER := $(PKGS_PROTO) $(PKGS_SANDBOX)
PKGS_FORAY := $(PKGS_PROTO) $(PKGS_SANDBOX) sqlite3 libcurl libmicrohttpd
PKGS_ALL := $(sort $(PKGS_FORAY) $(PKGS_WORKER))

# These install what is missing and call make again.
BY_THEMSELVES := deps deps-test deps-long help clean demo test test-long \
	test-release lint fuzz bench bench-thousand bench-fleet bench-repair
ifneq ($(filter-out $(BY_THEMSELVES),$(or $(MAKECMDGOALS),all)),)
ifeq ($(shell command -v $(PKG_CONFIG)),)
$(error $(PKG_CONFIG) is missing; run `make deps` to install the Debian packages)
endif
ifneq ($(shell $(PKG_CONFIG) --exists $(PKGS_ALL) && echo ok),ok)
$(error libraries are missing: $(shell $(PKG_CONFIG) --print-errors --exists $(PKGS_ALL) 2>&1 | \
	sed -n "s/^No package '\(.*\)' found/\1/p"); run `make deps` to install the Debian packages)
endif
endif
PKGS_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS_ALL) 2>/dev/null)
libs = $(shell $(PKG_CONFIG) --libs $(1))

COMMON := $(wildcard common/*.c)
PROTO := $(wildcard proto/*.c)
# profiles.c is made from sandbox/profiles/
SANDBOX := $(wildcard sandbox/*.c sandbox/policy/*.c) sandbox/profiles.c
# supplied.c is made from orchestrator/monitor/rules/, trace_scripts.c from
# orchestrator/repair/trace/
foray_SRCS := $(wildcard orchestrator/*.c orchestrator/*/*.c) \
	orchestrator/monitor/supplied.c orchestrator/repair/trace_scripts.c \
	$(SANDBOX) $(PROTO) $(COMMON)
foray-host_SRCS := $(wildcard worker/host/*.c) $(SANDBOX) $(PROTO) $(COMMON)
# scripts.c is made from AGENT_SCRIPTS
foray-worker_SRCS := $(wildcard worker/agent/*.c) worker/agent/scripts.c \
	$(SANDBOX) $(PROTO) $(COMMON)
foray_PKGS := $(PKGS_FORAY)
foray-host_PKGS := $(PKGS_WORKER)
foray-worker_PKGS := $(PKGS_WORKER)
PROGS := foray foray-host foray-worker

objs = $(patsubst %.c,$(BUILD)/%.o,$(1))

ifeq ($(V),1)
Q :=
say := @:
else
Q := @
say := @printf '  %-6s %s\n'
endif

.PHONY: all
all: $(addprefix $(BUILD)/,$(PROGS))

define program
$(BUILD)/$(1): $(call objs,$($(1)_SRCS)) $(BUILD)/.flags
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) \
		$$(call libs,$($(1)_PKGS)) $$(LIBS)
endef
$(foreach p,$(PROGS),$(eval $(call program,$(p))))

# The supplied profiles become strings of the programs.
PROFILES := $(wildcard sandbox/profiles/*.json)
$(BUILD)/sandbox/profiles.c: $(PROFILES) sandbox/profiles.sh
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh sandbox/profiles.sh $(PROFILES) >$@
$(BUILD)/sandbox/profiles.o: $(BUILD)/sandbox/profiles.c $(BUILD)/.flags
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# So do the monitor's rules.
MONITOR_RULES := $(wildcard orchestrator/monitor/rules/*.json)
$(BUILD)/orchestrator/monitor/supplied.c: $(MONITOR_RULES) \
		orchestrator/monitor/rules.sh
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh orchestrator/monitor/rules.sh $(MONITOR_RULES) >$@
$(BUILD)/orchestrator/monitor/supplied.o: $(BUILD)/orchestrator/monitor/supplied.c \
		$(BUILD)/.flags
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# And what runs beside the commands: candidates in batches, a watch on reads.
AGENT_SCRIPTS := $(wildcard worker/agent/*.py worker/agent/*.js)
$(BUILD)/worker/agent/scripts.c: $(AGENT_SCRIPTS) worker/agent/scripts.sh
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh worker/agent/scripts.sh $(AGENT_SCRIPTS) >$@
$(BUILD)/worker/agent/scripts.o: $(BUILD)/worker/agent/scripts.c $(BUILD)/.flags
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# And the tracers of the built-in model.
TRACERS := $(wildcard orchestrator/repair/trace/*)
$(BUILD)/orchestrator/repair/trace_scripts.c: $(TRACERS) \
		orchestrator/repair/trace.sh
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)sh orchestrator/repair/trace.sh $(TRACERS) >$@
$(BUILD)/orchestrator/repair/trace_scripts.o: \
		$(BUILD)/orchestrator/repair/trace_scripts.c $(BUILD)/.flags
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Changes only when the compiler or its flags do.
FLAGS = '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS))'
$(BUILD)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(FLAGS) >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
.PHONY: FORCE flags
FORCE:
# To be compared with it.
flags:
	@printf '%s\n' $(FLAGS)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

include tests/tests.mk
include deploy/deps.mk
include deploy/deploy.mk

.PHONY: install
install: all install-deploy
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR) \
		$(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man7 $(DESTDIR)$(MANDIR)/man8
	install -m 755 $(BUILD)/foray $(BUILD)/foray-host $(DESTDIR)$(BINDIR)
	install -m 755 $(BUILD)/foray-worker $(DESTDIR)$(LIBEXECDIR)
	install -m 644 orchestrator/foray.1 $(DESTDIR)$(MANDIR)/man1
	install -m 644 worker/host/foray-host.8 $(DESTDIR)$(MANDIR)/man8
	install -m 644 proto/foray-proto.7 $(DESTDIR)$(MANDIR)/man7

.PHONY: clean
clean:
	rm -rf build build-san build-fuzz build-san-fuzz

.PHONY: help
help:
	@echo 'make            build build/foray, build/foray-host, build/foray-worker'
	@echo 'make demo       install what is missing, build, fix a real bug in parallel'
	@echo 'make test       all tests (installs what they need)'
	@echo 'make deps       Debian packages for build and demo (deps-test, deps-long: more)'
	@echo 'make lint       format, layers, sizes, static analysis'
	@echo 'make bench      ratios against bare bwrap, measured in one run'
	@echo 'make bench-thousand  memory of 1,000 idle workers'
	@echo 'make bench-fleet  1,000 live workers: CPU, memory, added latency'
	@echo 'make bench-repair  what foray does with the bugs of tests/bugs: half an hour'
	@echo 'make fuzz       the fuzzers, FUZZ_SECONDS each (default 60)'
	@echo 'make test-long  kill tests and other long ones'
	@echo 'make tarball    foray-host with its libraries, for other machines'
	@echo 'make install    to DESTDIR and PREFIX ($(PREFIX)); make clean'
	@echo 'V=1 shows commands; SANITIZE=address,undefined builds into build-san'
