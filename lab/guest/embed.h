/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libvirt: its QEMU driver inside this process (qemu:///embed), with no daemon and nothing shared with other guests; or a
 * daemon. */
#pragma once
#include <gio/gio.h>
#include <libvirt/libvirt.h>

typedef struct LabEmbed LabEmbed;

/**
 * lab_embed_open() - open libvirt on a private directory; once in a process, for libvirt cannot
 * change it later
 * @root:     of lab_private_dir_new(); borrowed until lab_embed_close()
 * @uri:      (nullable): of a daemon, in place of the driver inside; @root is not used then
 * @emulator: (nullable): program that the domains will name, when it is a wrapper
 * @qemu:     (nullable): the QEMU behind it, found in PATH when it is a bare name
 *
 * Starts a thread that runs libvirt's events; lifecycle callbacks come from there. What libvirt
 * finds out about an emulator (some 4 s) is kept in the cache, for these two files and this
 * libvirt. Errors: LAB_ERROR_INFRA.
 */
LabEmbed *lab_embed_open(const char *root, const char *uri, const char *emulator, const char *qemu,
			 GError **error);

/** lab_embed_connection() - borrowed */
virConnectPtr lab_embed_connection(const LabEmbed *embed);

/** lab_embed_keep_capabilities() - after a domain was defined: put what libvirt found out into the
 * cache */
void lab_embed_keep_capabilities(const LabEmbed *embed);

/** lab_daemon_qemu_version() - "10.0.2" as a daemon found it, "" when it does not say. Free with g_free(). */
char *lab_daemon_qemu_version(virConnectPtr connection);

/** lab_embed_qemu_version() - "10.0.2" as libvirt found it, "" when not known yet. Free with
 * g_free(). */
char *lab_embed_qemu_version(const LabEmbed *embed);

/** lab_embed_models() - a daemon's security models ("dac", "apparmor"); none inside. Free with g_strfreev(). */
char **lab_embed_models(const LabEmbed *embed);

/** lab_embed_pid_path() - of the file with QEMU's process id, for domain @name. Free with g_free(). */
char *lab_embed_pid_path(const LabEmbed *embed, const char *name);

/** lab_embed_log() - end of what QEMU said on stderr for domain @name, without its command line;
 * "", also on another host. Free with g_free(). */
char *lab_embed_log(const LabEmbed *embed, const char *name);

/** lab_embed_close() - stop the events, close; @root stays */
void lab_embed_close(LabEmbed *embed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabEmbed, lab_embed_close)

/** lab_embed_quiet() - errors are returned, not printed by libvirt as well */
void lab_embed_quiet(void);

/** lab_embed_set_error() - LAB_ERROR_INFRA "what: libvirt's last message" */
void lab_embed_set_error(GError **error, const char *what);
