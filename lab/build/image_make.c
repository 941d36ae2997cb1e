/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/image_make.h"

#include <string.h>
#include <unistd.h>

#include "lab/base/file.h"
#include "lab/base/process.h"
#include "lab/build/erofs.h"
#include "lab/build/image_tree.h"

/* 2026-01-01, as the guest's clock: no file is from the guest's future. */
#define EPOCH "1767225600"

/* Far more than it takes on a slow machine: 40 s on one with 2 busy cores. */
#define TIMEOUT_US (1800 * G_USEC_PER_SEC)

typedef struct {
	LabApt *apt;
	const GPtrArray *packages;
	const char *const *options; /* (nullable): more of mmdebstrap's */
	char *debs, *tmp, *tar, *tree, *image;
} Make;

static void make_clear(Make *make)
{
	g_free(make->debs);
	g_free(make->tmp);
	g_free(make->tar);
	g_free(make->tree);
	g_free(make->image);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Make, make_clear)

static void say(LabProgress progress, gpointer data, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void say(LabProgress progress, gpointer data, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	if (!progress)
		return;
	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	progress(text, -1, data);
}

/* "adduser=3.134,apt=2.6.2,..." */
static char *include_list(const GPtrArray *packages)
{
	g_autoptr(GString) list = g_string_new("--include=");

	for (guint i = 0; i < packages->len; i++) {
		const LabAptPackage *p = packages->pdata[i];

		g_string_append_printf(list, "%s%s=%s", i ? "," : "", p->name, p->version);
	}
	return g_string_free(g_steal_pointer(&list), FALSE);
}

static char *copy_hook(const char *from, const char *to)
{
	g_autofree char *quoted = g_shell_quote(from);

	return g_strdup_printf("--setup-hook=sync-in %s %s", quoted, to);
}

/*
 * mmdebstrap gets the index and the packages that were fetched, and asks no mirror itself. The
 * variant is "custom" because "essential" would choose packages itself, and take usrmerge, with all of perl, for usr-is-merged. Its
 * hooks are shell commands; the only thing in them that is not ours, the path of the cache, is quoted.
 */
static gboolean install(const Make *make, GError **error)
{
	static const char links[] =
		"--setup-hook=set -e; for d in bin sbin lib lib64; do mkdir -p \"$1/usr/$d\"; "
		"ln -s \"usr/$d\" \"$1/$d\"; done; mkdir -p \"$1/var/cache/apt/archives/partial\"";
	gboolean is_root = geteuid() == 0;
	g_autofree char *include = include_list(make->packages);
	g_autofree char *lists = g_build_filename(lab_apt_dir(make->apt), "state", "lists", NULL);
	g_autofree char *sources =
		g_build_filename(lab_apt_dir(make->apt), "numalab.sources", NULL);
	g_autofree char *copy_lists = copy_hook(lists, "/var/lib/apt/lists");
	g_autofree char *copy_debs = copy_hook(make->debs, "/var/cache/apt/archives");
	g_autofree char *tmpdir = g_strconcat("TMPDIR=", make->tmp, NULL);
	/* In a user namespace, the user of the namespace must reach TMPDIR: not so below a home of mode 0700. */
	const char *const environment[] = {"SOURCE_DATE_EPOCH=" EPOCH, "TZ=UTC0",
					   is_root ? tmpdir : NULL, NULL};
	const LabProcessOptions options = {.environment = environment, .timeout_us = TIMEOUT_US};
	/* A PID namespace: when this process is killed, nothing of mmdebstrap goes on writing. */
	const char *const namespace[] = {"unshare",	 "--pid",	 "--fork",
					 "--kill-child", "--mount-proc", NULL};
	const char *const argv[] = {"mmdebstrap",
				    is_root ? "--mode=root" : "--mode=unshare",
				    "--quiet",
				    "--variant=custom",
				    "--format=tar",
				    "--architectures=amd64",
				    "--skip=update",
				    include,
				    links,
				    copy_lists,
				    copy_debs,
				    NULL};
	const char *const last[] = {"",
				    make->tar,
				    sources,
				    NULL};
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) all = NULL;

	if (is_root)
		g_strv_builder_addv(builder, (const char **)namespace);
	g_strv_builder_addv(builder, (const char **)argv);
	if (make->options)
		g_strv_builder_addv(builder, (const char **)make->options);
	g_strv_builder_addv(builder, (const char **)last);
	all = g_strv_builder_end(builder);
	if (lab_process_check((const char *const *)all, &options, NULL, error))
		return TRUE;
	g_prefix_error(error, "mmdebstrap: ");
	if (!is_root)
		g_prefix_error(error, "without root an image needs user namespaces, the package "
				      "uidmap, and a line for the user in /etc/subuid and "
				      "/etc/subgid: ");
	return FALSE;
}

