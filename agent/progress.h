/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines for people and deadlines: the second serial port, and the kernel's log. Never results. */
#ifndef NUMALAB_AGENT_PROGRESS_H
#define NUMALAB_AGENT_PROGRESS_H

/** progress_open() - open AGENT_PROGRESS_TTY. Without that port progress is not told, which is no
 * error. */
void progress_open(void);

/** progress_say() - one line; @format gives WORD and ARGS, whose fields the caller has encoded */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** progress_fail() - "fail STAGE MESSAGE" as progress, and the same on the console through the
 * kernel's log */
void progress_fail(const char *stage, const char *message);

#endif
