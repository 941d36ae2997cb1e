# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs whose inputs are not what they say: INFRA (2 for a bad job.json), named, before or instead of any measurement.
. "$TEST_TREE/tests/fault/common"
base
boot_refuses() { # CODE NAME REGEX CHANGE...
	local code=$1 name=$2 regex=$3; shift 3
	rm -rf "$TEST_TMP/boot"; job "$TEST_TMP/boot" "$@"
	run_exit "$code" "$name" "$NUMALAB" boot "$TEST_TMP/boot"
	matches "$name: said" "$regex" "$errors"
	if [ -e "$TEST_TMP/boot/result.json" ]; then not_ok "$name: no result.json"; else ok "$name: no result.json"; fi
	no_guests "$name"
}
head -c 1000000 /dev/zero > "$TEST_TMP/image"
boot_refuses 3 "a truncated image" "the image $TEST_TMP/image was to have [0-9]+ bytes, but has 1000000" "image_path=\"$TEST_TMP/image\""
boot_refuses 3 "a kernel that is gone" "cannot read the kernel $TEST_TMP/none: No such file" "kernel_path=\"$TEST_TMP/none\""
boot_refuses 3 "another QEMU than the job's" 'the job is for QEMU 9\.9\.9, but .* is version [0-9]+\.' 'emulator_version="9.9.9"'
boot_refuses 3 "no QEMU" 'cannot read the emulator /nonexistent/qemu-system-x86_64' 'emulator="/nonexistent/qemu-system-x86_64"'
boot_refuses 2 "a job without a kernel" "job.json: wanted 'kernel_path' with a string" 'kernel_path=null'

# The agent was told of another machine than the one it finds.
rm -rf "$TEST_TMP/boot"
job "$TEST_TMP/boot" 'topology="{\"kind\":\"vnuma\",\"cpu\":{\"sockets\":2,\"dies\":1,\"cores\":1,\"threads\":1},\"nodes\":[{\"cpus\":\"0\",\"memory\":\"384MiB\"},{\"cpus\":\"1\",\"memory\":\"128MiB\"}],\"distances\":[[10,30],[20,10]]}"'
boot_fails 3 "another machine than the one asked for" "$TEST_TMP/boot" agent \
	'^verify: memory of node 0: wanted 268435456 bytes, found .*distances of node 0: wanted 10 20, found 10 30'

# A cache that cannot be written only costs time.
rm -rf "$TEST_TMP/boot"; job "$TEST_TMP/boot" 'cmdline_extra="rdinit=/nothing root=/dev/nothing"'
printf x > "$TEST_TMP/file"
run_exit 5 "an unwritable cache" env NUMALAB_CACHE="$TEST_TMP/file/cache" "$NUMALAB" boot "$TEST_TMP/boot"
matches "an unwritable cache: the guest was started" 'Kernel panic' "$errors"
finish
