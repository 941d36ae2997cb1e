// SPDX-License-Identifier: GPL-2.0-or-later
/* QEMU's arguments as libvirt makes them. */
#include "lab/guest/domain.h"

#include <stdlib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/private_dir.h"
#include "lab/guest/embed.h"
#include "lab/guest/guard.h"
#include "lab/guest/ram_backend.h"

#define SHOWN_ROOT "/run/numalab"

/* libvirt cannot change its directory in a process, so it is opened once. */
static struct {
	char *root;
	int lock;
	LabEmbed *embed;
} state;

static void close_state(void)
{
	g_clear_pointer(&state.embed, lab_embed_close);
	lab_private_dir_remove(state.root, state.lock);
	g_clear_pointer(&state.root, g_free);
}

static gboolean open_state(GError **error)
{
	if (state.embed)
		return TRUE;
	if (!state.root) {
		state.root = lab_private_dir_new(&state.lock, error);
		if (!state.root)
			return FALSE;
		atexit(close_state);
	}
	state.embed = lab_embed_open(state.root, NULL, NULL, NULL, error);
	return state.embed != NULL;
}

static gboolean is_environment(const char *argument)
{
	gsize name = strspn(argument, G_CSET_A_2_Z G_CSET_DIGITS "_");

	return name && argument[name] == '=';
}

/* As the wrapper does before it starts QEMU. What is taken out is freed here. */
static void strip(char **argv)
{
	g_autofree char **before = g_memdup2(argv, (g_strv_length(argv) + 1) * sizeof *argv);

	lab_argv_drop_ram_backend(argv);
	for (char **old = before, **kept = argv; *old; old++)
		if (*kept == *old)
			kept++;
		else
			g_free(*old);
}

char **lab_domain_native_argv(const char *command, GError **error)
{
	g_autoptr(GStrvBuilder) kept = g_strv_builder_new();
	g_auto(GStrv) argv = NULL;
	gboolean program = FALSE;

	if (!g_shell_parse_argv(command, NULL, &argv, error))
		return NULL;
	for (char **argument = argv; *argument; argument++) {
		program |= !is_environment(*argument);
		if (program)
			g_strv_builder_add(kept, *argument);
	}
	return g_strv_builder_end(kept);
}

static char *arguments(const char *command, GError **error)
{
	g_auto(GStrv) argv = lab_domain_native_argv(command, error);
	g_autoptr(GString) s = g_string_new(NULL);

	if (!argv)
		return NULL;
	strip(argv);
	for (char **argument = argv; *argument; argument++)
		g_string_append_printf(s, "%s\n", *argument);
	g_string_replace(s, state.root, SHOWN_ROOT, 0);
	return g_string_free(g_steal_pointer(&s), FALSE);
}

char *lab_domain_qemu_args(const char *xml, GError **error)
{
	g_autofree char *command = NULL;

	if (!open_state(error))
		return NULL;
	command =
		virConnectDomainXMLToNative(lab_embed_connection(state.embed), "qemu-argv", xml, 0);
	if (!command) {
		lab_embed_set_error(error, "libvirt does not take the domain");
		return NULL;
	}
	lab_embed_keep_capabilities(state.embed);
	return arguments(command, error);
}
