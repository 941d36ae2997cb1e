/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The YAML files of the data directory, by name. */
#pragma once
#include <glib.h>

/** shipped_names() - names without ".yaml" of a folder ("topologies"), sorted; none when the folder
 * is missing. g_strfreev(). */
char **shipped_names(const char *folder);

/** shipped_path() - of one of them. Free with g_free(). */
char *shipped_path(const char *folder, const char *name);
