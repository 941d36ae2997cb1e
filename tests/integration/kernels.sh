# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's 5.10, 6.1, 6.12 and sid's kernel boot, are measured in one run, and every one of them balances.
. "$TEST_TREE/tests/lib.sh"
run_exit 0 "four kernels, two seeds" "$NUMALAB" run "$data/scenarios/study-xfs.yaml" --offline --boots 2 \
	--set steps.fsmark.files=500 --set 'collect={perf: {steps: [xfsrepair]}, stat: [page-faults, "migrate:*"]}' --kernel debian:bullseye --kernel debian:bookworm \
	--kernel debian:bookworm-backports --kernel debian:sid || finish
dir=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
for v in 5.10 6.1 6.12 7; do
	boots=("$dir"/boots/"$v".*-s1)
	[ -d "${boots[0]}" ] || { not_ok "kernel $v" "no boot"; continue; }
	real=$(sample real-xfsrepair "$dir" "$(basename "${boots[0]}")")
	matches "$v: xfs_repair was measured ($real s)" '^[0-9]+\.[0-9]+' "$real"
	hints=$(sample numa_hint_faults "$dir" "$(basename "${boots[0]}")")
	matches "$v: hinting faults were counted ($hints)" '^[0-9]+' "$hints"
	faults=$(sample perf.page-faults:xfsrepair "$dir" "$(basename "${boots[0]}")")
	matches "$v: events were counted ($faults page faults)" '^[1-9][0-9]*' "$faults"
	matches "$v: the profile has names of the kernel" '\[k\] [a-z_]+' "$("$NUMALAB" profile "$(basename "$dir"):$(basename "${boots[0]%-s1}")" --flat)"
	again=$(sample real-xfsrepair "$dir" "$(basename "${boots[0]%-s1}-s2")")
	if [ -n "$again" ] && [ "$real" != "$again" ]; then ok "$v: two seeds, two samples"; else not_ok "$v: two seeds, two samples" "$real and $again"; fi
done
run_exit 0 "profiles of four kernels against the first" "$NUMALAB" profile --diff latest
matches "functions whose share differs, with intervals" '^ +[0-9.]+%  +[0-9.]+%  +[+-][0-9.]+  [+-][0-9.]+ \.\. [+-][0-9.]+ ' "$output"
equal "three differences" 3 "$(grep -c 'before.*after.*points' <<<"$output")"
run_exit 0 "table of four kernels" "$NUMALAB" compare latest --judge none
matches "four columns in the header" '5\.10\.[0-9]+ +6\.1\.[0-9]+ +6\.12\.[0-9]+ +7\.[0-9.]+' "$output"
finish
