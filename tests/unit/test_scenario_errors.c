/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a scenario or a --set, and where: whole messages. */
#include "lab/spec/scenario.h"

#include "tests/unit/scenario_texts.h"
#include "tests/unit/spec_cases.h"

static const struct spec_case errors[] = {
	/* the whole */
	{"unknown key", "topologies: x\n",
	 "t.yaml:1:1: wanted a key of a scenario, found 'topologies' (did you mean 'topology'?)"},
	{"no topology", "image: xfs\nkernels: [debian:sid]\nsteps: []\n",
	 "t.yaml:1:1: wanted the key 'topology' of a scenario, found none"},
	{"no image", "topology: vnuma-4x1p-512M\nkernels: [debian:sid]\nsteps: []\n",
	 "t.yaml:1:1: wanted the key 'image' of a scenario, found none"},
	{"no kernels", "topology: vnuma-4x1p-512M\nimage: xfs\nsteps: []\n",
	 "t.yaml:1:1: wanted the key 'kernels' of a scenario, found none"},
	{"no steps", HEAD, "t.yaml:1:1: wanted the key 'steps' of a scenario, found none"},
	{"empty steps", HEAD "steps: []\n", "t.yaml:4:8: wanted steps, found none"},
	{"bad name", RUN "name: a/b\n",
	 "t.yaml:6:7: wanted a name of letters, digits, '.', '_', '+' and '-', found 'a/b'"},
	/* what it names */
	{"unknown topology",
	 "topology: vnuma-4x1p-512\nimage: xfs\nkernels: [debian:sid]\nsteps: []\n",
	 "t.yaml:1:11: wanted a topology of topologies/ or a path, found 'vnuma-4x1p-512' (did you "
	 "mean "
	 "'vnuma-4x1p-512M'?)"},
	{"topology is a list", "topology: [a]\nimage: xfs\nkernels: [debian:sid]\nsteps: []\n",
	 "t.yaml:1:11: wanted a topology, found a list"},
	{"no such topology file",
	 "topology: ./x.yaml\nimage: xfs\nkernels: [debian:sid]\nsteps: []\n",
	 "./x.yaml: wanted a topology file, found none"},
	{"wrong topology file",
	 "topology: ./bad.yaml\nimage: xfs\nkernels: [debian:sid]\nsteps: []\n",
	 "./bad.yaml:1:7: wanted vnuma or fake, found 'x'"},
	{"topology written in place",
	 "topology:\n  kind: vnuma\n  nodes: [{cpus: 0, memory: 1G}]\nimage: xfs\nkernels: "
	 "[debian:sid]\nsteps: []\n",
	 "t.yaml:3:29: wanted a size like 512MiB, found '1G' (did you mean '1GiB'?)"},
	{"unknown image",
	 "topology: vnuma-4x1p-512M\nimage: xfx\nkernels: [debian:sid]\nsteps: []\n",
	 "t.yaml:2:8: wanted an image of images/ or a path, found 'xfx' (did you mean 'xfs'?)"},
	{"no kernel", "topology: vnuma-4x1p-512M\nimage: xfs\nkernels: []\nsteps: []\n",
	 "t.yaml:3:10: wanted at least one kernel, found a list"},
	{"bad kernel",
	 "topology: vnuma-4x1p-512M\nimage: xfs\nkernels: [debian:sid, bookworm]\nsteps: []\n",
	 "t.yaml:3:23: wanted debian:SUITE, debian:SUITE/PACKAGE, debian:SUITE/PACKAGE=VERSION or "
	 "dir:PATH, found "
	 "'bookworm' (did you mean 'debian:bookworm'?)"},
	{"kernel twice",
	 "topology: vnuma-4x1p-512M\nimage: xfs\nkernels: [debian:sid, debian:sid]\nsteps: []\n",
	 "t.yaml:3:23: wanted each kernel once, found 'debian:sid'"},
	/* numbers and words */
	{"clock", RUN "clock: kvn\n", "t.yaml:6:8: wanted exact, tcg or kvm, found 'kvn' (did you mean 'kvm'?)"},
	{"async-pf without KVM", RUN "async-pf: on\n",
	 "t.yaml:6:1: wanted 'clock: kvm' beside this key, found clock exact"},
	{"host-pressure without KVM", RUN "clock: tcg\nhost-pressure: {memory-high: 1GiB}\n",
	 "t.yaml:7:1: wanted 'clock: kvm' beside this key, found clock tcg"},
	{"async-pf", KVM "async-pf: maybe\n",
	 "t.yaml:7:11: wanted default, on, off or int-only, found 'maybe'"},
	{"CPU model with an option", KVM "cpu-model: 'host,kvm=off'\n",
	 "t.yaml:7:12: wanted 'host' or a CPU model of QEMU, found 'host,kvm=off'"},
	{"boot", RUN "boot: disc\n", "t.yaml:6:7: wanted direct or disk, found 'disc' (did you mean 'disk'?)"},
	{"disk with the exact clock", RUN "boot: disk\n",
	 "t.yaml:6:7: wanted boot direct with clock exact (a disk makes boots differ), or clock kvm or tcg, found 'disk'"},
	{"disk options without a disk", RUN "clock: tcg\ndisk: {root: xfs}\n",
	 "t.yaml:7:1: wanted 'boot: disk' beside this key, found boot direct"},
	{"more than a pebibyte", DISK "scratch: 1025TiB\n",
	 "t.yaml:8:10: wanted a multiple of 2MiB up to 1PiB, found '1025TiB'"},
	{"root file system", DISK "disk: {root: ext3}\n",
	 "t.yaml:8:14: wanted ext4 or xfs, found 'ext3' (did you mean 'ext4'?)"},
	{"disk size", DISK "disk: {size: 1500MiB}\n",
	 "t.yaml:8:14: wanted a multiple of 1GiB up to 1TiB, found '1500MiB'"},
	{"too many scratch disks", DISK "disk: {more-scratch: [1GiB, 1GiB, 1GiB, 1GiB, 1GiB, 1GiB, 1GiB, 1GiB]}\n",
	 "t.yaml:8:22: wanted up to 7 more scratch disks, found a list"},
	{"size of a scratch disk", DISK "disk: {more-scratch: [1GiB, 1KiB]}\n",
	 "t.yaml:8:29: wanted a multiple of 2MiB up to 1PiB, found '1KiB'"},
	{"native I/O through the page cache", DISK "disk: {io: native}\n",
	 "t.yaml:8:12: wanted cache none or directsync beside io native, found 'native'"},
	{"disk image, direct", "topology: vnuma-4x1p-512M\nimage: disk:x.qcow2\nkernels: [debian:bookworm]\nsteps: [run: ['true']]\n",
	 "t.yaml:2:8: wanted 'boot: disk' beside a disk image, found 'disk:x.qcow2'"},
	{"disk image without a name", "topology: vnuma-4x1p-512M\nimage: 'disk:'\nkernels: [debian:bookworm]\nclock: tcg\nboot: disk\nsteps: [run: ['true']]\n",
	 "t.yaml:2:8: wanted a disk image as disk:FILE, found 'disk:'"},
	{"root of an image that is there", "topology: vnuma-4x1p-512M\nimage: disk:x.qcow2\nkernels: [debian:bookworm]\nclock: tcg\nboot: disk\ndisk: {root: xfs}\nsteps: [run: ['true']]\n",
	 "t.yaml:6:14: wanted no root of an image that is there already, found 'xfs'"},
	{"PMU", KVM "pmu: yes\n", "t.yaml:7:6: wanted off or on, found 'yes'"},
	{"pin without KVM", RUN "pin: {cpus: 0-3}\n",
	 "t.yaml:6:1: wanted 'clock: kvm' beside this key, found clock exact"},
	{"no pin", KVM "pin: {}\n",
	 "t.yaml:7:6: wanted cpus, emulator, nodes or hugepages, found a mapping"},
	{"pin to what", KVM "pin: {cpu: 0}\n", "t.yaml:7:7: wanted a key of pin, found 'cpu' (did you mean 'cpus'?)"},
	{"too few CPUs", KVM "pin: {cpus: [2, 3]}\n",
	 "t.yaml:7:13: wanted a host CPU for each of the guest's 4 CPUs, found 2"},
	{"CPUs that are none", KVM "pin: {emulator: 3-1}\n",
	 "t.yaml:7:17: wanted a list of CPUs like [2, 3] or 2-3, found '3-1'"},
	{"no CPUs", KVM "pin: {cpus: []}\n",
	 "t.yaml:7:13: wanted a list of CPUs like [2, 3] or 2-3, found a list"},
	{"CPU too large", KVM "pin: {cpus: [2, 1024, 0, 0]}\n",
	 "t.yaml:7:17: wanted a whole number from 0 to 1023, found '1024'"},
	{"too many nodes", KVM "pin: {nodes: [0, 0, 0, 0, 0]}\n",
	 "t.yaml:7:14: wanted a host node for each of the guest's 4 nodes, found 5"},
	{"size of pages", KVM "pin: {hugepages: 4KiB}\n",
	 "t.yaml:7:18: wanted 2MiB or 1GiB, found '4KiB'"},
	{"pages larger than a node", KVM "pin: {hugepages: 1GiB}\n",
	 "t.yaml:7:18: wanted nodes whose memory is a multiple of 1GiB, found node 0 with 512MiB"},
	{"nodes of numa=fake",
	 "topology: {kind: fake, nodes: 2, cpus: 2, memory: 1GiB}\nimage: xfs\nkernels: [debian:sid]\n"
	 "steps: [drop_caches]\nclock: kvm\npin: {nodes: [0, 0]}\n",
	 "t.yaml:6:14: wanted a topology of kind vnuma for this, found a list"},
	{"nodes without memory",
	 "topology: {kind: vnuma, nodes: [{cpus: 0, memory: 1GiB}, {cpus: 1, memory: 0B}]}\nimage: "
	 "xfs\nkernels: [debian:sid]\n"
	 "steps: [drop_caches]\nclock: kvm\npin: {hugepages: 2MiB}\n",
	 "t.yaml:6:18: wanted a topology whose nodes all have memory for this, found node 1 without"},
	{"huge pages under pressure",
	 KVM "pin: {hugepages: 2MiB}\nhost-pressure: {memory-high: 1GiB}\n",
	 "t.yaml:8:16: wanted no hugepages beside it (the host cannot take them away), found a mapping"},
	{"no pressure", KVM "host-pressure: {}\n",
	 "t.yaml:7:16: wanted memory-high, memory-max or both, found a mapping"},
	{"pressure as a word", KVM "host-pressure: high\n",
	 "t.yaml:7:16: wanted host-pressure (a mapping), found 'high'"},
	{"pressure above the guest", KVM "host-pressure: {memory-high: 2GiB}\n",
	 "t.yaml:7:30: wanted a size from 64MiB to less than the guest's memory, found '2GiB'"},
	{"memory-max below memory-high",
	 KVM "host-pressure: {memory-high: 1GiB, memory-max: 512MiB}\n",
	 "t.yaml:7:48: wanted more than memory-high, found '512MiB'"},
	{"no boots", RUN "boots: 0\n",
	 "t.yaml:6:8: wanted a whole number from 1 to 10000, found '0'"},
	{"boots and seeds", RUN "boots: 2\nseeds: [1]\n",
	 "t.yaml:7:1: wanted either 'boots' or 'seeds', found both"},
	{"no seeds", RUN "seeds: []\n", "t.yaml:6:8: wanted 1 to 10000 seeds, found a list"},
	{"seed 0", RUN "seeds: [0]\n",
	 "t.yaml:6:9: wanted a whole number from 1 to 4294967295, found '0'"},
	{"seed twice", RUN "seeds: [4, 1, 4]\n", "t.yaml:6:15: wanted each seed once, found '4'"},
	{"scale above 1", RUN "scale: 3/2\n",
	 "t.yaml:6:8: wanted a fraction like 1/1000, not above 1, found '3/2'"},
	{"scale by nothing", RUN "scale: 1/0\n",
	 "t.yaml:6:8: wanted a fraction like 1/1000, not above 1, found '1/0'"},
	{"scale of nothing", RUN "scale: 0/5\n",
	 "t.yaml:6:8: wanted a fraction like 1/1000, not above 1, found '0/5'"},
	{"scale as decimal", RUN "scale: 0.5\n",
	 "t.yaml:6:8: wanted a fraction like 1/1000, not above 1, found '0.5'"},
	{"settle without unit", RUN "settle: 5\n",
	 "t.yaml:6:9: wanted a duration like 30s or 50ms, found '5' (the unit is missing)"},
	{"console", RUN "console: loud\n", "t.yaml:6:10: wanted quiet or verbose, found 'loud'"},
	{"odd scratch", RUN "scratch: 513MiB\n",
	 "t.yaml:6:10: wanted a multiple of 2MiB up to 1TiB ('boot: disk' takes more), found '513MiB'"},
	{"no scratch", RUN "scratch: 0B\n",
	 "t.yaml:6:10: wanted a multiple of 2MiB up to 1TiB ('boot: disk' takes more), found '0B'"},
	{"deadline of 0s", RUN "deadlines: {agent: 0s}\n",
	 "t.yaml:6:20: wanted a duration above 0s, found '0s'"},
	{"unknown deadline", RUN "deadlines: {poweroff: 1s}\n",
	 "t.yaml:6:13: wanted a key of deadlines, found 'poweroff' (did you mean 'power-off'?)"},
	{"unknown counter", RUN "collect: {counters: [vmstats]}\n",
	 "t.yaml:6:22: wanted vmstat, numastat or interrupts, found 'vmstats' (did you mean "
	 "'vmstat'?)"},
	{"counter twice", RUN "collect: {counters: [vmstat, vmstat]}\n",
	 "t.yaml:6:30: wanted each counter once, found 'vmstat'"},
	{"perf of no step", RUN "collect: {perf: {steps: [made]}}\n",
	 "t.yaml:6:26: wanted a measured step (true), found 'made'"},
	{"perf ring", RUN "collect: {perf: {ring: 9KiB}}\n",
	 "t.yaml:6:24: wanted a power of 2 from 8KiB to 16MiB, found '9KiB'"},
	{"perf call-graph", RUN "collect: {perf: {call-graph: dwarf}}\n", "t.yaml:6:30: wanted fp, found 'dwarf'"},
	{"perf event", RUN "collect: {perf: {event: page-faults}}\n",
	 "t.yaml:6:25: wanted auto, cycles, cpu-cycles, instructions, cache-references, cache-misses, "
	 "branches, branch-misses, bus-cycles, ref-cycles, cpu-clock or task-clock, found 'page-faults'"},
	{"stat event", RUN "collect: {stat: [cycles, '../x']}\n",
	 "t.yaml:6:26: wanted an event as perf names it, found '../x'"},
	{"stat twice", RUN "collect: {stat: [cycles, cycles]}\n", "t.yaml:6:26: wanted each name once, found 'cycles'"},
	{"no stat", RUN "collect: {stat: []}\n", "t.yaml:6:17: wanted at least one event, found a list"},
	{"series counter", RUN "collect: {series: {counters: [node0.x]}}\n",
	 "t.yaml:6:31: wanted a counter of /proc/vmstat, or numastat.NAME, found 'node0.x'"},
	{"series interval", RUN "collect: {series: {counters: [x], interval: 10us}}\n",
	 "t.yaml:6:45: wanted 1ms or more, found '10us'"},
	{"hist event", RUN "collect: {hist: [{event: x, keys: 'keys=a'}]}\n",
	 "t.yaml:6:26: wanted a tracepoint, SYSTEM:EVENT, found 'x'"},
	{"hist action", RUN "collect: {hist: [{event: 'a:b', keys: 'keys=a if x > 1'}]}\n",
	 "t.yaml:6:39: wanted keys of a hist trigger: keys=FIELD[,FIELD][:vals=...], found 'keys=a if x > 1'"},
	{"unknown collection", RUN "collect: {counter: []}\n",
	 "t.yaml:6:11: wanted a key of collect, found 'counter' (did you mean 'counters'?)"},
	{"kernel argument with a blank", RUN "kernel-args: ['a b']\n",
	 "t.yaml:6:15: wanted a kernel argument without blanks and quotes, found 'a b'"},
	{"kernel argument of ours", RUN "kernel-args: [quiet, numa=off]\n",
	 "t.yaml:6:22: wanted another kernel argument than 'numa=' (numalab sets it), found "
	 "'numa=off'"},
	{"modules is a word", RUN "modules: loop\n", "t.yaml:6:10: wanted a list, found 'loop'"},
	{"module with a path", RUN "modules: [loop, kernel/fs/xfs.ko]\n",
	 "t.yaml:6:17: wanted a module's name of letters, digits, '_' and '-', found "
	 "'kernel/fs/xfs.ko'"},
	{"module of nothing", RUN "modules: ['']\n", "t.yaml:6:11: wanted a text, found ''"},
	{"module twice", RUN "modules: [kvm-amd, loop, kvm_amd]\n",
	 "t.yaml:6:26: wanted each module once, found 'kvm_amd'"},
	{"files of nothing", RUN "files:\n", "t.yaml:6:1: wanted a directory, found nothing"},
	{"files is a list", RUN "files: [a]\n", "t.yaml:6:8: wanted a directory, found a list"},
	/* settings */
	{"unknown setting", RUN "settings: {thp: never}\n",
	 "t.yaml:6:12: wanted a key of settings (numa_balancing, transparent_hugepage, sysctl), "
	 "found 'thp'"},
	{"numa_balancing", RUN "settings: {numa_balancing: 2}\n",
	 "t.yaml:6:28: wanted off, on, false or true, found '2'"},
	{"unknown key of numa_balancing", RUN "settings: {numa_balancing: {scan_dely: 1s}}\n",
	 "t.yaml:6:29: wanted a key of numa_balancing, found 'scan_dely' (did you mean "
	 "'scan_delay'?)"},
	{"scan_delay without unit", RUN "settings: {numa_balancing: {scan_delay: 50}}\n",
	 "t.yaml:6:41: wanted a duration like 30s or 50ms, found '50' (the unit is missing)"},
	{"scan_delay below 1ms", RUN "settings: {numa_balancing: {scan_delay: 500us}}\n",
	 "t.yaml:6:41: wanted a multiple of 1ms above 0s, found '500us'"},
	{"scan_size", RUN "settings: {numa_balancing: {scan_size: 1KiB}}\n",
	 "t.yaml:6:40: wanted a multiple of 1MiB above 0B, found '1KiB'"},
	{"transparent_hugepage", RUN "settings: {transparent_hugepage: on}\n",
	 "t.yaml:6:34: wanted always, madvise or never, found 'on'"},
	{"sysctl upwards", RUN "settings: {sysctl: {vm...x: 1}}\n",
	 "t.yaml:6:21: wanted a sysctl like vm.swappiness, found 'vm...x'"},
	{"sysctl as a path", RUN "settings: {sysctl: {vm/../../x: 1}}\n",
	 "t.yaml:6:21: wanted a sysctl like vm.swappiness, found 'vm/../../x'"},
	{"sysctl of one word", RUN "settings: {sysctl: {vm: {x: 1}}}\n",
	 "t.yaml:6:21: wanted a sysctl like vm.swappiness, found 'vm'"},
	{"sysctl of nothing", RUN "settings: {sysctl: {vm.x: }}\n",
	 "t.yaml:6:21: wanted a value, found nothing"},
	{"sysctl of two lines", RUN "settings: {sysctl: {vm.x: \"1\\n2\"}}\n",
	 "t.yaml:6:27: wanted a value of one line, found '1\\n2'"},
	{"sysctl that is a setting", RUN "settings: {sysctl: {kernel.numa_balancing: 0}}\n",
	 "t.yaml:6:21: wanted the setting 'numa_balancing' for this, found "
	 "'kernel.numa_balancing'"},
	/* steps */
	{"unknown step", SMALL "  - fsmark: {files: 1}\n",
	 "t.yaml:5:5: wanted a step (mkfs.xfs, mount, umount, drop_caches, mkdir, fs_mark, "
	 "xfs_repair, numa_touch, run), "
	 "found 'fsmark' (did you mean 'fs_mark'?)"},
	{"unknown step, a word", SMALL "  - unmount\n",
	 "t.yaml:5:5: wanted a step (mkfs.xfs, mount, umount, drop_caches, mkdir, fs_mark, "
	 "xfs_repair, numa_touch, run), "
	 "found 'unmount' (did you mean 'umount'?)"},
	{"two verbs in a step", SMALL "  - {umount: , mount: }\n",
	 "t.yaml:5:5: wanted a step like 'umount' or 'fs_mark: {...}', found a mapping"},
	{"step is a list", SMALL "  - [umount]\n",
	 "t.yaml:5:5: wanted a step like 'umount' or 'fs_mark: {...}', found a list"},
	{"step is nothing", SMALL "  -\n  - umount\n",
	 "t.yaml:5:3: wanted a step like 'umount' or 'fs_mark: {...}', found nothing"},
	{"name twice", SMALL "  - run: {argv: [a], name: x}\n  - run: {argv: [b], name: x}\n",
	 "t.yaml:6:28: wanted each step's name once, found 'x'"},
	{"bad step name", SMALL "  - run: {argv: [a], name: A}\n",
	 "t.yaml:5:28: wanted a name of at most 63 of a-z, 0-9, '.', '_' and '-', found 'A'"},
	{"step name upwards", SMALL "  - run: {argv: [a], name: ..}\n",
	 "t.yaml:5:28: wanted a name of at most 63 of a-z, 0-9, '.', '_' and '-', found '..'"},
	{"timeout of 0s", SMALL "  - drop_caches: {timeout: 0s}\n",
	 "t.yaml:5:28: wanted a duration above 0s, found '0s'"},
	{"oom-kills", SMALL "  - drop_caches: {oom-kills: alowed}\n",
	 "t.yaml:5:30: wanted fail or allowed, found 'alowed' (did you mean 'allowed'?)"},
	{"measure", SMALL "  - drop_caches: {measure: 1}\n",
	 "t.yaml:5:28: wanted true or false, found '1'"},
	{"mkfs.xfs without size", SMALL "  - mkfs.xfs\n",
	 "t.yaml:5:5: wanted the key 'size' of mkfs.xfs (or 'scratch' of the scenario), found "
	 "none"},
	{"mkfs.xfs too small", SMALL "  - mkfs.xfs: {size: 300MiB}\n",
	 "t.yaml:5:22: wanted a scratch device of at least 302MiB (mkfs.xfs refuses less), found "
	 "'300MiB'"},
	{"mkfs.xfs of another size", SCRATCH "  - mkfs.xfs: {size: 1GiB}\n",
	 "t.yaml:6:22: wanted one size of the scratch device, '512MiB' as given before, found "
	 "'1GiB'"},
	{"mkfs.xfs of a mounted one", MOUNTED "  - mkfs.xfs\n",
	 "t.yaml:8:5: wanted umount before mkfs.xfs, found a mounted file system"},
	{"mount of nothing", SCRATCH "  - mount\n",
	 "t.yaml:6:5: wanted mkfs.xfs before mount, found none"},
	{"mount twice", MOUNTED "  - mount: {}\n",
	 "t.yaml:8:5: wanted umount before mount, found a mounted file system"},
	{"mount options", MADE "  - mount: {options: {}}\n",
	 "t.yaml:7:22: wanted a list of mount options, found a mapping"},
	{"umount of nothing", MADE "  - umount\n",
	 "t.yaml:7:5: wanted mount before umount, found no mounted file system"},
	{"mkdir of nothing", SMALL "  - mkdir: []\n",
	 "t.yaml:5:12: wanted directories, found a list"},
	{"mkdir relative", SMALL "  - mkdir: [a]\n",
	 "t.yaml:5:13: wanted an absolute path, found 'a'"},
	{"mkdir without mount", MADE "  - mkdir: [/mnt/scratch/a]\n",
	 "t.yaml:7:5: wanted mount before mkdir, found no mounted file system"},
	{"fs_mark without mount", MADE "  - fs_mark: {files: 1}\n",
	 "t.yaml:7:5: wanted mount before fs_mark, found no mounted file system"},
	{"fs_mark without files", MOUNTED "  - fs_mark: {dirs: 2}\n",
	 "t.yaml:8:14: wanted the key 'files' of fs_mark, found none"},
	{"fs_mark with too many threads", MOUNTED "  - fs_mark: {dirs: 65, files: 1}\n",
	 "t.yaml:8:21: wanted a whole number from 1 to 64, found '65'"},
	{"fs_mark with one subdirectory", MOUNTED "  - fs_mark: {subdirs: 1, files: 1}\n",
	 "t.yaml:8:24: wanted a whole number from 2 to 1000000, found '1'"},
	{"fs_mark's sync", MOUNTED "  - fs_mark: {files: 1, sync: 7}\n",
	 "t.yaml:8:31: wanted none, fsync, or fs_mark's sync method 0 to 6, found '7'"},
	{"fs_mark's size", MOUNTED "  - fs_mark: {files: 1, size: 4096}\n",
	 "t.yaml:8:31: wanted a size like 512MiB, found '4096' (the unit is missing)"},
	{"fs_mark's unknown key", MOUNTED "  - fs_mark: {file: 1}\n",
	 "t.yaml:8:15: wanted a key of fs_mark, found 'file' (did you mean 'files'?)"},
	{"more files than fit", MOUNTED "  - fs_mark: {files: 262145, dirs: 2, loops: 2}\n",
	 "t.yaml:8:22: wanted at most 1048576 files in all (512 bytes each on the scratch device), "
	 "found '262145'"},
	{"xfs_repair of nothing", SCRATCH "  - xfs_repair\n",
	 "t.yaml:6:5: wanted mkfs.xfs before xfs_repair, found none"},
	{"xfs_repair of a mounted one", MOUNTED "  - xfs_repair\n",
	 "t.yaml:8:5: wanted umount before xfs_repair, found a mounted file system"},
	{"xfs_repair with a list", MADE "  - xfs_repair: {options: [bhash]}\n",
	 "t.yaml:7:27: wanted a mapping, found a list"},
	{"xfs_repair with a comma", MADE "  - xfs_repair: {options: {bhash: '1,2'}}\n",
	 "t.yaml:7:35: wanted a value of xfs_repair's -o 'bhash', found '1,2'"},
	{"numa_touch without size", SMALL "  - numa_touch: {duration: 1s}\n",
	 "t.yaml:5:17: wanted the key 'size' of numa_touch, found none"},
	{"numa_touch without end", SMALL "  - numa_touch: {size: 4MiB}\n",
	 "t.yaml:5:17: wanted either the key 'duration' or 'touches' of numa_touch, found none"},
	{"numa_touch with two ends",
	 SMALL "  - numa_touch: {size: 4MiB, duration: 1s, touches: 5}\n",
	 "t.yaml:5:44: wanted either the key 'duration' or 'touches' of numa_touch, found both"},
	{"numa_touch of all memory", SMALL "  - numa_touch: {size: 2GiB, duration: 1s}\n",
	 "t.yaml:5:24: wanted less than the guest's memory of 2GiB, found '2GiB'"},
	{"numa_touch of too little", SMALL "  - numa_touch: {size: 12KiB, duration: 1s}\n",
	 "t.yaml:5:24: wanted a page of 4KiB for each thread, found '12KiB'"},
	{"run of a text", SMALL "  - run: echo hello\n",
	 "t.yaml:5:10: wanted a command as a list: [COMMAND, ARGUMENT, ...], found 'echo hello'"},
	{"run of nothing", SMALL "  - run: []\n", "t.yaml:5:10: wanted a command, found a list"},
	{"run of an empty word", SMALL "  - run: ['', a]\n",
	 "t.yaml:5:11: wanted a command, found ''"},
	{"run without argv", SMALL "  - run: {name: a}\n",
	 "t.yaml:5:10: wanted the key 'argv' of run, found none"},
	{"run of a list", SMALL "  - run: [a, [b]]\n",
	 "t.yaml:5:14: wanted an argument, found a list"},
	/* prepare */
	{"prepare is a word", RUN "prepare: yes\n",
	 "t.yaml:6:10: wanted a list of steps, or {steps, kernel, fresh}, found 'yes'"},
	{"prepare without steps", RUN "prepare: {fresh: true}\n",
	 "t.yaml:6:10: wanted the key 'steps' of prepare, found none"},
	{"prepare ends mounted", RUN "prepare: [{mkfs.xfs: {size: 512MiB}}, mount]\n",
	 "t.yaml:6:39: wanted umount at the end of prepare, found a mounted file system"},
	{"prepare's kernel", RUN "prepare: {steps: [drop_caches], kernel: sid}\n",
	 "t.yaml:6:41: wanted debian:SUITE, debian:SUITE/PACKAGE, debian:SUITE/PACKAGE=VERSION or "
	 "dir:PATH, found 'sid' "
	 "(did you mean 'debian:sid'?)"},
	{"prepare's kernel in each boot",
	 RUN "prepare: {steps: [drop_caches], kernel: debian:sid, fresh: true}\n",
	 "t.yaml:6:41: wanted no kernel with fresh: true (each boot prepares for itself), found "
	 "'debian:sid'"},
	/* judge */
	{"judge without threshold", RUN "judge: [{metric: real-true}]\n",
	 "t.yaml:6:9: wanted the key 'threshold' of a judge, found none"},
	{"threshold without unit", RUN "judge: [{metric: real-true, threshold: 2}]\n",
	 "t.yaml:6:40: wanted a percentage above 0, like 2%, found '2'"},
	{"threshold of 0", RUN "judge: [{metric: real-true, threshold: 0.0%}]\n",
	 "t.yaml:6:40: wanted a percentage above 0, like 2%, found '0.0%'"},
	{"threshold too fine", RUN "judge: [{metric: real-true, threshold: 0.00001%}]\n",
	 "t.yaml:6:40: wanted a percentage above 0, like 2%, found '0.00001%'"},
	{"no direction", RUN "judge: [{metric: pgfault, threshold: 2%, better: lowr}]\n",
	 "t.yaml:6:50: wanted higher or lower, found 'lowr' (did you mean 'lower'?)"},
	{"metric of an unknown step", RUN "judge: [{metric: real-ture, threshold: 2%}]\n",
	 "t.yaml:6:18: wanted a metric of a measured step, found 'real-ture' (did you mean "
	 "'real-true'?)"},
	{"metric of a step that is not measured",
	 RUN "  - drop_caches\njudge: [{metric: 'numa_hit:dropcaches', threshold: 2%}]\n",
	 "t.yaml:7:18: wanted a metric of a measured step (true), found 'numa_hit:dropcaches'"},
	{"metric twice",
	 RUN "judge: [{metric: pgfault, threshold: 2%}, {metric: pgfault, threshold: 3%}]\n",
	 "t.yaml:6:52: wanted each metric once, found 'pgfault'"},
};

