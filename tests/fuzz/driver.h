/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main() of a fuzz target where libFuzzer is not: FUZZ SEEDS ROUNDS SEED KEEP
 *
 * Each round takes one file of the directory SEEDS, mutates it (bits, bytes, numbers at the edges,
 * cuts, copies, splices of two files), and hands it to LLVMFuzzerTestOneInput(). Rounds are a
 * function of SEED, so that a failure can be had again. Rounds run in children, many to a child;
 * when one dies, its rounds are run again one by one, the input of the first that dies is kept as
 * the file KEEP, and the exit status is 1. With clang, build with -fsanitize=fuzzer and
 * -DFUZZ_LIBFUZZER instead.
 */
#pragma once
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZ_LIBFUZZER

#define FUZZ_BATCH 1000u
#define FUZZ_ROUND_S 20u /* a round that takes longer hangs */

static void fuzz_mutate(GByteArray *input, GRand *random, const GByteArray *other)
{
	static const guint64 edges[] = {
		0,	    1,		0x7f,	    0x80,	0xff,	     0x7fff,	  0xffff,
		0x7fffffff, 0x80000000, 0xffffffff, G_MAXINT64, G_MAXUINT64, (guint64)-64};
	guint at = input->len ? (guint)g_rand_int_range(random, 0, (gint32)input->len) : 0;
	guint left = input->len - at;
	guint length = left ? (guint)g_rand_int_range(random, 0, (gint32)MIN(left, 256u)) + 1 : 0;
	guint64 edge = edges[g_rand_int_range(random, 0, G_N_ELEMENTS(edges))];

	switch (left ? g_rand_int_range(random, 0, 8) : 7) {
	case 0:
		input->data[at] ^= (guint8)(1 << g_rand_int_range(random, 0, 8));
		break;
	case 1:
		input->data[at] = (guint8)g_rand_int(random);
		break;
	case 2:
		memcpy(input->data + at, &edge, MIN(left, sizeof(edge)));
		break;
	case 3:
		memcpy(input->data + at, &edge, MIN(left, 4));
		break;
	case 4:
		g_byte_array_set_size(input, at);
		break;
	case 5:
		g_byte_array_remove_range(input, at, length);
		break;
	case 6: {
		g_autofree guint8 *copy = g_memdup2(input->data + at, length);

		g_byte_array_append(input, copy, length);
		break;
	}
	default:
		if (other->len) {
			guint from = (guint)g_rand_int_range(random, 0, (gint32)other->len);

			g_byte_array_append(input, other->data + from,
					    MIN(other->len - from, 4096u));
		}
	}
}

static GByteArray *fuzz_input(const GPtrArray *seeds, guint32 seed, guint round)
{
	g_autoptr(GRand) random = g_rand_new_with_seed_array((const guint32[]){seed, round}, 2);
	const GByteArray *first = seeds->pdata[g_rand_int_range(random, 0, (gint32)seeds->len)];
	const GByteArray *other = seeds->pdata[g_rand_int_range(random, 0, (gint32)seeds->len)];
	GByteArray *input = g_byte_array_new();

	g_byte_array_append(input, first->data, first->len);
	for (gint n = g_rand_int_range(random, 1, 9); n > 0; n--)
		fuzz_mutate(input, random, other);
	return input;
}

/* Did rounds @from to @to - 1 survive? */
static gboolean fuzz_rounds(const GPtrArray *seeds, guint32 seed, guint from, guint to)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (guint round = from; round < to; round++) {
			g_autoptr(GByteArray) input = fuzz_input(seeds, seed, round);
			/* its own allocation, so that a read beyond it is seen */
			g_autofree guint8 *exact = g_memdup2(input->data, input->len);

			alarm(FUZZ_ROUND_S);
			LLVMFuzzerTestOneInput(exact, input->len);
		}
		fflush(NULL);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int fuzz_by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *fuzz_seeds(const char *path)
{
	GPtrArray *seeds = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		g_ptr_array_add(names, g_build_filename(path, name, NULL));
	g_ptr_array_sort(names, fuzz_by_name);
	for (guint i = 0; i < names->len; i++) {
		char *data;
		gsize length;

		if (g_file_get_contents(names->pdata[i], &data, &length, NULL))
			g_ptr_array_add(seeds, g_byte_array_new_take((guint8 *)data, length));
	}
	return seeds;
}

int main(int argc, char **argv)
{
	g_autoptr(GPtrArray) seeds = argc == 5 ? fuzz_seeds(argv[1]) : NULL;
	guint rounds = argc == 5 ? (guint)g_ascii_strtoull(argv[2], NULL, 10) : 0;
	guint32 seed = argc == 5 ? (guint32)g_ascii_strtoull(argv[3], NULL, 10) : 0;

	if (!seeds || !seeds->len || !rounds) {
		fprintf(stderr, "usage: %s SEEDS ROUNDS SEED KEEP\n", argv[0]);
		return 2;
	}
	for (guint i = 0; i < seeds->len; i++) {
		const GByteArray *whole = seeds->pdata[i];

		LLVMFuzzerTestOneInput(whole->data, whole->len);
	}
	for (guint from = 0; from < rounds; from += FUZZ_BATCH) {
		guint to = MIN(rounds, from + FUZZ_BATCH);

		if (fuzz_rounds(seeds, seed, from, to))
			continue;
		for (; from < to && fuzz_rounds(seeds, seed, from, from + 1); from++)
			;
		g_autoptr(GByteArray) input = fuzz_input(seeds, seed, from);

		g_file_set_contents(argv[4], (const char *)input->data, input->len, NULL);
		printf("round %u of seed %u died; its input is %s\n", from, seed, argv[4]);
		return 1;
	}
	printf("%u rounds of seed %u from %u files\n", rounds, seed, seeds->len);
	return 0;
}
#endif
