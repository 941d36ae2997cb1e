/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clang-format off: the tables below are laid out by hand */
/*
 * What the host and the agent agree on. Shared by both, so libc only.
 *
 * JOB: a text file at AGENT_JOB_PATH in the initrd. One statement a line, fields separated by one
 * space, every field percent-encoded (each byte outside 0x21..0x7e and '%' itself as %XX; an empty
 * field is a lone '%'). The first line is "numalab-job 1", the last is "end". Statements (the agent takes them in
 * any order, but modules, settings and steps are done in theirs; lab/guest/job.h writes them):
 *
 *   release R                     what uname -r must say
 *   build-id HEX                  of the running kernel, from /sys/kernel/notes; optional
 *   kind vnuma|fake|any           how nodes were made (fake: every node must list every CPU); any: no checks of nodes
 *   node ID CPULIST BYTES         CPULIST in kernel form ("0-3,8"); "%" (empty) for none; BYTES may be 0
 *                                 nodes are numbered from 0 without gaps
 *   distance ID D0 D1 ... Dn-1    row ID of the SLIT; a node without a row is not checked
 *   numa-balancing 0|1            what /proc/sys/kernel/numa_balancing must say after the settings; optional
 *   kvm-features MASK VALUE       of CPUID leaf 0x40000001 EAX (KVM's), decimal: EAX & MASK must be VALUE; optional
 *   async-pf-msr MASK VALUE       of MSR 0x4b564d02 (KVM's MSR_KVM_ASYNC_PF_EN) of CPU 0, decimal: MSR & MASK must be VALUE
 *                                 where /dev/cpu/0/msr (module msr) tells it; optional
 *   module PATH [wanted]          in load order; PATH inside the initrd (.ko, uncompressed). One that is not wanted itself
 *                                 is no failure where this machine has no such device (ENODEV)
 *   image-bytes N                 size of the NVDIMM that holds the root file system; 0: root is the initrd
 *   image-type erofs              file system type of the root image
 *   scratch-bytes N               size of the scratch NVDIMM; 0: none
 *   more-scratch N                virtio disks beside it, with the roles scratch2, scratch3, ...; optional
 *   files-bytes N                 size of the NVDIMM with the EROFS that is mounted read-only at /files; optional
 *   results-bytes N               size of the results NVDIMM (all sizes always differ: that is
 *                                 how devices are told apart, their names follow no order)
 *   setting NAME VALUE PATH...    write VALUE to the first PATH that exists, read it back, compare
 *                                 (for files that show choices, "[VALUE]" must be there). None exists: INFRA
 *   settle-ns N                   sleep before the first step; optional
 *   step NAME MEASURE TIMEOUT_NS KIND ARG...
 *        NAME [a-z0-9._-]+, unique; MEASURE 0|1; TIMEOUT_NS of guest time, 0: none
 *        KIND exec  ARG = argv, looked up in PATH of the image; run as its own process group, stdin
 *                   /dev/null, in /mnt, environment PATH, HOME=/root, LC_ALL=C, TZ=UTC0
 *             mkdir ARG = directories
 *             mount ARG = device, directory, type, options ("%": none)
 *             umount ARG = directory
 *             drop_caches  (sync, then 3 to /proc/sys/vm/drop_caches)
 *             numa_touch ARG = threads, shared bytes, duration ns (0: none), touches (0: none); agent/touch.h
 *        Each step is a process of its own; when it ends (or its time is over), all that it left running is killed.
 *   oom-kills-allowed NAME        of a step given before: OOM kills in it are counted, but are no failure of it
 *   profile NAME EVENT HZ RING_BYTES BYTES   sample the step (given before) on every CPU, HZ times a second; EVENT as perf names it, or
 *                                 auto: cycles, or cpu-clock without a PMU; RING_BYTES a power of 2; cut after BYTES
 *   stat NAME EVENT...            count in the step, on all CPUs; SYSTEM:PATTERN (*, ?) is all tracepoints that match
 *   hist NAME SYSTEM:EVENT KEYS   what a trigger "hist:KEYS" of that tracepoint has counted in the step
 *   series NAME INTERVAL_NS COUNTER...   of /proc/vmstat, or numastat.NAME (over all nodes) or numastat.nodeN.NAME, while the step runs
 *   end
 *
 * A guest that boots from a disk of its own (boot: disk) has no such initrd. Its init starts the agent as a service,
 * "agent service JOB": modules are names for modprobe then, image-bytes is absent, and all devices are virtio disks with the
 * serial numbers AGENT_SERIAL_PREFIX and "results", "scratch", "files". What steps write is also kept in AGENT_KEEP_DIR.
 *
 * Well-known places in the guest: /dev/scratch (link to the scratch device), /mnt/scratch (made, empty), so for scratch2, ...,
 * /tmp, /run, /mnt (tmpfs), /files (there with files-bytes only).
 *
 * RECORDS: the results NVDIMM starts with one struct agent_results_header, then records follow, each
 * starting on a 64-byte boundary: struct agent_record_header, name, payload. All integers little-endian.
 * The agent makes records durable in order, and the AGENT_REC_END record last: a reader that finds no
 * END knows that the boot did not end well, whatever else is there. Nothing but the agent writes here.
 * Behind the last record are 64 zero bytes: a reader stops at the first header without its magic. A header is written
 * after its body, so a reader may also look while the guest runs.
 *
 * Payloads of type text are "key value\n" lines, keys as listed, fields percent-encoded as in the job.
 *
 * PROGRESS: short lines on the second serial port, "nl1 SEQ CRC32HEX WORD ARGS\n", CRC32 over everything after
 * the CRC field's space; for display and deadlines only, never for results: "start", "verified",
 * "step N OF NAME", "step-end N OF NAME", "end", "fail STAGE MESSAGE" (percent-encoded, cut). Before them all comes
 * "agent VERSION": PID 1 runs, but has not found its results device yet ("start": it has, and START is durable).
 * A line that fails its CRC, and a word that is not known, are ignored.
 */
