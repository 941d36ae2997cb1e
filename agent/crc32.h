/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_CRC32_H
#define NUMALAB_AGENT_CRC32_H

#include <stddef.h>
#include <stdint.h>

/**
 * agent_crc32() - zlib's CRC-32 (polynomial 0xedb88320, reflected)
 * @crc: 0 for the first piece, then what the call for the piece before returned
 */
uint32_t agent_crc32(uint32_t crc, const void *data, size_t bytes);

#endif
