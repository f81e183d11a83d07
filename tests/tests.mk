# Included by the Makefile: demo, tests, fuzzing, lint, bench.

# --- demo -------------------------------------------------------------------
.PHONY: demo
demo: deps
	@$(MAKE) --no-print-directory all
	@sh tests/demo.sh $(CURDIR)/$(BUILD)/foray

# --- unit tests -------------------------------------------------------------
# A unit test links the libraries, one of a program's own folder that program's
# objects beside them. They come from archives, so that each takes what it uses.
AGENT_OBJS := $(call objs,$(filter-out %/main.c,$(wildcard worker/agent/*.c)) \
	worker/agent/scripts.c)
HOST_OBJS := $(call objs,$(filter-out %/main.c,$(wildcard worker/host/*.c)))
ORCH_OBJS := $(call objs,$(filter-out orchestrator/main.c \
	$(wildcard orchestrator/cmd_*.c), \
	$(wildcard orchestrator/*.c orchestrator/*/*.c) \
	orchestrator/monitor/supplied.c orchestrator/repair/trace_scripts.c))
LIB_OBJS := $(call objs,$(SANDBOX) $(PROTO) $(COMMON))

archive = $(BUILD)/tests/$(1).a
define archive_of
$(call archive,$(1)): $(2) $(BUILD)/.flags
	@mkdir -p $$(@D)
	$$(say) AR $$@
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(eval $(call archive_of,agent,$(AGENT_OBJS)))
$(eval $(call archive_of,host,$(HOST_OBJS)))
$(eval $(call archive_of,orch,$(ORCH_OBJS)))
$(eval $(call archive_of,lib,$(LIB_OBJS)))
LIB_A := $(call archive,lib)

UNIT := $(wildcard tests/unit/test_*.c)
UNIT_PROGS := $(patsubst %.c,$(BUILD)/%,$(UNIT))
unit_libs = $(if $(findstring test_agent_,$(1)),$(call archive,agent)) \
	$(if $(findstring test_host_,$(1)),$(call archive,host)) \
	$(if $(findstring test_repair_,$(1))$(findstring test_gateway_,$(1))$(findstring test_orch_,$(1)),$(call archive,orch)) \
	$(LIB_A)

define unit_program
$(BUILD)/$(1:.c=): $(BUILD)/$(1:.c=.o) $(call unit_libs,$(1))
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ \
		$$(call libs,$(PKGS_FORAY) cmocka) $$(LIBS)
endef
$(foreach t,$(UNIT),$(eval $(call unit_program,$(t))))

# --- fuzzers: the same source is a fuzzer (FUZZ=1) and a replay -------------
FUZZ_SRCS := $(wildcard tests/fuzz/fuzz_*.c)
REPLAYS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/replay/%,$(FUZZ_SRCS))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(FUZZ_SRCS))
FUZZ_SECONDS ?= 60

fuzz_libs = $(if $(findstring fuzz_agent_,$(1)),$(call archive,agent)) \
	$(if $(findstring fuzz_repair,$(1))$(findstring fuzz_narrow,$(1))$(findstring fuzz_sse,$(1))$(findstring fuzz_dialect,$(1))$(findstring fuzz_egress,$(1))$(findstring fuzz_hooks,$(1))$(findstring fuzz_monitor,$(1))$(findstring fuzz_fleet,$(1))$(findstring fuzz_conflict,$(1)),$(call archive,orch)) \
	$(LIB_A)
define fuzz_program
$(BUILD)/tests/replay/$(1): $(BUILD)/tests/fuzz/$(1).o \
		$(BUILD)/tests/fuzz/replay.o $(call fuzz_libs,$(1))
	@mkdir -p $$(@D)
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ \
		$$(call libs,$(PKGS_FORAY)) $$(LIBS)
$(BUILD)/tests/fuzz/$(1): $(BUILD)/tests/fuzz/$(1).o $(call fuzz_libs,$(1))
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -fsanitize=fuzzer -o $$@ $$^ \
		$$(call libs,$(PKGS_FORAY)) $$(LIBS)
endef
$(foreach f,$(patsubst tests/fuzz/%.c,%,$(FUZZ_SRCS)),$(eval $(call fuzz_program,$(f))))

.PHONY: fuzz fuzz-all
fuzz: deps-long
	@$(MAKE) --no-print-directory FUZZ=1 fuzz-all
fuzz-all: $(FUZZERS)
	@sh tests/fuzz/run.sh $(BUILD)/tests/fuzz $(FUZZ_SECONDS)

# --- test: everything under the address and undefined-behaviour sanitizers --
.PHONY: test test-all test-long test-long-all test-release
test: deps-test
	@$(MAKE) --no-print-directory SANITIZE=$(or $(SANITIZE),address$(comma)undefined) test-all
test-release: deps-test
	@$(MAKE) --no-print-directory SANITIZE= test-all
test-all: all $(UNIT_PROGS) $(REPLAYS)
	@python3 tests/run.py --build $(BUILD) $(TESTS)
# Kill tests at 200 moments, seeded mutations, bugs in every language: many
# minutes.
test-long: deps-long
	@$(MAKE) --no-print-directory test-long-all
test-long-all: all
	@python3 tests/run.py --build $(BUILD) --long $(TESTS)

# --- lint -------------------------------------------------------------------
.PHONY: lint
lint: deps-long
	@sh tests/lint/run.sh

# --- bench ------------------------------------------------------------------
BENCH_PROGS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c))
define bench_program
$(BUILD)/$(1:.c=): $(BUILD)/$(1:.c=.o) $(LIB_A)
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ \
		$$(call libs,$(PKGS_FORAY)) $$(LIBS)
endef
$(foreach b,$(wildcard tests/bench/*.c),$(eval $(call bench_program,$(b))))
.PHONY: bench bench-all bench-thousand bench-thousand-all
# Memory of 1,000 idle workers: about a minute, and 3 GiB.
bench-thousand: deps
	@$(MAKE) --no-print-directory bench-thousand-all
bench-thousand-all: all $(BENCH_PROGS)
	@python3 tests/bench/bench.py --build $(BUILD) --only thousand
# 1,000 live ones, and 10 and 100 before: ten minutes and 4 GiB.
.PHONY: bench-fleet bench-fleet-all
bench-fleet: deps
	@$(MAKE) --no-print-directory bench-fleet-all
bench-fleet-all: all $(BENCH_PROGS)
	@python3 tests/bench/bench.py --build $(BUILD) --only fleet
# All bugs of tests/bugs, up to a minute each. REPAIR='-n 4 py-cron' and the like
# choose (tests/bench/repair.py --help).
.PHONY: bench-repair bench-repair-all
bench-repair: deps-test
	@$(MAKE) --no-print-directory bench-repair-all
bench-repair-all: all
	@python3 tests/bench/repair.py --build $(BUILD) $(REPAIR)
bench: deps
	@$(MAKE) --no-print-directory bench-all
bench-all: all $(BENCH_PROGS)
	@python3 tests/bench/bench.py --build $(BUILD)
