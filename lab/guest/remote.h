/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to lab/guest: a boot on another host, whose libvirt daemon is all there is of numalab's there.
 *
 * What a boot reads (kernel, initrd, image, prepared file systems, layers of disks) goes into a storage pool there once and stays,
 * named by its content: "numalab-image-DIGEST-ID", in use only when "...-ID.complete" is there, too, which is written last. What a
 * boot writes are volumes "numalab-boot-ID-NAME", which go with it. Volumes of clients that died are removed by the next: a boot's
 * when its domain is gone and they are an hour old, an upload without its end after a day.
 *
 * The guest's serial ports are written to files there, which are followed, and come whole in the end.
 */
#pragma once
#include <gio/gio.h>

#include "lab/guest/boot.h"
#include "lab/guest/domain.h"
#include "lab/guest/virt.h"

typedef struct LabRemote LabRemote;

/** lab_remote_open() - @connection: borrowed. Errors: LAB_ERROR_INFRA: no such pool, or not one of files. */
LabRemote *lab_remote_open(virConnectPtr connection, const char *pool, GError **error);

/**
 * lab_remote_send() - after lab_boot_files_prepare(): have there what the boot needs
 * @dir: the boot's directory
 * @host: what of the domain is that host's is set; borrowed from @remote
 * @cancellable: (nullable)
 *
 * Return: the job, with the paths of that host. Errors: LAB_ERROR_INFRA, LAB_ERROR_INTERRUPTED.
 */
LabBootJob *lab_remote_send(LabRemote *remote, const char *dir, LabDomainHost *host,
			    GCancellable *cancellable, GError **error);

/** lab_remote_listen() - what the serial ports say goes to the end of console.log and progress.log in @dir, by threads, until
 * lab_remote_collect() or lab_remote_free(). Errors: LAB_ERROR_INFRA. */
gboolean lab_remote_listen(LabRemote *remote, const char *dir, GError **error);

/** lab_remote_arguments() - write qemu.args in @dir, as libvirt makes them for @xml. Best effort. */
void lab_remote_arguments(const LabRemote *remote, const char *xml, const char *dir);

/** lab_remote_collect() - after the domain's end: console.log, progress.log, results.img, and what a preparing boot made, to @dir */
gboolean lab_remote_collect(LabRemote *remote, const LabBootJob *job, const char *dir, GError **error);

/** lab_remote_collect_disk() - of a failed boot: its root disk, to @dir */
gboolean lab_remote_collect_disk(LabRemote *remote, const char *dir, GError **error);

/** lab_remote_free() - with what is of this boot alone there; before its connection is closed */
void lab_remote_free(LabRemote *remote);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabRemote, lab_remote_free)
