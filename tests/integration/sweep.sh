# SPDX-License-Identifier: GPL-2.0-or-later
# A sweep of four sets of options and two kernels: killed, resumed, one table; a point again; a key's values compared.
. "$TEST_TREE/tests/lib.sh"
scenario=$data/scenarios/sweep.yaml
boots=$NUMALAB_STORE/runs/1/boots
some_result() { compgen -G "$boots/*/result.json" > /dev/null; }
qemus() { pgrep -cf "qemu-system.*$TEST_TMP" || true; }

"$NUMALAB" run "$scenario" --offline > /dev/null 2> "$TEST_TMP/err" & runner=$!
for _ in $(seq 600); do some_result && break; read -rt 0.5 <> <(:) || true; done
kill -9 $runner; wait $runner 2> /dev/null
check "a boot is done" some_result
for _ in $(seq 20); do [ "$(qemus)" = 0 ] && break; read -rt 0.5 <> <(:) || true; done
first=$(ls "$boots"/*/result.json | head -n 1); before=$(stat -c %Y.%i "$first")
run_exit 0 "the same command goes on" "$NUMALAB" run "$scenario" --offline --compare
matches "and says so" 'run 1 goes on: [1-7] of 8 boots are there' "$errors"
equal "what was there was not done again" "$before" "$(stat -c %Y.%i "$first")"
equal "one run" 1 "$(ls -d "$NUMALAB_STORE"/runs/[0-9]* | wc -l)"
equal "all eight boots" 8 "$(ls "$boots"/*/result.json | wc -l)"
equal "one table" 1 "$(grep -c 'bookworm  *bookworm-backports' <<<"$output")"
for point in "bhash=default ag_stride=default" "bhash=default ag_stride=-1" "bhash=101073 ag_stride=default" "bhash=101073 ag_stride=-1"; do
	equal "a row, and a verdict: $point" 2 "$(grep -Ec "(Amean +|UNKNOWN )real-xfsrepair $point[ :]" <<<"$output")"
done
equal "and the whole" 1 "$(grep -Ec '^Gmean +real-xfsrepair ' <<<"$output")"
equal "each point is another boot" 8 "$(grep -h '"digest"' "$boots"/*/result.json | sort -u | wc -l)"
run_exit 0 "a boot of a point again" "$NUMALAB" verify --offline 1 "$(basename "$(ls -d "$boots"/*-p3-s1 | head -n 1)")"
matches "is the same" '1 of 1 boots identical' "$output"
kernel=$(basename "$(ls -d "$boots"/*-p1-s1 | head -n 1)"); kernel=${kernel%-p1-s1}
run_exit 4 "values of a key" "$NUMALAB" compare 1:"$kernel" --by bhash
matches "are columns" '^ +bhash=default +bhash=101073$' "$output"
run_exit 2 "points of different settings" "$NUMALAB" compare 1@bhash=default 1@bhash=101073
matches "are refused" 'points with different settings cannot be compared' "$errors"
run_exit 2 "two kernels and --by, before a boot" "$NUMALAB" run "$scenario" --compare --by bhash
matches "is told" '^numalab: --by compares the values of a key for one kernel, and the scenario has 2; --kernel chooses one$' "$errors"
finish
