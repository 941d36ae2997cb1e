/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest may write to its two ports: crash evidence, quoted lines, progress lines. Nothing that comes out may harm a terminal. */
#include "tests/fuzz/driver.h"

#include <zlib.h>

#include "lab/guest/evidence.h"
#include "lab/guest/progress.h"

/* UTF-8 with no control character but newline. */
static void check_printable(const char *text)
{
	g_assert_true(g_utf8_validate(text, -1, NULL));
	for (const char *p = text; *p; p = g_utf8_next_char(p))
		g_assert_true(*p == '\n' || g_unichar_isprint(g_utf8_get_char(p)));
}

static void progress(const char *body, gsize length)
{
	LabProgressLine line = {.step = 1, .n_steps = 1};
	g_autoptr(GString) sealed = g_string_new(NULL);

	lab_progress_parse(body, length, &line);
	g_string_printf(sealed, "nl1 1 %08lx ", crc32_z(0, (const Bytef *)body, length));
	g_string_append_len(sealed, body, (gssize)length);
	if (!lab_progress_parse(sealed->str, sealed->len, &line))
		return;
	g_assert_true(line.step <= line.n_steps);
	g_assert_true(memchr(line.name, 0, sizeof line.name) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	g_autoptr(LabEvidence) found = lab_evidence_find(text, size);
	g_autofree char *last = lab_evidence_lines(text, size, 5);

	check_printable(last);
	if (found) {
		check_printable(found->first);
		check_printable(found->quote);
	}
	progress(text, MIN(size, (size_t)700));
	return 0;
}
