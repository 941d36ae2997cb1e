/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/files.h"
#include "agent/settings.h"

static int apply(const struct job_setting *setting, struct fault *fault)
{
	const char *path = NULL;
	char *found;
	int matches;

	for (size_t i = 0; !path && i < setting->n_paths; i++)
		if (!access(setting->paths[i], F_OK))
			path = setting->paths[i];
	if (!path)
		return fault_set(fault, "settings", "setting %s: this kernel has no %s%s",
				 setting->name, setting->paths[0],
				 setting->n_paths > 1 ? " (nor the others)" : "");
	if (file_write(path, setting->value))
		return fault_set(fault, "settings", "setting %s: writing '%s' to %s: %s",
				 setting->name, setting->value, path, strerror(errno));
	found = file_read(path, NULL);
	if (!found)
		return fault_set(fault, "settings", "setting %s: reading %s back: %s",
				 setting->name, path, strerror(errno));
	matches = value_matches(found, setting->value);
	if (!matches)
		fault_set(fault, "settings", "setting %s: %s: wanted '%s', found '%.*s'",
			  setting->name, path, setting->value, (int)strcspn(found, "\n"), found);
	free(found);
	return matches ? 0 : -1;
}

int settings_apply(const struct job *job, struct fault *fault)
{
	for (size_t i = 0; i < job->n_settings; i++)
		if (apply(&job->settings[i], fault))
			return -1;
	return 0;
}
