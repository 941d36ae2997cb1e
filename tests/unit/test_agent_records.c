/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent writes: CRC, fields, records and kept output, built for the host. */
#include <check.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "agent/crc32.c"
#include "agent/fault.c"
#include "agent/fields.c"
#include "agent/output.c"
#include "agent/records.c"

START_TEST(test_crc)
{
	guint8 data[1000];

	ck_assert_uint_eq(agent_crc32(0, "", 0), 0);
	ck_assert_uint_eq(agent_crc32(0, "123456789", 9), 0xcbf43926);
	ck_assert_uint_eq(agent_crc32(agent_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
	for (guint i = 0; i < sizeof(data); i++)
		data[i] = (guint8)(i * 7 + i / 256);
	for (guint bytes = 0; bytes <= sizeof(data); bytes += 37)
		ck_assert_uint_eq(agent_crc32(0, data, bytes), crc32(0, data, bytes));
}
END_TEST

/* Every byte but NUL goes through a field and back. */
START_TEST(test_field_round_trip)
{
	char value[256], field[800];

	for (int i = 1; i < 256; i++)
		value[i - 1] = (char)i;
	value[255] = '\0';
	ck_assert_uint_gt(field_encode(value, field, sizeof(field)), 255);
	for (const char *at = field; *at; at++)
		ck_assert(*at >= 0x21 && *at <= 0x7e);
	ck_assert_int_eq(field_decode(field), 0);
	ck_assert_str_eq(field, value);
	ck_assert_uint_eq(field_encode("", field, sizeof(field)), 1);
	ck_assert_str_eq(field, "%");
	ck_assert_int_eq(field_decode(field), 0);
	ck_assert_str_eq(field, "");
}
END_TEST

START_TEST(test_field_too_long)
{
	char field[8];

	ck_assert_uint_eq(field_encode("1234567", field, sizeof(field)), 7);
	ck_assert_uint_eq(field_encode("12345678", field, sizeof(field)), 0);
	ck_assert_str_eq(field, "");
	ck_assert_uint_eq(field_encode("12345 ", field, sizeof(field)), 0);
	ck_assert_uint_eq(field_encode("", field, 1), 0);
}
END_TEST

START_TEST(test_text)
{
	char data[32];
	struct text text = {.data = data, .size = sizeof(data)};

	text_add(&text, "a", "1 2");
	text_add_number(&text, "n", G_MAXUINT64);
	text_add(&text, "much", "too long");
	text_add(&text, "e", "");
	ck_assert_uint_eq(text.used, strlen("a 1%202\nn 18446744073709551615\n"));
	ck_assert_mem_eq(text.data, "a 1%202\nn 18446744073709551615\n", text.used);
}
END_TEST

typedef struct {
	char *path;
	char *bytes;
	gsize length;
} Device;

static Device device_make(gsize bytes)
{
	Device device = {0};
	g_autofree char *old = g_malloc(bytes);
	int fd = g_file_open_tmp("agent-records-XXXXXX", &device.path, NULL);

	/* Full of an older boot's bytes. */
	memset(old, 'N', bytes);
	ck_assert_int_eq(write(fd, old, bytes), (gssize)bytes);
	close(fd);
	return device;
}

static const struct agent_record_header *record_at(const Device *device, gsize offset)
{
	return (const struct agent_record_header *)(device->bytes + offset);
}

static void device_read(Device *device)
{
	ck_assert(g_file_get_contents(device->path, &device->bytes, &device->length, NULL));
	g_unlink(device->path);
}

static void device_free(Device *device)
{
	g_free(device->path);
	g_free(device->bytes);
}

START_TEST(test_records)
{
	struct records records = {.fd = -1};
	struct fault fault = {0};
	Device device = device_make(65536);

	ck_assert_int_eq(records_add(&records, AGENT_REC_START, "", "x", 1, 1, &fault), -1);
	ck_assert_int_eq(records_open(&records, device.path, 65536, &fault), 0);
	ck_assert_int_eq(records_add(&records, AGENT_REC_START, "", "a 1\n", 4, 11, &fault), 0);
	ck_assert_int_eq(records_add(&records, AGENT_REC_OUTPUT, "s/stdout", NULL, 0, 12, &fault),
			 0);
	ck_assert_int_eq(records_add(&records, AGENT_REC_END, "", "steps 1\n", 8, 13, &fault), 0);
	close(records.fd);
	device_read(&device);

	const struct agent_results_header *header = (const void *)device.bytes;
	const struct agent_record_header *record = record_at(&device, 64);

	ck_assert_mem_eq(header->magic, AGENT_RESULTS_MAGIC, 8);
	ck_assert_uint_eq(header->device_bytes, 65536);
	ck_assert_mem_eq(record->magic, AGENT_RECORD_MAGIC, 4);
	ck_assert_uint_eq(record->header_crc32, crc32(0, (const void *)record, 36));
	ck_assert_uint_eq(record->body_crc32, crc32(0, (const void *)"a 1\n", 4));
	ck_assert_uint_eq(record->clock_ns, 11);
	record = record_at(&device, 64 + 128);
	ck_assert_uint_eq(record->sequence, 1);
	ck_assert_uint_eq(record->name_bytes, 8);
	ck_assert_mem_eq(record + 1, "s/stdout", 8);
	ck_assert_uint_eq(record->body_crc32, crc32(0, (const void *)"s/stdout", 8));
	record = record_at(&device, 64 + 256);
	ck_assert_uint_eq(record->type, AGENT_REC_END);
	/* Behind the last record: 64 zeros, and then the older boot's bytes. */
	for (guint i = 0; i < 64; i++)
		ck_assert_int_eq(device.bytes[64 + 384 + i], 0);
	ck_assert_int_eq(device.bytes[64 + 384 + 64], 'N');
	device_free(&device);
}
END_TEST

/* A full device still takes the record that says so. */
START_TEST(test_records_full)
{
	enum { SIZE = 128 * 1024, PAYLOAD = 1000 };
	static char payload[SIZE];
	struct records records = {.fd = -1};
	struct fault fault = {0};
	Device device = device_make(SIZE);
	gsize room;
	guint count = 0;

	ck_assert_int_eq(records_open(&records, device.path, SIZE, &fault), 0);
	while (!records_add(&records, AGENT_REC_OUTPUT, "o", payload, PAYLOAD, 0, &fault))
		ck_assert_uint_lt(++count, SIZE / PAYLOAD);
	ck_assert_str_eq(fault.stage, "results");
	ck_assert_str_eq(fault.message, "the results device (131072 bytes) is full: record o of "
					"1000 bytes does not fit");
	room = records_room(&records, "dmesg");
	ck_assert_uint_lt(room, PAYLOAD + 64);
	ck_assert_int_eq(
		records_add(&records, AGENT_REC_LOG, "dmesg", payload, room + 1, 0, &fault), -1);
	ck_assert_int_eq(records_add(&records, AGENT_REC_LOG, "dmesg", payload, room, 0, &fault),
			 0);
	ck_assert_int_eq(records_add(&records, AGENT_REC_FAIL, "", payload, 20000, 0, &fault), 0);
	ck_assert_uint_eq(records.sequence, count + 2);
	close(records.fd);
	device_read(&device);
	ck_assert_uint_eq(device.length, SIZE);
	device_free(&device);
}
END_TEST

/* An output that is longer than what is kept: its end, in order. */
START_TEST(test_output)
{
	static struct output output = {.copy = -1};
	g_autofree char *all = g_malloc(AGENT_OUTPUT_MAX + 1000);
	char line[16];
	gsize bytes;

	for (gsize i = 0; i < AGENT_OUTPUT_MAX + 1000; i++)
		all[i] = (char)('a' + i % 23);
	output_add(&output, all, 10);
	ck_assert_uint_eq(output_straighten(&output), 10);
	ck_assert_mem_eq(output.ring, all, 10);
	output_add(&output, all + 10, AGENT_OUTPUT_MAX + 990);
	bytes = output_straighten(&output);
	ck_assert_uint_eq(bytes, AGENT_OUTPUT_MAX);
	ck_assert_mem_eq(output.ring, all + 1000, AGENT_OUTPUT_MAX);
	ck_assert_uint_eq(output.total_bytes, AGENT_OUTPUT_MAX + 1000);
	output_last_line(&output, bytes, line, sizeof(line));
	ck_assert_uint_eq(strlen(line), sizeof(line) - 1);
}
END_TEST

static const struct {
	const char *output, *line;
} last_lines[] = {
	{"", ""},
	{"\n\n", ""},
	{"one", "one"},
	{"one\ntwo\n\n", "two"},
	{"10%\r20%\rdone\n", "done"},
	{"bad\033[0m\n", "bad?[0m"},
};

START_TEST(test_last_line)
{
	static struct output output = {.copy = -1};
	char line[64];

	memset(&output, 0, sizeof(output));
	output_add(&output, last_lines[_i].output, strlen(last_lines[_i].output));
	output_last_line(&output, output_straighten(&output), line, sizeof(line));
	ck_assert_str_eq(line, last_lines[_i].line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent-records");
	TCase *tcase = tcase_create("records");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(tcase, test_crc);
	tcase_add_test(tcase, test_field_round_trip);
	tcase_add_test(tcase, test_field_too_long);
	tcase_add_test(tcase, test_text);
	tcase_add_test(tcase, test_records);
	tcase_add_test(tcase, test_records_full);
	tcase_add_test(tcase, test_output);
	tcase_add_loop_test(tcase, test_last_line, 0, G_N_ELEMENTS(last_lines));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
