# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rdma-cmx: make help

# of the module, the library and the tool; VERSION is a variable of the kernel's Makefile
CMX_VERSION := $(shell tools/packaging/version)

PREFIX	?= /usr/local
LIBDIR	?= $(PREFIX)/lib
SBINDIR	?= $(PREFIX)/sbin
INCDIR	?= $(PREFIX)/include
MANDIR	?= $(PREFIX)/share/man
DATADIR	?= $(PREFIX)/share/rdma-cmx
COMPDIR	?= $(PREFIX)/share/bash-completion/completions
ZSHDIR	?= $(PREFIX)/share/zsh/site-functions
FISHDIR	?= $(PREFIX)/share/fish/vendor_completions.d
PKGDIR	?= $(LIBDIR)/pkgconfig
UNITDIR	?= $(PREFIX)/lib/systemd/system
# where the distribution has merged /usr, packages must not have files in /lib
ROOTLIB	?= $(if $(shell test -L /lib && echo merged),/usr/lib,/lib)
UDEVDIR	?= $(ROOTLIB)/udev/rules.d
CMXLIB	= $(LIBDIR)/rdma-cmx
# headers and symbols for kernel ULPs
KERNDIR	?= $(PREFIX)/lib/rdma-cmx/kernel
SRCDIR	?= /usr/src
DKMSDIR	= $(SRCDIR)/rdma-cmx-$(CMX_VERSION)
DKMS	?= dkms
D	= $(DESTDIR)

