/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/touch.h"

/* How many touches between two looks at the clock. */
#define TOUCH_BATCH 256u

struct toucher {
	pthread_t thread;
	unsigned index;
	struct touch_run *run;
	uint64_t quota;	  /* UINT64_MAX: until the deadline */
	uint64_t touches; /* done; written once, at the end: no line is shared while it runs */
};

struct touch_run {
	pthread_barrier_t barrier;
	char *memory;
	uint64_t page_bytes;
	uint64_t n_pages;
	uint64_t deadline_ns; /* 0: none */
};

/* xorshift64*: enough for an order of pages, the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static void *toucher_main(void *argument)
{
	struct toucher *toucher = argument;
	const struct touch_run *run = toucher->run;
	uint64_t state = 0x9e3779b97f4a7c15ull * (toucher->index + 1);
	/* A word of its own for each thread: the pages are shared, the words are not. */
	uint64_t word = toucher->index % (run->page_bytes / sizeof(uint64_t)) * sizeof(uint64_t);
	uint64_t done = 0;

	pthread_barrier_wait(&toucher->run->barrier);
	while (done < toucher->quota) {
		uint64_t batch = toucher->quota - done;

		if (batch > TOUCH_BATCH)
			batch = TOUCH_BATCH;
		for (uint64_t i = 0; i < batch; i++) {
			unsigned __int128 wide = next_random(&state);
			uint64_t page = (uint64_t)(wide * run->n_pages >> 64);

			++*(volatile uint64_t *)(run->memory + page * run->page_bytes + word);
		}
		done += batch;
		if (run->deadline_ns && clock_ns() >= run->deadline_ns)
			break;
	}
	toucher->touches = done;
	return NULL;
}

static uint64_t quota_of(const struct job_touch *touch, unsigned index)
{
	if (!touch->touches)
		return UINT64_MAX;
	return touch->touches / touch->threads + (index < touch->touches % touch->threads);
}

int touch_run(const struct job_touch *touch, uint64_t *touches)
{
	struct touch_run run = {.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
	struct toucher *touchers = calloc(touch->threads, sizeof(*touchers));
	int error = 0;

	run.n_pages = (touch->bytes + run.page_bytes - 1) / run.page_bytes;
	run.memory = mmap(NULL, run.n_pages * run.page_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!touchers || run.memory == MAP_FAILED) {
		fprintf(stderr, "numa_touch: %llu bytes of memory: %m\n",
			(unsigned long long)touch->bytes);
		return -1;
	}
	for (uint64_t page = 0; page < run.n_pages; page++)
		*(volatile uint64_t *)(run.memory + page * run.page_bytes) = page;
	pthread_barrier_init(&run.barrier, NULL, (unsigned)touch->threads + 1);
	for (unsigned i = 0; !error && i < touch->threads; i++) {
		touchers[i] =
			(struct toucher){.index = i, .run = &run, .quota = quota_of(touch, i)};
		error = pthread_create(&touchers[i].thread, NULL, toucher_main, &touchers[i]);
	}
	if (error) {
		fprintf(stderr, "numa_touch: %llu threads: %s\n",
			(unsigned long long)touch->threads, strerror(error));
		return -1; /* the threads made so far end with the process */
	}
	if (touch->duration_ns)
		run.deadline_ns = clock_ns() + touch->duration_ns;
	pthread_barrier_wait(&run.barrier);
	*touches = 0;
	for (unsigned i = 0; i < touch->threads; i++) {
		pthread_join(touchers[i].thread, NULL);
		*touches += touchers[i].touches;
	}
	pthread_barrier_destroy(&run.barrier);
	munmap(run.memory, run.n_pages * run.page_bytes);
	free(touchers);
	return 0;
}
