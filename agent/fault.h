/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the agent can not go on: what becomes AGENT_REC_FAIL. */
#ifndef NUMALAB_AGENT_FAULT_H
#define NUMALAB_AGENT_FAULT_H

/* All strings are NUL-terminated; a message too long is cut. */
struct fault {
	char stage[16];	    /* as in AGENT_REC_FAIL */
	char step[80];	    /* the step's name, or "" */
	char message[6144]; /* one sentence, no newline at the end */
};

/** fault_set() - fill @fault. Return: -1, so that a caller can return it. */
int fault_set(struct fault *fault, const char *stage, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** fault_add() - append to the message, after "; " when there is one already */
void fault_add(struct fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