#ifndef NUMALAB_AGENT_PROTOCOL_H
#define NUMALAB_AGENT_PROTOCOL_H

#include <stdint.h>

#define AGENT_JOB_PATH "/numalab/job"
#define AGENT_JOB_MAGIC "numalab-job 1"
#define AGENT_RESULTS_MAGIC "NUMALAB1"
#define AGENT_RECORD_MAGIC "NLR1"
#define AGENT_RECORD_ALIGN 64u
#define AGENT_PROGRESS_TTY "/dev/ttyS1"
#define AGENT_SERIAL_PREFIX "numalab-"
#define AGENT_KEEP_DIR "/var/lib/numalab/steps"

enum agent_record_type {
	AGENT_REC_START =
		1, /* text: release, version, agent (its version), clock_ns, boot_clock_ns (CLOCK_BOOTTIME), cmdline, clocksource, init (name of PID 1) */
	AGENT_REC_VERIFY =
		2, /* text: what was found, one key a fact; on a mismatch AGENT_REC_FAIL follows */
	AGENT_REC_STEP_BEGIN = 3, /* name = step; text: index, kind, measure */
	AGENT_REC_SNAPSHOT =
		4, /* name = "STEP/before/FILE" or "STEP/after/FILE": the file's bytes */
	AGENT_REC_STEP_END = 5, /* name = step; text: see below */
	AGENT_REC_OUTPUT =
		6, /* name = "STEP/stdout" or "STEP/stderr": bytes (the last AGENT_OUTPUT_MAX of them) */
	AGENT_REC_LOG =
		7, /* name = "dmesg": the kernel's log at the end, "<level>[time] text" lines */
	AGENT_REC_FAIL =
		8, /* text: stage (below), step (if one failed), message: why nothing more was done */
	AGENT_REC_END = 9, /* text: steps, clock_ns; written only when every step succeeded */
	AGENT_REC_PROFILE =
		10, /* name = step: struct agent_profile_chunk, then what perf's ring of that CPU had, whole records; several */
	AGENT_REC_PROFILE_END = 11, /* name = step; text: see below */
	AGENT_REC_SYMBOLS = 12,	    /* name = "kallsyms": lines of it, only those of code (t, T, w, W); several; once a boot */
	AGENT_REC_STAT = 13,	    /* name = step; text: EVENT = "COUNT ENABLED_NS RUNNING_NS", summed over CPUs, or "not-supported" */
	AGENT_REC_SERIES =
		14, /* name = step: "clock_ns COUNTER...\n", then a line of numbers for each time; "-": this kernel has no such counter */
	AGENT_REC_HIST = 15, /* name = "STEP/hist/SYSTEM.EVENT": the kernel's text, or "not-supported\n" */
	AGENT_REC_LAST = AGENT_REC_HIST,
};

