# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 in mid-run, resume, two runs at once, a full disk.
. "$TEST_TREE/tests/lib.sh"
scenario=$data/scenarios/small.yaml
qemus() { pgrep -cf "qemu-system.*$TEST_TMP" || true; }
# wait_for SECONDS COMMAND...: until it succeeds, by the inotify-free means a shell has
wait_for() { local end=$((SECONDS + $1)); shift; until "$@"; do [ $SECONDS -lt $end ] || return 1; read -rt 0.2 <> <(:) || true; done; }
two_guests() { [ "$(qemus)" -ge 2 ]; }
no_guest() { [ "$(qemus)" = 0 ]; }
some_result() { compgen -G "$NUMALAB_STORE/runs/1/boots/*/result.json" >/dev/null && [ "$(qemus)" -ge 1 ]; }

"$NUMALAB" run "$scenario" --offline --boots 4 > /dev/null 2> "$TEST_TMP/err" &
runner=$!
if wait_for 300 some_result; then ok "a boot is done, others run"; else not_ok "a boot is done, others run" "$(tail -n 3 "$TEST_TMP/err")"; fi
kill -9 $runner; wait $runner 2>/dev/null
if wait_for 5 no_guest; then ok "no guest 5 s after kill -9 of the runner"; else not_ok "no guest 5 s after kill -9 of the runner" "$(pgrep -af "qemu-system.*$TEST_TMP" | cut -c1-200)"; fi
first=$(ls -d "$NUMALAB_STORE"/runs/1/boots/*/result.json | head -n 1); before=$(stat -c %Y.%i "$first")
run_exit 0 "the same command again" "$NUMALAB" run "$scenario" --offline --boots 4
matches "it goes on with run 1" '^run 1 in' "$output"
matches "and says so" 'run 1 goes on' "$errors"
equal "what was there was not done again" "$before" "$(stat -c %Y.%i "$first")"
equal "all four boots are there" 4 "$(ls "$NUMALAB_STORE"/runs/1/boots/*/result.json | wc -l)"

# Two at once: other runs, the same numbers.
"$NUMALAB" run "$scenario" --offline --boots 1 > "$TEST_TMP/a" 2>&1 & a=$!
"$NUMALAB" run "$scenario" --offline --boots 1 > "$TEST_TMP/b" 2>&1 & b=$!
wait $a; ra=$?; wait $b; rb=$?
equal "two runs at once both succeed" "0 0" "$ra $rb"
digests=$(cat "$NUMALAB_STORE"/runs/{2,3}/boots/*-s1/result.json "$NUMALAB_STORE"/runs/1/boots/*-s1/result.json | grep '"digest"' | sort -u | wc -l)
equal "and leave the same bytes as the run before" 1 "$digests"

# Ctrl-C cleans up.
"$NUMALAB" run "$scenario" --offline --boots 4 --set settle=60s > /dev/null 2> "$TEST_TMP/err" & runner=$!
wait_for 120 two_guests; kill -INT $runner; wait $runner; rc=$?
equal "interrupt: exit 130" 130 "$rc"
if wait_for 5 no_guest; then ok "interrupt: no guest left"; else not_ok "interrupt: no guest left"; fi

# A full disk: a clear error, and a store that still works.
if [ "$(id -u)" = 0 ]; then
	mkdir "$TEST_TMP/tiny"; mount -t tmpfs -o size=1200k numalab-test-tiny "$TEST_TMP/tiny"
	run_exit 3 "a full disk" "$NUMALAB" --store "$TEST_TMP/tiny" run "$scenario" --offline --boots 2
	matches "it is called a full disk" 'No space left on device' "$errors"
	# A read of a hole takes a page on tmpfs: room for both scratch devices.
	mount -o remount,size=1g "$TEST_TMP/tiny"
	run_exit 0 "room made: the store is whole, the run completes" "$NUMALAB" --store "$TEST_TMP/tiny" run "$scenario" --offline --boots 2
	run_exit 0 "and is listed" "$NUMALAB" --store "$TEST_TMP/tiny" list
	umount "$TEST_TMP/tiny"
else
	echo "skip a full disk: mounting a tmpfs needs root"
fi
finish
