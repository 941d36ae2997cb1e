# SPDX-License-Identifier: GPL-2.0-or-later
# The study of the exact clock: the figures of docs/exact-clock.md.
# BOOTS (20) of each workload (STUDY), one QEMU per core, the host otherwise idle; then the same with every core kept busy.
# Then: seeds give different samples on every kernel (KERNELS).
. "$TEST_TREE/tests/lib.sh"
boots=${BOOTS:-20}
scenarios=${STUDY:-study-xfs study-touch study-xfs-8}
kernels=${KERNELS-debian:bullseye debian:bookworm debian:bookworm-backports debian:sid}

study() { # SCENARIO LOAD
	local scenario=$1 load=$2 out n began=$SECONDS
	[ "$load" != busy ] || busy_start
	out=$("$NUMALAB" verify --offline --repeat "$((boots - 1))" latest 2>"$TEST_TMP/err"); rc=$?
	busy_stop
	n=$(sed -nE 's/^run [0-9]+: ([0-9]+) of ([0-9]+) boots identical$/\1/p' <<<"$out")
	echo "$scenario, $load: $((${n:-0} + 1)) of $boots boots identical, $((SECONDS - began)) s"
	grep differs: <<<"$out" | sed 's/^/    /'
	if [ "$rc" = 0 ]; then ok "$scenario $load: $boots of $boots"; else not_ok "$scenario $load" "$((${n:-0} + 1)) of $boots; $(tail -n 2 "$TEST_TMP/err")"; fi
}

for scenario in $scenarios; do
	run_exit 0 "$scenario: first boot" "$NUMALAB" run "$data/scenarios/$scenario.yaml" || continue
	study "$scenario" idle
	study "$scenario" busy
done

for kernel in $kernels; do
	run_exit 0 "$kernel: 3 seeds" "$NUMALAB" run "$data/scenarios/small.yaml" --kernel "$kernel" --boots 3 || continue
	digests=$("$NUMALAB" show --json latest | grep -oE '"digest" *: *"[0-9a-f]{64}"' | sort -u | wc -l)
	times=$("$NUMALAB" compare --csv --judge none latest | grep -c .)
	real=$(for b in "$NUMALAB_STORE"/runs/*/boots/*; do :; done; dir=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
		for b in "$dir"/boots/*; do sample real-xfsrepair "$dir" "$(basename "$b")"; done | sort -u | wc -l)
	echo "$kernel: 3 seeds gave $real different run times of xfs_repair"
	equal "$kernel: three seeds, three samples" 3 "$real"
done
finish
