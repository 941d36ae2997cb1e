/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where things are. All return newly allocated absolute paths. */
#pragma once
#include <glib.h>

/** lab_path_self() - the running executable */
char *lab_path_self(void);

/**
 * lab_path_data() - a data file or directory ("images", "topologies/x.yaml")
 *
 * In the tree when the executable stands in a tree's build directory (its parent's parent has lab/ and topologies/),
 * else below share/numalab of the prefix that the executable is installed in (its parent's parent), or was built for.
 */
char *lab_path_data(const char *relative);

/** lab_path_helper() - "numalab-agent", "numalab-emulator", ...: beside the executable, else PREFIX/libexec/numalab */
char *lab_path_helper(const char *name);

/** lab_path_cache() - @override, else $NUMALAB_CACHE, else $XDG_CACHE_HOME/numalab */
char *lab_path_cache(const char *override);

/** lab_path_store() - @override, else $NUMALAB_STORE, else $XDG_DATA_HOME/numalab */
char *lab_path_store(const char *override);
