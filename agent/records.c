/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/crc32.h"
#include "agent/records.h"

static int write_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
	const char *from = data;

	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		from += n;
		bytes -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static uint64_t align_up(uint64_t bytes)
{
	return (bytes + AGENT_RECORD_ALIGN - 1) & ~(uint64_t)(AGENT_RECORD_ALIGN - 1);
}

int records_open(struct records *records, const char *path, uint64_t size_bytes,
		 struct fault *fault)
{
	struct agent_results_header header = {
		.magic = AGENT_RESULTS_MAGIC,
		.version = 1,
		.device_bytes = size_bytes,
	};
	/* The zeros behind it end a list of records that an earlier use of the device left. */
	char start[sizeof(header) + sizeof(struct agent_record_header)] = {0};
	int fd = open(path, O_RDWR | O_CLOEXEC);

	memcpy(start, &header, sizeof(header));
	if (fd < 0 || write_all(fd, start, sizeof(start), 0) || fsync(fd))
		return fault_set(fault, "setup", "results device %s: %s", path, strerror(errno));
	*records = (struct records){
		.fd = fd,
		.size_bytes = size_bytes,
		.offset_bytes = sizeof(header),
	};
	return 0;
}

/* Where the records may end: a terminator always fits behind. */
static uint64_t limit(const struct records *records, enum agent_record_type type)
{
	uint64_t kept = sizeof(struct agent_record_header) +
			(type == AGENT_REC_FAIL ? 0 : RECORDS_RESERVE_BYTES);

	return records->size_bytes > kept ? records->size_bytes - kept : 0;
}

size_t records_room(const struct records *records, const char *name)
{
	uint64_t start = records->offset_bytes + sizeof(struct agent_record_header) + strlen(name);
	uint64_t end = limit(records, AGENT_REC_LOG) & ~(uint64_t)(AGENT_RECORD_ALIGN - 1);

	return end > start ? (size_t)(end - start) : 0;
}

int records_add(struct records *records, enum agent_record_type type, const char *name,
		const void *payload, size_t bytes, uint64_t clock_ns, struct fault *fault)
{
	static const char zeros[AGENT_RECORD_ALIGN + sizeof(struct agent_record_header)];
	size_t name_bytes = strlen(name);
	uint64_t body = records->offset_bytes + sizeof(struct agent_record_header);
	uint64_t end = body + name_bytes + bytes;
	uint64_t next = align_up(end);
	struct agent_record_header header = {
		.magic = {'N', 'L', 'R', '1'},
		.type = type,
		.sequence = records->sequence,
		.name_bytes = (uint32_t)name_bytes,
		.payload_bytes = bytes,
		.clock_ns = clock_ns,
		.body_crc32 = agent_crc32(agent_crc32(0, name, name_bytes), payload, bytes),
	};

	if (records->fd < 0)
		return fault_set(fault, "results", "the results device is not open");
	if (next > limit(records, type))
		return fault_set(fault, "results",
				 "the results device (%llu bytes) is full: record %s of %zu bytes "
				 "does not fit",
				 (unsigned long long)records->size_bytes, name, bytes);
	header.header_crc32 =
		agent_crc32(0, &header, offsetof(struct agent_record_header, header_crc32));
	/* The header last: who reads while the guest runs sees whole records only. */
	if (write_all(records->fd, name, name_bytes, body) ||
	    write_all(records->fd, payload, bytes, body + name_bytes) ||
	    write_all(records->fd, zeros, (size_t)(next - end) + sizeof(header), end) ||
	    write_all(records->fd, &header, sizeof(header), records->offset_bytes) ||
	    fsync(records->fd))
		return fault_set(fault, "results", "writing record %s: %s", name, strerror(errno));
	records->offset_bytes = next;
	records->sequence++;
	return 0;
}