static gboolean unpack(const Make *make, GError **error)
{
	/* Owners do not matter: all files will be root's. */
	const char *const argv[] = {"tar",
				    "--extract",
				    "--file",
				    make->tar,
				    "--directory",
				    make->tree,
				    "--no-same-owner",
				    "--preserve-permissions",
				    "--exclude=./dev/*",
				    NULL};

	return lab_dir_make(make->tree, error) && lab_process_check(argv, NULL, NULL, error);
}

/* dpkg's own record, before it is thrown away: is everything there, and installed? */
static gboolean check_installed(const Make *make, GError **error)
{
	g_autofree char *path = g_build_filename(make->tree, "var/lib/dpkg/status", NULL);
	g_autofree char *status = lab_file_read(path, NULL, error);
	g_auto(GStrv) stanzas = status ? g_strsplit(status, "\n\n", -1) : NULL;
	guint n = 0;

	if (!status)
		return FALSE;
	for (char **stanza = stanzas; *stanza; stanza++)
		if (strstr(*stanza, "\nStatus: install ok installed\n"))
			n++;
	if (n == make->packages->len)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "mmdebstrap was to install %u packages, but %u are installed",
		    make->packages->len, n);
	return FALSE;
}

static gboolean write_packages(const Make *make, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "packages.txt", NULL);
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < make->packages->len; i++) {
		const LabAptPackage *p = make->packages->pdata[i];

		g_string_append_printf(text, "%s %s %s\n", p->name, p->version, p->arch);
	}
	return lab_file_write(path, text->str, (gssize)text->len, error);
}

gboolean lab_image_make_tar(LabApt *apt, const char *name, const GPtrArray *packages, const char *const *options,
			    const char *dir, LabProgress progress, gpointer data, GError **error)
{
	g_auto(Make) make = {
		.apt = apt,
		.packages = packages,
		.options = options,
		.debs = g_build_filename(dir, "debs", NULL),
		.tmp = g_build_filename(dir, "tmp", NULL),
		.tar = g_build_filename(dir, LAB_IMAGE_TAR, NULL),
	};
	guint64 bytes = 0;

	for (guint i = 0; i < packages->len; i++)
		bytes += ((LabAptPackage *)packages->pdata[i])->bytes;
	say(progress, data, "image %s: fetching %u packages (%" G_GUINT64_FORMAT " MiB)", name,
	    packages->len, (bytes + (1 << 19)) >> 20);
	if (!lab_dir_make(make.debs, error) || !lab_dir_make(make.tmp, error) ||
	    !lab_apt_download(apt, packages, make.debs, error))
		return FALSE;
	say(progress, data, "image %s: installing %u packages", name, packages->len);
	return install(&make, error) && lab_dir_remove(make.debs, error) &&
	       lab_dir_remove(make.tmp, error) && write_packages(&make, dir, error);
}

gboolean lab_image_make(LabApt *apt, const LabImageRecipe *recipe, const GPtrArray *packages,
			const char *dir, LabProgress progress, gpointer data, GError **error)
{
	g_auto(Make) make = {
		.packages = packages,
		.tar = g_build_filename(dir, LAB_IMAGE_TAR, NULL),
		.tree = g_build_filename(dir, "tree", NULL),
		.image = g_build_filename(dir, LAB_IMAGE_FILE, NULL),
	};

	if (!lab_image_make_tar(apt, recipe->name, packages, NULL, dir, progress, data, error))
		return FALSE;
	say(progress, data, "image %s: making the file system", recipe->name);
	return unpack(&make, error) && lab_dir_remove(make.tar, error) &&
	       check_installed(&make, error) &&
	       lab_image_tree_clean(make.tree, (const char *const *)recipe->exclude, error) &&
	       lab_erofs_make(make.tree, make.image, EPOCH, 0, error) &&
	       lab_dir_remove(make.tree, error);
}
