// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/embed.h"

#include <libvirt/libvirt-qemu.h>
#include <libvirt/virterror.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/guest/capabilities.h"
#include "lab/guest/connect.h"

struct LabEmbed {
	const char *root;   /* NULL: a daemon */
	gboolean session;   /* the daemon is the user's own */
	gboolean remote;    /* it is on another host */
	char *capabilities; /* directory of libvirt's own cache, in root */
	char *kept;	    /* (nullable): directory in ours */
	virConnectPtr connection;
	GThread *events;
	int stop; /* atomic */
	int timer;
};

static void say_nothing(void *data, virErrorPtr error)
{
}

void lab_embed_quiet(void)
{
	virSetErrorFunc(NULL, say_nothing);
}

void lab_embed_set_error(GError **error, const char *what)
{
	const virError *last = virGetLastError();

	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: %s", what,
		    last && last->message ? last->message : "unknown error");
}

/*
 * Ownership, labels, cgroups and namespaces are for guests of many owners on one host.
 * dynamic_ownership would change the owner of kernels and images.
 */
static gboolean write_configuration(const char *root, GError **error)
{
	static const char common[] = "stdio_handler = \"file\"\n"
				     "security_driver = \"none\"\n"
				     "namespaces = []\n"
				     "cgroup_controllers = []\n"
				     "dynamic_ownership = 0\n"
				     "remember_owner = 0\n"
				     "capability_filters = [ \"cpu-unavailable-features\" ]\n";
	g_autofree char *etc = g_build_filename(root, "etc", NULL);
	g_autofree char *path = g_build_filename(etc, "qemu.conf", NULL);
	g_autofree char *text = g_strconcat(
		common, geteuid() == 0 ? "user = \"root\"\ngroup = \"root\"\n" : "", NULL);

	/* Gone with the process, so not worth an fsync(). */
	return lab_dir_make(etc, error) &&
	       g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, error);
}

static void on_timer(int timer, void *data)
{
}

static gpointer run_events(gpointer data)
{
	LabEmbed *embed = data;

	while (!g_atomic_int_get(&embed->stop))
		if (virEventRunDefaultImpl() < 0)
			break;
	return NULL;
}

/* What libvirt has to say goes into its directory, not to the user's terminal. */
static void prepare_environment(const char *root, const char *qemu)
{
	g_autofree char *log = g_strdup_printf("3:file:%s/libvirt.log", root);
	g_autofree char *dir = qemu && strchr(qemu, '/') ? g_path_get_dirname(qemu) : NULL;

	g_setenv("LIBVIRT_LOG_OUTPUTS", log, FALSE);
	if (dir) {
		/* The wrapper gets no variable of ours when libvirt looks at it, only PATH. */
		g_autofree char *path = g_strconcat(dir, ":", g_getenv("PATH"), NULL);

		g_setenv("PATH", path, TRUE);
	}
}

/* Have libvirt find out about @emulator, unless that is known. */
static gboolean look_at(LabEmbed *embed, const char *emulator, GError **error)
{
	g_autofree char *version = lab_embed_qemu_version(embed);
	char *answer;

	if (*version)
		return TRUE;
	answer = virConnectGetDomainCapabilities(embed->connection, emulator, "x86_64", "q35",
						 "qemu", 0);
	if (!answer) {
		lab_embed_set_error(error, "libvirt cannot use the emulator");
		return FALSE;
	}
	free(answer);
	lab_embed_keep_capabilities(embed);
	return TRUE;
}

/* Inside this process: all that libvirt keeps is below @root. */
static gboolean prepare_inside(LabEmbed *embed, const char *root, const char *emulator,
			       const char *qemu, GError **error)
{
	embed->root = root;
	if (!write_configuration(root, error))
		return FALSE;
	prepare_environment(root, qemu);
	embed->capabilities = g_build_filename(root, "cache", "qemu", "capabilities", NULL);
	embed->kept = lab_capabilities_dir(emulator, qemu);
	lab_capabilities_copy(embed->kept, embed->capabilities);
	return TRUE;
}

LabEmbed *lab_embed_open(const char *root, const char *uri, const char *emulator, const char *qemu,
			 GError **error)
{
	g_autoptr(LabEmbed) embed = g_new0(LabEmbed, 1);
	g_autofree char *inside = g_strconcat("qemu:///embed?root=", root, NULL);

	embed->timer = -1;
	embed->session = uri && strstr(uri, "/session");
	embed->remote = lab_connect_is_remote(uri);
	if (!uri && !prepare_inside(embed, root, emulator, qemu, error))
		return NULL;
	lab_embed_quiet();
	if (virInitialize() < 0 || virEventRegisterDefaultImpl() < 0) {
		lab_embed_set_error(error, "cannot start libvirt");
		return NULL;
	}
	/* Made to fire once, when the thread is to look at "stop". */
	embed->timer = virEventAddTimeout(-1, on_timer, NULL, NULL);
	embed->events = g_thread_new("libvirt", run_events, embed);
	embed->connection = virConnectOpen(uri ? uri : inside);
	if (!embed->connection) {
		lab_embed_set_error(error, uri ? uri : "cannot open libvirt's QEMU driver");
		return NULL;
	}
	if (!uri && emulator && !look_at(embed, emulator, error))
		return NULL;
	return g_steal_pointer(&embed);
}

