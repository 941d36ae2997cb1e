/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt 11.3 cannot describe a node without memory (it makes a memory backend of 0 bytes, which QEMU refuses), so such
 * nodes and all others of their machine are given to QEMU past libvirt. Then libvirt sees no nodes and gives the machine
 * one backend for all of its memory, which QEMU refuses beside those of the nodes. Libc only: shared by the wrapper that
 * starts QEMU (emulator/main.c) and by what shows QEMU's arguments.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LAB_RAM_BACKEND ",memory-backend="

/* Take n arguments out of a NULL-terminated vector. */
static inline void lab_argv_remove(char **at, int n)
{
	do
		at[0] = at[n];
	while (*at++);
}

static inline bool lab_argv_nodes_have_memory(char **argv)
{
	for (char **a = argv; *a && a[1]; a++)
		if (!strcmp(*a, "-numa") && !strncmp(a[1], "node,", 5) && strstr(a[1], ",memdev="))
			return true;
	return false;
}

/**
 * lab_argv_drop_ram_backend() - take the machine's own memory backend out of QEMU's arguments when nodes have theirs
 * @argv: NULL-terminated; it and its strings are changed in place
 */
static inline void lab_argv_drop_ram_backend(char **argv)
{
	char id[64] = "", object[80];

	if (!lab_argv_nodes_have_memory(argv))
		return;
	for (char **a = argv; *a && a[1]; a++) {
		char *option = strcmp(*a, "-machine") ? NULL : strstr(a[1], LAB_RAM_BACKEND);
		char *value = option ? option + strlen(LAB_RAM_BACKEND) : NULL;
		size_t length = value ? strcspn(value, ",") : 0;

		if (!length || length >= sizeof id)
			continue;
		memcpy(id, value, length);
		id[length] = 0;
		memmove(option, value + length, strlen(value + length) + 1);
	}
	if (!*id)
		return;
	snprintf(object, sizeof object, "\"id\":\"%s\"", id);
	for (char **a = argv; *a && a[1];)
		if (!strcmp(*a, "-object") && strstr(a[1], object))
			lab_argv_remove(a, 2);
		else
			a++;
}
