# Included by the Makefile: what other engines than a shell start hosts with.

# --- files for them ----------------------------------------------------------
# Units are of use only where systemd looks: a system-wide PREFIX. Only programs'
# paths are put in.
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
DEPLOY_DIR = $(DESTDIR)$(DATADIR)/deploy

.PHONY: install-deploy
install-deploy:
	install -d $(DEPLOY_DIR)/apparmor $(DEPLOY_DIR)/sysctl $(DEPLOY_DIR)/slurm \
		$(DEPLOY_DIR)/kubernetes $(DEPLOY_DIR)/systemd \
		$(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR)
	install -m 644 deploy/README.md $(DEPLOY_DIR)
	install -m 644 deploy/apparmor/foray $(DEPLOY_DIR)/apparmor
	install -m 644 deploy/sysctl/60-foray.conf $(DEPLOY_DIR)/sysctl
	install -m 755 deploy/slurm/foray-hosts.sbatch $(DEPLOY_DIR)/slurm
	install -m 644 $(wildcard deploy/kubernetes/*) $(DEPLOY_DIR)/kubernetes
	install -m 644 deploy/systemd/host.conf $(DEPLOY_DIR)/systemd
	install -m 644 deploy/systemd/foray.sysusers $(DESTDIR)$(SYSUSERSDIR)/foray.conf
	sed 's|/usr/local/bin/|$(BINDIR)/|' deploy/systemd/foray-host@.service \
		>$(DESTDIR)$(UNITDIR)/foray-host@.service
	chmod 644 $(DESTDIR)$(UNITDIR)/foray-host@.service

# --- tarball -----------------------------------------------------------------
# The same objects, linked to find libraries beside them. DT_RPATH, not
# DT_RUNPATH: it holds for the libraries of libraries, too.
TARBALL := foray-host-$(VERSION)-$(shell uname -m).tar.gz
TARBALL_PROGS := $(addprefix $(BUILD)/tarball/,foray-host foray-worker)
RPATH_foray-host := $$ORIGIN/../lib/foray
# In its sandbox it is /run/foray/worker (sandbox/profile.h).
RPATH_foray-worker := $$ORIGIN/../lib/foray:$$ORIGIN/lib

define tarball_program
$(BUILD)/tarball/$(1): $(call objs,$($(1)_SRCS)) $(BUILD)/.flags
	@mkdir -p $$(@D)
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) \
		-Wl,--disable-new-dtags,-rpath,'$$(RPATH_$(1))' \
		$$(call libs,$($(1)_PKGS)) $$(LIBS)
endef
$(foreach p,foray-host foray-worker,$(eval $(call tarball_program,$(p))))

.PHONY: tarball
tarball: $(BUILD)/$(TARBALL)
$(BUILD)/$(TARBALL): $(TARBALL_PROGS) deploy/tarball.sh LICENSE \
		worker/host/foray-host.8 $(PROFILES) deploy/slurm/foray-hosts.sbatch \
		$(wildcard deploy/systemd/*) deploy/README.md
	$(Q)sh deploy/tarball.sh $(BUILD) $(VERSION) $@
