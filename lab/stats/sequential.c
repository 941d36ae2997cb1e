/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/sequential.h"

#define FIRST_BOOTS 3

static guint next_boots(guint boots, guint max_boots)
{
	guint64 next = boots + ((guint64)boots + 1) / 2;

	/* A last look that adds less than a quarter is not worth its alpha. */
	return next + next / 4 >= max_boots ? max_boots : (guint)next;
}

guint lab_sequential_looks(guint max_boots)
{
	guint looks = max_boots > 0;

	for (guint boots = FIRST_BOOTS; boots < max_boots; boots = next_boots(boots, max_boots))
		looks++;
	return looks;
}

LabLook lab_sequential_look(guint max_boots, guint look, double alpha)
{
	guint looks = lab_sequential_looks(max_boots), boots = MIN(FIRST_BOOTS, max_boots);
	LabLook l = {boots, 0};
	double all = 0;

	for (guint i = 0; i < looks; i++) {
		if (i == look)
			l.boots = boots;
		all += boots;
		boots = next_boots(boots, max_boots);
	}
	l.alpha = alpha * l.boots / all;
	return l;
}
