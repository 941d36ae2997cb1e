/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bootable kernel with its modules, in the cache, found by its digest. */
#pragma once
#include "lab/build/cache.h"
#include "lab/spec/kernel.h"

typedef struct {
	char *digest;  /* of what it is: boot file, config and modules' digests; decides results */
	char *text;    /* the spec as written ("debian:bookworm") */
	char *release; /* uname -r */
	char *version; /* of the package ("6.1.192-1"), or "" */
	char *label; /* short column head: "6.1.192" (package's upstream version), else the release */
	char *build_id;	    /* hex, of vmlinux; "" when unknown */
	char *dir;	    /* cache entry: boot file, config, modules/RELEASE/, kernel.json */
	char *boot_path;    /* what QEMU gets as -kernel */
	gboolean pvh;	    /* boot_path is an uncompressed ELF vmlinux with a PVH note */
	char *config_path;  /* (nullable): no config known */
	char *modules_path; /* .../modules/RELEASE: has modules.dep */
	guint64 bytes;	    /* on disk */
} LabKernel;

/** struct LabKernelNeeds - what a scenario needs of a kernel's config */
typedef struct {
	gboolean fake_numa;
	gboolean nvdimm;
	gboolean numa_balancing;
	gboolean scratch_xfs;
	gboolean image_erofs;
} LabKernelNeeds;

/**
 * LabProgress - what is being done, for people; @fraction 0..1, or < 0 when unknown. May be NULL
 * everywhere.
 */
typedef void (*LabProgress)(const char *what, double fraction, gpointer data);

/**
 * lab_kernel_get() - the kernel of a spec, fetched or read into the cache when it is not there
 * @offline: never ask a mirror: use the newest cached kernel of that spec
 * @fetched: (out) (optional): whether anything was downloaded
 *
 * debian: packages come by apt's own tools with the host's mirrors and keys, through a private apt
 * state below the cache; the host's apt state, dpkg database and /boot are never touched. Without
 * @offline the suite's index is refreshed at most once an hour (so that "newest" is decided once
 * for a whole run). A suite includes its updates and security suites, as its users have them.
 *
 * dir: everything is copied into the cache by the digest of its content; nothing in it is ever run.
 * Modules are kept compressed.
 *
 * Errors: LAB_ERROR_USER at the spec's origin (no such suite, package, version: with the versions
 * there are; no such path; not a kernel tree), LAB_ERROR_INFRA (no network, disk full).
 */
LabKernel *lab_kernel_get(LabCache *cache, const LabKernelSpec *spec, gboolean offline,
			  LabProgress progress, gpointer data, gboolean *fetched, GError **error);

/**
 * lab_kernel_open() - one that is in the cache, by its whole digest or an unambiguous start of it
 * (>= 6 digits)
 */
LabKernel *lab_kernel_open(LabCache *cache, const char *digest, GError **error);
/** lab_kernel_list() - all in the cache, by release; array of LabKernel */
GPtrArray *lab_kernel_list(LabCache *cache, GError **error);

/**
 * lab_kernel_check() - does the config have what is needed?
 *
 * Errors: LAB_ERROR_USER at the spec's origin: "debian:bookworm (6.1.0-57-amd64) lacks
 * CONFIG_NUMA_EMU, which 'kind: fake' needs". All that is missing is in the one line. A kernel
 * without a known config passes (the agent will check).
 */
gboolean lab_kernel_check(const LabKernel *kernel, const LabKernelNeeds *needs,
			  const LabOrigin *origin, GError **error);

/**
 * lab_kernel_uses_async_pf() - does it ask KVM for asynchronous page faults by interrupt when they are offered?
 *
 * Linux 5.8 and later with CONFIG_KVM_GUEST; FALSE when the config is not known.
 */
gboolean lab_kernel_uses_async_pf(const LabKernel *kernel);

/** lab_kernel_hz() - CONFIG_HZ, ticks a second; 0 when the config is not known */
guint lab_kernel_hz(const LabKernel *kernel);

void lab_kernel_free(LabKernel *kernel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabKernel, lab_kernel_free)
