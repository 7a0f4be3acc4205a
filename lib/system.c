// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The librdmacm of the system. It serves the rsocket API, and the whole API of a process that was
 * allowed to fall back on it and found no char device.
 *
 * Both libraries have the same name. The library of the system is opened by its path, so that the
 * dynamic linker treats it as a second library. Its calls of rdma_*() go to this library, as those of
 * the program do. After a fallback, this library hands each of them back. On our own stack, the other
 * library serves rsockets only, and must call its own functions: RTLD_DEEPBIND. With this flag it also
 * calls free() of libc. If the program has its own malloc(), asprintf() and other functions of libc
 * allocate with that one, and free() of libc must not free such memory. So there are no rsockets on
 * our own stack in a program with its own malloc().
 *
 * The first call of an exported function decides for the whole life of the process. All ids,
 * channels and events therefore come from one library, and none is passed to the other.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmx_lib.h"
#include "open_device.h"

#define CMXL_CONF_PATH "/etc/rdma/rdma_cmx.conf"
#define CMXL_FALLBACK "RDMA_CMX_FALLBACK"

int cmxl_stack;
static void *library;

static bool cmxl_system_is_own_file(const struct stat *st)
{
	struct stat own;
	Dl_info info;

	return dladdr(&cmxl_stack, &info) && !stat(info.dli_fname, &own) &&
	       own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

static bool cmxl_system_symbol_is_replaced(void *libc, const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	void *symbol = NULL;
	Dl_info info;

	if (address == dlsym(libc, name))
		return false;
	/* a program that is not PIE may have an undefined symbol with an address, that of its PLT */
	return !dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) || !symbol ||
	       ((ElfW(Sym) *)symbol)->st_shndx != SHN_UNDEF;
}

static bool cmxl_system_malloc_is_replaced(void)
{
	/* a program that is not PIE may have all of the first four in its PLT */
	static const char * const names[] = {
		"free", "malloc", "calloc", "realloc", "posix_memalign", "malloc_usable_size",
	};
	void *libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
	bool replaced = false;
	size_t i;

	if (!libc)
		return false;
	for (i = 0; i < ARRAY_SIZE(names) && !replaced; i++)
		replaced = cmxl_system_symbol_is_replaced(libc, names[i]);
	dlclose(libc);
	return replaced;
}

/* Another copy of this library would forward the calls to this one. */
static bool cmxl_system_is_shim(void *lib)
{
	return dlsym(lib, "rdma_cmx_get_events");
}

static bool cmxl_system_load(const char *dir, int dir_len, const char *file)
{
	char path[PATH_MAX];
	struct stat st;
	void *lib;

	if (snprintf(path, sizeof(path), "%.*s/%s", dir_len, dir, file) >= (int)sizeof(path) ||
	    stat(path, &st) || cmxl_system_is_own_file(&st))
		return false;
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL |
		     (cmxl_stack == CMXL_STACK_OWN ? RTLD_DEEPBIND : 0));
	if (!lib)
		return false;
	if (cmxl_system_is_shim(lib)) {
		dlclose(lib);
		return false;
	}
	library = lib;
	return true;
}

/* The second name is that of a file diverted by a package. */
static bool cmxl_system_load_from(const char *dir, int dir_len)
{
	return cmxl_system_load(dir, dir_len, "librdmacm.so.1") ||
	       cmxl_system_load(dir, dir_len, "librdmacm.so.1.distrib");
}

/*
 * The library is in the directory of libibverbs, or else in a usual one. libibverbs is found by one
 * of its functions, which no tool is likely to replace.
 */
static void cmxl_system_find(void)
{
	static const char *const dirs[] = { "/usr/lib64", "/usr/lib", "/lib64", "/lib" };
	const char *slash;
	unsigned int i;
	Dl_info info;

	if (cmxl_stack == CMXL_STACK_OWN && cmxl_system_malloc_is_replaced()) {
		cmxl_message("the program has its own malloc(), so that rsockets are not available on rdma_cmx");
		return;
	}
	if (dladdr((void *)ibv_copy_qp_attr_from_kern, &info)) {
		slash = strrchr(info.dli_fname, '/');
		if (slash && cmxl_system_load_from(info.dli_fname, slash - info.dli_fname))
			return;
	}
	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		if (cmxl_system_load_from(dirs[i], strlen(dirs[i])))
			return;
}

/* NULL with ENOSYS if there is no such library, or if it lacks the function. */
void *cmxl_system_function(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	void *function;

	pthread_once(&once, cmxl_system_find);
	function = library ? dlsym(library, name) : NULL;
	if (!function)
		errno = ENOSYS;
	return function;
}

/* White space around the value is of no importance. */
static bool cmxl_fallback_is_on(const char *value)
{
	static const char blank[] = " \t\r\n";

	value += strspn(value, blank);
	return *value == '1' && !value[1 + strspn(value + 1, blank)];
}

static bool cmxl_fallback_is_in_conf(void)
{
	FILE *f = fopen(CMXL_CONF_PATH, "re");
	bool found = false;
	char line[64];

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = !strncmp(line, CMXL_FALLBACK "=", strlen(CMXL_FALLBACK "=")) &&
			cmxl_fallback_is_on(line + strlen(CMXL_FALLBACK "="));
	fclose(f);
	return found;
}

/* The variable overrides the file, but not in a set-user-ID program. */
static bool cmxl_fallback_is_allowed(void)
{
	const char *value = secure_getenv(CMXL_FALLBACK);

	return value ? cmxl_fallback_is_on(value) : cmxl_fallback_is_in_conf();
}

/* Lack of permission is not covered: the administrator must see that. */
static bool cmxl_fallback_device_is_missing(void)
{
	int fd = cmxl_device_open_file(O_RDWR);

	if (fd < 0)
		return errno == ENOENT || errno == ENODEV || errno == ENXIO;
	close(fd);
	return false;
}

static void cmxl_system_decide(void)
{
	int stack = CMXL_STACK_OWN;
	void *function;
	Dl_info info;

	if (cmxl_fallback_is_allowed() && cmxl_fallback_device_is_missing()) {
		function = cmxl_system_function("rdma_create_id");
		if (function && dladdr(function, &info)) {
			stack = CMXL_STACK_SYSTEM;
			cmxl_message("no " CMXL_DEVICE_PATH ": falling back on %s", info.dli_fname);
		} else {
			cmxl_message("no " CMXL_DEVICE_PATH ", and no other librdmacm to fall back on");
		}
	}
	__atomic_store_n(&cmxl_stack, stack, __ATOMIC_RELEASE);
}

bool cmxl_system_is_used_slow(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, cmxl_system_decide);
	return cmxl_stack == CMXL_STACK_SYSTEM;
}