# KERNEL=NAME: a kernel of selftests/vm/kernels; else KDIR; else the running one. In an image or a chroot, which
# does not have the headers of the running one, it is each kernel whose headers are there, the newest first.
ifdef KERNEL
KDIR	= $$(selftests/vm/kernel -b $(KERNEL))
kdirs	= $(KDIR)
OUT	?= build/$(KERNEL)
else
kdirs	:= $(patsubst %/Makefile,%,$(or $(KDIR:=/Makefile),$(wildcard /lib/modules/$(shell uname -r)/build/Makefile),\
	$(shell ls /lib/modules/*/build/Makefile 2>/dev/null | sort -Vr)))
KDIR	?= $(firstword $(kdirs) none)
OUT	?= build/$(notdir $(patsubst %/build,%,$(KDIR)))
endif
OUTDIR	= $(abspath $(OUT))
# OFED=FOLDER: headers and symbols of DOCA-OFED, where its ib_core replaces the one of the kernel
kbuild_ofed = $(if $(OFED),OFED=$(abspath $(OFED)) KBUILD_EXTRA_SYMBOLS=$(abspath $(OFED))/Module.symvers)
MODINFO	?= modinfo

.PHONY: all module lib tools install install-check install-lib install-tools install-dev install-conf \
	install-symvers install-dkms-source install-dkms install-kernels install-one-kernel install-module uninstall \
	dist deb rpm demo unit check check-all bench style htmldocs generated coverage clean help
all: lib tools module

help:
	@echo "make                  the module, for the running kernel, the library and the tool"
	@echo "make module KDIR=...  the module against other headers; KERNEL=6.12: a test kernel"
	@echo "make module OFED=...  with the headers and symbols of DOCA-OFED: /usr/src/ofa_kernel/default"
	@echo "make install          all of it; DESTDIR=, PREFIX= ($(PREFIX))"
	@echo "make dist             a tarball; make deb, make rpm: packages, in build/deb and build/rpm"
	@echo "make demo             what is new, in five scenes, in a virtual machine"
	@echo "make unit             the unit tests, in seconds: no root, no virtual machine; T='cmx-attr: *'"
	@echo "make check            the tests, in virtual machines"
	@echo "make check T='api: ECE*' K=6.12   only such cases (a shell pattern), or a suite; on that kernel"
	@echo "make check-all        all of them on all kernels; goes on where it was stopped; PART=1/3: a part"
	@echo "make coverage         what of the module the tests reach, on uml; S=\"api uapi\": these suites"
	@echo "make bench            measurements, beside the in-tree stack"
	@echo "make style            checkpatch and sparse"
	@echo "make htmldocs         all pages as HTML: needs python3-sphinx, python3-markdown, mandoc"
	@echo "make generated        the tables in the documentation that are made from sources"
	@echo "make clean uninstall"

# Objects for one kernel must not meet those for another: each has its own tree of links to the
# sources. Beside one kernel's objects, everything else in the tree is only read.
module:
	@mkdir -p $(OUTDIR)
	@for f in Kbuild $$(find kernel uapi -name '*.[ch]'); do \
		mkdir -p $(OUTDIR)/$$(dirname $$f) && ln -sfn $(CURDIR)/$$f $(OUTDIR)/$$f; \
	done
	@find $(OUTDIR) -xtype l -delete
	@k=$(KDIR); test -e "$$k/Makefile" || { \
		echo "no headers of kernel $$(uname -r), nor of another one: give KDIR=" >&2; exit 1; }; \
	tools/packaging/check-ofed "$$k" "$(OFED)" $(MODINFO) || exit; \
	echo "  MODULE  $(OUT) ($$k)"; \
	$(MAKE) --no-print-directory -C "$$k" M=$(OUTDIR) CMX_VERSION='$(CMX_VERSION)' $(kbuild_ofed) modules

lib:
	@$(MAKE) --no-print-directory -C lib CMX_VERSION='$(CMX_VERSION)'

tools: lib
	@$(MAKE) --no-print-directory -C tools CMX_VERSION='$(CMX_VERSION)' \
		LIBREL="$$(realpath -ms --relative-to=$(SBINDIR) $(CMXLIB))"

# the module last: the other parts need no kernel
.NOTPARALLEL:
install: install-check install-lib install-tools install-dev install-conf install-module

# "su" without "-" keeps the PATH of the user, in which neither dkms nor depmod is found
install-check:
	@$(if $(D),:,command -v depmod >/dev/null || \
		{ echo "depmod is not in PATH: become root with \"su -\" or sudo" >&2; exit 1; })
	@$(if $(use-dkms),tools/packaging/dkms-remove -n $(SRCDIR) $(DKMS))

install-lib: lib
	install -d $(D)$(CMXLIB) $(D)$(MANDIR)/man7
	install -m 644 lib/librdmacm.so.1 $(D)$(CMXLIB)/
	ln -sfn librdmacm.so.1 $(D)$(CMXLIB)/librdmacm.so
	install -m 644 Documentation/man/*.7 $(D)$(MANDIR)/man7/

install-tools: tools
	install -d $(D)$(SBINDIR) $(D)$(MANDIR)/man8 $(D)$(COMPDIR) $(D)$(ZSHDIR) $(D)$(FISHDIR) $(D)$(DATADIR)/monitoring \
		$(D)$(UNITDIR)
	install -m 755 tools/cmx $(D)$(SBINDIR)/
	install -m 644 tools/cmx.8 $(D)$(MANDIR)/man8/
	install -m 644 tools/cmx.bash $(D)$(COMPDIR)/cmx
	install -m 644 tools/cmx.zsh $(D)$(ZSHDIR)/_cmx
	install -m 644 tools/cmx.fish $(D)$(FISHDIR)/
	install -m 644 tools/cmx.schema.json $(D)$(DATADIR)/
	install -m 644 tools/monitoring/rdma_cmx.* $(D)$(DATADIR)/monitoring/
	install -m 644 tools/monitoring/rdma-cmx-metrics.* $(D)$(UNITDIR)/

# what programs and kernel ULPs are built against: Documentation/ulp-api.rst
install-dev:
	install -d $(D)$(INCDIR)/rdma $(D)$(KERNDIR)/rdma $(D)$(MANDIR)/man3 $(D)$(PKGDIR)
	install -m 644 lib/include/rdma/rdma_cmx.h uapi/rdma/*.h $(D)$(INCDIR)/rdma/
	install -m 644 kernel/include/rdma/*.h uapi/rdma/*.h $(D)$(KERNDIR)/rdma/
	install -D -m 644 kernel/include/names/rdma/*.h -t $(D)$(KERNDIR)/names/rdma/
	install -m 644 Documentation/man/*.3* $(D)$(MANDIR)/man3/
	printf '%s\n' 'includedir=$(INCDIR)' 'libdir=$(LIBDIR)' 'cmxlibdir=$(CMXLIB)' 'kerndir=$(KERNDIR)' '' \
		'Name: rdma-cmx' 'Description: extensions of librdmacm' 'Version: $(CMX_VERSION)' \
		'Requires: librdmacm libibverbs' 'Cflags: -I$${includedir}' 'Libs: -ldl' >$(D)$(PKGDIR)/rdma-cmx.pc
	chmod 644 $(D)$(PKGDIR)/rdma-cmx.pc

# A host that has RDMA devices loads the module, which then gets its defaults. A device gets those of its ports when
# it appears, also with another name.
defaults = /etc/rdma/rdma_cmx.conf
install-conf:
	install -d $(D)$(UDEVDIR)
	printf '%s\n' 'ACTION=="add", SUBSYSTEM=="infiniband", RUN{builtin}+="kmod load rdma_cmx"' \
		'KERNEL=="rdma_cmx", SUBSYSTEM=="misc", MODE="0666"' \
		'ACTION=="add", KERNEL=="rdma_cmx", SUBSYSTEM=="misc", TEST=="$(SBINDIR)/cmx", RUN+="$(SBINDIR)/cmx default -i", RUN+="$(SBINDIR)/cmx default --load"' \
		'ACTION=="add|move", SUBSYSTEM=="infiniband", TEST=="$(defaults)", TEST=="$(SBINDIR)/cmx", RUN+="$(SBINDIR)/cmx default --load $(defaults) %k"' \
		>$(D)$(UDEVDIR)/90-rdma-cmx.rules
	chmod 644 $(D)$(UDEVDIR)/90-rdma-cmx.rules

install-symvers: module
	r=$$(tools/packaging/kernel-release $(KDIR)) && \
		install -D -m 644 $(OUTDIR)/Module.symvers $(D)$(KERNDIR)/$$r/Module.symvers

install-dkms-source:
	for f in Kbuild Makefile $$(find kernel uapi -name '*.[ch]'); do \
		install -D -m 644 $$f $(D)$(DKMSDIR)/$$f || exit; \
	done
	install -D $(addprefix tools/packaging/,check-ofed dkms-symvers dkms-upgrade kernel-release version) -t $(D)$(DKMSDIR)/tools/packaging/
	echo '$(CMX_VERSION)' >$(D)$(DKMSDIR)/tools/packaging/tarball-version
	sed 's|#MODULE_VERSION#|$(CMX_VERSION)|; s|#KERNDIR#|$(KERNDIR)|' dkms.conf >$(D)$(DKMSDIR)/dkms.conf

# DKMS keeps the sources of a version that it knows, so these are removed first, and with them a module
# that was installed without DKMS. Nothing is removed if the new module does not build. Each kernel that had
# a module gets one again, if it can, also where a kernel of kdirs gets none, which is an error. Without
# headers, DKMS builds the module when a kernel is installed with its headers.
install-dkms: dkms-kernels := $(shell { $(DKMS) status rdma-cmx 2>/dev/null | \
	sed -n 's|^rdma-cmx/[^,]*, \([^,]*\),.*: installed.*|\1|p'; \
	ls $(ROOTLIB)/modules/*/updates/rdma_cmx*.ko* 2>/dev/null | \
	sed 's|.*/modules/||; s|/updates/.*||'; } | sort -u)
install-dkms: $(if $(kdirs),module)
	tools/packaging/dkms-remove $(SRCDIR) $(DKMS)
	rm -f $(ROOTLIB)/modules/*/updates/rdma_cmx*.ko*
	@$(MAKE) --no-print-directory install-dkms-source
	@ret=0; $(if $(kdirs),,$(DKMS) add rdma-cmx/$(CMX_VERSION) || exit; echo "no kernel has headers: no module yet";) \
	for d in $(kdirs); do \
		$(DKMS) install --force -k "$$(tools/packaging/kernel-release "$$d")" \
			--kernelsourcedir "$$d" $(DKMS_FLAGS) rdma-cmx/$(CMX_VERSION) || ret=$$?; \
	done; \
	for k in $(dkms-kernels); do \
		$(DKMS) status rdma-cmx/$(CMX_VERSION) -k $$k | grep -q ': installed' || \
			$(DKMS) install -k $$k rdma-cmx/$(CMX_VERSION) || echo "no module for $$k" >&2; \
	done; exit $$ret

install-one-kernel: module install-symvers
	$(MAKE) -C $(KDIR) M=$(OUTDIR) CMX_VERSION='$(CMX_VERSION)' INSTALL_MOD_DIR=updates \
		$(if $(D),INSTALL_MOD_PATH=$(D)$(ROOTLIB:/lib=)) DEPMOD=true modules_install
	# the kernel's own rule skips it where the headers have no System.map, as Debian's
	$(if $(D),,depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) "$$(tools/packaging/kernel-release $(KDIR))")

install-kernels:
	@$(if $(kdirs),,echo "no kernel has headers: the module is not installed" >&2; exit 1;) \
	for d in $(kdirs); do \
		$(MAKE) --no-print-directory install-one-kernel KDIR="$$d" || exit; \
	done

# DKMS where it is, so that the module follows the kernel's updates
use-dkms = $(if $(D),,$(shell command -v $(firstword $(DKMS))))
install-module: $(if $(use-dkms),install-dkms,install-kernels)

uninstall:
	$(if $(D),,tools/packaging/dkms-remove $(SRCDIR) $(DKMS))
	for m in $(D)$(ROOTLIB)/modules/*/updates/rdma_cmx*.ko*; do \
		[ -e "$$m" ] || continue; \
		rm "$$m" && k=$${m%/updates/*} && $(if $(D),true,depmod) "$${k##*/}"; \
	done
	rm -rf $(D)$(CMXLIB) $(D)$(KERNDIR) $(D)$(DATADIR)
	rmdir $(D)$(PREFIX)/lib/rdma-cmx 2>/dev/null || :
	rm -f $(D)$(SBINDIR)/cmx $(addprefix $(D)$(INCDIR)/rdma/,rdma_cmx.h cmx_ioctl.h cmx_rule.h cmx_types.h) \
		$(D)$(MANDIR)/man8/cmx.8 $(D)$(COMPDIR)/cmx $(D)$(ZSHDIR)/_cmx $(D)$(FISHDIR)/cmx.fish \
		$(patsubst Documentation/man/%,$(D)$(MANDIR)/man3/%,$(wildcard Documentation/man/*.3*)) \
		$(D)$(UNITDIR)/rdma-cmx-metrics.service $(D)$(UNITDIR)/rdma-cmx-metrics.timer \
		$(D)$(MANDIR)/man7/rdma_cmx.7 $(D)$(PKGDIR)/rdma-cmx.pc $(D)$(UDEVDIR)/90-rdma-cmx.rules

dist:
	@tools/packaging/dist

deb:
	@tools/packaging/deb

rpm:
	@tools/packaging/rpm $(RPM_FLAGS)

unit:
	@$(MAKE) --no-print-directory -s -j $$(nproc) -C selftests/unit run

check:
	@selftests/check $(if $(T),-t '$(T)') $(patsubst %,-k %,$(K)) $(if $(SEED),-r $(SEED))

check-all:
	@selftests/check -a $(if $(PART),-p $(PART)) $(if $(SEED),-r $(SEED))

coverage:
	@selftests/lab/coverage/run $(S)

demo:
	@selftests/doc/demo

bench:
	@selftests/lab/bench/run
	@selftests/lab/bench/run -i

style:
	@selftests/style

htmldocs:
	@Documentation/htmldocs

generated:
	@selftests/generated -w

clean:
	@rm -rf build
	@for m in lib/Makefile tools/Makefile selftests/*/Makefile selftests/lab/*/Makefile; do \
		$(MAKE) -s -C $${m%/Makefile} clean; \
	done
