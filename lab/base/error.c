/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/error.h"

G_DEFINE_QUARK(lab-error, lab_error)

void lab_error_set_at(GError **error, const LabOrigin *origin, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	if (!origin || !origin->path)
		g_set_error_literal(error, LAB_ERROR, LAB_ERROR_USER, text);
	else if (!origin->line)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s: %s", origin->path, text);
	else
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s:%u:%u: %s", origin->path,
			    origin->line, origin->column, text);
}

int lab_error_exit_code(const GError *error)
{
	if (!error)
		return 0;
	return error->domain == LAB_ERROR ? error->code : LAB_ERROR_INFRA;
}
