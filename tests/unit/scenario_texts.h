/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenarios, and beginnings of them, that the tests write to files. */
#pragma once

#define HEAD                                                                                       \
	"topology: vnuma-4x1p-512M\nimage: xfs\nkernels: [debian:bookworm]\n" /* lines 1 to 3 */
#define SMALL HEAD "steps:\n"
#define SCRATCH HEAD "scratch: 512MiB\nsteps:\n" /* lines 4, 5 */
#define MADE SCRATCH "  - mkfs.xfs\n"		 /* line 6 */
#define MOUNTED MADE "  - mount\n"		 /* line 7 */
#define DISK RUN "clock: tcg\nboot: disk\n" /* lines 6, 7 */
#define KVM RUN "clock: kvm\n"		 /* line 6 */
#define RUN SMALL "  - run: ['true']\n"		 /* lines 4, 5 */

static G_GNUC_UNUSED const char small[] = "name: small\n"
					  "topology: vnuma-4x1p-512M\n"
					  "image: xfs\n"
					  "kernels: [debian:bookworm, 'dir:linux']\n"
					  "prepare:\n"
					  "  - mkfs.xfs: {size: 1GiB, options: [-m, crc=0]}\n"
					  "  - mount: {options: [noatime, nodiratime]}\n"
					  "  - fs_mark: {dirs: 2, files: 100, name: make}\n"
					  "  - umount\n"
					  "steps:\n"
					  "  - drop_caches\n"
					  "  - xfs_repair: {options: {bhash: 101073}}\n";
