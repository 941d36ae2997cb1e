# SPDX-License-Identifier: GPL-2.0-or-later
# The study of the exact clock: the figures of docs/exact-clock.md.
# BOOTS (20) of each workload on 4 CPUs, one QEMU per core, idle otherwise; then the same with every core kept busy.
# Then: seeds give different samples on every kernel.
. "$TEST_TREE/tests/lib.sh"
boots=${BOOTS:-20}
kernels=${KERNELS:-debian:bullseye debian:bookworm debian:bookworm-backports debian:sid}
busy=()

busy_start() { for _ in $(seq "$(nproc)"); do ( while :; do :; done ) & busy+=($!); done; }
busy_stop() { [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null; wait "${busy[@]}" 2>/dev/null; busy=(); }
trap busy_stop EXIT

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

for scenario in study-xfs study-touch study-xfs-8; do
	run_exit 0 "$scenario: first boot" "$NUMALAB" run "$data/scenarios/$scenario.yaml" || continue
	study "$scenario" idle
	study "$scenario" busy
done

for kernel in $kernels; do
	run_exit 0 "$kernel: 3 seeds" "$NUMALAB" run "$data/scenarios/small.yaml" --kernel "$kernel" --boots 3 || continue
	digests=$("$NUMALAB" show --json latest | grep -oE '"digest" *: *"[0-9a-f]{64}"' | sort -u | wc -l)
	times=$("$NUMALAB" compare --csv latest | grep -c .)
	real=$(for b in "$NUMALAB_STORE"/runs/*/boots/*; do :; done; dir=$(ls -d "$NUMALAB_STORE"/runs/* | sort -V | tail -n 1)
		for b in "$dir"/boots/*; do sample real-xfsrepair "$dir" "$(basename "$b")"; done | sort -u | wc -l)
	echo "$kernel: 3 seeds gave $real different run times of xfs_repair"
	equal "$kernel: three seeds, three samples" 3 "$real"
done
finish
