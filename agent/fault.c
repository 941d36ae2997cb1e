/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/fault.h"

int fault_set(struct fault *fault, const char *stage, const char *format, ...)
{
	va_list args;

	memset(fault, 0, sizeof(*fault));
	snprintf(fault->stage, sizeof(fault->stage), "%s", stage);
	va_start(args, format);
	vsnprintf(fault->message, sizeof(fault->message), format, args);
	va_end(args);
	return -1;
}

void fault_add(struct fault *fault, const char *format, ...)
{
	size_t used = strlen(fault->message);
	va_list args;

	if (used && used + 2 < sizeof(fault->message)) {
		memcpy(fault->message + used, "; ", 3);
		used += 2;
	}
	va_start(args, format);
	vsnprintf(fault->message + used, sizeof(fault->message) - used, format, args);
	va_end(args);
}