static const struct {
	const char *override, *error;
} override_errors[] = {
	{"about=\xff", "--set about=\\xff: wanted UTF-8 text, found other bytes"},
	{"a\nb=1", "--set a\\nb=1: wanted a key of a scenario (name, about, topology, image, "
		   "kernels, clock, boots, seeds, boot, disk, cpu-model, pmu, async-pf, pin, host-pressure, scale, "
		   "settings, settle, scratch, prepare, steps, collect, judge, deadlines, console, "
		   "kernel-args, modules, files, sweep), found 'a\\nb'"},
	{"boots", "--set boots: wanted KEY=VALUE, found no '='"},
	{"=5", "--set =5: wanted KEY=VALUE, found no key"},
	{"boots.=5", "--set boots.=5: wanted KEY.KEY=VALUE, found an empty key"},
	{".boots=5", "--set .boots=5: wanted KEY.KEY=VALUE, found an empty key"},
	{"bots=5",
	 "--set bots=5: wanted a key of a scenario, found 'bots' (did you mean 'boots'?)"},
	{"boots=many", "--set boots=many: wanted a whole number from 1 to 10000, found 'many'"},
	{"boots=", "--set boots=: wanted a whole number from 1 to 10000, found nothing"},
	{"boots=[1",
	 "--set boots=[1: wanted valid YAML, found: flow sequence without a closing bracket"},
	{"boots=!x 1", "--set boots=!x 1: wanted no YAML tag, found '!x'"},
	{"name.x=5", "--set name.x=5: wanted a mapping to put 'x' into, found 'small'"},
	{"settings.numa_balancing.scan=1s",
	 "--set settings.numa_balancing.scan=1s: wanted a key of numa_balancing (enabled, "
	 "scan_delay, scan_period_min, "
	 "scan_period_max, scan_size), found 'scan'"},
	{"settings.sysctl.vm...x=1",
	 "--set settings.sysctl.vm...x=1: wanted a sysctl like vm.swappiness, found 'vm...x'"},
	{"steps.xfsrepiar.options.bhash=1",
	 "--set steps.xfsrepiar.options.bhash=1: wanted a step (dropcaches, xfsrepair), found "
	 "'xfsrepiar' (did you mean "
	 "'xfsrepair'?)"},
	{"steps.2.timeout=1s",
	 "--set steps.2.timeout=1s: wanted a step (dropcaches, xfsrepair), found '2'"},
	{"steps.0=unmount", "--set steps.0=unmount: wanted a step (mkfs.xfs, mount, umount, "
			    "drop_caches, mkdir, fs_mark, xfs_repair, "
			    "numa_touch, run), found 'unmount' (did you mean 'umount'?)"},
	{"kernels.7=debian:sid",
	 "--set kernels.7=debian:sid: wanted a number from 0 to 1, found '7'"},
	{"kernels=['dir:']", "--set kernels=['dir:']: wanted debian:SUITE, debian:SUITE/PACKAGE, "
			     "debian:SUITE/PACKAGE=VERSION "
			     "or dir:PATH, found 'dir:'"},
	{"topology=none",
	 "--set topology=none: wanted a topology of topologies/ or a path, found 'none'"},
	{"scale=2", "--set scale=2: wanted a fraction like 1/1000, not above 1, found '2'"},
	{"steps.dropcaches.timeout=0s",
	 "--set steps.dropcaches.timeout=0s: wanted a duration above 0s, found '0s'"},
};

