# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Compiles sources of the module into a program: with the headers of a kernel, and linked with kernel.c,
# which has the functions that they call. Other kernels than the default one call some that it does not have.
TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
KERNEL ?= $(shell $(TOP)/selftests/vm/kernels default)
KDIR ?= $(or $(shell $(TOP)/selftests/vm/kernel -b $(KERNEL) 2>/dev/null),/lib/modules/$(shell uname -r)/build)
# Debian has the headers that no configuration changes in a folder of their own
KSRC := $(or $(shell sed -n 's|^include \(/.*\)/Makefile$$|\1|p' $(KDIR)/Makefile 2>/dev/null),$(KDIR))
KARCH := $(if $(filter x86_64,$(shell uname -m)),x86,$(shell uname -m))

kernel-dirs := $(foreach i,arch/$(KARCH)/include include,$(KSRC)/$(i) $(KDIR)/$(i)/generated $(KDIR)/$(i)) \
	$(foreach i,arch/$(KARCH)/include include,$(KSRC)/$(i)/uapi $(KDIR)/$(i)/generated/uapi)
# Kernel addresses in assembler need fixed addresses. The other options are those of the kernel.
KERNEL_CFLAGS = -std=gnu11 -O1 -g -Wall -Werror -Wno-pointer-sign -MMD -MP \
	-fno-pie -fshort-wchar -fno-strict-aliasing -fno-delete-null-pointer-checks \
	-nostdinc -I$(TOP)/selftests/unit/include $(addprefix -isystem ,$(kernel-dirs)) \
	$(addprefix -include $(KSRC)/include/linux/,compiler-version.h kconfig.h compiler_types.h) \
	-D__KERNEL__ -D__NO_FORTIFY $(foreach n,BASENAME MODNAME MODFILE,-DKBUILD_$(n)='"$(basename $(notdir $@))"') \
	$(addprefix -I$(TOP)/,kernel/include kernel uapi kernel/base kernel/core selftests/unit)