/*
 * AGENT_REC_FAIL stages: setup, settings, verify, step, results (the device is full or fails), agent (it crashed).
 * Only step says something about the workload or its kernel; all others are INFRA.
 *
 * AGENT_REC_VERIFY keys: release, build_id, cpus_present, cpus_online, nodes_online, nodes_possible, nodes_with_cpus,
 * nodes_with_memory, node.N.present_bytes, node.N.cpus, node.N.distances (to nodes online), numa_balancing,
 * node.N.asked (only where it is not N: the job's number of the node that Linux calls N; all N are Linux' numbers, here
 * and in snapshots. Linux counts nodes with CPUs first, by their first CPU, then those with memory only),
 * cpu_model, cpu_flags, hypervisor (CPUID's signature), kvm_features (EAX, hex; under KVM),
 * async_pf_msr (MSR 0x4b564d02, hex; where it can be read), setting.NAME (the value that was set). What this kernel does not tell is left out.
 *
 * AGENT_REC_STEP_END keys: exit (status, or -1), signal (0 or number), timeout (0|1), wall_ns (CLOCK_MONOTONIC),
 * user_ns, system_ns, maxrss_kib, minor_faults, major_faults, voluntary_switches, involuntary_switches,
 * oom_kills (delta of /proc/vmstat oom_kill; left out by kernels before 4.13, which do not count them),
 * stdout_bytes, stderr_bytes (all that was written, also where OUTPUT holds only the end of it); numa_touch also: touches.
 * wall_ns to involuntary_switches are left out when a step killed the process that accounts it (exit is -1 then).
 * Times and rusage are of the step's whole process tree (wait4 of the step's process; numa_touch: of its child).
 *
 * AGENT_REC_PROFILE_END keys: asked, and either not-supported (why) or event, type, config and sample_type (of struct perf_event_attr;
 * sample_type is always IP, TID, TIME, CPU, PERIOD, CALLCHAIN; times are CLOCK_MONOTONIC; sample_id_all is set), frequency or period, cpus,
 * bytes (of all chunks), truncated (0|1: BYTES were reached, or the results device is full). Idle CPUs are not sampled.
 *
 * Snapshots taken around each step with MEASURE 1, before the first and after the last instruction of the step:
 * (kept in memory until the step has ended: their records come before STEP_END, their clock_ns tells when they were taken)
 * vmstat, interrupts, stat, nodeN-numastat, nodeN-meminfo, schedstat (if there).
 */
#define AGENT_OUTPUT_MAX (256u * 1024u)

struct agent_results_header {
	char magic[8];	  /* AGENT_RESULTS_MAGIC */
	uint32_t version; /* 1 */
	uint32_t reserved;
	uint64_t device_bytes;
	uint8_t pad[40];
};

struct agent_record_header {
	char magic[4];	     /* AGENT_RECORD_MAGIC */
	uint32_t type;	     /* enum agent_record_type */
	uint32_t sequence;   /* from 0, no gaps */
	uint32_t name_bytes; /* without a NUL */
	uint64_t payload_bytes;
	uint64_t clock_ns;     /* CLOCK_MONOTONIC of what the record tells */
	uint32_t body_crc32;   /* zlib's CRC-32 of name and payload */
	uint32_t header_crc32; /* of the 36 bytes before this field */
	uint8_t pad[24];
};

/* As agent_profile_chunk's cpu: records that the agent itself has made, names of processes that were there already (PERF_RECORD_COMM, time 0). */
#define AGENT_PROFILE_NO_CPU 0xffffffffu

struct agent_profile_chunk {
	uint32_t cpu;
	uint32_t reserved;
};

_Static_assert(sizeof(struct agent_results_header) == 64, "results header is 64 bytes");
_Static_assert(sizeof(struct agent_record_header) == 64, "record header is 64 bytes");

#endif
