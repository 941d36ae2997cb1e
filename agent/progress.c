/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "agent/crc32.h"
#include "agent/fields.h"
#include "agent/files.h"
#include "agent/progress.h"
#include "agent/protocol.h"

static int progress_fd = -1;
static unsigned progress_sequence;

void progress_open(void)
{
	struct termios modes;
	/* Without O_NONBLOCK the open would wait for a carrier that an unconnected port never has.
	 */
	int fd = open(AGENT_PROGRESS_TTY, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	/* A port that is not there can be opened, but answers nothing. */
	if (fd < 0 || tcgetattr(fd, &modes)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	cfmakeraw(&modes);
	modes.c_cflag |= CLOCAL;
	cfsetspeed(&modes, B115200);
	tcsetattr(fd, TCSANOW, &modes);
	fcntl(fd, F_SETFL, 0);
	progress_fd = fd;
}

void progress_say(const char *format, ...)
{
	char body[512], line[560];
	va_list args;
	int bytes;

	if (progress_fd < 0)
		return;
	va_start(args, format);
	vsnprintf(body, sizeof(body), format, args);
	va_end(args);
	bytes = snprintf(line, sizeof(line), "nl1 %u %08x %s\n", progress_sequence++,
			 agent_crc32(0, body, strlen(body)), body);
	for (const char *at = line; bytes > 0;) {
		ssize_t n = write(progress_fd, at, (size_t)bytes);

		if (n <= 0)
			return;
		at += n;
		bytes -= (int)n;
	}
}

void progress_fail(const char *stage, const char *message)
{
	char part[160], field[400], line[900];

	snprintf(part, sizeof(part), "%s", message);
	if (!field_encode(part, field, sizeof(field)))
		snprintf(field, sizeof(field), "%%");
	progress_say("fail %s %s", stage, field);
	/* Level 2: shown on a console that was made quiet. The kernel cuts lines of about 1000
	 * bytes. */
	snprintf(line, sizeof(line), "<2>numalab-agent: %s: %.800s\n", stage, message);
	file_write("/dev/kmsg", line);
}