virConnectPtr lab_embed_connection(const LabEmbed *embed)
{
	return embed->connection;
}

void lab_embed_keep_capabilities(const LabEmbed *embed)
{
	if (embed->root)
		lab_capabilities_copy(embed->capabilities, embed->kept);
}

char *lab_daemon_qemu_version(virConnectPtr connection)
{
	unsigned long version;

	return virConnectGetVersion(connection, &version) < 0
		       ? g_strdup("")
		       : g_strdup_printf("%lu.%lu.%lu", version / 1000000, version / 1000 % 1000,
					 version % 1000);
}

char *lab_embed_qemu_version(const LabEmbed *embed)
{
	if (!embed->root)
		return lab_daemon_qemu_version(embed->connection);
	return lab_capabilities_qemu_version(embed->capabilities);
}

/* "2026-11-30 16:14:52.477+0000: " is libvirt speaking, "2026-11-30T16:04:24.295054Z " QEMU, which may also say lines without. */
#define LIBVIRT_STAMP "^[0-9-]{10} [0-9:.]+\\+0000: "
#define QEMU_STAMP "^[0-9-]{10}T[0-9:.]+Z "

char **lab_embed_models(const LabEmbed *embed)
{
	g_autoptr(GStrvBuilder) models = g_strv_builder_new();
	char *text = embed->root ? NULL : virConnectGetCapabilities(embed->connection);
	g_autoptr(GRegex) regex = g_regex_new("<secmodel>\\s*<model>([a-z]+)</model>", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	for (gboolean is = text && g_regex_match(regex, text, 0, &match); is;
	     is = g_match_info_next(match, NULL)) {
		g_autofree char *model = g_match_info_fetch(match, 1);

		g_strv_builder_add(models, model);
	}
	free(text);
	return g_strv_builder_end(models);
}

/* Where a daemon has its files: src/qemu/qemu_conf.c. */
char *lab_embed_pid_path(const LabEmbed *embed, const char *name)
{
	if (embed->root)
		return g_strdup_printf("%s/run/qemu/%s.pid", embed->root, name);
	if (embed->session)
		return g_strdup_printf("%s/libvirt/qemu/run/%s.pid", g_get_user_runtime_dir(),
				       name);
	return g_strdup_printf("/run/libvirt/qemu/%s.pid", name);
}

static char *log_path(const LabEmbed *embed, const char *name)
{
	if (embed->root)
		return g_strdup_printf("%s/log/qemu/%s.log", embed->root, name);
	if (embed->session)
		return g_strdup_printf("%s/libvirt/qemu/log/%s.log", g_get_user_cache_dir(), name);
	return g_strdup_printf("/var/log/libvirt/qemu/%s.log", name);
}

char *lab_embed_log(const LabEmbed *embed, const char *name)
{
	g_autofree char *path = log_path(embed, name);
	g_autoptr(GRegex) qemu_stamp = g_regex_new(QEMU_STAMP, 0, 0, NULL);
	g_autoptr(GString) kept = g_string_new(NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	gboolean said = FALSE;

	/* Out of reach; what QEMU said before it ended is in libvirt's error. */
	if (embed->remote)
		return g_strdup("");
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return g_strdup("");
	/* Of a guest that is never started again, under this name. */
	if (!embed->root)
		unlink(path);
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		/* The command line, over many lines, ends with this option. */
		if (!said) {
			said = g_str_has_prefix(*line, "-msg ");
			continue;
		}
		if (**line && g_utf8_validate(*line, -1, NULL) &&
		    !g_regex_match_simple(LIBVIRT_STAMP, *line, 0, 0)) {
			g_autofree char *plain =
				g_regex_replace_literal(qemu_stamp, *line, -1, 0, "", 0, NULL);

			g_string_append_printf(kept, "%s\n", plain);
		}
	}
	return g_string_free(g_steal_pointer(&kept), FALSE);
}

void lab_embed_close(LabEmbed *embed)
{
	if (!embed)
		return;
	if (embed->connection)
		virConnectClose(embed->connection);
	if (embed->events) {
		g_atomic_int_set(&embed->stop, 1);
		virEventUpdateTimeout(embed->timer, 0);
		g_thread_join(embed->events);
	}
	if (embed->timer >= 0)
		virEventRemoveTimeout(embed->timer);
	g_free(embed->capabilities);
	g_free(embed->kept);
	g_free(embed);
}
