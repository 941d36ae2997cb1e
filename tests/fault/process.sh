# SPDX-License-Identifier: GPL-2.0-or-later
# Any process of a boot is killed, at any time: no guest is left, and what is left of the boot is run again.
. "$TEST_TREE/tests/fault/common"
base
job "$TEST_TMP/boot"
guest() { mine qemu-system; }
started() { [ -n "$(guest)" ] && [ -s "$TEST_TMP/boot/console.log" ]; }
# A process that is being killed loses its command line before its lock.
gone() { [ -z "$(mine '(qemu-system|numalab)')" ] && flock -n "$TEST_TMP/boot/job.json" true; }

# start: the boot runs, its guest is there; $guard, $worker, $qemu
start() {
	"$NUMALAB" boot "$TEST_TMP/boot" > "$TEST_TMP/out" 2> "$TEST_TMP/err" & guard=$!
	wait_until 60 started || { not_ok "$1" "no guest: $(<"$TEST_TMP/err")"; kill $guard; wait $guard; return 1; }
	qemu=$(guest); worker=$(pgrep -P $guard -x numalab)
}
after() { # NAME WANTED-EXIT
	local rc; wait $guard; rc=$?
	if wait_until 5 gone; then ok "$1: nothing is left 5 s later"; else not_ok "$1: nothing is left 5 s later" "$(mine '(qemu-system|numalab)')"; fi
	[ "$2" = any ] || equal "$1: exit" "$2" "$rc"
	[ "$2" = any ] || [ "$2" = "$rc" ] || sed 's/^/said: /' "$TEST_TMP/err"
}
no_result() { if [ -e "$TEST_TMP/boot/result.json" ]; then not_ok "$1: no result.json"; else ok "$1: no result.json"; fi; }

start "QEMU killed" && {
	kill -9 $qemu; after "QEMU killed" 3
	matches "QEMU killed: said" 'QEMU ended before its agent started \(it was killed, or crashed\)' "$(<"$TEST_TMP/err")"
	equal "QEMU killed: outcome" infra "$(result "$TEST_TMP/boot" outcome)"
}
start "worker killed" && {
	kill -9 $worker; after "worker killed" 3; no_result "worker killed"
	matches "worker killed: said" 'killed by signal 9' "$(<"$TEST_TMP/err")"
}
start "guard killed" && { kill -9 $guard; after "guard killed" 137; no_result "guard killed"; }
start "all killed at once" && { kill -9 $guard $worker; after "all killed at once" 137; no_result "all killed at once"; }
start "SIGTERM" && { kill -TERM $guard; after "SIGTERM" 130; no_result "SIGTERM"; matches "SIGTERM: said" interrupted "$(<"$TEST_TMP/err")"; }

# Before there is a guest: whatever libvirt is about to start must not stay.
for n in 1 2 3 4 5 6 7 8; do
	"$NUMALAB" boot "$TEST_TMP/boot" > /dev/null 2> "$TEST_TMP/err" & guard=$!
	read -rt "0.$(printf %03d $((n * 90)))" <> <(:) || true
	kill -9 $guard; after "guard killed within its first $((n * 90)) ms" 137
done

# QEMU stops without ending; what it has had from the guest is not enough.
sed -i 's/"agent_ns": [0-9]*/"agent_ns": 1000000000/' "$TEST_TMP/boot/job.json"
start "QEMU stopped" && {
	kill -STOP $qemu; after "QEMU stopped" 5
	matches "QEMU stopped: said" 'the agent did not start within 11s' "$(<"$TEST_TMP/err")"
}

# Roots of killed guards are swept by the next boot.
rm -r "$TEST_TMP/boot"; job "$TEST_TMP/boot"
run_exit 0 "the same boot again, to its end" "$NUMALAB" boot "$TEST_TMP/boot"
equal "with the same bytes as the first" "$(result "$base" digest)" "$(result "$TEST_TMP/boot" digest)"

# Two processes on one directory.
rm "$TEST_TMP/boot/result.json"
start "first of two" && {
	run_exit 3 "a second boot in the same directory" "$NUMALAB" boot "$TEST_TMP/boot"
	matches "it says why" 'another process' "$errors"
	kill -TERM $guard; after "first of two" 130
}
finish
