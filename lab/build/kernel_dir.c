/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/kernel_source.h"

LabKernel *lab_kernel_get_dir(LabCache *cache, const LabKernelSpec *spec, LabProgress progress,
			      gpointer data, GError **error)
{
	lab_error_set_at(error, &spec->origin, "dir: kernels are not supported yet");
	return NULL;
}
