# SPDX-License-Identifier: GPL-2.0-or-later
# `numalab compare` in a store of 1,000 runs x 10 boots against the same in a store of one run: only what is asked for
# is read, so it must cost the same. 7 pairs, the order alternating; the median of the ratios must be 1.5 or less.
# "latest" has to look through the store for the newest run, and may take twice as long. Needs no guest.
. "$TEST_TREE/tests/lib.sh"
pairs=${PAIRS:-7} runs=${RUNS:-1000}
make_store=$(dirname "$NUMALAB")/tests/bench/bench_compare_store
one=$TEST_TMP/one many=$TEST_TMP/many
"$make_store" "$one" && "$make_store" "$many" || { not_ok "stores" "could not be made"; finish; }
for i in $(seq 2 "$runs"); do cp -r "$many/runs/1" "$many/runs/$i"; done

# STORE RUN: milliseconds of CPU time, which what else the machine does changes little, and of the clock on the wall
ms() {
	local TIMEFORMAT='%U %S %R' t
	t=$( { time "$NUMALAB" --store "$1" compare "$2" --judge none > "$TEST_TMP/out"; } 2>&1 ) || return 1
	awk '{ printf "%.0f %.0f\n", 1000 * ($1 + $2), 1000 * $3 }' <<< "$t"
}
median() { sort -n | sed -n "$(((pairs + 1) / 2))p"; }
compare() { # RUN LIMIT
	local ratios=() p a b wall_a wall_b
	ms "$one" 1 > /dev/null && ms "$many" "$1" > /dev/null || { not_ok "compare $1" "failed"; return; }
	for p in $(seq "$pairs"); do
		if [ $((p % 2)) = 0 ]; then
			read -r a wall_a < <(ms "$one" 1); read -r b wall_b < <(ms "$many" "$1")
		else
			read -r b wall_b < <(ms "$many" "$1"); read -r a wall_a < <(ms "$one" 1)
		fi
		ratios+=("$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f", b / (a ? a : 1) }')")
		echo "compare $1: $b ms of CPU ($wall_b ms) in a store of $runs runs, $a ms ($wall_a ms) in one of 1, ratio ${ratios[-1]}"
	done
	local m; m=$(printf '%s\n' "${ratios[@]}" | median)
	if awk -v m="$m" -v l="$2" 'BEGIN { exit !(m <= l) }'; then ok "compare $1 costs at most $2 times as much in a large store ($m)"
	else not_ok "compare $1 costs at most $2 times as much in a large store" "$m"; fi
}
compare "$((runs / 2))" 1.5
compare latest 2
# Memory does not depend on how busy the machine is.
kib=$(python3 - "$NUMALAB" "$many" <<'P'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "--store", sys.argv[2], "compare", "latest", "--json", "--judge", "none"], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
P
)
echo "compare latest --json: $kib KiB"
if [ "$kib" -lt $((200 * 1024)) ]; then ok "compare takes less than 200 MiB ($kib KiB)"; else not_ok "compare takes less than 200 MiB" "$kib KiB"; fi
finish