START_TEST(errors_are_exact)
{
	const struct spec_case *c = &errors[_i];
	g_autoptr(GError) error = NULL;
	g_autoptr(LabScenario) s = NULL;

	spec_write("bad.yaml", "kind: x\n");
	spec_write("t.yaml", c->text);
	s = lab_scenario_load("t.yaml", NULL, &error);
	spec_check_error(c, s, error);
}
END_TEST

START_TEST(errors_of_overrides)
{
	const char *overrides[] = {"boots=2", override_errors[_i].override, NULL};
	struct spec_case c = {override_errors[_i].override, NULL, override_errors[_i].error};
	g_autoptr(GError) error = NULL;
	g_autoptr(LabScenario) s = NULL;

	spec_write("t.yaml", small);
	s = lab_scenario_load("t.yaml", overrides, &error);
	spec_check_error(&c, s, error);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scenario_errors");
	TCase *tc = tcase_create("scenario_errors");

	tcase_add_unchecked_fixture(tc, spec_setup, spec_teardown);
	tcase_add_loop_test(tc, errors_are_exact, 0, G_N_ELEMENTS(errors));
	tcase_add_loop_test(tc, errors_of_overrides, 0, G_N_ELEMENTS(override_errors));
	suite_add_tcase(suite, tc);
	return spec_run(suite);
}
