# SPDX-License-Identifier: GPL-2.0-or-later
# Verdicts where the truth is known, each time with seeds that were not used before:
# REPEATS (20) times a real difference (xfs_repair with a large hash of its buffer cache) and none (a kernel against itself), on one
# CPU and 4 nodes;
# PLANTED (5) times 1 % more work, at a threshold of 0.5 %, on one CPU with 3 seeds while every core of the host is busy.
. "$TEST_TREE/tests/lib.sh"
repeats=${REPEATS:-20}
planted=${PLANTED:-5}
scenarios=$data/scenarios

seeds() { echo "seeds=[$(seq -s , "$1" "$2")]"; }
run() { "$NUMALAB" run --offline "$@" > /dev/null 2> "$TEST_TMP/err" || tail -n 3 "$TEST_TMP/err"; }

# Each of these is given its number, uses six or three seeds of that number, and prints a comparison.
bhash() {
	run "$scenarios/verdicts.yaml" --set "$(seeds $((3 * $1 - 2)) $((3 * $1)))"
	"$NUMALAB" compare 1 --by bhash
}
itself() {
	local seed=$((1000 + 6 * $1))
	run "$scenarios/verdicts.yaml" --set sweep=null --set "$(seeds $seed $((seed + 2)))"
	run "$scenarios/verdicts.yaml" --set sweep=null --set "$(seeds $((seed + 3)) $((seed + 5)))"
	"$NUMALAB" compare 1 2
}
one_cpu() {
	run "$scenarios/planted.yaml" --set "$(seeds $((3 * $1 - 2)) $((3 * $1)))"
	"$NUMALAB" compare 1 --by files
}
verdict_of() { sed -nE 's/^ *((REGRESSION|IMPROVEMENT|SAME|UNKNOWN|INFRA) .*)/\1/p' "$1"; }

# repeat NAME WANTED TIMES FUNCTION
repeat() {
	local name=$1 wanted=$2 times=$3 right=0 began=$SECONDS i found
	for i in $(seq "$times"); do
		NUMALAB_STORE=$TEST_TMP/one "$4" "$i" > "$TEST_TMP/table" 2>&1
		rm -rf "$TEST_TMP/one"
		found=$(verdict_of "$TEST_TMP/table")
		echo "$name $i: ${found:-$(tail -n 2 "$TEST_TMP/table")}"
		[ "${found%% *}" != "$wanted" ] || right=$((right + 1))
	done
	echo "$name: $right of $times $wanted, $((SECONDS - began)) s"
	equal "$name: $wanted" "$times of $times" "$right of $times"
}

run_exit 0 "kernel, image, prepared file system" "$NUMALAB" run "$scenarios/verdicts.yaml" --boots 1
repeat "bhash=101073" REGRESSION "$repeats" bhash
repeat "a kernel and itself" SAME "$repeats" itself
busy_start
repeat "1 % more on 1 CPU, busy" REGRESSION "$planted" one_cpu
busy_stop
finish
